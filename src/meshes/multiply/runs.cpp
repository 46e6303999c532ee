#include "meshes/multiply/runs.h"

#include <algorithm>

namespace forebay::multiply {

Runs::Runs(const mesh::Refinement& refinement) {
  for (std::uint32_t cell = 0; cell < refinement.mesh().cells(); ++cell) {
    std::uint64_t first = refinement.cells_of_cell(cell);
    for (const mesh::Block& block : refinement.pattern(refinement.mesh().shapes[cell]).cells) {
      add(first, block.shape, block.count());
      first += block.count();
    }
  }
}

void Runs::add(std::uint64_t first_cell, mesh::Shape shape, std::uint64_t count) {
  if (count == 0) return;
  if (runs_.empty() || runs_.back().shape != shape) runs_.push_back({first_cell, corners_, shape});
  corners_ += count * describe(shape).corners;
  cells_of_shape_[static_cast<std::size_t>(shape)] += count;
}

std::uint64_t Runs::corners_before(std::uint64_t cell) const {
  const auto behind = std::upper_bound(runs_.begin(), runs_.end(), cell,
                                       [](std::uint64_t number, const Run& run) { return number < run.first_cell; });
  const Run& run = *std::prev(behind);
  return run.first_corner + (cell - run.first_cell) * describe(run.shape).corners;
}

}  // namespace forebay::multiply
