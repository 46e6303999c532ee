// Where a segment can lie, a slot of a tier; and what a tier holds.
#pragma once

#include <cstdint>

namespace forebay::trajectory {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Place {
  std::uint32_t tier = kNone;
  std::uint32_t slot = kNone;
};

// The ledger's entry of a tier: so many slots from the first on have been used, and its closed segments have so many
// steps.
struct Held {
  std::uint64_t slots = 0;
  std::uint64_t steps = 0;
  std::int64_t highest = 0;
};

}  // namespace forebay::trajectory
