// Doubts: files that the case has, but perhaps not as they lie here now, though inode, size and time of modification
// are as they were. A store through a mapping moves no time on a tmpfs, and programs set times back (cp -p, tar,
// rsync), so these files are compared by content when the program has ended. Private to the room.
//
// In doubt is whatever was open for writing since it was carried: the kernel tells of it when the last descriptor or
// mapping goes. Of a file with several names it may have told under another one. Where nobody watched, every file is in
// doubt.
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

struct Doubts {
  Run& run;
  Observation& seen;
  Work& work;
  End& end;

  bool nobody_watched = false;
  // Files that were closed after writing, by name (placed ones that have none yet by their own path), and how many
  // closings had been told of by then. What was carried later is in no doubt any more.
  std::map<std::string, std::uint64_t, std::less<>> closed = {};
  std::uint64_t closings = 0;
  std::set<std::string> settled = {};  // names that were compared, or carried, after the program's end

  void note_closing(const std::string& path);
  // Since it was carried, as far as events told.
  bool was_closed(const std::string& path) const;
  bool is_in_doubt(const std::string& path, const std::string& local, const struct stat& status,
                   const Known& known) const;
  bool is_in_doubt(const CollatedTime& group) const;
  // What is known and as it was carried, and what no event that waits tells of, may be taken out of the pool.
  bool may_give_way(const std::string& path, const std::string& content, const Known& known) const;
  bool may_give_way(const CollatedTime& group) const;
  void carried(const std::string& path, const Job& job);
  // Who outlived the program may have written to anything, unwatched.
  void begin_anew();

  // Compares in the background what is in doubt. Where it differs it counts as not carried from then on.
  void compare(const Output& output);
  void compare(const CollatedTime& group);
  void compared(const Job& job);

 private:
  // It, or something below it, was closed after writing, or events that wait tell so.
  bool is_written(const std::string& path) const;
  CarriedGroup carried_group(const CollatedTime& group) const;
};

}  // namespace forebay::drain
