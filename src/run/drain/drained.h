// Drained times: those that the case has. Private to the room.
#pragma once

#include <set>
#include <string>

#include "run/drain/run.h"

namespace forebay::drain {

// As they were when they were carried.
struct Drained {
  std::set<std::string> times = {};  // for all ranks of the node
  RankTimes ranks = {};              // of other times

  bool contains(int rank, const std::string& time) const {
    return times.contains(time) || ranks.contains({rank, time});
  }
};

}  // namespace forebay::drain
