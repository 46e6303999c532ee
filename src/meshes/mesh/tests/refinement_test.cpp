#include "meshes/mesh/refinement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "meshes/mesh/quality.h"
#include "meshes/mesh/tests/meshes.h"

namespace forebay::mesh::test {
namespace {

std::uint64_t power(std::uint64_t base, int exponent) {
  std::uint64_t result = 1;
  while (exponent-- > 0) result *= base;
  return result;
}

// How many points and edges there are, and faces and cells of each shape.
struct Sizes {
  std::uint64_t points, edges, triangles, quadrilaterals, tetrahedra, pyramids, prisms, hexahedra;
  friend bool operator==(const Sizes&, const Sizes&) = default;
};
void PrintTo(const Sizes& s, std::ostream* out) {
  *out << s.points << " points, " << s.edges << " edges, " << s.triangles << " triangles, " << s.quadrilaterals
       << " quadrilaterals, " << s.tetrahedra << " tetrahedra, " << s.pyramids << " pyramids, " << s.prisms
       << " prisms, " << s.hexahedra << " hexahedra";
}

Sizes sizes_of(const Mesh& mesh, const Topology& topology) {
  const auto cells = [&](Shape shape) {
    return static_cast<std::uint64_t>(std::count(mesh.shapes.begin(), mesh.shapes.end(), shape));
  };
  const auto faces = [&](Shape shape) {
    return static_cast<std::uint64_t>(std::count_if(topology.faces.begin(), topology.faces.end(),
                                                    [&](const Topology::Face& face) { return face.shape == shape; }));
  };
  return {mesh.points.size(),        topology.edges.size(), faces(Shape::triangle), faces(Shape::quadrilateral),
          cells(Shape::tetrahedron), cells(Shape::pyramid), cells(Shape::prism),    cells(Shape::hexahedron)};
}

// One level on: what is cut, and what lies inside the pieces of each shape.
Sizes refined(const Sizes& s) {
  const auto [v, e, t, q, tetrahedra, pyramids, prisms, hexahedra] = s;
  return {v + e + q + hexahedra,
          2 * e + 3 * t + 4 * q + tetrahedra + 4 * pyramids + 3 * prisms + 6 * hexahedra,
          4 * t + 8 * tetrahedra + 12 * pyramids + 4 * prisms,
          4 * q + pyramids + 6 * prisms + 12 * hexahedra,
          8 * tetrahedra + 4 * pyramids,
          6 * pyramids,
          8 * prisms,
          8 * hexahedra};
}

TEST(Refinement, EveryMeshGrowsByTheExactRecurrences) {
  for (const auto& [name, mesh, volume_of_mesh] : meshes()) {
    SCOPED_TRACE(name);
    const Topology topology = need(number(mesh));
    Sizes expected = sizes_of(mesh, topology);
    for (int levels = 1; levels <= 3; ++levels) {
      expected = refined(expected);
      const Refinement refinement = need(Refinement::make(mesh, topology, levels));
      const Mesh fine = need(refined_mesh(refinement));
      EXPECT_EQ(sizes_of(fine, need(number(fine))), expected) << levels << " levels";
      EXPECT_EQ(refinement.counts().points, expected.points);
      EXPECT_EQ(refinement.counts().faces, expected.triangles + expected.quadrilaterals);
      EXPECT_EQ(refinement.counts().cells,
                expected.tetrahedra + expected.pyramids + expected.prisms + expected.hexahedra);
    }
  }
}

TEST(Refinement, EveryShapeHasSoManyChildren) {
  for (int levels = 1; levels <= 4; ++levels) {
    const auto count = [levels](Shape shape) { return std::uint64_t{make_pattern(shape, levels).cell_count}; };
    EXPECT_EQ(count(Shape::tetrahedron), power(8, levels));
    EXPECT_EQ(count(Shape::hexahedron), power(8, levels));
    EXPECT_EQ(count(Shape::prism), power(8, levels));
    // P' = 6 P and T' = 8 T + 4 P.
    EXPECT_EQ(count(Shape::pyramid), power(6, levels) + 2 * (power(8, levels) - power(6, levels)));
  }
}

// Numbering the refined mesh anew finds every face that has not two cells, or one at the boundary; cells that overlap;
// and cells inside out.
TEST(Refinement, RefinedMeshesAreConforming) {
  for (const auto& [name, mesh, volume_of_mesh] : meshes()) {
    SCOPED_TRACE(name);
    const Topology topology = need(number(mesh));
    for (int levels = 1; levels <= 3; ++levels) {
      const Refinement refinement = need(Refinement::make(mesh, topology, levels));
      const Mesh fine = need(refined_mesh(refinement));
      const Topology anew = need(number(fine));
      EXPECT_EQ(fine.points.size(), refinement.counts().points);
      EXPECT_EQ(fine.cells(), refinement.counts().cells);
      EXPECT_EQ(anew.faces.size(), refinement.counts().faces);
      EXPECT_EQ(anew.boundary_faces, refinement.counts().boundary_faces);
      EXPECT_EQ(anew.boundary_faces, std::uint64_t{topology.boundary_faces} << (2 * levels));
      const auto euler = static_cast<std::int64_t>(fine.points.size() + anew.faces.size()) -
                         static_cast<std::int64_t>(anew.edges.size() + fine.cells());
      EXPECT_EQ(euler, 1) << "of a solid body";
    }
  }
}

TEST(Refinement, NoTwoPointsAreAtOnePlace) {
  for (const auto& [name, mesh, volume_of_mesh] : meshes()) {
    const Topology topology = need(number(mesh));
    const Mesh fine = need(refined_mesh(need(Refinement::make(mesh, topology, 2))));
    EXPECT_EQ(std::set<Point>(fine.points.begin(), fine.points.end()).size(), fine.points.size()) << name;
  }
}

std::vector<std::vector<Point>> cells_by_place(const Mesh& mesh) {
  std::vector<std::vector<Point>> cells;
  for (std::size_t i = 0; i < mesh.cells(); ++i) {
    std::vector<Point> corners;
    for (const std::uint32_t point : mesh.cell(i)) {
      // Halves of halves and quarters differ in the last bit.
      Point rounded = mesh.points[point];
      for (double& x : rounded) x = std::round(x * 1e12);
      corners.push_back(rounded);
    }
    std::sort(corners.begin(), corners.end());
    cells.push_back(std::move(corners));
  }
  std::sort(cells.begin(), cells.end());
  return cells;
}

TEST(Refinement, TwoLevelsMakeTheSameCellsAsOneLevelTwice) {
  for (const auto& [name, mesh, volume_of_mesh] : meshes()) {
    const Topology topology = need(number(mesh));
    const Mesh once = need(refined_mesh(need(Refinement::make(mesh, topology, 1))));
    const Topology between = need(number(once));
    const Mesh twice = need(refined_mesh(need(Refinement::make(once, between, 1))));
    const Mesh at_once = need(refined_mesh(need(Refinement::make(mesh, topology, 2))));
    EXPECT_TRUE(cells_by_place(twice) == cells_by_place(at_once)) << name;
  }
}

// Bey: three at most, of any tetrahedron and after any number of levels.
TEST(Refinement, TetrahedraAreOfThreeKindsOfSimilarCells) {
  Mesh mesh;
  mesh.points = {{0.1, 0, 0}, {1.3, 0.2, 0.1}, {0.4, 0.9, -0.2}, {0.3, 0.35, 1.1}};
  mesh.add(Shape::tetrahedron, std::vector<std::uint32_t>{0, 1, 2, 3});
  const Topology topology = need(number(mesh));
  for (int levels = 1; levels <= 5; ++levels) {
    const Mesh fine = need(refined_mesh(need(Refinement::make(mesh, topology, levels))));
    std::set<std::vector<long>> kinds;
    for (std::size_t i = 0; i < fine.cells(); ++i) {
      std::vector<long> lengths;
      const auto cell = fine.cell(i);
      for (const auto& [a, b] : describe(Shape::tetrahedron).edges) {
        double square = 0;
        for (int axis = 0; axis < 3; ++axis) {
          const double d = fine.points[cell[a]][axis] - fine.points[cell[b]][axis];
          square += d * d;
        }
        lengths.push_back(std::lround(1e8 * std::sqrt(square) * std::pow(2, levels)));
      }
      std::sort(lengths.begin(), lengths.end());
      kinds.insert(lengths);
    }
    EXPECT_EQ(kinds.size(), 3U) << levels << " levels";
  }
}

TEST(Refinement, TheShortestDiagonalIsChosen) {
  // The diagonal between the middles of 01 and 23 is the shortest of the octahedron inside.
  Mesh mesh;
  mesh.points = {{-1, 0, 0}, {1, 0, 0}, {0, 1, 0.3}, {0, -1, 0.3}};
  mesh.add(Shape::tetrahedron, std::vector<std::uint32_t>{0, 1, 2, 3});
  choose_diagonals(mesh);
  ASSERT_TRUE(validate(mesh)) << validate(mesh).error().text();
  const Topology topology = need(number(mesh));
  const Mesh fine = need(refined_mesh(need(Refinement::make(mesh, topology, 1))));
  const Topology anew = need(number(fine));
  double shortest = 9;
  for (const auto& [a, b] : anew.edges) {
    double square = 0;
    for (int axis = 0; axis < 3; ++axis) square += std::pow(fine.points[a][axis] - fine.points[b][axis], 2);
    shortest = std::min(shortest, square);
  }
  EXPECT_NEAR(std::sqrt(shortest), 0.3, 1e-12);
}

TEST(Refinement, LevelsOutOfRangeAreRefused) {
  const Mesh mesh = cavity(1, Shape::hexahedron);
  const Topology topology = need(number(mesh));
  for (const int levels : {-1, kMostLevels + 1, 1000}) {
    const auto made = Refinement::make(mesh, topology, levels);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::bad_input);
    EXPECT_NE(made.error().text().find("0 to 6"), std::string::npos) << made.error().text();
  }
}

}  // namespace
}  // namespace forebay::mesh::test
