// End: what is left is carried, then the program's deletions follow, then it is said what could not be done. Private to
// the room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "run/drain/order.h"
#include "run/drain/run.h"
#include "run/drain/walk.h"
#include "run/drain/writers.h"

namespace forebay::drain {

class RestartPoints;

struct End {
  Run& run;
  Work& work;
  RestartPoints& points;

  bool gave_up = false;
  int passes = 0;
  std::optional<OutputWalk> walk = {};          // of the pass that is under way
  std::vector<std::string> changed_modes = {};  // directories
  FinalOrder order = {};
  LateWriters writers{run, work, *this};
  Clock::time_point next_removal = {};  // of temporary names from the case
  std::uint64_t undrained_files = 0, undrained_bytes = 0;
  std::size_t undrained_unreadable = 0;
  std::map<std::string, std::set<std::string>> missing = {};  // pools that are not there, with names that lay in them
  // Files that something else than the program removed from a dead run's pools, where these are still there.
  std::set<std::string> missing_files = {};

  OutputWalk whole_walk() const;
  void submit_outputs();
  void submit_more_outputs();
  void list_times();
  bool submit_time_of(int rank, const std::string& time);
  void submit_found(const std::vector<Output>& found);
  void submit_last_complete();
  void carry_restartable();
  bool worth_waiting();
  void note_missing(const std::string& path, const std::string& content);
  void note_missing_pools();
  void note_missing_files();
  void remove_deleted();
  bool remove_stale();
  void count_undrained();
  void note_undrained(const std::vector<std::string>& first);
  void bring_beside();
  void note_removed_beside();
};

}  // namespace forebay::drain
