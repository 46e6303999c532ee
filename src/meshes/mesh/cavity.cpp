#include "meshes/mesh/cavity.h"

#include <fmt/format.h>

namespace forebay::mesh {
namespace {

constexpr std::uint32_t kMostCubes = 400;  // along an edge: 384 million pyramids or tetrahedra

using Cube = std::array<std::uint32_t, kMostCorners>;

template <std::size_t cells, std::size_t corners>
void add_pieces(Mesh& mesh, Shape shape, const Cube& cube,
                const std::array<std::array<std::uint8_t, corners>, cells>& pieces) {
  for (const auto& piece : pieces) {
    std::array<std::uint32_t, corners> cell{};
    for (std::size_t c = 0; c < corners; ++c) cell[c] = cube[piece[c]];
    mesh.add(shape, cell);
  }
}

void add_prisms(Mesh& mesh, const Cube& cube) {
  constexpr std::array<std::array<std::uint8_t, 6>, 2> pieces{{{0, 1, 2, 4, 5, 6}, {0, 2, 3, 4, 6, 7}}};
  add_pieces(mesh, Shape::prism, cube, pieces);
}

// Kuhn's: one for each way along three edges from corner 0 to corner 6, so that diagonals of neighbours meet.
void add_tetrahedra(Mesh& mesh, const Cube& cube) {
  constexpr std::array<std::array<std::uint8_t, 4>, 6> pieces{
      {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}}};
  add_pieces(mesh, Shape::tetrahedron, cube, pieces);
}

// One on each face, with the apex in the middle.
void add_pyramids(Mesh& mesh, const Cube& cube) {
  Point middle{};
  for (const std::uint32_t corner : cube)
    for (std::size_t axis = 0; axis < 3; ++axis) middle[axis] += mesh.points[corner][axis] / kMostCorners;
  const auto apex = static_cast<std::uint32_t>(mesh.points.size());
  mesh.points.push_back(middle);
  for (const FaceOfShape& face : describe(Shape::hexahedron).faces) {
    const auto& c = face.corners;  // out of the cube; a pyramid's base turns inwards
    const std::array<std::uint32_t, 5> cell{cube[c[0]], cube[c[3]], cube[c[2]], cube[c[1]], apex};
    mesh.add(Shape::pyramid, cell);
  }
}

void add_cube(Mesh& mesh, Shape shape, const Cube& cube) {
  switch (shape) {
    case Shape::tetrahedron:
      return add_tetrahedra(mesh, cube);
    case Shape::pyramid:
      return add_pyramids(mesh, cube);
    case Shape::prism:
      return add_prisms(mesh, cube);
    default:
      return mesh.add(Shape::hexahedron, cube);
  }
}

// Each face of a new cell whose corners all lie on the same wall.
void add_walls(Mesh& mesh, std::size_t cell) {
  for (const FaceOfShape& face : describe(mesh.shapes[cell]).faces) {
    FaceCorners corners{kNone, kNone, kNone, kNone};
    for (unsigned i = 0; i < describe(face.shape).corners; ++i) corners[i] = mesh.cell(cell)[face.corners[i]];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const double wall : {0.0, 1.0}) {
        unsigned i = 0;
        while (i < kFaceCorners && (corners[i] == kNone || mesh.points[corners[i]][axis] == wall)) ++i;
        if (i == kFaceCorners) mesh.face_groups[axis == 2 && wall == 1.0 ? 0 : 1].faces.push_back(corners);
      }
    }
  }
}

}  // namespace

Result<Mesh> make_cavity(std::uint32_t edge, Shape shape) {
  if (edge < 1 || edge > kMostCubes)
    return error(Code::bad_input, fmt::format("cannot make a cavity of {} cubes along an edge", edge), {},
                 fmt::format("1 to {} are possible", kMostCubes));
  if (describe(shape).faces.empty())
    return error(Code::bad_input, fmt::format("a cavity cannot be filled with a {}", describe(shape).name));
  Mesh mesh;
  mesh.face_groups = {{"lid", {}}, {"walls", {}}};
  const std::uint32_t line = edge + 1;
  const auto place = [edge](std::uint32_t i) { return static_cast<double>(i) / edge; };
  for (std::uint32_t k = 0; k < line; ++k)
    for (std::uint32_t j = 0; j < line; ++j)
      for (std::uint32_t i = 0; i < line; ++i) mesh.points.push_back({place(i), place(j), place(k)});
  for (std::uint32_t k = 0; k < edge; ++k) {
    for (std::uint32_t j = 0; j < edge; ++j) {
      for (std::uint32_t i = 0; i < edge; ++i) {
        const std::uint32_t a = (k * line + j) * line + i, b = a + line * line;
        const std::size_t before = mesh.cells();
        add_cube(mesh, shape, {a, a + 1, a + 1 + line, a + line, b, b + 1, b + 1 + line, b + line});
        for (std::size_t cell = before; cell < mesh.cells(); ++cell) add_walls(mesh, cell);
      }
    }
  }
  choose_diagonals(mesh);
  return mesh;
}

}  // namespace forebay::mesh
