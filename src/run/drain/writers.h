// The end waits for processes that outlived the program and still write. Private to the room.
#pragma once

#include <optional>

#include "run/drain/run.h"

namespace forebay::drain {

struct End;

class LateWriters {
 public:
  LateWriters(Run& run, Work& work, End& end) : run_(run), work_(work), end_(end) {}

  bool wait();
  bool leave_doubts();
  void note_left();  // when they are not waited for
  void see(Writers processes);
  // Nothing else is left.
  bool is_waiting() const { return waiting_since_.has_value(); }
  // Somebody still wrote when patience was over.
  bool has_outlasted() const { return outlasted_; }

 private:
  void walk_again();

  Run& run_;
  Work& work_;
  End& end_;
  Writers processes_ = {};
  std::optional<Clock::time_point> waiting_since_ = {};
  Clock::time_point next_walk_ = {};
  bool outlasted_ = false;
  bool left_doubts_ = false, doubts_are_compared_ = false;
};

}  // namespace forebay::drain
