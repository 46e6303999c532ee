#include "meshes/mesh/partition.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "meshes/mesh/hilbert.h"
#include "meshes/mesh/tests/meshes.h"
#include "meshes/mesh/tests/scratch_file.h"

namespace forebay::mesh::test {
namespace {

TEST(Hilbert, CubesThatFollowEachOtherTouch) {
  constexpr std::uint32_t kEdge = 16;
  std::vector<std::pair<std::uint64_t, std::array<std::uint32_t, 3>>> curve;
  for (std::uint32_t k = 0; k < kEdge; ++k)
    for (std::uint32_t j = 0; j < kEdge; ++j)
      for (std::uint32_t i = 0; i < kEdge; ++i) curve.emplace_back(hilbert_index({i, j, k}), std::array{i, j, k});
  std::sort(curve.begin(), curve.end());
  for (std::uint32_t at = 0; at < curve.size(); ++at) {
    ASSERT_EQ(curve[at].first, at) << "a cube of cubes is one stretch of the curve";
    if (at == 0) continue;
    int distance = 0;
    for (int axis = 0; axis < 3; ++axis)
      distance += std::abs(static_cast<int>(curve[at].second[axis]) - static_cast<int>(curve[at - 1].second[axis]));
    ASSERT_EQ(distance, 1) << "between " << at - 1 << " and " << at;
  }
}

class Partitions : public ::testing::Test {
 protected:
  const Mesh mesh = mixed();
  const Topology topology = need(number(mesh));
  const Refinement refinement = need(Refinement::make(mesh, topology, 3));
};

TEST_F(Partitions, HaveNearlyEqualShares) {
  std::uint64_t largest_cell = 0;
  for (const Shape shape : mesh.shapes)
    largest_cell = std::max<std::uint64_t>(largest_cell, refinement.pattern(shape).cell_count);
  for (const std::uint32_t parts : {1U, 2U, 3U, 7U}) {
    const Partition partition = need(partition_along_curve(refinement, parts));
    std::vector<std::uint64_t> share(parts);
    for (std::uint32_t cell = 0; cell < mesh.cells(); ++cell)
      share.at(partition.part[cell]) += refinement.pattern(mesh.shapes[cell]).cell_count;
    for (const std::uint64_t cells : share)
      EXPECT_NEAR(static_cast<double>(cells), static_cast<double>(refinement.counts().cells) / parts,
                  static_cast<double>(largest_cell));
  }
}

TEST_F(Partitions, TogetherHaveEachCellOnce) {
  const Partition partition = need(partition_along_curve(refinement, 100));
  std::vector<std::uint32_t> all;
  for (std::uint32_t part = 0; part < 100; ++part)
    for (const std::uint32_t cell : partition.cells_of(part)) all.push_back(cell);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, all_cells(mesh));
}

TEST_F(Partitions, KeepPartsTogether) {
  // The curve passes through one half of the cube after the other, so two parts share few faces.
  const Mesh cube = cavity(8, Shape::hexahedron);
  const Topology of_cube = need(number(cube));
  const Partition partition = need(partition_along_curve(need(Refinement::make(cube, of_cube, 1)), 2));
  int shared = 0;
  for (const Topology::Face& face : of_cube.faces)
    if (face.cells[1] != kNone && partition.part[face.cells[0]] != partition.part[face.cells[1]]) ++shared;
  EXPECT_EQ(shared, 64);
}

class PartitionFile : public Partitions {
 protected:
  void expect_refused(const std::string& content, const std::string& because) {
    file.write(content);
    const auto read = read_partition(path, mesh.cells());
    ASSERT_FALSE(read) << "expected: " << because;
    EXPECT_NE(read.error().text().find(because), std::string::npos) << read.error().text();
  }
  const ScratchFile file;
  const std::string path = file.path();
};

TEST_F(PartitionFile, GivesBackWhatWasWritten) {
  const Partition partition = need(partition_along_curve(refinement, 5));
  ASSERT_TRUE(write_partition(partition, path));
  const Partition read = need(read_partition(path, mesh.cells()));
  EXPECT_EQ(read.part, partition.part);
  EXPECT_EQ(read.parts, 5U);
}

TEST_F(PartitionFile, OfAnotherMeshIsRefused) {
  expect_refused("0\n1\n", "2 lines for a mesh of " + std::to_string(mesh.cells()) + " cells");
  expect_refused("", "0 lines for a mesh");
  std::string longer;
  for (std::size_t i = 0; i < mesh.cells() + 1; ++i) longer += "0\n";
  expect_refused(longer, std::to_string(mesh.cells() + 1) + " lines");
}

TEST_F(PartitionFile, WithOtherThanNumbersIsRefused) {
  expect_refused("0\n-1\n", "line 2 is not the number of a part");
  expect_refused("0\n1\nx\n", "line 3 is not");
  expect_refused("99999999999\n", "line 1 is not");
  expect_refused(std::string(100000, '0'), path);
}

}  // namespace
}  // namespace forebay::mesh::test
