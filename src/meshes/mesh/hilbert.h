// Hilbert's space-filling curve: places that follow each other on it lie close together.
#pragma once

#include <array>
#include <cstdint>

namespace forebay::mesh {

constexpr int kHilbertBits = 21;  // of each coordinate; three make an index of 63

// The position along the curve of a cube of the finest grid. Each coordinate is below 2^kHilbertBits. J. Skilling,
// Programming the Hilbert curve, doi:10.1063/1.1751381.
constexpr std::uint64_t hilbert_index(std::array<std::uint32_t, 3> x) {
  for (std::uint32_t bit = 1U << (kHilbertBits - 1); bit > 1; bit >>= 1) {
    const std::uint32_t below = bit - 1;
    for (std::uint32_t& axis : x) {
      if ((axis & bit) != 0) {
        x[0] ^= below;
      } else {
        const std::uint32_t swap = (x[0] ^ axis) & below;
        x[0] ^= swap;
        axis ^= swap;
      }
    }
  }
  x[1] ^= x[0];
  x[2] ^= x[1];
  std::uint32_t flips = 0;
  for (std::uint32_t bit = 1U << (kHilbertBits - 1); bit > 1; bit >>= 1)
    if ((x[2] & bit) != 0) flips ^= bit - 1;
  std::uint64_t index = 0;
  for (int bit = kHilbertBits - 1; bit >= 0; --bit)
    for (const std::uint32_t axis : x) index = index << 1 | ((axis ^ flips) >> bit & 1U);
  return index;
}

}  // namespace forebay::mesh
