// Times of ranks that a script starts by itself (`mpirun ... simpleFoam -parallel` in ./Allrun). Nobody is told when
// such a rank goes on or ends, so their times are carried when they are quiet (other_times.h); here only what of them
// is safe is of interest. Private to the room. One thread at a time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "run/core/restartable.h"
#include "run/drain/run.h"
#include "run/drain/timeline.h"

namespace forebay::drain {

class TimesOfScript {
 public:
  explicit TimesOfScript(const Run& run) : run_(run) {}

  Timeline timeline = {};
  std::set<int> ranks = {};

  // The newest that is restartable and on the case for all of these ranks. `ended`: nobody writes any more; until then
  // the newest time may still get files.
  std::optional<std::string> newest_safe(bool ended);

 private:
  std::optional<core::NamesOfRanks> names_at_home(const std::string& time) const;

  const Run& run_;
  core::Written written_ = {};
  // Times that were found to be on the case: the newest few, oldest first.
  std::vector<core::WholeTime> at_home_ = {};
  std::uint64_t looked_at_ = 0;  // files that were carried by then
};

}  // namespace forebay::drain
