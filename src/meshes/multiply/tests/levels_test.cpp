#include "meshes/multiply/levels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "meshes/mesh/tests/meshes.h"

namespace forebay::multiply::test {
namespace {

using mesh::Survey;
using mesh::test::need;

TEST(Levels, AreLookedAtOneAfterTheOther) {
  for (const auto& [name, coarse, volume] : mesh::test::meshes()) {
    SCOPED_TRACE(name);
    const mesh::Topology topology = need(number(coarse));
    std::vector<Survey> by_level;
    ASSERT_TRUE(survey_levels(coarse, topology, 3, 2, by_level));
    ASSERT_EQ(by_level.size(), 3U) << "the coarse mesh, and refined once and twice";
    EXPECT_EQ(by_level[0].cells, coarse.cells());
    for (int level = 0; level < 3; ++level) {
      const auto found = by_level[static_cast<std::size_t>(level)];
      EXPECT_EQ(found.cells, need(mesh::Refinement::make(coarse, topology, level)).counts().cells);
      EXPECT_NEAR(found.volume / volume, 1, 1e-12);
      EXPECT_GT(found.least_quality, 0);
    }
    EXPECT_TRUE(compare_volumes(by_level));
  }
}

TEST(Levels, OneWithCellsInsideOutIsNamed) {
  const mesh::Mesh coarse = mesh::test::twisted();
  const mesh::Topology topology = need(number(coarse));
  std::vector<Survey> by_level;
  const Status found = survey_levels(coarse, topology, 4, 2, by_level);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().what.find("of level 1 come out flat or inside out,"), std::string::npos)
      << found.error().text();
  EXPECT_NE(found.error().what.find(", of cells 0 to 0 of level 0"), std::string::npos) << found.error().text();
  EXPECT_EQ(by_level.size(), 1U) << "the coarse mesh is right";

  by_level.resize(3);  // as if the mesh were itself refined twice
  const Status above = survey_levels(coarse, topology, 4, 2, by_level);
  ASSERT_FALSE(above);
  EXPECT_NE(above.error().what.find("of level 4 come out flat or inside out, of cells 0 to 0 of level 3"),
            std::string::npos)
      << above.error().text();
}

TEST(Levels, VolumesThatDifferAreAnErrorThatNamesBoth) {
  std::vector<Survey> by_level(3);
  for (Survey& each : by_level) each.volume = 2;
  by_level[1].volume = std::nextafter(2, 3);
  EXPECT_TRUE(compare_volumes(by_level));
  by_level[2].volume = 2.000001;
  const Status compared = compare_volumes(by_level);
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().what, "the volume is 2.000001 on level 2 and 2 before it is refined");
  by_level[2].volume = std::nan("");
  EXPECT_FALSE(compare_volumes(by_level));
}

}  // namespace
}  // namespace forebay::multiply::test
