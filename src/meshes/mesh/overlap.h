// Plane faces that lie on each other.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "meshes/mesh/coarse.h"

namespace forebay::mesh {

// A triangle or a convex quadrilateral.
struct Polygon {
  std::array<Point, kFaceCorners> corners{};
  unsigned count = 0;
};

// The smaller one of each pair of faces that look in opposite directions, lie in one plane and share a part of it, or
// the later one of two that are as large. Each comes once, the lowest first; some thousand at most.
struct Overlaps {
  std::vector<std::uint32_t> faces;
  bool all = true;  // there are no others
};
Overlaps overlapping_faces(std::span<const Polygon> faces);

}  // namespace forebay::mesh
