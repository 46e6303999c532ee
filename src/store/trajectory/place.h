// Where a segment can lie: a slot of a tier.
#pragma once

#include <cstdint>

namespace forebay::trajectory {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Place {
  std::uint32_t tier = kNone;
  std::uint32_t slot = kNone;
};

}  // namespace forebay::trajectory
