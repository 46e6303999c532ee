// Processes that outlive the program of a run and may still write into its trees on this node: the end of the drain
// waits for them (drain.h, set_writers).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "run/drain/drain.h"
#include "run/launch/pool_run.h"

namespace forebay::launch {

// Processes of this user that have a file of the trees open for writing, or mapped so, and others of the run or in its
// trees. One pass over /proc; the trees are searched only where somebody has a file of a pool open.
drain::Writers find_writers(const PoolRun& run);

// Finds them, and tells the drain: at once, and then while the drain waits for them, more rarely the longer that lasts.
class WriterWatch {
 public:
  WriterWatch(const PoolRun& run, drain::Drain& drain, Clock& clock) : run_(run), drain_(drain), clock_(clock) {}
  // The caller calls it before the drain ends.
  void begin();
  // The caller calls it while the drain ends, about every pause().
  void update();
  std::chrono::milliseconds pause() const;
  // For whom the drain waits, for people; empty: for nobody.
  std::vector<std::string> waits_for() const;

 private:
  const PoolRun& run_;
  drain::Drain& drain_;
  Clock& clock_;
  drain::Writers writers_ = {};
  Clock::time_point next_ = {};
  std::chrono::milliseconds pause_ = {};
};

}  // namespace forebay::launch
