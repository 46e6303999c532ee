// Hold: ranks that have the redirection library loaded keep the newest complete time themselves. They link what they
// purge into keep.h's `handed-over`, and free what is older than the last time that all of them have left. The agent
// then need not see every time: it looks from time to time, and tells the ranks to free nothing while it does.
//
// Why nothing is lost: a rank has written a time before it leaves it, that is, begins another. So a time that all ranks
// have left is complete, and each rank frees only what is older. While a look lasts nothing more is freed, but by a
// rank that was just doing so; that frees what was older than a time that all ranks had left before the look began,
// since it reads what they have left before it asks whether it may. So of the newest time that all ranks have left, and
// of those after it, the look finds every file.
//
// The file: src/redirect/redirect.h. One thread at a time, beside any number of ranks.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/base.h"
#include "base/mapped_file.h"

namespace forebay::drain {

class Hold {
 public:
  // For so many ranks, of the whole run. They free nothing before the first look has ended.
  static Result<Hold> make(const std::string& path, int ranks);
  Hold(Hold&&) = default;
  Hold& operator=(Hold&&) = delete;
  ~Hold();

  // From now on, until end_look() lets them.
  void free_nothing() { words()[0] = 1; }
  // The look that began with free_nothing() has ended. `let`: ranks free what they may.
  void end_look(bool let) { words()[0] = let ? 0 : 1; }
  // The rank has told of a time that it left: it has the library loaded (a static program has not).
  bool tells(int rank) const;

 private:
  explicit Hold(MappedFile page) : page_(std::move(page)) {}
  std::atomic<std::uint64_t>* words() const {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(page_.bytes().data());
  }
  MappedFile page_;
};

// From the file that a dead run left: the value of the newest time that all these ranks have left; nullopt when there
// is none. -1 stands for the case itself.
std::optional<double> left_by_all(const std::string& path, const std::vector<int>& ranks);

}  // namespace forebay::drain
