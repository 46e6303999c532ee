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
#include <utility>
#include <vector>

#include "run/drain/order.h"
#include "run/drain/run.h"
#include "run/drain/walk.h"
#include "run/drain/writers.h"

namespace forebay::drain {

class Observation;
class RestartPoints;

class End {
 public:
  End(Run& run, Work& work, RestartPoints& points, Observation& seen)
      : run_(run), work_(work), points_(points), seen_(seen) {}

  // Files that something else than the program removed from a dead run's pools, where these are still there.
  void note_missing_files(std::set<std::string> files) { missing_files_ = std::move(files); }
  void begin();
  // False: to be called again.
  bool finished();
  // Nothing is waited for any more.
  void give_up() { gave_up_ = true; }
  // Nothing is waited for any more, and only the newest restartable states are carried.
  void carry_restartable();
  Amount undrained() const { return {undrained_files_, undrained_bytes_}; }
  LateWriters& writers() { return writers_; }

 private:
  bool carry_more();
  void tell_rest();
  OutputWalk whole_walk() const;
  void submit_outputs();
  void submit_more_outputs();
  void list_times();
  bool submit_time_of(int rank, const std::string& time);
  void submit_found(const std::vector<Output>& found);
  void submit_last_complete();
  bool worth_waiting();
  void walk_again();
  void note_missing(const std::string& path, const std::string& content);
  void tell_missing_pools();
  void tell_missing_files();
  void remove_deleted();
  bool remove_stale();
  void count_undrained();
  void note_undrained(const std::vector<std::string>& first);
  void bring_beside();
  void note_removed_beside();

  Run& run_;
  Work& work_;
  RestartPoints& points_;
  Observation& seen_;
  bool gave_up_ = false;
  int passes_ = 0;
  std::optional<OutputWalk> walk_ = {};          // of the pass that is under way
  std::vector<std::string> changed_modes_ = {};  // directories
  FinalOrder order_ = {};
  LateWriters writers_{run_, work_};
  Clock::time_point next_removal_ = {};  // of temporary names from the case
  std::uint64_t undrained_files_ = 0, undrained_bytes_ = 0;
  std::size_t undrained_unreadable_ = 0;
  std::map<std::string, std::set<std::string>> missing_ = {};  // pools that are not there, with names that lay in them
  std::set<std::string> missing_files_ = {};
};

}  // namespace forebay::drain
