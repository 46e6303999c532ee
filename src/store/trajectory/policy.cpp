#include "store/trajectory/policy.h"

#include <algorithm>

namespace forebay::trajectory {
namespace {

// The writer finds its next segments free: so many are made so before it needs them.
constexpr std::uint32_t kSpare = 2;

bool spill_needed(const Situation& situation, std::size_t number) {
  const TierSituation& tier = situation.tiers[number];
  // A lower tier makes room when the one above is about to need it.
  if (number > 0) return tier.room == 0 && can_spill(situation, number) && spill_needed(situation, number - 1);
  if (situation.reversing && !situation.writer_waits) return false;
  const std::uint32_t spare = std::min(kSpare, tier.limit - std::min(tier.limit, 1U));
  return tier.room < std::max(spare, 1U) && (spare > 0 || situation.writer_waits) && can_spill(situation, 0);
}

// The next segment below the reader that is not in memory.
std::uint32_t next_below(const Log& log, std::uint64_t cursor) {
  std::uint32_t best = kNone;
  for (std::uint32_t i = 1; i < log.tiers(); ++i) {
    if (!log.tier(i).streamed) continue;
    const auto& resident = log.tier(i).resident;
    for (auto at = resident.lower_bound(cursor); at != resident.begin();) {
      const Segment& candidate = log[(--at)->second];
      if (candidate.buffer != kNone) continue;
      if (candidate.moving || candidate.live == 0) break;
      if (best == kNone || candidate.generation > log[best].generation) best = at->second;
      break;
    }
  }
  return best;
}

// Two are fetched ahead; the other buffers are for what is read, and out of order.
bool has_buffer_ahead(const Log& log, const ReadCache& cache, std::uint64_t cursor) {
  constexpr std::uint32_t kAhead = 2;
  std::uint32_t ready = 0;
  bool room = cache.free() != kNone;
  for (std::uint32_t i = 0; i < ReadCache::kBuffers; ++i) {
    const std::uint32_t number = cache.segment_in(i);
    if (number == kNone) continue;
    const bool below = log[number].generation < cursor;
    ready += below ? 1 : 0;
    room = room || (!below && log[number].generation != cursor && log[number].movable());
  }
  return room && ready < kAhead;
}

}  // namespace

Situation situation_of(const Log& log, const ReadCache& cache, const Wishes& wishes, const std::vector<bool>& failing,
                       bool read_only) {
  Situation situation;
  for (std::uint32_t i = 0; i < log.tiers(); ++i) {
    const Slots& slots = log.tier(i);
    TierSituation tier{slots.limit, slots.room(), kNone, failing[i]};
    const auto may_leave = [&](const auto& entry) {
      return log[entry.second].movable() && entry.second != wishes.segment;
    };
    const auto oldest = std::find_if(slots.resident.begin(), slots.resident.end(), may_leave);
    if (oldest != slots.resident.end()) tier.oldest = oldest->second;
    situation.tiers.push_back(tier);
  }
  if (wishes.segment != kNone && !log.at_hand(wishes.segment) && !wishes.not_fetched) situation.wanted = wishes.segment;
  if (wishes.move.segment != kNone && !wishes.move.outcome) situation.request = {wishes.move.segment, wishes.move.tier};
  situation.writer_waits = wishes.writer.waits;
  situation.read_only = read_only;
  situation.reversing = wishes.reversing && wishes.segment == kNone;
  situation.ahead_has_buffer = situation.reversing && has_buffer_ahead(log, cache, wishes.cursor);
  if (situation.ahead_has_buffer) situation.ahead = next_below(log, wishes.cursor);
  return situation;
}

bool can_spill(const Situation& situation, std::size_t number) {
  if (number + 1 >= situation.tiers.size() || situation.tiers[number].oldest == kNone) return false;
  const TierSituation& below = situation.tiers[number + 1];
  return !below.failing && (below.room > 0 || can_spill(situation, number + 1));
}

Job next_job(const Situation& situation) {
  if (situation.wanted != kNone) return {Job::Kind::fetch, situation.wanted, kNone};
  if (situation.request.segment != kNone)
    return {Job::Kind::move_for_request, situation.request.segment, situation.request.tier};
  // From below, so that there is room for what comes from above.
  for (std::size_t i = situation.read_only ? 0 : situation.tiers.size(); i-- > 0;) {
    if (spill_needed(situation, i))
      return {Job::Kind::move, situation.tiers[i].oldest, static_cast<std::uint32_t>(i + 1)};
  }
  if (situation.reversing && situation.ahead != kNone && situation.ahead_has_buffer)
    return {Job::Kind::fetch_ahead, situation.ahead, kNone};
  return {};
}

}  // namespace forebay::trajectory
