// A mesh as it is read or generated, before anything of it is numbered.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/base.h"
#include "meshes/mesh/shape.h"

namespace forebay::mesh {

using Point = std::array<double, 3>;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
// The corners of a face in any order; the fourth of a triangle is kNone.
using FaceCorners = std::array<std::uint32_t, kFaceCorners>;

struct FaceGroup {
  std::string name;
  std::vector<FaceCorners> faces;
};
struct CellGroup {
  std::string name;
  std::vector<std::uint32_t> cells;
};
// Two faces that are one behind the other in a periodic direction: the corners at the same place of both belong
// together.
struct PeriodicFaces {
  FaceCorners face, image;
};

struct Mesh {
  std::vector<Point> points;
  std::vector<Shape> shapes;             // of each cell
  std::vector<std::size_t> first = {0};  // in `corners`, of each cell; behind them the end
  std::vector<std::uint32_t> corners;
  std::vector<FaceGroup> face_groups;
  std::vector<CellGroup> cell_groups;
  std::vector<PeriodicFaces> periodic;

  std::size_t cells() const { return shapes.size(); }
  std::span<const std::uint32_t> cell(std::size_t i) const {
    return std::span(corners).subspan(first[i], first[i + 1] - first[i]);
  }
  void add(Shape shape, std::span<const std::uint32_t> of_cell);
};

// Whether the mesh can be refined: sizes that fit each other, corners that exist and differ, finite coordinates, no
// cell inside out. The error names the first cell or point that is amiss.
Status validate(const Mesh& mesh);

// A place in a message: "(0, 1, 0.5)".
std::string at(const Point& point);

// Orders the corners of each tetrahedron so that refinement cuts along its shortest inner diagonal (shape.cpp), which
// keeps the children closest to regular. The mesh stays the same.
void choose_diagonals(Mesh& mesh);

}  // namespace forebay::mesh
