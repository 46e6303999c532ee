// The walk: what of a local tree the case does not hold yet.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "drain/drain.h"
#include "drain/ledger.h"

namespace forebay::drain {

struct Output {
  enum class Kind { file, link, directory };
  std::string path;   // relative to the case
  std::string local;  // where its content is
  Kind kind = Kind::file;
  LocalMark mark;      // files
  std::string target;  // links
};

// Finds every entry of `roots` that is neither as it was staged nor as it was drained, parents before children, some at
// a time: a tree may hold a million of them. Collated times count as drained. A staged link under another name (the
// program renamed an input) is an output whose content is the case's own file. What it is made with must outlive it.
class OutputWalk {
 public:
  // `placed`: DrainRequest::placed.
  OutputWalk(const std::vector<Root>& roots, const std::vector<std::string>& placed, const Ledger& ledger,
             const std::string& lower, const std::string& case_path);
  // The next outputs, at most so many. Empty: all were told.
  Result<std::vector<Output>> next(std::size_t at_most);

 private:
  struct Directory {
    std::string local, path;
  };
  Status begin_directory();
  Status one(const std::string& local, const std::string& path);
  Status one_directory(const std::string& local, const std::string& path, mode_t mode);
  Status one_link(const std::string& local, const std::string& path);
  Status renamed_input(const std::string& origin, const std::string& path);
  void one_file(const std::string& local, const std::string& path, const struct stat& status);

  const std::vector<Root>& roots_;
  const std::vector<std::string>& placed_;
  const Ledger& ledger_;
  const std::string& lower_;
  const std::string& case_path_;
  std::vector<Directory> open_;  // still to be read, the next one last
  Directory now_;                // what is being read, and how far
  std::vector<DirectoryEntry> entries_;
  std::size_t next_entry_ = 0, open_before_ = 0;
  std::vector<Output> found_;
};

// All of them at once.
Result<std::vector<Output>> outputs(const std::vector<Root>& roots, const std::vector<std::string>& placed,
                                    const Ledger& ledger, const std::string& lower, const std::string& case_path);

// The local path of a path of the case.
std::string local_of(const std::vector<Root>& roots, const std::string& path);

// Temporary names of staging and eviction begin with the first, those of the redirection library's copy-up with the
// second; they are never outputs.
inline constexpr std::string_view temporary_prefix = ".fb-", copy_up_prefix = ".forebay-up-";
inline bool is_temporary(std::string_view name) {
  return name.starts_with(temporary_prefix) || name.starts_with(copy_up_prefix);
}

}  // namespace forebay::drain
