// control: what somebody changes on the case while a program works, and what the program is to see of it: a stop file,
// a dictionary, a lock that is removed.
//
// A thread of its own looks at the case, and makes ready beside the local tree what the program is to be shown, so that
// giving it its name in the tree is one rename. A pure function decides what is to be done about a name. Promises: the
// case is only read; a look lists each directory once, no more than most_names of it, and takes a tenth of the time at
// most. Nobody waits for the thread, which may wait for a server for ever. Must not know: the drain, which has the
// ledger and the tree; how processes come to the tree.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/base.h"
#include "base/clock.h"
#include "run/journal/ledger.h"
#include "run/publish/shared.h"
#include "run/tree/tree.h"

namespace forebay::control {

// A directory that has more is not looked into, nor is one shown that has more names below it.
inline constexpr std::size_t most_names = 10'000;
// The most directories in one look. Others are not looked into.
inline constexpr std::size_t most_directories = 1'000;

// The directories that are looked at, and how a new file is shown.
struct Watched {
  std::string case_path, lower, run;
  // With all that is below them, but for "", the case itself: of that only the names right in it. None: nothing is
  // looked at.
  std::vector<std::string> directories = {};
  std::vector<std::string> left_out = {};  // patterns, as tree::matches_any() takes them
  std::vector<std::string> copied = {};  // patterns of files that are shown as copies; all others are links to the case
  bool copies_programs = false;          // and these are, too
};
// Times, directories of ranks, names that forebay gives, and what the pattern says. `type` as in a directory's entry.
bool is_left_out(const Watched& watched, const std::string& path, unsigned char type);
// Whether a look tells of this name.
bool is_looked_at(const Watched& watched, std::string_view path);

// The file, link or directory that the case has under a name.
struct OnCase {
  enum class Kind { file, directory, link };
  Kind kind = Kind::file;
  Identity identity = {};   // of a directory its inode alone: it changes with each name in it
  std::string target = {};  // of a symbolic link
  mode_t mode = 0;          // permission bits
  Owner owner = {};
  friend bool operator==(const OnCase&, const OnCase&) = default;
};

struct Look {
  Clock::time_point began = {};
  std::map<std::string, OnCase> names = {};  // by path
  std::set<std::string> whole = {};          // directories: a name in them that is not among `names` is not there
  std::set<std::string> too_large = {};      // directories that were not looked into
};
Look look(drain::SharedFiles& files, const Watched& watched, Clock& clock);

// The kind of what the local tree has under a name.
enum class Here {
  nothing,
  link,   // the one to the case's own file
  same,   // as it was staged, or as the case got it
  other,  // the program made it, or has changed it since
  directory,
};
enum class Act {
  none,
  show,   // the case's is new, or newer than what the program has
  note,   // the case's is newer, and the program sees it already: the run must know it
  take,   // away from the program: it is gone from the case
  carry,  // now, to find out about a conflict: somebody and the program have made or changed it
};
// `there`: on the case, nullopt: nothing. `known`: what the ledger says of the name. `brought`: it was shown while the
// program worked. A name that only the drain put there, is about to carry, or is about to remove, is left alone.
Act act_on(const std::optional<OnCase>& there, const std::optional<drain::Known>& known, Here here, bool brought);
// By its text a link leads out of the case, or is absolute. It is not shown: what the program writes under its name
// would go there.
bool leads_out(const std::string& path, const OnCase& there);
// The case has what the ledger says, but for its mode.
bool is_as_known(const OnCase& there, const drain::Known& known);

// Names of the case whose state the run has changed, and when. A look that began before may tell of the state before.
class Touched {
 public:
  void note(const std::string& path, Clock::time_point now) { when_[path] = now; }
  // It, or something above or below it.
  bool since(const std::string& path, Clock::time_point then) const;
  void forget_before(Clock::time_point then);
  std::size_t size() const { return when_.size(); }

 private:
  std::map<std::string, Clock::time_point, std::less<>> when_;
};

// Something to be shown (there: as it was seen), or to be taken away.
struct Wish {
  std::string path;
  std::optional<OnCase> there;
};
struct Ready {
  Wish wish;
  Clock::time_point began = {};
  bool holds = false;                     // the case is still so
  std::string aside = {};                 // where it lies
  std::vector<tree::Entry> entries = {};  // what that is; the first is the name itself
  std::optional<Error> failure = {};
};
// `aside`: a path that does not exist, on the file system of the tree.
Ready make_ready(drain::SharedFiles& files, const Watched& watched, const Wish& wish, const std::string& aside,
                 Clock& clock);

// The thread. Its owner is told by `wake`, from the thread, when there is something to take.
class Lookout {
 public:
  // `aside`: a directory of its own, on the file system of the tree.
  Lookout(std::shared_ptr<drain::SharedFiles> files, Watched watched, std::string aside, std::function<void()> wake,
          Clock& clock);
  ~Lookout();
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;

  // From one look to the next.
  void set_pace(std::chrono::milliseconds pace);
  // Adds a directory with all below it, from now on.
  void look_also_at(const std::string& directory);
  // The next look is told also when it is like the last one.
  void look_again();
  void make_ready(std::vector<Wish> wishes);
  // The last look, where it was not like the one before; nullopt: none since.
  std::optional<Look> take_look();
  std::vector<Ready> take_ready();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace forebay::control
