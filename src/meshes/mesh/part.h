// The refined mesh of some coarse cells, in memory: what one rank of a solver works on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "meshes/mesh/array.h"
#include "meshes/mesh/refinement.h"

namespace forebay::mesh {

// So many cells, or faces, of one shape, one behind the other.
struct Stretch {
  Shape shape;
  std::uint64_t count;
};

struct Elements {
  std::vector<Stretch> stretches;
  Array<std::uint32_t> corners;  // indices of the part's points, element by element
  Array<std::uint64_t> numbers;  // global
};

// Everything stands in the order of global numbers, so in a part that is the whole mesh an index is a number.
struct Part {
  Array<Point> points;
  Array<std::uint64_t> point_numbers;  // global; a point on the border of two parts belongs to both, with equal bits
  Elements cells;
  Elements faces;  // with normals out of their first cell
  // For each face, the cell that its normal leaves and the one that it enters: indices of the part's cells. kNone at
  // the boundary, and where the cell belongs to another part. Only at a border can the first be kNone.
  Array<std::uint32_t> sides;
  std::vector<std::uint32_t> coarse_cells, coarse_faces;  // it is made of; ascending

  // The part's faces on its i-th coarse face, so on those of a group, are number i * faces_on_face() and following.
};

// All cells of the coarse mesh, which make the whole refined one.
std::vector<std::uint32_t> all_cells(const Mesh& mesh);

// `coarse_cells`: ascending. Code::bad_input when the part has more than 2^32 - 2 of anything.
Result<Part> make_part(const Refinement& refinement, std::span<const std::uint32_t> coarse_cells);

// The whole refined mesh as a coarse one, to be refined further; its groups and periodic faces come along. Points,
// cells and faces keep their numbers, except that a new Topology orders faces in its own way.
Result<Mesh> refined_mesh(const Refinement& refinement);

}  // namespace forebay::mesh
