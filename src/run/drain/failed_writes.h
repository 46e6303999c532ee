// Failed writes: what the redirection library has noted of calls that failed in the tree for want of room or by an
// error of the device (WriteErrors in run/contract/pages.h). The note stays when the agent dies, and when the
// program tried again later: that something failed is a fact.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/base.h"
#include "base/mapped_file.h"

namespace forebay::drain {

class FailedWrites {
 public:
  // Makes the list before any program starts. `pools`: directories that files of the tree lie in.
  static Result<FailedWrites> make(const std::string& path, const std::vector<std::string>& pools);
  // The list that a dead run left; nullopt where there is none, or one of another version.
  static std::optional<FailedWrites> left_in(const std::string& path);

  std::uint64_t count() const;
  // True once a program with the library has run. Failures of other programs are not noted.
  bool is_watched() const;
  struct Failure {
    int error;         // errno; 0: not known
    std::string path;  // in the case
  };
  // nullopt: there is none, or who failed was killed before it had told of it.
  std::optional<Failure> first() const;

 private:
  explicit FailedWrites(MappedFile page) : page_(std::move(page)) {}

  MappedFile page_;
};

// The message where a pool was nearly full and no program told of failures.
inline constexpr const char* writes_not_seen_text =
    "a pool was nearly full, and whether the program's writes failed could not be seen: the redirection library was "
    "not loaded (--via path, a static program); see what the program itself said, or give the run a larger pool "
    "(--pool, pool.budget)";

// The message of a pool that ran full, or of a device that failed. `count`: calls that failed (0: only the pool's free
// space told of it). `first`: the first of these, where it is known.
std::string pool_full_message(std::uint64_t count, const std::optional<FailedWrites::Failure>& first);

}  // namespace forebay::drain
