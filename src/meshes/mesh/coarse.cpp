#include "meshes/mesh/coarse.h"

#include <fmt/format.h>

#include <algorithm>

#include "meshes/mesh/quality.h"
#include "meshes/mesh/vector.h"

namespace forebay::mesh {
namespace {

tl::unexpected<Error> wrong_cell(const Mesh& mesh, std::size_t cell, std::string_view why) {
  return error(Code::bad_input, fmt::format("cell {} ({}) {}", cell, describe(mesh.shapes[cell]).name, why));
}

Status validate_sizes(const Mesh& mesh) {
  if (mesh.cells() == 0) return error(Code::bad_input, "the mesh has no cells");
  if (mesh.cells() >= kNone || mesh.points.size() >= kNone)
    return error(Code::bad_input, fmt::format("the mesh has {} and {}, more than 2^32 - 2",
                                              plural(mesh.cells(), "cell"), plural(mesh.points.size(), "point")));
  if (mesh.first.size() != mesh.cells() + 1 || mesh.first.front() != 0 || mesh.first.back() != mesh.corners.size())
    return error(Code::bad_input, "the mesh's list of corners does not fit its list of cells");
  return {};
}

Status validate_corners(const Mesh& mesh, std::size_t cell) {
  const unsigned wanted = describe(mesh.shapes[cell]).corners;
  if (mesh.first[cell + 1] < mesh.first[cell] || mesh.first[cell + 1] - mesh.first[cell] != wanted)
    return wrong_cell(mesh, cell, fmt::format("must have {} corners", wanted));
  const auto corners = mesh.cell(cell);
  for (std::size_t i = 0; i < corners.size(); ++i) {
    if (corners[i] >= mesh.points.size())
      return wrong_cell(
          mesh, cell,
          fmt::format("has a corner {}, but the mesh has {}", corners[i], plural(mesh.points.size(), "point")));
    if (std::find(corners.begin(), corners.begin() + static_cast<std::ptrdiff_t>(i), corners[i]) !=
        corners.begin() + static_cast<std::ptrdiff_t>(i))
      return wrong_cell(mesh, cell, fmt::format("has point {} at two corners", corners[i]));
  }
  return {};
}

Status validate_shape(const Mesh& mesh, std::size_t cell) {
  std::array<Point, kMostCorners> places{};
  const auto corners = mesh.cell(cell);
  std::transform(corners.begin(), corners.end(), places.begin(),
                 [&](std::uint32_t point) { return mesh.points[point]; });
  const auto used = std::span<const Point>(places).first(corners.size());
  if (!(quality(mesh.shapes[cell], used) > 0))
    return wrong_cell(mesh, cell, fmt::format("near {} is flat or inside out", at(places[0])));
  return {};
}

// Whether they are points: the triangle's fourth may be none.
bool are_points(const Mesh& mesh, const FaceCorners& face) {
  const auto is_point = [&](std::uint32_t corner) { return corner < mesh.points.size(); };
  return std::all_of(face.begin(), face.end() - 1, is_point) && (face.back() == kNone || is_point(face.back()));
}

Status validate_faces(const Mesh& mesh) {
  for (const FaceGroup& group : mesh.face_groups)
    for (const FaceCorners& face : group.faces)
      if (!are_points(mesh, face))
        return error(Code::bad_input, fmt::format("group \"{}\" has a face with a corner beyond the mesh's {}",
                                                  printable(group.name), plural(mesh.points.size(), "point")));
  for (const PeriodicFaces& pair : mesh.periodic)
    if (!are_points(mesh, pair.face) || !are_points(mesh, pair.image))
      return error(Code::bad_input, fmt::format("a periodic face has a corner beyond the mesh's {}",
                                                plural(mesh.points.size(), "point")));
  return {};
}

}  // namespace

std::string at(const Point& point) {
  return fmt::format("({:g}, {:g}, {:g})", point[0], point[1], point[2]);
}

void Mesh::add(Shape shape, std::span<const std::uint32_t> of_cell) {
  shapes.push_back(shape);
  corners.insert(corners.end(), of_cell.begin(), of_cell.end());
  first.push_back(corners.size());
}

Status validate(const Mesh& mesh) {
  if (auto sizes = validate_sizes(mesh); !sizes) return sizes;
  for (std::size_t i = 0; i < mesh.points.size(); ++i)
    for (const double x : mesh.points[i])
      if (!std::isfinite(x)) return error(Code::bad_input, fmt::format("point {} has no finite coordinates", i));
  std::vector<bool> used(mesh.points.size());
  for (std::size_t cell = 0; cell < mesh.cells(); ++cell) {
    if (describe(mesh.shapes[cell]).faces.empty()) return wrong_cell(mesh, cell, "is no cell that fills space");
    if (auto corners = validate_corners(mesh, cell); !corners) return corners;
    if (auto shape = validate_shape(mesh, cell); !shape) return shape;
    for (const std::uint32_t point : mesh.cell(cell)) used[point] = true;
  }
  if (const auto lone = std::find(used.begin(), used.end(), false); lone != used.end())
    return error(Code::bad_input, fmt::format("point {} is a corner of no cell", lone - used.begin()));
  return validate_faces(mesh);
}

void choose_diagonals(Mesh& mesh) {
  // Rotations about corner 0 keep the orientation; each cuts along another of the three diagonals.
  constexpr std::array<std::array<unsigned, 4>, 3> rotations{{{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}}};
  for (std::size_t cell = 0; cell < mesh.cells(); ++cell) {
    if (mesh.shapes[cell] != Shape::tetrahedron) continue;
    std::uint32_t* corners = mesh.corners.data() + mesh.first[cell];
    const std::array<std::uint32_t, 4> was{corners[0], corners[1], corners[2], corners[3]};
    double shortest = std::numeric_limits<double>::infinity();
    for (const auto& r : rotations) {
      const Point diagonal =
          mesh.points[was[r[0]]] + mesh.points[was[r[2]]] - mesh.points[was[r[1]]] - mesh.points[was[r[3]]];
      // Clearly shorter, so that rounding does not choose between equals.
      if (dot(diagonal, diagonal) >= shortest * (1 - 1e-9)) continue;
      shortest = dot(diagonal, diagonal);
      for (unsigned i = 0; i < 4; ++i) corners[i] = was[r[i]];
    }
  }
}

}  // namespace forebay::mesh
