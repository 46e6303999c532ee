// The places of each cell's corners among those of all.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "meshes/mesh/refinement.h"

namespace forebay::multiply {

// Cells are of one shape for long stretches: a mesh of one shape is one run.
class Runs {
 public:
  explicit Runs(const mesh::Refinement& refinement);

  std::uint64_t corners() const { return corners_; }
  std::uint64_t corners_before(std::uint64_t cell) const;
  const std::array<std::uint64_t, 6>& cells_of_shape() const { return cells_of_shape_; }

 private:
  struct Run {
    std::uint64_t first_cell, first_corner;
    mesh::Shape shape;
  };
  void add(std::uint64_t first_cell, mesh::Shape shape, std::uint64_t count);

  std::vector<Run> runs_;
  std::uint64_t corners_ = 0;
  std::array<std::uint64_t, 6> cells_of_shape_{};
};

}  // namespace forebay::multiply
