// When what happened to the times of a run. Pure bookkeeping. One thread at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace forebay::drain {

// When what happened to a time; seconds since the Drain was made, negative for "not yet".
struct TimelineEntry {
  std::string time;
  double begun = -1, complete = -1, safe = -1;
};

class Timeline {
 public:
  void begun(const std::string& time, double when);
  void complete(const std::string& time, double when);
  void safe(const std::string& time, double when);

  bool was_begun(const std::string& time) const { return by_time_.contains(time); }
  // What was kept of it is no longer wanted, until the program begins it anew.
  void let_go(const std::string& time);
  bool was_let_go(const std::string& time) const;
  void begun_anew(const std::string& time);
  // How many times have been begun.
  std::size_t steps() const { return steps_; }
  // The longest time between complete and safe.
  double longest_lag() const { return longest_lag_; }
  // The entries told of last, at most so many, in the order of their beginnings. Costs no more than those.
  std::vector<TimelineEntry> newest(std::size_t at_most) const;

 private:
  TimelineEntry& of(const std::string& time);

  std::deque<TimelineEntry> entries_;  // never moved, so names and addresses of its elements stay valid
  std::unordered_map<std::string_view, TimelineEntry*> by_time_;
  std::unordered_set<const TimelineEntry*> let_go_;
  std::size_t steps_ = 0;
  double longest_lag_ = 0;
};

}  // namespace forebay::drain
