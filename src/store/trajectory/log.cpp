#include "store/trajectory/log.h"

#include <algorithm>
#include <functional>

namespace forebay::trajectory {

std::uint32_t Log::add(std::uint64_t generation, Place place) {
  auto number = size();
  if (unused_.empty()) {
    segments_.emplace_back();
  } else {
    number = unused_.back();
    unused_.pop_back();
  }
  segments_[number].generation = generation;
  segments_[number].place = place;
  slots_[place.tier].resident.emplace(generation, number);
  return number;
}

void Log::relocate(std::uint32_t number, Place to) {
  Segment& segment = segments_[number];
  slots_[segment.place.tier].resident.erase(segment.generation);
  slots_[segment.place.tier].free.push_back(segment.place.slot);
  segment.place = to;
  slots_[to.tier].resident.emplace(segment.generation, number);
}

void Log::erase(std::uint32_t number) {
  Segment& segment = segments_[number];
  slots_[segment.place.tier].resident.erase(segment.generation);
  slots_[segment.place.tier].free.push_back(segment.place.slot);
  segment = {};
  unused_.push_back(number);
}

void Log::clear() {
  for (const Segment& segment : segments_) {
    if (segment.used()) slots_[segment.place.tier].free.push_back(segment.place.slot);
  }
  for (Slots& tier : slots_) {
    tier.resident.clear();
    std::sort(tier.free.begin(), tier.free.end(), std::greater<>());
  }
  segments_.clear();
  unused_.clear();
}

Held Log::held(std::uint32_t number) const {
  const Slots& tier = slots_[number];
  Held held;
  const auto first_without = std::find(tier.headed.begin(), tier.headed.end(), false);
  held.slots = static_cast<std::uint64_t>(first_without - tier.headed.begin());
  for (const auto& entry : tier.resident) {
    const Segment& segment = segments_[entry.second];
    if (!segment.sealed || segment.live == 0) continue;
    held.highest = held.steps == 0 ? segment.highest : std::max(held.highest, segment.highest);
    held.steps += segment.live;
  }
  return held;
}

std::uint32_t Log::sparsest(std::uint32_t records) const {
  std::uint32_t found = kNone;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const Segment& segment = segments_[i];
    if (!segment.movable() || segment.live == 0 || segment.live >= records) continue;
    if (found == kNone || segment.live < segments_[found].live) found = i;
  }
  return found;
}

}  // namespace forebay::trajectory
