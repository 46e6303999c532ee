// Points and vectors in space.
#pragma once

#include <cmath>

#include "meshes/mesh/coarse.h"

namespace forebay::mesh {

inline Point operator+(const Point& a, const Point& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline Point operator-(const Point& a, const Point& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline double dot(const Point& a, const Point& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double determinant(const Point& a, const Point& b, const Point& c) {
  return dot(a, cross(b, c));
}
inline double length(const Point& a) {
  return std::sqrt(dot(a, a));
}

}  // namespace forebay::mesh
