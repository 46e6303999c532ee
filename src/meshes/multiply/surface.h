// The faces at the boundary and those of groups, as a grid of its own: with the cell that each bounds, the points'
// numbers in the grid of cells, which groups have it, and the periodic face behind it.
#pragma once

#include <vector>

#include "meshes/mesh/refinement.h"
#include "meshes/multiply/grid_file.h"

namespace forebay::multiply {

class Surface {
 public:
  explicit Surface(const mesh::Refinement& refinement);

  array_file::Description description() const;
  Status write(GridFile& file) const;

 private:
  struct CoarseFace {
    std::uint32_t number;
    std::uint64_t first_inner_point;  // in the surface
  };
  Status write_points(GridFile& file) const;
  Status write_faces(GridFile& file) const;
  Status write_groups(GridFile& file) const;
  Status write_periodic(GridFile& file) const;
  std::uint64_t first_of(std::uint32_t coarse_face) const;  // of its fine faces here
  mesh::Firsts<std::uint64_t> firsts_of(const CoarseFace& face) const;

  const mesh::Refinement& refinement_;
  // The surface's points and edges of the coarse mesh, ascending. Its points are numbered as those of the refinement
  // are: coarse points, those inside edges, those inside faces.
  std::vector<std::uint32_t> points_, edges_;
  std::vector<CoarseFace> faces_;
  std::uint64_t point_count_ = 0, corner_count_ = 0;
};

}  // namespace forebay::multiply
