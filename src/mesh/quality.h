// Volume and shape of one cell, from where its corners lie.
#pragma once

#include <span>

#include "mesh/coarse.h"

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

// Both of them: what a look at every cell of a mesh asks for. Tetrahedra share most of the work.
struct Looks {
  double volume, quality;
};
Looks looks(Shape shape, std::span<const Point> corners);

}  // namespace forebay::mesh
