// The moments at which the times of a run were begun, complete and safe. Pure bookkeeping. One thread at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace forebay::drain {

// When what happened to a time; seconds since the Drain was made, negative for "not yet". `begun` is when its first
// file was written, where that is known, or when it was noticed; times that were noticed together share the seconds
// evenly.
struct TimelineEntry {
  std::string time;
  double begun = -1, complete = -1, safe = -1;
};

class Timeline {
 public:
  void begun(const std::string& time, double when);
  void complete(const std::string& time, double when);
  void safe(const std::string& time, double when);
  // A file of the time was written then, as the file tells. The moment counts until the time is taken.
  void written(const std::string& time, double when);

  struct Begun {
    std::string time;
    double when;
    bool together;          // it was noticed with others, and its own moment is not known
    std::size_t ranks = 0;  // in the directories of so many ranks; 0: in the case's own
  };
  // The times that were begun since the last call, in order, but for the newest one, whose first file may not be told
  // of yet, and those that were noticed with it. `all`: these too. To be called after a look.
  std::vector<Begun> take_begun(bool all);

  // The number of times that have become safe.
  std::size_t safe_times() const { return safe_times_; }
  // The longest time between complete and safe; nullopt while no time was both.
  std::optional<double> longest_lag() const { return longest_lag_; }
  // The entries told of last, at most so many, in the order of their beginnings. Costs no more than those.
  std::vector<TimelineEntry> newest(std::size_t at_most) const;

 private:
  TimelineEntry& of(const std::string& time);

  std::deque<TimelineEntry> entries_;  // never moved, so names and addresses of its elements stay valid
  std::unordered_map<std::string_view, TimelineEntry*> by_time_;
  std::size_t safe_times_ = 0;
  std::size_t taken_ = 0;              // of the entries
  std::optional<double> taken_until_;  // when the last of these was begun
  std::optional<double> longest_lag_;
};

}  // namespace forebay::drain
