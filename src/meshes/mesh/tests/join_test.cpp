#include "meshes/mesh/join.h"

#include <gtest/gtest.h>

#include "meshes/mesh/survey.h"
#include "meshes/mesh/tests/meshes.h"

namespace forebay::mesh::test {
namespace {

// The cavity moved along x, its wall at x = 0 in a group "left" and that at x = 1 in a group "right".
Mesh box(std::uint32_t edge, Shape shape, double x, double noise = 0) {
  Mesh mesh = cavity(edge, shape);
  mesh.face_groups = {{"left", {}}, {"right", {}}, {"rest", {}}};
  for (const Topology topology = need(number(mesh)); const Topology::Face& face : topology.faces) {
    if (face.cells[1] != kNone) continue;
    const auto lies_at = [&](double wall) {
      return std::all_of(face.corners.begin(), face.corners.end(),
                         [&](std::uint32_t c) { return c == kNone || mesh.points[c][0] == wall; });
    };
    mesh.face_groups[lies_at(0) ? 0 : lies_at(1) ? 1 : 2].faces.push_back(face.corners);
  }
  for (Point& point : mesh.points) point = {point[0] + x + noise, point[1] - noise, point[2]};
  return mesh;
}

std::vector<std::string> names(const Mesh& mesh) {
  std::vector<std::string> found;
  for (const FaceGroup& group : mesh.face_groups) found.push_back(group.name);
  return found;
}

TEST(Join, MakesOneConformingMesh) {
  const std::vector<Mesh> parts{box(2, Shape::hexahedron, 0), box(2, Shape::pyramid, 1, 1e-9)};
  const std::vector<Joint> joints{{{0, "right"}, {1, "left"}}};
  const Mesh whole = need(join(parts, joints, 1e-6));
  const Topology topology = need(number(whole));
  EXPECT_EQ(whole.cells(), 8U + 48U);
  EXPECT_EQ(whole.points.size(), 27U + 35U - 9U);
  EXPECT_EQ(topology.boundary_faces, 2U * 24U - 2U * 4U);
  EXPECT_EQ(names(whole), (std::vector<std::string>{"left", "rest", "right"}));
  const Survey found = survey(need(Refinement::make(whole, topology, 2)), all_cells(whole));
  EXPECT_NEAR(found.volume, 2, 1e-6);
  EXPECT_EQ(found.inverted, 0U);
  ASSERT_EQ(found.group_areas.size(), 3U);
  EXPECT_NEAR(found.group_areas[1], 8, 1e-6) << "rest, of both";
}

TEST(Join, TheOrderOfTheSidesDoesNotMatter) {
  const std::vector<Mesh> parts{box(2, Shape::tetrahedron, 0), box(2, Shape::tetrahedron, 1)};
  const Mesh one = need(join(parts, std::vector<Joint>{{{0, "right"}, {1, "left"}}}, 1e-6));
  const Mesh other = need(join(parts, std::vector<Joint>{{{1, "left"}, {0, "right"}}}, 1e-6));
  EXPECT_EQ(one.points, other.points);
  EXPECT_EQ(one.corners, other.corners);
}

TEST(Join, SeveralMeshesInARow) {
  const std::vector<Mesh> parts{box(2, Shape::hexahedron, 0), box(2, Shape::hexahedron, 1),
                                box(2, Shape::hexahedron, 2)};
  for (const auto& joints : {std::vector<Joint>{{{0, "right"}, {1, "left"}}, {{1, "right"}, {2, "left"}}},
                             std::vector<Joint>{{{1, "right"}, {2, "left"}}, {{0, "right"}, {1, "left"}}}}) {
    const Mesh whole = need(join(parts, joints, 1e-6));
    EXPECT_EQ(whole.points.size(), 3U * 7U * 3U);
    EXPECT_TRUE(number(whole));
  }
}

void expect_refused(const std::vector<Mesh>& parts, const Joint& joint, double tolerance, const std::string& because) {
  const auto joined = join(parts, std::vector<Joint>{joint}, tolerance);
  ASSERT_FALSE(joined) << "expected: " << because;
  EXPECT_EQ(joined.error().code, Code::bad_input);
  EXPECT_NE(joined.error().text().find(because), std::string::npos) << joined.error().text();
}

TEST(Join, WhatDoesNotFitIsRefused) {
  const std::vector<Mesh> parts{box(2, Shape::hexahedron, 0), box(2, Shape::hexahedron, 1),
                                box(3, Shape::hexahedron, 1), box(2, Shape::tetrahedron, 1)};
  expect_refused(parts, {{0, "right"}, {1, "right"}}, 1e-6, "meets none of group \"right\"");
  expect_refused(parts, {{0, "right"}, {2, "left"}}, 1e-6, "meets none of group");
  expect_refused(parts, {{0, "right"}, {3, "left"}}, 1e-6, "do not meet one by one");
  expect_refused(parts, {{0, "lid"}, {1, "left"}}, 1e-6, "mesh 0 has no group of faces \"lid\"");
  expect_refused(parts, {{4, "right"}, {1, "left"}}, 1e-6, "mesh 4 has no group");
  expect_refused(parts, {{0, "right"}, {1, "left"}}, 0.6, "choose a smaller one");
  expect_refused(parts, {{0, "right"}, {1, "left"}}, -1, "tolerance of -1");
}

}  // namespace
}  // namespace forebay::mesh::test
