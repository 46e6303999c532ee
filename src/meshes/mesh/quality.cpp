#include "meshes/mesh/quality.h"

#include <algorithm>

#include "meshes/mesh/vector.h"

namespace forebay::mesh {
namespace {

// Six times the volume between a triangle and the origin.
[[gnu::always_inline]] inline double cone(const Point& a, const Point& b, const Point& c) {
  return determinant(a, b, c);
}

// The same for a bilinear patch: half way between its two triangulations, since a hyperbolic paraboloid halves the
// tetrahedron of its four corners.
[[gnu::always_inline]] inline double cone(const Point& a, const Point& b, const Point& c, const Point& d) {
  return 0.5 * (cone(a, b, c) + cone(a, c, d) + cone(a, b, d) + cone(b, c, d));
}

// The determinant of the directions of three edges, 0 where one has no length. It has no branch, as below.
[[gnu::always_inline]] inline double share_of(const Point& a, const Point& b, const Point& c) {
  const double squared = dot(a, a) * dot(b, b) * dot(c, c);
  const double share = determinant(a, b, c) / std::sqrt(squared > 0 ? squared : 1.0);
  return squared > 0 ? share : 0.0;
}

// All spikes of a tetrahedron have the same determinant: the least share is that of the longest one, or, inside out, of
// the shortest. Without a branch, since it is asked for many at once.
struct SpikeOfTetrahedron {
  double determinant, least_share;
};
[[gnu::always_inline]] inline SpikeOfTetrahedron spike_of_tetrahedron(const Point& p0, const Point& p1, const Point& p2,
                                                                      const Point& p3) {
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

constexpr std::size_t kInVector = 8;  // at most, of any processor
static_assert(ManyCells::kMost % kInVector == 0);

inline Point corner_of(const ManyCells& cells, std::size_t corner, std::size_t cell) {
  const auto& at = cells.corners[corner];
  return {at[0][cell], at[1][cell], at[2][cell]};
}

void measure_tetrahedra(ManyCells& cells, std::size_t count) {
  const double ideal = describe(Shape::tetrahedron).ideal_spike;
  for (std::size_t i = 0; i < count; ++i) {
    const SpikeOfTetrahedron spike = spike_of_tetrahedron(corner_of(cells, 0, i), corner_of(cells, 1, i),
                                                          corner_of(cells, 2, i), corner_of(cells, 3, i));
    cells.volumes[i] = spike.determinant / 6;
    cells.qualities[i] = spike.least_share / ideal;
  }
}

// Six times the volume of each of the first `count` cells, of at most so many. `corner_of(corner, cell)` tells a place.
template <std::size_t most, class CornerOf>
std::array<double, most> cones_of(const Description& about, std::size_t count, CornerOf corner_of) {
  std::array<double, most> sums{};
  for (const FaceOfShape& face : about.faces) {
    const auto& c = face.corners;
    // Seen from the first corner, so that a place far from the origin costs no digits; the faces at it add nothing but
    // through their curvature.
    const auto at = [&](std::size_t corner, std::size_t i) { return corner_of(c[corner], i) - corner_of(0, i); };
    if (face.shape == Shape::triangle) {
      for (std::size_t i = 0; i < count; ++i) sums[i] += cone(at(0, i), at(1, i), at(2, i));
    } else {
      for (std::size_t i = 0; i < count; ++i) sums[i] += cone(at(0, i), at(1, i), at(2, i), at(3, i));
    }
  }
  return sums;
}

// The least share of each cell's spikes.
template <std::size_t most, class CornerOf>
std::array<double, most> least_shares_of(const Description& about, std::size_t count, CornerOf corner_of) {
  std::array<double, most> least;
  least.fill(std::numeric_limits<double>::infinity());
  for (const Spike& spike : about.spikes) {
    for (std::size_t i = 0; i < count; ++i) {
      const Point tip = corner_of(spike[0], i);
      const double share =
          share_of(corner_of(spike[1], i) - tip, corner_of(spike[2], i) - tip, corner_of(spike[3], i) - tip);
      least[i] = std::min(least[i], share);
    }
  }
  return least;
}

}  // namespace

double volume(Shape shape, std::span<const Point> corners) {
  if (shape == Shape::tetrahedron) return spike_of_tetrahedron(corners).determinant / 6;
  const auto corner_of = [&](std::size_t corner, std::size_t) { return corners[corner]; };
  return cones_of<1>(describe(shape), 1, corner_of)[0] / 6;
}

double area(Shape shape, std::span<const Point> corners) {
  if (shape == Shape::triangle) return 0.5 * length(cross(corners[1] - corners[0], corners[2] - corners[0]));
  return 0.5 * length(cross(corners[2] - corners[0], corners[3] - corners[1]));
}

double quality(Shape shape, std::span<const Point> corners) {
  const Description& about = describe(shape);
  if (shape == Shape::tetrahedron) return spike_of_tetrahedron(corners).least_share / about.ideal_spike;
  const auto corner_of = [&](std::size_t corner, std::size_t) { return corners[corner]; };
  return least_shares_of<1>(about, 1, corner_of)[0] / about.ideal_spike;
}

void measure(Shape shape, ManyCells& cells, std::size_t count) {
  count = (count + kInVector - 1) / kInVector * kInVector;
  if (shape == Shape::tetrahedron) return measure_tetrahedra(cells, count);
  const Description& about = describe(shape);
  const auto corner_of = [&](std::size_t corner, std::size_t cell) { return mesh::corner_of(cells, corner, cell); };
  const auto cones = cones_of<ManyCells::kMost>(about, count, corner_of);
  const auto least_shares = least_shares_of<ManyCells::kMost>(about, count, corner_of);
  for (std::size_t i = 0; i < count; ++i) {
    cells.volumes[i] = cones[i] / 6;
    cells.qualities[i] = least_shares[i] / about.ideal_spike;
  }
}

}  // namespace forebay::mesh
