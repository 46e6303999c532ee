// Observation: what was seen of the program. Private to the room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/drain/failed_writes.h"
#include "run/drain/hold.h"
#include "run/drain/keep.h"
#include "run/drain/other_files.h"
#include "run/drain/run.h"
#include "run/drain/script_times.h"
#include "run/drain/seen_late.h"
#include "run/drain/timeline.h"
#include "run/drain/times.h"
#include "run/drain/watch.h"

namespace forebay::drain {

// Whether the pools have room, and had it.
struct Room {
  bool is_scarce = false, was_scarce = false;
  bool pool_is_full = false;
  std::optional<FailedWrites> failed_writes = {};  // where the redirection library is loaded
  std::uint64_t failures_seen = 0;                 // of them
};

// What the events in hand tell.
struct Batch {
  RankTimes made = {};                   // the making of a directory of these
  std::set<int> left = {};               // ranks that have left a time
  std::set<std::string> beginning = {};  // directories whose beginning is told of, until that event is handled
};

struct Observation {
  Run& run;
  Policy& policy;
  Work& work;

  std::optional<Watcher> watcher = {};
  Times times = {};
  Keep keep = Keep(run.request.settings.mover.publish.umask);
  std::optional<Hold> hold = {};  // where the redirection library is loaded
  Timeline timeline = {};
  TimesOfScript of_script{run};
  Room room = {};
  Batch batch = {};
  OtherFiles others{run, *this, work};
  SeenLate late{run, *this, policy};
  std::string being_put = {};                // what add_directory() is giving its name: not the program's act
  std::set<std::string> late_files_of = {};  // times of which a file was closed since they were looked at
  std::map<std::string, std::set<int>> purged_kept = {};  // kept times that the program removed, and for which ranks
  // Of kept times, what was counted as never shared: they may still be carried.
  std::map<std::pair<int, std::string>, std::map<std::string, std::uint64_t>> purged = {};
  std::map<int, Clock::time_point> doubtful = {};  // rank -> its last closing that nothing vouches for
  bool times_go = false;                           // the program has removed some
  bool names_too_long = false;                     // to be kept: ranks must tell of each file that they remove

  // observation.cpp
  Status look();
  bool serves(int rank) const;
  bool alone() const;  // no other node has ranks of this run
  bool may_let_ranks_free() const;
  void pool_ran_full();
  void note_failed_writes();
  // `again`: the same file was, before.
  void file_is_closed(const std::string& path, int rank, const std::string& time, const std::string& file,
                      bool again = false);
  void count_late(const std::string& path);
  void begin_time(const std::string& time, double when);
  void note_time_of_script(const Event& event, const openfoam::TimePath& time);

  // events.cpp
  Result<std::vector<Event>> read_events();
  void handle(const Event& event);
  void handle_time(const Event& event, int rank, const std::string& time, const std::string& rest);
  void part_of_time_gone(const Event& event, int rank, const std::string& time, const std::string& rest);
  void directory_of_time_made(const Event& event, int rank, const std::string& time, const std::string& rest);
  void file_of_time_written(const Event& event, int rank, const std::string& time, const std::string& rest);
  bool is_kept(int rank, const std::string& time, const std::string& file, const std::string& local) const;
  void follow_rank_link(const std::string& name);
  void leave_current(int rank, const std::string& next);
  void purged_at_once(int rank, const std::string& time);
  void never_shared(int rank, const std::string& time, const std::string& file);
  void is_shared(int rank, const std::string& time);
  void events_lost();
  void find_times();
};

}  // namespace forebay::drain
