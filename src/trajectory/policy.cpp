#include "trajectory/policy.h"

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

}  // namespace

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
