// Coarse meshes that tests refine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "meshes/mesh/mesh.h"

namespace forebay::mesh::test {

template <class T>
T need(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().text();
    std::abort();
  }
  return std::move(*result);
}

// Points inside the unit cube move by up to `share` of a cube's edge, so that no face inside it stays plane.
inline Mesh shaken(Mesh mesh, double share, std::uint64_t seed = 7) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> move(-share, share);
  for (Point& point : mesh.points) {
    const bool inside = std::all_of(point.begin(), point.end(), [](double x) { return x > 0 && x < 1; });
    for (double& x : point)
      if (inside) x += move(random);
  }
  choose_diagonals(mesh);
  return mesh;
}

inline Mesh cavity(std::uint32_t edge, Shape shape) {
  return need(make_cavity(edge, shape));
}

// 2 x 2 x 2 cubes of hexahedra, pyramids and prisms, and two tetrahedra on top of a prism each, sharing a face.
// The tetrahedra stand 1/4 above a square of 1/2 by 1/2. One group, of the quadrilaterals of the lid.
inline Mesh mixed() {
  const Mesh cubes = cavity(2, Shape::hexahedron);
  Mesh mesh;
  mesh.points = cubes.points;
  for (std::uint32_t i = 0; i < cubes.cells(); ++i) {
    const auto c = cubes.cell(i);
    const bool prisms = i % 4 == 0, pyramids = i == 1 || i == 6;
    if (!prisms && !pyramids) mesh.add(Shape::hexahedron, c);
    if (prisms) {
      mesh.add(Shape::prism, std::vector{c[0], c[1], c[2], c[4], c[5], c[6]});
      mesh.add(Shape::prism, std::vector{c[0], c[2], c[3], c[4], c[6], c[7]});
    }
    if (!pyramids) continue;
    Point middle{};
    for (const std::uint32_t corner : c)
      for (int axis = 0; axis < 3; ++axis) middle[axis] += cubes.points[corner][axis] / 8;
    mesh.points.push_back(middle);
    for (const FaceOfShape& face : describe(Shape::hexahedron).faces) {
      const auto& f = face.corners;
      mesh.add(Shape::pyramid,
               std::vector{c[f[3]], c[f[2]], c[f[1]], c[f[0]], static_cast<std::uint32_t>(mesh.points.size() - 1)});
    }
  }
  const auto c = cubes.cell(4);  // the prisms below the hat
  mesh.points.push_back({0.25, 0.25, 1.25});
  const auto hat = static_cast<std::uint32_t>(mesh.points.size() - 1);
  mesh.add(Shape::tetrahedron, std::vector{c[4], c[5], c[6], hat});
  mesh.add(Shape::tetrahedron, std::vector{c[4], c[6], c[7], hat});
  mesh.face_groups = cubes.face_groups;
  mesh.face_groups.pop_back();
  std::erase_if(mesh.face_groups[0].faces,
                [&](const FaceCorners& face) { return std::find(face.begin(), face.end(), c[4]) != face.end(); });
  return mesh;
}
constexpr double kMixedVolume = 1 + 1.0 / 48;

// 2 x 2 x 2 cubes, each face at x = 0 with the one behind it at x = 1, its corners listed from another one on or
// backwards.
inline Mesh periodic(Shape shape) {
  Mesh mesh = cavity(2, shape);
  const auto behind = [&](std::uint32_t point) {
    const Point place{1, mesh.points[point][1], mesh.points[point][2]};
    return static_cast<std::uint32_t>(std::find(mesh.points.begin(), mesh.points.end(), place) - mesh.points.begin());
  };
  unsigned turn = 0;
  for (const Topology topology = need(number(mesh)); const Topology::Face& face : topology.faces) {
    const unsigned corners = describe(face.shape).corners;
    PeriodicFaces pair{{kNone, kNone, kNone, kNone}, {kNone, kNone, kNone, kNone}};
    bool at_wall = true;
    for (unsigned i = 0; i < corners; ++i) {
      pair.face[i] = face.corners[turned(corners, turn % (2 * corners))[i]];
      at_wall = at_wall && mesh.points[pair.face[i]][0] == 0;
    }
    if (!at_wall) continue;
    for (unsigned i = 0; i < corners; ++i) pair.image[i] = behind(pair.face[i]);
    mesh.periodic.push_back(pair);
    ++turn;
  }
  return mesh;
}

// One hexahedron whose upper face is turned and sheared: right at all corners, but half way up its edges run the other
// way round.
inline Mesh twisted() {
  Mesh mesh = cavity(1, Shape::hexahedron);
  mesh.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {1, 1, 1}, {0, 0.5, 1}, {0.5, 0, 1}, {-0.5, -0.5, 1}};
  mesh.face_groups.clear();
  return mesh;
}

struct Named {
  std::string name;
  Mesh mesh;
  double volume = 1;
};
inline std::vector<Named> meshes() {
  return {{"tetrahedra", shaken(cavity(3, Shape::tetrahedron), 0.05)},
          {"hexahedra", shaken(cavity(3, Shape::hexahedron), 0.08)},
          {"prisms", shaken(cavity(3, Shape::prism), 0.08)},
          {"pyramids", shaken(cavity(2, Shape::pyramid), 0.08)},
          {"mixed", shaken(mixed(), 0.08), kMixedVolume}};
}

}  // namespace forebay::mesh::test
