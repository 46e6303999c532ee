// The segment that is being written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "store/segment/segment.h"
#include "store/trajectory/place.h"

namespace forebay::trajectory {

struct Active {
  std::uint32_t segment = kNone;  // its number in Tiers; kNone: no segment is being written
  std::byte* base = nullptr;
  segment::Writer writer{};
  std::uint32_t live = 0;  // records that count
  bool first = true;       // the next record must stand alone
};

}  // namespace forebay::trajectory
