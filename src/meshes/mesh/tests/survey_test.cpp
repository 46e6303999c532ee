#include "meshes/mesh/survey.h"

#include <gtest/gtest.h>

#include <random>

#include "meshes/mesh/quality.h"
#include "meshes/mesh/tests/meshes.h"

namespace forebay::mesh::test {
namespace {

std::vector<Point> reference(Shape shape) {
  std::vector<Point> corners;
  for (const auto& place : describe(shape).reference)
    corners.push_back({static_cast<double>(place[0]), static_cast<double>(place[1]), static_cast<double>(place[2])});
  return corners;
}

TEST(Quality, VolumesOfReferenceCells) {
  EXPECT_DOUBLE_EQ(volume(Shape::tetrahedron, reference(Shape::tetrahedron)), 1.0 / 6);
  EXPECT_DOUBLE_EQ(volume(Shape::pyramid, reference(Shape::pyramid)), 1.0 / 3);
  EXPECT_DOUBLE_EQ(volume(Shape::prism, reference(Shape::prism)), 1.0 / 2);
  EXPECT_DOUBLE_EQ(volume(Shape::hexahedron, reference(Shape::hexahedron)), 1);
}

TEST(Quality, OfIdealCellsIsOne) {
  const double h = std::sqrt(0.5), s = std::sqrt(3) / 2;
  const std::vector<Point> prism{{0, 0, 0}, {1, 0, 0}, {0.5, s, 0}, {0, 0, 1}, {1, 0, 1}, {0.5, s, 1}};
  const std::vector<Point> pyramid{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, h}};
  const std::vector<Point> tetrahedron{{0, 0, 0}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1}};
  EXPECT_NEAR(std::abs(quality(Shape::tetrahedron, tetrahedron)), 1, 1e-14);
  EXPECT_NEAR(quality(Shape::pyramid, pyramid), 1, 1e-14);
  EXPECT_NEAR(quality(Shape::prism, prism), 1, 1e-14);
  EXPECT_NEAR(quality(Shape::hexahedron, reference(Shape::hexahedron)), 1, 1e-14);
}

TEST(Quality, OfACellInsideOutIsNegative) {
  for (const Shape shape : {Shape::tetrahedron, Shape::pyramid, Shape::prism, Shape::hexahedron}) {
    auto corners = reference(shape);
    EXPECT_GT(quality(shape, corners), 0);
    for (Point& corner : corners) corner[2] = -corner[2];
    EXPECT_LT(quality(shape, corners), 0) << describe(shape).name;
    EXPECT_LT(volume(shape, corners), 0) << describe(shape).name;
  }
}

TEST(Quality, OfManyCellsAtOnceIsThatOfEach) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> place(-1, 1);
  for (const Shape shape : {Shape::tetrahedron, Shape::pyramid, Shape::prism, Shape::hexahedron}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{9}, ManyCells::kMost}) {
      ManyCells many;
      std::vector<std::vector<Point>> each;
      for (std::size_t i = 0; i < count; ++i) {
        each.emplace_back(describe(shape).corners);
        for (Point& corner : each.back()) corner = {place(random), place(random), i % 8 == 0 ? 0 : place(random)};
        if (i == 1) each.back().assign(each.back().size(), Point{1, 2, 3});
        for (std::size_t c = 0; c < each.back().size(); ++c) {
          for (std::size_t d = 0; d < 3; ++d) many.corners[c][d][i] = each.back()[c][d];
        }
      }
      measure(shape, many, count);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(many.volumes[i], volume(shape, each[i])) << describe(shape).name << " " << i;
        EXPECT_EQ(many.qualities[i], quality(shape, each[i])) << describe(shape).name << " " << i;
      }
    }
  }
}

// Faces that are not plane, too: children of a bilinear face lie on it.
TEST(Survey, VolumeAndGroupsAreKeptOnEveryLevel) {
  for (const auto& [name, mesh, expected] : meshes()) {
    const Topology topology = need(number(mesh));
    for (int levels = 1; levels <= 4; ++levels) {
      SCOPED_TRACE(name + ", " + std::to_string(levels) + " levels");
      const Refinement refinement = need(Refinement::make(mesh, topology, levels));
      const Survey found = survey(refinement, all_cells(mesh));
      EXPECT_EQ(found.cells, refinement.counts().cells);
      EXPECT_NEAR(found.volume / expected, 1, 1e-12);
      EXPECT_EQ(found.inverted, 0U);
      EXPECT_GT(found.least_volume, 0);
      ASSERT_EQ(found.group_areas.size(), mesh.face_groups.size());
      EXPECT_NEAR(found.group_areas[0], name == "mixed" ? 0.75 : 1, 1e-12) << "lid";
      if (name != "mixed") {
        EXPECT_NEAR(found.group_areas.at(1) / 5, 1, 1e-12) << "walls";
      }
    }
  }
}

TEST(Survey, QualityOfTetrahedraDoesNotFallBelowThatOfTheFirstLevel) {
  const Mesh mesh = shaken(cavity(3, Shape::tetrahedron), 0.05);
  const Topology topology = need(number(mesh));
  const double first = survey(need(Refinement::make(mesh, topology, 1)), all_cells(mesh)).least_quality;
  for (int levels = 2; levels <= 4; ++levels)
    EXPECT_NEAR(survey(need(Refinement::make(mesh, topology, levels)), all_cells(mesh)).least_quality, first, 1e-9);
}

TEST(Survey, OfPartsAddsUpToThatOfTheWhole) {
  for (const auto& [name, mesh, volume] : meshes()) {
    const Topology topology = need(number(mesh));
    const Refinement refinement = need(Refinement::make(mesh, topology, 2));
    const Survey whole = survey(refinement, all_cells(mesh));
    Survey sum;
    for (std::uint32_t part = 0; part < 3; ++part) {
      std::vector<std::uint32_t> cells;
      for (std::uint32_t cell = part; cell < mesh.cells(); cell += 3) cells.push_back(cell);
      sum += survey(refinement, cells);
    }
    EXPECT_EQ(sum.cells, whole.cells);
    EXPECT_EQ(sum.histogram, whole.histogram);
    EXPECT_EQ(sum.least_quality, whole.least_quality);
    EXPECT_EQ(sum.least_volume, whole.least_volume);
    EXPECT_NEAR(sum.volume, whole.volume, 1e-12);
    ASSERT_EQ(sum.group_areas.size(), whole.group_areas.size());
    for (std::size_t i = 0; i < sum.group_areas.size(); ++i)
      EXPECT_NEAR(sum.group_areas[i], whole.group_areas[i], 1e-12);
  }
}

TEST(Survey, CountsCellsThatRefinementTurnsInsideOut) {
  const Mesh mesh = twisted();
  const Topology topology = need(number(mesh));
  const Survey found = survey(need(Refinement::make(mesh, topology, 2)), all_cells(mesh));
  EXPECT_GT(found.inverted, 0U);
  EXPECT_LT(found.least_quality, 0);
  EXPECT_GE(found.histogram[0], found.inverted);
}

}  // namespace
}  // namespace forebay::mesh::test
