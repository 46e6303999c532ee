// The refinement of one cell or face of a shape, whatever its place and size: the points by what they lie on, the
// smaller cells, the faces between them. It is computed once per shape and number of levels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "meshes/mesh/shape.h"

namespace forebay::mesh {

constexpr int kMostLevels = 6;  // of one pattern: 262,144 cells; for more, what came out is refined again

// Cells, or faces, of one shape.
struct Block {
  Shape shape;
  std::vector<std::uint32_t> corners;  // points of the pattern
  std::vector<std::uint32_t> sides;    // of faces: the cell that the normal leaves, and the cell that it enters
  std::size_t count() const { return corners.size() / describe(shape).corners; }
};

// Points are counted: corners; those inside each edge, from its first corner on; those inside each face, in the order
// of sort_key(); those inside the cell.
struct Pattern {
  Shape shape;
  std::uint32_t points = 0;
  std::uint32_t points_in_edge = 0;
  std::array<std::uint32_t, kMostFaces + 1> face_first{};  // the first point inside each face; behind them inner points
  std::vector<double> weights = {};     // of the corners, for each point inside the cell: where it lies between them
  std::vector<Block> cells = {};        // a pyramid's: pyramids, then tetrahedra
  std::vector<Block> inner_faces = {};  // triangles, then quadrilaterals
  // The cell at each small face of each face, in the order of the face's own pattern.
  std::array<std::vector<std::uint32_t>, kMostFaces> cells_at{};
  std::uint32_t cell_count = 0, inner_face_count = 0;

  std::uint32_t inner_first() const { return face_first[describe(shape).faces.size()]; }
  std::uint32_t inner_points() const { return points - inner_first(); }
};
Pattern make_pattern(Shape shape, int levels);

// A face's pattern as cells see it whose list of the face's corners begins elsewhere or runs backwards (turned()).
// [turn][i]: what is number i in the cell's view is this number in the face's own.
struct FaceTurns {
  std::array<std::vector<std::uint32_t>, kMostTurns> inner_points;  // counted from the first point inside the face
  std::array<std::vector<std::uint32_t>, kMostTurns> points;        // all of the pattern
  std::array<std::vector<std::uint32_t>, kMostTurns> cells;         // small faces
};
FaceTurns make_turns(const Pattern& face, int levels);

}  // namespace forebay::mesh
