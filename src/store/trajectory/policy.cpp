#include "store/trajectory/policy.h"

#include <algorithm>

namespace forebay::trajectory {
namespace {

// The writer finds its next segments free: so many are made so before it needs them.
constexpr std::uint32_t kSpare = 2;

bool spill_needed(const Look& look, std::size_t number) {
  const TierLook& tier = look.tiers[number];
  // A lower tier makes room when the one above is about to need it.
  if (number > 0) return tier.room == 0 && can_spill(look, number) && spill_needed(look, number - 1);
  if (look.reversing && !look.writer_waits) return false;
  const std::uint32_t spare = std::min(kSpare, tier.limit - std::min(tier.limit, 1U));
  return tier.room < std::max(spare, 1U) && (spare > 0 || look.writer_waits) && can_spill(look, 0);
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

Look look_at(const Log& log, const ReadCache& cache, const Wishes& wishes, const std::vector<bool>& failing,
             bool read_only) {
  Look look;
  for (std::uint32_t i = 0; i < log.tiers(); ++i) {
    const Slots& slots = log.tier(i);
    TierLook tier{slots.limit, slots.room(), kNone, failing[i]};
    const auto may_leave = [&](const auto& entry) {
      return log[entry.second].movable() && entry.second != wishes.segment;
    };
    const auto oldest = std::find_if(slots.resident.begin(), slots.resident.end(), may_leave);
    if (oldest != slots.resident.end()) tier.oldest = oldest->second;
    look.tiers.push_back(tier);
  }
  if (wishes.segment != kNone && !log.at_hand(wishes.segment) && !wishes.not_fetched) look.wanted = wishes.segment;
  if (wishes.move.segment != kNone && !wishes.move.outcome) look.request = {wishes.move.segment, wishes.move.tier};
  look.writer_waits = wishes.writer.waits;
  look.read_only = read_only;
  look.reversing = wishes.reversing && wishes.segment == kNone;
  look.ahead_has_buffer = look.reversing && has_buffer_ahead(log, cache, wishes.cursor);
  if (look.ahead_has_buffer) look.ahead = next_below(log, wishes.cursor);
  return look;
}

bool can_spill(const Look& look, std::size_t number) {
  if (number + 1 >= look.tiers.size() || look.tiers[number].oldest == kNone) return false;
  const TierLook& below = look.tiers[number + 1];
  return !below.failing && (below.room > 0 || can_spill(look, number + 1));
}

Job next_job(const Look& look) {
  if (look.wanted != kNone) return {Job::Kind::fetch, look.wanted, kNone};
  if (look.request.segment != kNone) return {Job::Kind::move_for_request, look.request.segment, look.request.tier};
  // From below, so that there is room for what comes from above.
  for (std::size_t i = look.read_only ? 0 : look.tiers.size(); i-- > 0;) {
    if (spill_needed(look, i)) return {Job::Kind::move, look.tiers[i].oldest, static_cast<std::uint32_t>(i + 1)};
  }
  if (look.reversing && look.ahead != kNone && look.ahead_has_buffer)
    return {Job::Kind::fetch_ahead, look.ahead, kNone};
  return {};
}

}  // namespace forebay::trajectory
