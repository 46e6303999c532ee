// A coarse mesh refined so many levels: how much there is of everything, which numbers it has, and where points lie.
//
// Points: those of the coarse mesh, with their numbers; those inside each coarse edge, from its lower point on; inside
// each coarse face, in the order of its pattern; inside each coarse cell. Faces: those on each coarse face, so the
// boundary comes first; those inside each coarse cell. Cells: those of each coarse cell. So whatever lies on one coarse
// entity has numbers without gaps, and a stream of coarse entities in their order is a stream of numbers in theirs.
// How many lie on each depends on its shape alone: with n = 2^levels a coarse edge has n - 1 points inside and a
// triangle (n - 1)(n - 2) / 2, and so on; make() adds them up once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "meshes/mesh/coarse.h"
#include "meshes/mesh/pattern.h"
#include "meshes/mesh/topology.h"

namespace forebay::mesh {

class Refinement {
 public:
  // Both outlive the refinement, and the topology is the mesh's own. Up to kMostLevels levels; none is the coarse mesh
  // itself.
  static Result<Refinement> make(const Mesh& mesh, const Topology& topology, int levels);

  const Mesh& mesh() const { return *mesh_; }
  const Topology& topology() const { return *topology_; }
  int levels() const { return levels_; }
  const Pattern& pattern(Shape shape) const { return patterns_[static_cast<std::size_t>(shape)]; }
  const FaceTurns& turns(Shape face) const { return turns_[static_cast<std::size_t>(face)]; }
  std::uint32_t points_in_edge() const { return points_in_edge_; }

  struct Counts {
    std::uint64_t points = 0, cells = 0, faces = 0, boundary_faces = 0;
  };
  const Counts& counts() const { return counts_; }

  // The first number of what lies inside, or on, a coarse entity.
  std::uint64_t points_of_edge(std::uint32_t edge) const {
    return mesh_->points.size() + std::uint64_t{edge} * points_in_edge_;
  }
  std::uint64_t points_of_face(std::uint32_t face) const { return points_of_face_[face]; }
  std::uint64_t points_of_cell(std::uint32_t cell) const { return inside_[cell].point; }
  std::uint64_t cells_of_cell(std::uint32_t cell) const { return inside_[cell].cell; }
  std::uint64_t faces_of_cell(std::uint32_t cell) const { return inside_[cell].face; }
  std::uint64_t faces_of_face(std::uint32_t face) const { return std::uint64_t{face} << (2 * levels_); }
  std::uint32_t faces_on_face() const { return std::uint32_t{1} << (2 * levels_); }

  // Where the points inside a coarse entity lie: as many as `to` holds, from the `from`th on. The same bits whoever
  // asks: they depend on the corners of that entity alone, in its own order.
  void place_in_edge(std::uint32_t edge, std::size_t from, std::span<Point> to) const;
  void place_in_face(std::uint32_t face, std::size_t from, std::span<Point> to) const;
  void place_in_cell(std::uint32_t cell, std::size_t from, std::span<Point> to) const;

 private:
  Refinement(const Mesh& mesh, const Topology& topology, int levels);
  struct Inside {
    std::uint64_t point, face, cell;
  };

  const Mesh* mesh_;
  const Topology* topology_;
  int levels_;
  std::uint32_t points_in_edge_;
  std::array<Pattern, 6> patterns_;  // of shapes that the mesh has
  std::array<FaceTurns, 2> turns_;
  std::vector<double> edge_weights_;
  std::vector<std::uint64_t> points_of_face_;
  std::vector<Inside> inside_;
  Counts counts_;
};

// The first numbers of the points on each entity of one cell or face, in the order of its description.
template <class Number>
struct Firsts {
  std::array<Number, kMostCorners> corners;
  std::array<Number, kMostEdges> edges;
  std::array<Number, kMostFaces> faces;
  Number inside;
};

namespace detail {
template <class Number>
Number* number_edges(const Pattern& pattern, const Topology::Outline& outline, const Firsts<Number>& firsts,
                     Number* to) {
  const Number count = pattern.points_in_edge;
  for (std::size_t e = 0; e < describe(pattern.shape).edges.size(); ++e) {
    const bool backwards = (outline.backwards >> e & 1U) != 0;
    for (Number i = 0; i < count; ++i) *to++ = firsts.edges[e] + (backwards ? count - 1 - i : i);
  }
  return to;
}
template <class Number>
void number_inside(const Pattern& pattern, const Firsts<Number>& firsts, Number* to) {
  for (Number i = 0; i < pattern.inner_points(); ++i) *to++ = firsts.inside + i;
}
}  // namespace detail

// The numbers that the points of the pattern have in this cell. `to` holds pattern.points.
template <class Number>
void number_cell(const Refinement& refinement, std::uint32_t cell, const Firsts<Number>& firsts, Number* to) {
  const Pattern& pattern = refinement.pattern(refinement.mesh().shapes[cell]);
  const Topology::Cell& links = refinement.topology().cells[cell];
  const Description& about = describe(pattern.shape);
  to = std::copy_n(firsts.corners.begin(), about.corners, to);
  to = detail::number_edges(pattern, links.outline, firsts, to);
  for (std::size_t f = 0; f < about.faces.size(); ++f)
    for (const std::uint32_t i : refinement.turns(about.faces[f].shape).inner_points[links.turns[f]])
      *to++ = firsts.faces[f] + i;
  detail::number_inside(pattern, firsts, to);
}

// The same for a coarse face, in its own order.
template <class Number>
void number_face(const Refinement& refinement, std::uint32_t face, const Firsts<Number>& firsts, Number* to) {
  const Topology::Face& about = refinement.topology().faces[face];
  const Pattern& pattern = refinement.pattern(about.shape);
  to = std::copy_n(firsts.corners.begin(), describe(about.shape).corners, to);
  to = detail::number_edges(pattern, about.outline, firsts, to);
  detail::number_inside(pattern, firsts, to);
}

}  // namespace forebay::mesh
