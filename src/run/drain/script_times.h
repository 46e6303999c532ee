// Times of ranks that a script starts by itself (`mpirun ... simpleFoam -parallel` in ./Allrun). Nobody is told when
// such a rank goes on or ends, so their times are carried when they are quiet (quiet_times.h); here only what of them
// is safe is of interest. Private to the room. One thread at a time.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/core/restartable.h"
#include "run/drain/run.h"

namespace forebay::drain {

class TimesOfScript {
 public:
  explicit TimesOfScript(const Run& run) : run_(run) {}

  // A rank has begun the time. Times come in the order in which they were begun.
  void begun(int rank, const std::string& time);
  // The case has more than it had.
  void note_carried() { is_new_ = true; }
  std::size_t ranks() const { return ranks_.size(); }
  // The newest that is restartable and on the case for all of these ranks. `ended`: nobody writes any more; until then
  // the newest time may still get files.
  std::optional<std::string> newest_safe(bool ended);

 private:
  std::optional<core::NamesOfRanks> names_at_home(const std::string& time) const;

  const Run& run_;
  std::set<int> ranks_ = {};
  std::set<std::string> times_ = {};
  std::vector<std::string> newest_ = {};  // of these, oldest first
  core::Written written_ = {};
  // Times that were found to be on the case: the newest few, oldest first.
  std::vector<core::WholeTime> at_home_ = {};
  bool is_new_ = false;  // something was carried since these were looked for
};

}  // namespace forebay::drain
