#include <gtest/gtest.h>

#include "meshes/mesh/tests/meshes.h"

namespace forebay::mesh::test {
namespace {

TEST(Groups, PeriodicFacesStayBehindEachOther) {
  for (const Shape shape : {Shape::tetrahedron, Shape::pyramid, Shape::prism, Shape::hexahedron}) {
    SCOPED_TRACE(describe(shape).name);
    const Mesh mesh = periodic(shape);
    const Topology topology = need(number(mesh));
    ASSERT_EQ(topology.periodic.size(),
              describe(shape).faces[0].shape == Shape::triangle && shape == Shape::tetrahedron ? 8U : 4U);
    const Mesh fine = need(refined_mesh(need(Refinement::make(mesh, topology, 2))));
    EXPECT_EQ(fine.periodic.size(), 16 * mesh.periodic.size());
    for (const PeriodicFaces& pair : fine.periodic) {
      for (unsigned i = 0; i < kFaceCorners; ++i) {
        ASSERT_EQ(pair.face[i] == kNone, pair.image[i] == kNone);
        if (pair.face[i] == kNone) continue;
        const Point here = fine.points[pair.face[i]], there = fine.points[pair.image[i]];
        EXPECT_EQ((Point{here[0] + 1, here[1], here[2]}), there);
      }
    }
    const Topology anew = need(number(fine));
    EXPECT_EQ(anew.periodic.size(), fine.periodic.size());
  }
}

TEST(Groups, PeriodicFacesThatDoNotFitAreRefused) {
  Mesh mesh = periodic(Shape::hexahedron);
  std::swap(mesh.periodic[0].image[0], mesh.periodic[0].image[1]);
  auto topology = number(mesh);
  ASSERT_FALSE(topology);
  EXPECT_NE(topology.error().text().find("do not fit each other"), std::string::npos) << topology.error().text();
  mesh = periodic(Shape::hexahedron);
  mesh.periodic.push_back({mesh.periodic[0].face, mesh.periodic[1].image});
  topology = number(mesh);
  ASSERT_FALSE(topology);
  EXPECT_NE(topology.error().text().find("a copy of two others"), std::string::npos) << topology.error().text();
  mesh.periodic.pop_back();
  mesh.periodic[0].image = {0, 1, 2, 26};
  topology = number(mesh);
  ASSERT_FALSE(topology);
  EXPECT_NE(topology.error().text().find("list of periodic faces has a face"), std::string::npos)
      << topology.error().text();
}

TEST(Groups, OfCellsAreInherited) {
  Mesh mesh = cavity(2, Shape::pyramid);
  mesh.cell_groups = {{"porous", {3, 17}}, {"empty", {}}};
  const Topology topology = need(number(mesh));
  const Refinement refinement = need(Refinement::make(mesh, topology, 2));
  const Mesh fine = need(refined_mesh(refinement));
  ASSERT_EQ(fine.cell_groups.size(), 2U);
  EXPECT_EQ(fine.cell_groups[0].name, "porous");
  EXPECT_EQ(fine.cell_groups[0].cells.size(), 2U * 92U);
  for (const std::uint32_t cell : fine.cell_groups[0].cells) EXPECT_TRUE(cell / 92 == 3 || cell / 92 == 17) << cell;
  EXPECT_TRUE(fine.cell_groups[1].cells.empty());
}

TEST(Groups, OfFacesAreInherited) {
  for (const auto& [name, mesh, volume] : meshes()) {
    const Topology topology = need(number(mesh));
    const Mesh fine = need(refined_mesh(need(Refinement::make(mesh, topology, 2))));
    const Topology anew = need(number(fine));
    ASSERT_EQ(fine.face_groups.size(), mesh.face_groups.size()) << name;
    for (std::size_t g = 0; g < mesh.face_groups.size(); ++g) {
      EXPECT_EQ(fine.face_groups[g].name, mesh.face_groups[g].name);
      EXPECT_EQ(anew.face_groups[g].size(), 16 * topology.face_groups[g].size()) << name;
    }
    for (const std::uint32_t face : anew.face_groups[0])
      for (const std::uint32_t corner : anew.faces[face].corners)
        if (corner != kNone) {
          EXPECT_EQ(fine.points[corner][2], 1) << "of the lid, in " << name;
        }
  }
}

}  // namespace
}  // namespace forebay::mesh::test
