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
}

void Timeline::complete(const std::string& time, double when) {
  if (TimelineEntry& entry = of(time); entry.complete < 0) entry.complete = when;
}

void Timeline::safe(const std::string& time, double when) {
  TimelineEntry& entry = of(time);
  if (entry.safe < 0) ++safe_times_;
  entry.safe = when;
  if (entry.complete >= 0) longest_lag_ = std::max(longest_lag_.value_or(0), when - entry.complete);
}

// A file may bring a time of its own from elsewhere (cp -p): what is older than the last time says nothing.
void Timeline::written(const std::string& time, double when) {
  if (const auto known = by_time_.find(time); known != by_time_.end() && when > taken_until_.value_or(0))
    known->second->begun = std::min(known->second->begun, when);
}

// Times of one look are noticed at the same moment. Where files tell of some, the others were begun before the next of
// them. The look before the first times is not known, so only the last one's moment is told.
std::vector<Timeline::Begun> Timeline::take_begun(bool all) {
  std::size_t end = entries_.size();
  while (!all && end > taken_ && entries_[end - 1].begun >= entries_.back().begun) --end;
  std::vector<TimelineEntry*> fresh;
  for (; taken_ < end; ++taken_)
    if (entries_[taken_].begun >= 0) fresh.push_back(&entries_[taken_]);
  for (std::size_t i = fresh.size(); i-- > 1;) fresh[i - 1]->begun = std::min(fresh[i - 1]->begun, fresh[i]->begun);
  std::vector<Begun> begun;
  for (auto at = fresh.begin(); at != fresh.end();) {
    const double when = std::max((*at)->begun, taken_until_.value_or(0));
    const auto next = std::find_if(at, fresh.end(), [&](const TimelineEntry* entry) { return entry->begun > when; });
    const auto count = static_cast<double>(next - at);
    const double since = taken_until_.value_or(when);
    if (!taken_until_) at = next - 1;
    for (double i = 1; at != next; ++at, ++i) {
      (*at)->begun = since + (when - since) * i / count;
      begun.push_back({(*at)->time, (*at)->begun, count > 1});
    }
    taken_until_ = when;
  }
  return begun;
}

std::vector<TimelineEntry> Timeline::newest(std::size_t at_most) const {
  const auto count = static_cast<std::ptrdiff_t>(std::min(at_most, entries_.size()));
  std::vector<TimelineEntry> newest(entries_.end() - count, entries_.end());
  std::ranges::stable_sort(newest, [](const auto& a, const auto& b) { return a.begun < b.begun; });
  return newest;
}

}  // namespace forebay::drain
