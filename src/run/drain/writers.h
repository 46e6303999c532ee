// The end waits for processes that outlived the program and still write. Private to the room.
#pragma once

#include <optional>
#include <utility>

#include "run/drain/run.h"

namespace forebay::drain {

class LateWriters {
 public:
  LateWriters(Run& run, Work& work) : run_(run), work_(work) {}

  // Whether the end waits for processes, once nothing else is left to carry.
  bool wait();
  // True, once, when all must be compared that the case has: nothing told of what they did last.
  bool leave_doubts();
  // Another walk finds what they wrote last.
  bool take_walk() { return std::exchange(walk_is_due_, false); }
  void note_left();  // when they are not waited for
  void see(Writers processes);
  // Nothing else is left.
  bool is_waiting() const { return waiting_since_.has_value(); }
  // Somebody still wrote when patience was over.
  bool has_outlasted() const { return outlasted_; }

 private:
  Run& run_;
  Work& work_;
  Writers processes_ = {};
  std::optional<Clock::time_point> waiting_since_ = {};
  Clock::time_point next_walk_ = {};
  bool outlasted_ = false, walk_is_due_ = false;
  bool left_doubts_ = false, doubts_are_compared_ = false;
};

}  // namespace forebay::drain
