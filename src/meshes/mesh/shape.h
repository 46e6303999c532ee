// The shapes of cells and faces: corners, edges, faces, and how each is cut into smaller ones.
//
// Corners are counted as VTK does, but a prism's lower triangle turns like a hexahedron's lower face: the triangle's
// normal points into the prism. Faces are listed so that their normals point out of a cell with positive volume.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace forebay::mesh {

enum class Shape : std::uint8_t { triangle, quadrilateral, tetrahedron, pyramid, prism, hexahedron };

constexpr unsigned kMostCorners = 8;
constexpr unsigned kMostEdges = 12;
constexpr unsigned kMostFaces = 6;
constexpr unsigned kFaceCorners = 4;  // at most

using Corners = std::array<std::uint8_t, kMostCorners>;

struct FaceOfShape {
  Shape shape;
  std::array<std::uint8_t, kFaceCorners> corners;
};

// A smaller cell that refinement makes. Each of its corners is the mean of some corners of its parent: one bit each.
struct Child {
  Shape shape;
  Corners means;
};

// A corner and the ends of the three edges that leave it, counterclockwise seen from inside the cell.
using Spike = std::array<std::uint8_t, 4>;

struct Description {
  std::string_view name;
  unsigned corners;
  std::span<const std::array<std::uint8_t, 2>> edges;
  std::span<const FaceOfShape> faces;  // empty for triangles and quadrilaterals
  std::span<const Child> children;
  std::span<const std::array<std::uint8_t, 3>> reference;  // where the corners of a model of edge length 1 lie
  std::span<const Spike> spikes;
  double ideal_spike;  // determinant of the three unit vectors along a spike of the ideal cell
};
const Description& describe(Shape shape);

// The ways in which the corners of a face can be listed one after the other: `corners` rotations, then as many of the
// list read backwards. turned(...)[i] is the place in the one list of the corner that stands at place i of the other.
constexpr unsigned kMostTurns = 8;
constexpr std::array<std::uint8_t, kFaceCorners> turned(unsigned corners, unsigned turn) {
  std::array<std::uint8_t, kFaceCorners> places{};
  const unsigned start = turn % corners;
  for (unsigned i = 0; i < corners; ++i)
    places[i] = static_cast<std::uint8_t>((turn < corners ? start + i : start + corners - i) % corners);
  return places;
}

}  // namespace forebay::mesh
