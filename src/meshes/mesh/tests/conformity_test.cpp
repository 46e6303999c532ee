#include "meshes/mesh/conformity.h"

#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <set>

#include "meshes/mesh/join.h"
#include "meshes/mesh/tests/meshes.h"

namespace forebay::mesh::test {
namespace {

// Both, with all their own points; those of the other one moved.
Mesh beside(Mesh mesh, const Mesh& other, const Point& move) {
  const auto first = static_cast<std::uint32_t>(mesh.points.size());
  for (const Point& point : other.points)
    mesh.points.push_back({point[0] + move[0], point[1] + move[1], point[2] + move[2]});
  for (std::size_t cell = 0; cell < other.cells(); ++cell) {
    std::vector<std::uint32_t> corners(other.cell(cell).begin(), other.cell(cell).end());
    for (std::uint32_t& corner : corners) corner += first;
    mesh.add(other.shapes[cell], corners);
  }
  mesh.face_groups.clear();
  return mesh;
}

// Turned out of all planes of coordinates, made small and moved far away.
Mesh askew(Mesh mesh, double scale = 1, double shift = 0) {
  for (auto& [x, y, z] : mesh.points) {
    const double c = std::cos(0.7), s = std::sin(0.7), u = c * x - s * y, v = s * x + c * y;
    const Point turned{c * u - s * z, v, s * u + c * z};
    x = scale * turned[0] + shift, y = scale * turned[1] - shift, z = scale * turned[2] + shift;
  }
  return mesh;
}

std::vector<std::string> warnings(const Mesh& mesh) {
  return need(conformity(mesh, need(number(mesh))));
}

void expect_torn(const Mesh& mesh, const std::string& because) {
  for (const Mesh& each : {mesh, askew(mesh), askew(mesh, 1e-6), askew(mesh, 100, 3000)}) {
    const auto found = conformity(each, need(number(each)));
    ASSERT_FALSE(found) << "expected: " << because;
    EXPECT_EQ(found.error().code, Code::bad_input);
    EXPECT_NE(found.error().what.find(because), std::string::npos) << found.error().text();
    EXPECT_NE(found.error().advice.find("--merge"), std::string::npos) << found.error().text();
  }
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr std::array kShapes = {Shape::tetrahedron, Shape::pyramid, Shape::prism, Shape::hexahedron};

TEST(Conformity, OfWholeMeshesSaysNothing) {
  for (const auto& [name, mesh, volume] : meshes()) EXPECT_TRUE(warnings(mesh).empty()) << name;
  for (const Shape shape : kShapes) EXPECT_TRUE(warnings(askew(periodic(shape), 1e-6, 1)).empty());
  EXPECT_TRUE(warnings(twisted()).empty());
}

TEST(Conformity, OfBodiesThatTouchTellsTheBodiesAndTheFacesThatCoincide) {
  for (const Shape shape : kShapes) {
    const Mesh one = cavity(2, shape), torn = beside(one, one, {1, 0, 0});
    const std::string each = std::to_string(one.cells()) + " cells near ";
    const std::size_t faces = shape == Shape::tetrahedron || shape == Shape::prism ? 8 : 4;
    const auto said = warnings(torn);
    ASSERT_EQ(said.size(), 2U);
    EXPECT_TRUE(has(said[0], "2 bodies")) << said[0];
    EXPECT_TRUE(has(said[0], each + "(1, 0, 0), " + each + "(0, 0, 0)")) << said[0];
    EXPECT_GE(std::stoul(said[1]), 4U) << said[1];
    EXPECT_LE(std::stoul(said[1]), faces) << said[1];
    EXPECT_TRUE(has(said[1], "on top of others") && has(said[1], "at (1, ") && has(said[1], "--merge")) << said[1];
    EXPECT_EQ(warnings(askew(torn, 1e-6, 1e-3)).size(), 2U);

    Mesh merged = torn;
    EXPECT_EQ(need(merge(merged, 1e-6)), 9U);
    EXPECT_TRUE(warnings(merged).empty());
  }
}

TEST(Conformity, OfBodiesThatLieApartTellsOnlyThese) {
  const Mesh one = cavity(2, Shape::hexahedron), other = cavity(3, Shape::tetrahedron);
  for (const double gap : {1e-3, 5.0}) {
    const auto said = warnings(beside(one, other, {1 + gap, 0, 0}));
    ASSERT_EQ(said.size(), 1U) << gap;
    EXPECT_TRUE(has(said[0], "2 bodies")) << said[0];
  }
  EXPECT_EQ(warnings(beside(one, one, {1, 1, 0})).size(), 1U) << "a common edge is no common face";
}

TEST(Conformity, TellsTheLargestOfManyBodies) {
  Mesh mesh = cavity(2, Shape::hexahedron);
  for (int i = 1; i < 9; ++i) mesh = beside(mesh, cavity(1, Shape::hexahedron), {3.0 * i, 0, 0});
  const auto said = warnings(mesh);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(has(said[0], "9 bodies") && has(said[0], ": 8 cells near (0, 0, 0), 1 cell near ")) << said[0];
  EXPECT_TRUE(said[0].ends_with(", ...")) << said[0];
}

// A wall without thickness in the middle of a body: its points are there twice, but for those at its rim.
TEST(Conformity, OfACrackTellsTheFacesThatCoincide) {
  Mesh mesh = cavity(4, Shape::hexahedron);
  const auto middle = static_cast<std::uint32_t>(
      std::find(mesh.points.begin(), mesh.points.end(), Point{0.5, 0.5, 0.5}) - mesh.points.begin());
  mesh.points.push_back(mesh.points[middle]);
  for (std::size_t cell = 0; cell < mesh.cells(); ++cell) {
    double height = 0;
    for (const std::uint32_t corner : mesh.cell(cell)) height += mesh.points[corner][2] / 8;
    for (std::size_t i = mesh.first[cell]; i < mesh.first[cell + 1]; ++i)
      if (height > 0.5 && mesh.corners[i] == middle)
        mesh.corners[i] = static_cast<std::uint32_t>(mesh.points.size() - 1);
  }
  mesh.face_groups.clear();
  const auto said = warnings(mesh);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(said[0].starts_with("4 faces at the boundary on top of others")) << said[0];
}

// A box beside two half boxes, with common points.
TEST(Conformity, RefusesHangingPoints) {
  Mesh mesh;
  mesh.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1},   {1, 0, 1},   {0, 1, 1},   {1, 1, 1},
                 {2, 0, 0}, {2, 1, 0}, {2, 0, 1}, {2, 1, 1}, {1, 0, 0.5}, {1, 1, 0.5}, {2, 0, 0.5}, {2, 1, 0.5}};
  for (const std::vector<std::uint32_t>& cell : std::vector<std::vector<std::uint32_t>>{
           {0, 1, 3, 2, 4, 5, 7, 6}, {1, 8, 9, 3, 12, 14, 15, 13}, {12, 14, 15, 13, 5, 10, 11, 7}})
    mesh.add(Shape::hexahedron, cell);
  expect_torn(mesh, "2 points hang on an edge, at ");
  mesh.points[7][0] = 1.2;  // no face there is plane any more
  mesh.points[13][0] = 1.1;
  expect_torn(mesh, "2 points hang on an edge, at ");
}

TEST(Conformity, RefusesFinerCellsBesideCoarserOnesAlsoWithPointsOfTheirOwn) {
  for (const Shape one : kShapes)
    for (const Shape other : kShapes) {
      expect_torn(beside(cavity(2, one), cavity(4, other), {1, 0, 0}), "hang on an edge");
      expect_torn(beside(cavity(2, one), cavity(3, other), {1, 0, 0}), "does not conform");
      expect_torn(beside(cavity(2, one), cavity(2, other), {1, 0.17, 0.31}), "not corner on corner");
    }
}

TEST(Conformity, RefusesAQuadrilateralOnTriangles) {
  const Mesh torn = beside(cavity(2, Shape::hexahedron), cavity(2, Shape::tetrahedron), {1, 0, 0});
  expect_torn(torn, "8 triangles lie on half a quadrilateral, at ");
  Mesh common = torn;
  EXPECT_EQ(need(merge(common, 1e-6)), 9U);
  expect_torn(common, "8 triangles lie on half a quadrilateral, at ");
  for (Point& point : common.points)
    if (point[0] == 1 && point[1] == 0.5 && point[2] == 0.5) point[0] = 1.1;
  expect_torn(common, "8 triangles lie on half a quadrilateral, at ");
}

TEST(Conformity, RefusesTrianglesWithTheOtherDiagonal) {
  Mesh mirrored = cavity(2, Shape::tetrahedron);
  for (Point& point : mirrored.points) point[1] = 1 - point[1];
  for (std::size_t cell = 0; cell < mirrored.cells(); ++cell)
    std::swap(mirrored.corners[mirrored.first[cell]], mirrored.corners[mirrored.first[cell] + 1]);
  const Mesh torn = beside(cavity(2, Shape::tetrahedron), mirrored, {1, 0, 0});
  expect_torn(torn, "faces lie on others, but not corner on corner");
  Mesh common = torn;
  EXPECT_EQ(need(merge(common, 1e-6)), 9U);
  expect_torn(common, "faces lie on others, but not corner on corner");
}

// As at the trailing edge of a wing: both sides leave the same edge at a small angle.
TEST(Conformity, TakesASharpGap) {
  for (const double angle : {1e-1, 1e-3, 1e-4}) {
    Mesh mesh;
    mesh.points = {{0, 0, 0}, {0, 1, 0}, {1, 0.4, angle}, {1, 0.5, -angle}, {0.5, 0.5, 1}, {0.5, 0.5, -1}};
    mesh.add(Shape::tetrahedron, std::vector<std::uint32_t>{0, 2, 1, 4});
    mesh.add(Shape::tetrahedron, std::vector<std::uint32_t>{0, 1, 3, 5});
    EXPECT_EQ(warnings(mesh).size(), 1U) << "two bodies";
  }
}

// Two plates of so many cells along an edge, and one cell thick, on each other; the other one moved.
Mesh plates(std::uint32_t edge, const Point& move = {1, 0, 0}) {
  Mesh plate;
  const std::uint32_t line = edge + 1;
  for (std::uint32_t k = 0; k < 2; ++k)
    for (std::uint32_t j = 0; j < line; ++j)
      for (std::uint32_t i = 0; i < line; ++i)
        plate.points.push_back({static_cast<double>(k), static_cast<double>(j), static_cast<double>(i)});
  for (std::uint32_t j = 0; j < edge; ++j)
    for (std::uint32_t i = 0; i < edge; ++i) {
      const std::uint32_t a = j * line + i, b = a + line * line;
      const std::array<std::uint32_t, 8> cell{a, a + line, a + line + 1, a + 1, b, b + line, b + line + 1, b + 1};
      plate.add(Shape::hexahedron, cell);
    }
  return beside(plate, plate, move);
}

// However many others it lies on.
TEST(Conformity, TellsAFaceThatLiesOnOthersOnce) {
  expect_torn(beside(cavity(2, Shape::hexahedron), cavity(2, Shape::hexahedron), {1, 0.17, 0.31}),
              "conform: 4 faces lie on others");
  expect_torn(plates(31, {1, 0.5, 0.5}), "conform: 961 faces lie on others");
  const Mesh torn = plates(3, {1, 0.5, 0.5});
  const auto found = conformity(torn, need(number(torn)));
  ASSERT_FALSE(found);
  std::set<std::string> places;
  const std::string& text = found.error().what;
  for (std::size_t at = text.find('('); at != std::string::npos; at = text.find('(', at + 1))
    places.insert(text.substr(at, text.find(')', at) - at));
  EXPECT_EQ(places.size(), 3U) << text;
}

TEST(Conformity, SaysThatThereMayBeMoreThanItCounted) {
  expect_torn(plates(32, {1, 0.5, 0.5}), "conform: at least 1000 faces lie on others");
}

// The process's time, the least of some runs.
double seconds_of(const std::function<void()>& work) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    work();
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

// All points of the joint have one coordinate in common.
TEST(Conformity, AndMergingTakeTimeThatHardlyGrowsFasterThanTheMesh) {
  const auto time_of = [](std::uint32_t edge) {
    const Mesh mesh = plates(edge);
    const Topology topology = need(number(mesh));
    return seconds_of([&] { EXPECT_EQ(need(conformity(mesh, topology)).size(), 2U); }) + seconds_of([&] {
             Mesh merged = mesh;
             EXPECT_EQ(need(merge(merged, 1e-3)), std::size_t{edge + 1} * (edge + 1));
           });
  };
  const double small = time_of(40), large = time_of(160);  // 16 times as many cells
  EXPECT_LT(large, 48 * small) << small << " s, " << large << " s";
}

TEST(Merge, KeepsGroupsAndVolume) {
  Mesh one = cavity(2, Shape::prism);
  one.cell_groups = {{"fluid", {0, 3}}};
  Mesh torn = beside(one, cavity(2, Shape::prism), {1, 1e-9, -1e-9});
  torn.face_groups = one.face_groups;
  ASSERT_EQ(need(merge(torn, 1e-6)), 9U);
  const Topology topology = need(number(torn));
  EXPECT_EQ(topology.face_groups[1].size(), one.face_groups[1].faces.size());
  EXPECT_EQ(torn.cell_groups[0].cells, (std::vector<std::uint32_t>{0, 3}));
  EXPECT_TRUE(need(conformity(torn, topology)).empty());
}

TEST(Merge, RefusesATolerancesAsLongAsAnEdge) {
  Mesh mesh = cavity(4, Shape::hexahedron);
  const auto merged = merge(mesh, 0.25);
  ASSERT_FALSE(merged);
  EXPECT_TRUE(has(merged.error().what, "an edge of cell 0 at (0, 0, 0) has a length of 0.25")) << merged.error().text();
  for (const double wrong : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_FALSE(merge(mesh, wrong));
  EXPECT_EQ(need(merge(mesh, 0)), 0U);
}

// Each point is near enough to the next one, but the first one and the last one are corners of one cell.
TEST(Merge, RefusesWhatWouldMakeTwoCornersOne) {
  Mesh mesh = cavity(1, Shape::hexahedron);
  for (const double x : {0.3, 0.6, 0.9}) mesh = beside(mesh, cavity(1, Shape::hexahedron), {x, 0, 0});
  const auto merged = merge(mesh, 0.35);
  ASSERT_FALSE(merged);
  EXPECT_TRUE(has(merged.error().text(), "smaller")) << merged.error().text();
}

}  // namespace
}  // namespace forebay::mesh::test
