// The walk: what of a local tree the case does not hold yet.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/drain/drain.h"
#include "run/journal/ledger.h"

namespace forebay::drain {

struct Output {
  enum class Kind { file, link, directory };
  std::string path;   // relative to the case
  std::string local;  // where its content is
  Kind kind = Kind::file;
  LocalMark mark;            // files
  std::string target;        // links
  bool is_in_doubt = false;  // a file as it was drained or staged, whose content may be another all the same
};

// Whether the content of a file that is as the ledger knows it may be another all the same (doubts.h).
using InDoubt = std::function<bool(const std::string& path, const std::string& local, const struct stat& status,
                                   const Known& known)>;

// Finds every entry of `roots` that is neither as it was staged nor as it was drained, parents before children, some at
// a time: a tree may hold a million of them. Collated times count as drained. A staged link under another name (the
// program renamed an input) is an output whose content is the case's own file. Names that cannot be looked at (a
// directory that this user may not read, a path that is too long) are passed over and told apart; all else is found.
// The arguments of the walk must outlive it.
class OutputWalk {
 public:
  // `placed`: DrainRequest::placed. Files in doubt are told as such.
  OutputWalk(const std::vector<Root>& roots, const std::vector<std::string>& placed, const Ledger& ledger,
             const std::string& lower, const std::string& case_path, InDoubt in_doubt = {});
  // The next outputs, at most so many. Empty: all were told.
  std::vector<Output> next(std::size_t at_most);
  // A name that could not be looked at since the last call, with the path on the case and the reason.
  struct Missed {
    std::string path;
    Error reason;
    bool with_pool = false;  // its content lay in a pool that is not there
  };
  std::vector<Missed> take_missed() { return std::exchange(missed_, {}); }
  // The renamed inputs that were met since the last call, carried or not.
  struct Renamed {
    std::string origin, path;
  };
  std::vector<Renamed> take_renamed() { return std::exchange(renamed_, {}); }
  // The amounts of what was walked so far. Written files are those that the program made or changed, carried, evicted
  // or not.
  const Amount& read_back() const { return read_back_; }
  const Amount& written() const { return written_; }

 private:
  struct Directory {
    std::string local, path;
    bool is_root = false;
  };
  void begin_directory();
  void check_root();
  void one(const std::string& local, const std::string& path);
  void one_directory(const std::string& local, const std::string& path, const struct stat& status);
  void one_link(const std::string& local, const std::string& path);
  void renamed_input(const std::string& origin, const std::string& path);
  void one_file(const std::string& local, const std::string& path, const struct stat& status);
  void count_below(const std::string& local);
  bool was_read(const std::string& local, const struct stat& status) const;

  const std::vector<Root>& roots_;
  const std::vector<std::string>& placed_;
  const Ledger& ledger_;
  const std::string& lower_;
  const std::string& case_path_;
  const InDoubt in_doubt_;
  const std::optional<gid_t> local_group_;
  timespec pool_made_{};         // when the run made its pool
  std::vector<Directory> open_;  // still to be read, the next one last
  Directory now_;                // what is being read, and how far
  std::vector<DirectoryEntry> entries_;
  std::size_t next_entry_ = 0, open_before_ = 0;
  std::vector<Output> found_;
  std::vector<Missed> missed_;
  std::vector<Renamed> renamed_;
  Amount read_back_, written_;
};

// All outputs of a dead run at once: nobody watched what it did last, so contents are compared. An error where
// something could not be looked at.
Result<std::vector<Output>> outputs(const std::vector<Root>& roots, const std::vector<std::string>& placed,
                                    const Ledger& ledger, const std::string& lower, const std::string& case_path);

// The group that files get in the pool by themselves, where it is another than this process's: that of the sentinel.
std::optional<gid_t> local_group(const std::string& pool);

// The root that holds a path of the case; null: none.
const Root* root_of(const std::vector<Root>& roots, const std::string& path);

// The local path of a path of the case.
std::string local_of(const std::vector<Root>& roots, const std::string& path);

// A name for what is made and then renamed to `path` of the case in its local tree: on the same file system, but beside
// the tree, so that no program sees it and no name of a program's is taken for ours.
std::string name_aside(const std::vector<Root>& roots, const std::string& path);

// The names that the redirection library makes in a tree, for a moment, while it copies an input up or takes a placed
// file's name away. They hold a number that is made of `lower`, so they are this run's only: a program may call its own
// outputs whatever it likes.
bool is_copy_up(std::string_view name, std::string_view lower);

}  // namespace forebay::drain
