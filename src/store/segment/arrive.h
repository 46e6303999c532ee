// A segment arrives in other memory.
#pragma once

#include <cstdint>
#include <span>

#include "store/segment/medium.h"

namespace forebay::segment {

// Copies what is in use of the segment `from` to `to`, which counts for nothing until all of it is there: the segment's
// headers come last. Afterwards both count, and the caller retires the one that he does not need. With `checks`,
// records get the checksums that they lack. 0, or the errno of the medium.
int arrive(Medium& medium, std::span<std::byte> to, std::span<const std::byte> from, const Extent& used,
           std::uint64_t store, bool checks);

}  // namespace forebay::segment
