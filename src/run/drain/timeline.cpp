#include "run/drain/timeline.h"

#include <algorithm>

namespace forebay::drain {

TimelineEntry& Timeline::of(const std::string& time) {
  const auto known = by_time_.find(time);
  if (known != by_time_.end()) return *known->second;
  TimelineEntry& entry = entries_.emplace_back(TimelineEntry{time});
  by_time_.emplace(entry.time, &entry);
  return entry;
}

void Timeline::begun(const std::string& time, double when) {
  TimelineEntry& entry = of(time);
  if (entry.begun >= 0) return;
  entry.begun = when;
  ++steps_;
}

void Timeline::complete(const std::string& time, double when) {
  of(time).complete = when;
}

void Timeline::safe(const std::string& time, double when) {
  TimelineEntry& entry = of(time);
  entry.safe = when;
  if (entry.complete >= 0) longest_lag_ = std::max(longest_lag_, when - entry.complete);
}

void Timeline::let_go(const std::string& time) {
  if (const auto known = by_time_.find(time); known != by_time_.end()) let_go_.insert(known->second);
}

bool Timeline::was_let_go(const std::string& time) const {
  const auto known = by_time_.find(time);
  return known != by_time_.end() && let_go_.contains(known->second);
}

void Timeline::begun_anew(const std::string& time) {
  if (const auto known = by_time_.find(time); known != by_time_.end()) let_go_.erase(known->second);
}

std::vector<TimelineEntry> Timeline::newest(std::size_t at_most) const {
  const auto count = static_cast<std::ptrdiff_t>(std::min(at_most, entries_.size()));
  std::vector<TimelineEntry> newest(entries_.end() - count, entries_.end());
  std::ranges::stable_sort(newest, [](const auto& a, const auto& b) { return a.begun < b.begun; });
  return newest;
}

}  // namespace forebay::drain
