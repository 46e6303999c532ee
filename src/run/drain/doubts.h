// Doubts: files that the case has, but perhaps not as they lie here now, though inode, size and time of modification
// are as they were. A store through a mapping moves no time on a tmpfs, and programs set times back (cp -p, tar,
// rsync), so these files are compared by content when the program has ended. Private to the room.
//
// A file is in doubt if it was open for writing since it was carried: the kernel tells of it when the last descriptor
// or mapping goes. The kernel may have told of a file with several names under another one of them. Where nobody
// watched, every file is in doubt.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/drain/jobs.h"
#include "run/drain/run.h"
#include "run/drain/walk.h"

namespace forebay::drain {

// A group of ranks as it was carried, and where it lies here.
struct CarriedGroup {
  std::string target, time;
  int all_ranks = 1;
  std::string lower;
  std::map<std::string, std::uint64_t> checksums = {};        // by path on the case
  std::vector<std::pair<int, std::string>> directories = {};  // by rank
};

class Doubts {
 public:
  Doubts(Run& run, Work& work) : run_(run), work_(work) {}

  // Nobody has watched what was written.
  void note_unwatched() { nobody_watched_ = true; }
  std::uint64_t closings() const { return closings_; }
  // Files of the case that were closed after writing, and not carried since.
  std::vector<std::string> closed_names() const;
  void note_closing(const std::string& path);
  // Since it was carried, as far as events told.
  bool was_closed(const std::string& path) const;
  bool is_in_doubt(const std::string& path, const std::string& local, const struct stat& status,
                   const Known& known) const;
  bool is_in_doubt(const CollatedTime& group) const;
  // True if the pool may lose a file that is as it was carried: no event, read or unread, tells of a later write. After
  // lost events, the contents are compared.
  bool may_give_way(const std::string& path, const std::string& content, const Known& known) const;
  bool may_give_way(const CollatedTime& group) const;
  void carried(const std::string& path, const Job& job);
  // Doubts all files again: a process that outlived the program may have written to any of them, unwatched.
  void begin_anew();

  // Compares in the background what is in doubt. Where it differs it counts as not carried from then on.
  void compare(const Output& output);
  void compare(const CollatedTime& group);
  void compared(const Job& job);

 private:
  // It, or something below it, was closed after writing, or events that wait tell so.
  bool is_written(const std::string& path) const;
  CarriedGroup carried_group(const CollatedTime& group) const;

  Run& run_;
  Work& work_;
  bool nobody_watched_ = false;
  // Files that were closed after writing, by name, and how many closings had been told of by then. A placed file that
  // has no name yet goes by its own path. A file that was carried later is in doubt no more.
  std::map<std::string, std::uint64_t, std::less<>> closed_ = {};
  std::uint64_t closings_ = 0;
  std::set<std::string> settled_ = {};  // names that were compared, or carried, after the program's end
};

}  // namespace forebay::drain
