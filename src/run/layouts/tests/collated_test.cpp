#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "run/layouts/tests/group_of_ranks.h"
#include "run/openfoam/openfoam.h"

namespace forebay::layouts {
namespace {

namespace fs = std::filesystem;

class CollatedTest : public GroupOfRanks {};

TEST_F(CollatedTest, AFieldBecomesOneFileWithABlockPerRankAndOneHeader) {
  make(2, "U", file("volVectorField", "two\n"));
  make(3, "U", file("volVectorField", "three\n"));
  const auto unit = collated_time(ranks(2, 3), "3", 4);
  ASSERT_TRUE(unit) << unit.error().text();
  EXPECT_EQ(unit->target, "processors4_2-3/3");
  EXPECT_TRUE(unit->is_directory);
  ASSERT_EQ(unit->files.size(), 1u);
  const std::string first = file("volVectorField", "two\n");
  EXPECT_EQ(blocks(unit->files[0]),
            fmt::format("\n// Processor0\n\n{}\n({})\n\n// Processor1\n\n6\n(three\n)", first.size(), first));
  // As OpenFOAM: the number of blocks is that of all ranks, also in a group.
  EXPECT_NE(content(unit->files[0]).find("    blocks      4;\n    location    \"3\";\n    object      U;\n"),
            std::string::npos);
}

TEST_F(CollatedTest, BytesThatLookLikeAHeaderOrAnEndAreKeptInsideABlock) {
  const std::string body = "5\n(}\n//(\0)\n)" + std::string(openfoam::closing_line) + "end";
  make(0, "U", header("volVectorField") + body);
  make(1, "U", header("volVectorField") + body);
  const auto unit = collated_time(ranks(0, 1), "3", 2);
  ASSERT_TRUE(unit) << unit.error().text();
  EXPECT_EQ(unit->target, "processors2/3");
  EXPECT_TRUE(blocks(unit->files[0]).ends_with(fmt::format("\n\n// Processor1\n\n{}\n({})", body.size(), body)));
}

TEST_F(CollatedTest, FilesOfASubdirectoryNameItAsTheirLocation) {
  for (const int rank : {0, 1}) make(rank, "lagrangian/cloud/d", file("scalarField", "\n1\n(12345678)\n"));
  const auto unit = collated_time(ranks(0, 1), "3", 2);
  ASSERT_TRUE(unit) << unit.error().text();
  ASSERT_EQ(unit->directories.size(), 3u);
  EXPECT_EQ(unit->directories[1].path, "lagrangian");
  EXPECT_NE(content(unit->files[0]).find("location    \"3/lagrangian/cloud\";\n    object      d;"), std::string::npos);
}

TEST_F(CollatedTest, DictionariesAndUniformValuesAreKeptOnce) {
  for (const int rank : {0, 1}) {
    make(rank, "uniform/time", file("dictionary", "index 3;"));
    make(rank, "uniform/cumulativeContErr", file("uniformDimensionedScalarField", "value 1;"));
  }
  make(1, "uniform/onlyHere", file("dictionary", "a 1;"));
  const auto unit = collated_time(ranks(0, 1), "3", 4);
  ASSERT_TRUE(unit) << unit.error().text();
  ASSERT_EQ(unit->files.size(), 3u);
  EXPECT_EQ(content(unit->files[0]), file("uniformDimensionedScalarField", "value 1;"));
  EXPECT_EQ(content(unit->files[1]), file("dictionary", "a 1;"));
  EXPECT_EQ(content(unit->files[2]), file("dictionary", "index 3;"));
}

TEST_F(CollatedTest, ARankWithoutParticlesGetsEmptyLists) {
  make(0, "U", file("volVectorField", "u"));
  make(1, "U", file("volVectorField", "u"));
  make(1, "lagrangian/cloud/d", file("scalarField", "\n1\n(12345678)\n"));
  make(1, "lagrangian/cloud/positions", file("Cloud<parcel>", "1\n(\nx\n)\n"));
  make(1, "lagrangian/cloud/pairs", file("labelFieldCompactField", "y"));
  const auto unit = collated_time(ranks(0, 1), "3", 2);
  ASSERT_TRUE(unit) << unit.error().text();
  ASSERT_EQ(unit->files.size(), 4u);
  const auto first_block = [](std::string_view class_name, std::string_view body) {
    const std::string block = header(class_name) + std::string(body);
    return fmt::format("\n// Processor0\n\n{}\n({})\n\n// Processor1\n", block.size(), block);
  };
  using namespace std::string_view_literals;
  const std::vector<std::string> expected{first_block("scalarField", "\n0\n"),
                                          first_block("labelFieldCompactField", "\n1\n(\0\0\0\0)\n0\n"sv),
                                          first_block("Cloud<parcel>", "0\n(\n)\n")};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(blocks(unit->files[i + 1]).starts_with(expected[i])) << blocks(unit->files[i + 1]);
}

TEST_F(CollatedTest, WhatCannotBeCollatedIsNamed) {
  const auto refused = [this](const std::string& named) {
    const auto unit = collated_time(ranks(0, 1), "3", 2);
    ASSERT_FALSE(unit) << named;
    EXPECT_NE(unit.error().path.find(named), std::string::npos) << unit.error().text();
    fs::remove_all(directory_ + "/processor0");
    fs::remove_all(directory_ + "/processor1");
  };
  make(0, "U", file("volVectorField", "u"));
  make(1, "p", file("volScalarField", "p"));
  refused("processor0/3/U");
  make(0, "uniform/time", file("dictionary", "index 3;"));
  make(1, "uniform/time", file("dictionary", "index 4;"));
  refused("uniform/time");
  make(0, "polyMesh/faces", file("faceCompactList", "f"));
  make(1, "polyMesh/faces", file("faceCompactList", "f"));
  refused("polyMesh/faces");
  make(0, "U", file("volVectorField", "u"));
  make(1, "V", file("volVectorField", "u"));
  fs::create_symlink("V", rank_directory(1) + "/U");
  refused("processor1/3/U");
  make(0, "U", file("volVectorField", "u"));
  make(1, "U", "cut off before its header en");
  refused("processor1/3/U");
}

TEST_F(CollatedTest, TheSameFilesGiveTheSameBytes) {
  for (const int rank : {0, 1}) make(rank, "U", file("volVectorField", std::to_string(rank)));
  const auto once = collated_time(ranks(0, 1), "3", 2);
  const auto again = collated_time(ranks(0, 1), "3", 2);
  ASSERT_TRUE(once && again);
  EXPECT_EQ(content(once->files[0]), content(again->files[0]));
}

TEST_F(CollatedTest, RanksOfAGroupFollowEachOther) {
  for (const int rank : {0, 2}) make(rank, "U", file("volVectorField", "u"));
  EXPECT_FALSE(collated_time({ranks(0, 0)[0], ranks(2, 2)[0]}, "3", 4));
  EXPECT_FALSE(collated_time({}, "3", 4));
}

TEST(GroupsTest, NamesAndIoRanksAreThoseOfOpenFoam) {
  EXPECT_EQ(openfoam::name_of_group({4, 0, 3}), "processors4");
  EXPECT_EQ(openfoam::name_of_group({4, 0, 0}), "processors4_0-0");
  EXPECT_EQ(openfoam::name_of_group({4, 2, 3}), "processors4_2-3");
  EXPECT_EQ(io_ranks({{0, 1}, {2, 3}}), "(0 2)");
  EXPECT_EQ(io_ranks({{0, 3}}), "(0)");
}

}  // namespace
}  // namespace forebay::layouts
