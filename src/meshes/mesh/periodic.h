// Periodic faces after refinement: which small faces of a pair lie behind each other.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "meshes/mesh/refinement.h"

namespace forebay::mesh {

// Small face number `face` of a coarse face, and number `image` of its image; corner c of the one belongs to corner
// corners[c] of the other, each in the order of its own list.
struct SmallPair {
  std::uint32_t face, image;
  std::array<std::uint8_t, kFaceCorners> corners;
};

// All of a pair, in the order of `image`.
std::vector<SmallPair> small_pairs(const Refinement& refinement, const Topology::Periodic& pair);

}  // namespace forebay::mesh
