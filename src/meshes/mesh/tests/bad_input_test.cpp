#include <gtest/gtest.h>

#include "meshes/mesh/tests/meshes.h"

namespace forebay::mesh::test {
namespace {

void expect_refused(const Mesh& mesh, const std::string& because) {
  const auto topology = number(mesh);
  ASSERT_FALSE(topology) << "expected: " << because;
  EXPECT_EQ(topology.error().code, Code::bad_input);
  EXPECT_NE(topology.error().text().find(because), std::string::npos) << topology.error().text();
}

TEST(BadMesh, WithoutCells) {
  expect_refused({}, "no cells");
}

TEST(BadMesh, CornersThatDoNotExist) {
  Mesh mesh = cavity(2, Shape::tetrahedron);
  mesh.corners[4 * 17 + 2] = 27;
  expect_refused(mesh, "cell 17 (tetrahedron) has a corner 27, but the mesh has 27 points");
  mesh.corners[4 * 17 + 2] = kNone;
  expect_refused(mesh, "cell 17 (tetrahedron) has a corner");
}

TEST(BadMesh, OnePointAtTwoCorners) {
  Mesh mesh = cavity(2, Shape::hexahedron);
  mesh.corners[8 * 3 + 1] = mesh.corners[8 * 3];
  expect_refused(mesh, "cell 3 (hexahedron) has point");
}

TEST(BadMesh, CountsThatLie) {
  Mesh mesh = cavity(2, Shape::prism);
  mesh.shapes.push_back(Shape::prism);
  expect_refused(mesh, "list of corners does not fit");
  mesh = cavity(2, Shape::prism);
  mesh.shapes[5] = Shape::hexahedron;
  expect_refused(mesh, "cell 5 (hexahedron) must have 8 corners");
  mesh = cavity(2, Shape::prism);
  mesh.first[3] = 1000000;
  expect_refused(mesh, "cell 2 (prism) must have 6 corners");
  mesh = cavity(2, Shape::prism);
  std::swap(mesh.first[3], mesh.first[4]);
  expect_refused(mesh, "must have 6 corners");
}

TEST(BadMesh, CellsThatAreNone) {
  Mesh mesh = cavity(1, Shape::tetrahedron);
  mesh.add(Shape::triangle, std::vector<std::uint32_t>{0, 1, 2});
  expect_refused(mesh, "cell 6 (triangle) is no cell");
}

TEST(BadMesh, CellsInsideOut) {
  for (const Shape shape : {Shape::tetrahedron, Shape::pyramid, Shape::prism, Shape::hexahedron}) {
    Mesh mesh = cavity(2, shape);
    std::swap(mesh.corners[mesh.first[4]], mesh.corners[mesh.first[4] + 2]);
    expect_refused(mesh, "is flat or inside out");
  }
}

TEST(BadMesh, FlatCells) {
  Mesh mesh = cavity(2, Shape::tetrahedron);
  for (Point& point : mesh.points) point[1] = 0;
  expect_refused(mesh, "cell 0 (tetrahedron) near (0, 0, 0) is flat");
}

TEST(BadMesh, CoordinatesThatAreNoNumbers) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Mesh mesh = cavity(2, Shape::tetrahedron);
    mesh.points[11][2] = bad;
    expect_refused(mesh, "point 11 has no finite coordinates");
  }
}

TEST(BadMesh, PointsOfNoCell) {
  Mesh mesh = cavity(2, Shape::tetrahedron);
  mesh.points.push_back({5, 5, 5});
  expect_refused(mesh, "point 27 is a corner of no cell");
}

TEST(BadMesh, OneFaceOfThreeCells) {
  Mesh mesh = cavity(1, Shape::tetrahedron);
  mesh.points.push_back({0.9, 0.2, 0.3});
  const auto cell = mesh.cell(0);
  const std::vector<std::uint32_t> more{cell[0], cell[1], cell[2], 8};
  mesh.add(Shape::tetrahedron, more);
  const std::vector<std::uint32_t> again{mesh.cell(0)[0], mesh.cell(0)[1], mesh.cell(0)[2], 8};
  mesh.add(Shape::tetrahedron, again);
  expect_refused(mesh, "share one face");
}

TEST(BadMesh, CellsThatOverlap) {
  Mesh mesh;
  mesh.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.1, 0.1, 2}};
  mesh.add(Shape::tetrahedron, std::vector<std::uint32_t>{0, 1, 2, 3});
  mesh.add(Shape::tetrahedron, std::vector<std::uint32_t>{0, 1, 2, 4});
  expect_refused(mesh, "cells 0 and 1 share a face but overlap");
}

TEST(BadMesh, GroupsOfWhatIsNotThere) {
  Mesh mesh = cavity(2, Shape::tetrahedron);
  mesh.face_groups[1].faces.push_back({0, 1, 26, kNone});
  expect_refused(mesh, "group \"walls\" has a face with the corners 0, 1 and 26");
  mesh = cavity(2, Shape::tetrahedron);
  mesh.cell_groups = {{"fluid", {0, 48}}};
  expect_refused(mesh, "group \"fluid\" has a cell 48, but the mesh has 48 cells");
}

TEST(BadMesh, FacesWithCornersThatDoNotExist) {
  Mesh mesh = cavity(2, Shape::tetrahedron);
  for (const FaceCorners& wrong : {FaceCorners{0, 1, 27, kNone}, {0, kNone, 2, kNone}, {0, 1, 2, kNone - 1}}) {
    mesh.face_groups[1].faces.push_back(wrong);
    expect_refused(mesh, "group \"walls\" has a face with a corner beyond the mesh's 27 points");
    mesh.face_groups[1].faces.pop_back();
    mesh.periodic = {{{0, 1, 3, kNone}, wrong}};
    expect_refused(mesh, "a periodic face has a corner beyond the mesh's 27 points");
    mesh.periodic.clear();
  }
}

TEST(BadMesh, CavitiesThatCannotBe) {
  EXPECT_FALSE(make_cavity(0, Shape::tetrahedron));
  EXPECT_FALSE(make_cavity(401, Shape::hexahedron));
  EXPECT_FALSE(make_cavity(3, Shape::triangle));
}

}  // namespace
}  // namespace forebay::mesh::test
