// Plane faces that lie on each other.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/coarse.h"

namespace forebay::mesh {

// A triangle or a convex quadrilateral.
struct Polygon {
  std::array<Point, kFaceCorners> corners{};
  unsigned count = 0;
};

// Of each pair of faces that look in opposite directions, lie in one plane and share a part of it, the smaller one; a
// face once for each other. Ends after some thousand.
std::vector<std::uint32_t> overlapping_faces(std::span<const Polygon> faces);

}  // namespace forebay::mesh
