// The end waits for processes that outlived the program and still write. Private to the room.
#pragma once

#include <optional>

#include "run/drain/run.h"

namespace forebay::drain {

struct LateWriters {
  Run& run;
  Work& work;
  End& end;

  Writers processes = {};
  std::optional<Clock::time_point> waiting_since = {};  // nothing else was left
  Clock::time_point next_walk = {};
  bool outlasted = false;  // by somebody who still wrote when patience was over
  bool left_doubts = false, doubts_are_compared = false;

  void walk_again();
  bool wait();
  bool leave_doubts();
  void note_left();  // when they are not waited for
};

}  // namespace forebay::drain
