#include "mesh/quality.h"

#include <algorithm>

#include "mesh/vector.h"

namespace forebay::mesh {
namespace {

// Six times the volume between a triangle and the origin.
double cone(const Point& a, const Point& b, const Point& c) {
  return determinant(a, b, c);
}

// The same for a bilinear patch: half way between its two triangulations, since a hyperbolic paraboloid halves the
// tetrahedron of its four corners.
double cone(const Point& a, const Point& b, const Point& c, const Point& d) {
  return 0.5 * (cone(a, b, c) + cone(a, c, d) + cone(a, b, d) + cone(b, c, d));
}

// All spikes of a tetrahedron have the same determinant: the least share is that of the longest one, or, inside out, of
// the shortest. Without a branch, since it is asked for many at once.
struct SpikeOfTetrahedron {
  double determinant, least_share;
};
inline SpikeOfTetrahedron spike_of_tetrahedron(const Point& p0, const Point& p1, const Point& p2, const Point& p3) {
  const Point a = p1 - p0, b = p2 - p0, c = p3 - p0, d = p2 - p1, e = p3 - p1, f = p3 - p2;
  const double aa = dot(a, a), bb = dot(b, b), cc = dot(c, c), dd = dot(d, d), ee = dot(e, e), ff = dot(f, f);
  const double at0 = aa * bb * cc, at1 = aa * dd * ee, at2 = bb * dd * ff, at3 = cc * ee * ff;
  const double spike = determinant(a, b, c);
  const double most = std::max(std::max(at0, at1), std::max(at2, at3));
  const double least = std::min(std::min(at0, at1), std::min(at2, at3));
  const double squared = spike > 0 ? most : least;
  const double share = spike / std::sqrt(squared > 0 ? squared : 1.0);
  return {spike, squared > 0 ? share : 0.0};
}
SpikeOfTetrahedron spike_of_tetrahedron(std::span<const Point> at) {
  return spike_of_tetrahedron(at[0], at[1], at[2], at[3]);
}

}  // namespace

double volume(Shape shape, std::span<const Point> corners) {
  if (shape == Shape::tetrahedron) return spike_of_tetrahedron(corners).determinant / 6;
  // Seen from the first corner, so that a place far from the origin costs no digits; the faces at it add nothing but
  // through their curvature.
  std::array<Point, kMostCorners> at{};
  for (std::size_t i = 0; i < corners.size(); ++i) at[i] = corners[i] - corners[0];
  double sum = 0;
  for (const FaceOfShape& face : describe(shape).faces) {
    const auto& c = face.corners;
    sum += face.shape == Shape::triangle ? cone(at[c[0]], at[c[1]], at[c[2]])
                                         : cone(at[c[0]], at[c[1]], at[c[2]], at[c[3]]);
  }
  return sum / 6;
}

double area(Shape shape, std::span<const Point> corners) {
  if (shape == Shape::triangle) return 0.5 * length(cross(corners[1] - corners[0], corners[2] - corners[0]));
  return 0.5 * length(cross(corners[2] - corners[0], corners[3] - corners[1]));
}

double quality(Shape shape, std::span<const Point> corners) {
  const Description& about = describe(shape);
  if (shape == Shape::tetrahedron) return spike_of_tetrahedron(corners).least_share / about.ideal_spike;
  double least = std::numeric_limits<double>::infinity();
  for (const Spike& spike : about.spikes) {
    const Point a = corners[spike[1]] - corners[spike[0]];
    const Point b = corners[spike[2]] - corners[spike[0]];
    const Point c = corners[spike[3]] - corners[spike[0]];
    const double lengths = std::sqrt(dot(a, a) * dot(b, b) * dot(c, c));
    least = std::min(least, lengths > 0 ? determinant(a, b, c) / lengths : 0.0);
  }
  return least / about.ideal_spike;
}

void look_at(Tetrahedra& tetrahedra) {
  const double ideal = describe(Shape::tetrahedron).ideal_spike;
  const auto& at = tetrahedra.corners;
  for (std::size_t i = 0; i < Tetrahedra::kMost; ++i) {
    const auto corner = [&](std::size_t c) { return Point{at[c][0][i], at[c][1][i], at[c][2][i]}; };
    const SpikeOfTetrahedron spike = spike_of_tetrahedron(corner(0), corner(1), corner(2), corner(3));
    tetrahedra.volumes[i] = spike.determinant / 6;
    tetrahedra.qualities[i] = spike.least_share / ideal;
  }
}

}  // namespace forebay::mesh
