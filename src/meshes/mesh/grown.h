// A reference cell after some levels, each point with its weights: the raw material of a pattern.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "meshes/mesh/shape.h"

namespace forebay::mesh {

using Weights = std::array<double, kMostCorners>;  // of the corners; exact, since they are means of means

struct GrownCell {
  Shape shape;
  std::array<std::uint32_t, kMostCorners> corners;
};
struct Grown {
  std::vector<Weights> points;  // the corners of the shape first
  std::vector<GrownCell> cells;
};
Grown grow(Shape shape, int levels);

// The corners that a point's place depends on, one bit each: those of the edge or face it lies on, or of the cell.
unsigned support(const Weights& weights);

// The order of what lies on a face, given the weights of the face's corners, or sums of them: row by row, away from the
// face's first edge, each row along it.
std::pair<double, double> sort_key(Shape face, const std::array<double, kFaceCorners>& weights);

}  // namespace forebay::mesh
