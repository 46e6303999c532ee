// Volume and shape of one cell, from where its corners lie.
#pragma once

#include <array>
#include <span>

#include "meshes/mesh/coarse.h"

namespace forebay::mesh {

// Exact where every quadrilateral is the bilinear patch between its corners, so the volumes of a cell's children add up
// to its own.
double volume(Shape shape, std::span<const Point> corners);

// Area of a triangle; of a quadrilateral the length of the area vector, which is its area where it is plane.
double area(Shape shape, std::span<const Point> corners);

// The scaled Jacobian: the least determinant of unit vectors along the three edges at a corner, as a share of the ideal
// cell's. 1 is ideal, 0 flat, negative inside out. Verdict (SAND2007-1751) calls it so; the apex of a pyramid, where
// four edges meet, does not count there either.
double quality(Shape shape, std::span<const Point> corners);

// Both of many cells of one shape at once, each exactly as by itself: coordinates lie side by side, so that a
// processor's vectors take several.
struct ManyCells {
  static constexpr std::size_t kMost = 64;
  std::array<std::array<std::array<double, kMost>, 3>, kMostCorners> corners{};  // by corner, and by coordinate
  std::array<double, kMost> volumes{}, qualities{};
};
// Measures the first `count`. It computes a few more, to fill a vector; their results mean nothing.
void measure(Shape shape, ManyCells& cells, std::size_t count);

}  // namespace forebay::mesh
