#include "meshes/mesh/refinement.h"

#include <fmt/format.h>

namespace forebay::mesh {
namespace {

// A point with room for a fourth coordinate: two pairs, for instructions that work on pairs.
using Padded = std::array<double, 4>;

// Points between corners, whose weights stand one behind the other. Sums in the order of the corners, so that the last
// bit does not depend on who computes it.
template <std::size_t corners>
void interpolate(const double* weights, const std::array<Padded, kMostCorners>& at, std::span<Point> to) {
  for (Point& point : to) {
    Padded sum{};
    for (std::size_t c = 0; c < corners; ++c)
      for (std::size_t axis = 0; axis < sum.size(); ++axis) sum[axis] += weights[c] * at[c][axis];
    point = {sum[0], sum[1], sum[2]};
    weights += corners;
  }
}

void interpolate(std::span<const std::uint32_t> corners, const Mesh& mesh, std::span<const double> weights,
                 std::size_t from, std::span<Point> to) {
  std::array<Padded, kMostCorners> at{};
  for (std::size_t c = 0; c < corners.size(); ++c)
    std::copy_n(mesh.points[corners[c]].begin(), std::tuple_size_v<Point>, at[c].begin());
  const double* first = weights.data() + from * corners.size();
  switch (corners.size()) {
    case 2:
      return interpolate<2>(first, at, to);
    case 3:
      return interpolate<3>(first, at, to);
    case 4:
      return interpolate<4>(first, at, to);
    case 5:
      return interpolate<5>(first, at, to);
    case 6:
      return interpolate<6>(first, at, to);
    default:
      return interpolate<8>(first, at, to);
  }
}

}  // namespace

Refinement::Refinement(const Mesh& mesh, const Topology& topology, int levels)
    : mesh_(&mesh), topology_(&topology), levels_(levels), points_in_edge_((std::uint32_t{1} << levels) - 1) {
  std::array<bool, 6> present{};
  for (const Shape shape : mesh.shapes) {
    if (std::exchange(present[static_cast<std::size_t>(shape)], true)) continue;
    for (const FaceOfShape& face : describe(shape).faces) present[static_cast<std::size_t>(face.shape)] = true;
  }
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (!present[i]) continue;
    patterns_[i] = make_pattern(static_cast<Shape>(i), levels);
    if (i < turns_.size()) turns_[i] = make_turns(patterns_[i], levels);
  }
  for (std::uint32_t i = 1; i <= points_in_edge_; ++i) {
    const double along = static_cast<double>(i) / static_cast<double>(points_in_edge_ + 1);
    edge_weights_.insert(edge_weights_.end(), {1 - along, along});
  }
}

Result<Refinement> Refinement::make(const Mesh& mesh, const Topology& topology, int levels) {
  if (levels < 0 || levels > kMostLevels)
    return error(Code::bad_input,
                 fmt::format("cannot refine {} at once", plural(static_cast<std::uint64_t>(levels), "level")), {},
                 fmt::format("0 to {} are possible", kMostLevels));
  Refinement made(mesh, topology, levels);
  std::uint64_t point = made.points_of_edge(static_cast<std::uint32_t>(topology.edges.size()));
  for (const Topology::Face& face : topology.faces) {
    made.points_of_face_.push_back(point);
    point += made.pattern(face.shape).inner_points();
  }
  Inside next{point, made.faces_of_face(static_cast<std::uint32_t>(topology.faces.size())), 0};
  for (const Shape shape : mesh.shapes) {
    made.inside_.push_back(next);
    const Pattern& pattern = made.pattern(shape);
    next.point += pattern.inner_points();
    next.face += pattern.inner_face_count;
    next.cell += pattern.cell_count;
  }
  made.counts_ = {next.point, next.cell, next.face, made.faces_of_face(topology.boundary_faces)};
  return made;
}

void Refinement::place_in_edge(std::uint32_t edge, std::size_t from, std::span<Point> to) const {
  interpolate(topology_->edges[edge], *mesh_, edge_weights_, from, to);
}

void Refinement::place_in_face(std::uint32_t face, std::size_t from, std::span<Point> to) const {
  const Topology::Face& about = topology_->faces[face];
  interpolate(std::span(about.corners).first(describe(about.shape).corners), *mesh_, pattern(about.shape).weights, from,
              to);
}

void Refinement::place_in_cell(std::uint32_t cell, std::size_t from, std::span<Point> to) const {
  interpolate(mesh_->cell(cell), *mesh_, pattern(mesh_->shapes[cell]).weights, from, to);
}

}  // namespace forebay::mesh
