#include <gtest/gtest.h>

#include <algorithm>

#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

TEST(TimesTest, DecimalNumbersAreTimesAndNothingElseIs) {
  for (const char* name : {"0", "0.005", "1e-05", "100", "-180", "1.5e+06", "0.1"})
    EXPECT_TRUE(is_time_name(name)) << name;
  for (const char* name : {"constant", "0.orig", "", "system", "1e", "nan", "inf", "0x10", "1 ", "+1", ".5",
                           "processor0", "-", ".", "..", "1e999"})
    EXPECT_FALSE(is_time_name(name)) << name;
}

TEST(TimesTest, TimesAreOrderedByValue) {
  std::vector<std::string> times{"100", "9", "1e-05", "0", "0.005", "10"};
  std::ranges::sort(times, time_less);
  EXPECT_EQ(times, (std::vector<std::string>{"0", "1e-05", "0.005", "9", "10", "100"}));
  EXPECT_FALSE(time_less("1", "1"));
  EXPECT_NE(time_less("1", "1.0"), time_less("1.0", "1"));
}

TEST(TimesTest, ProcessorDirectoriesAreKnownByTheirNumber) {
  EXPECT_EQ(processor_of("processor3"), 3);
  EXPECT_EQ(processor_of("processor0"), 0);
  for (const char* name :
       {"processors4", "processor", "processor-1", "processor01", "processor1x", "Processor1", "processor99999999999"})
    EXPECT_EQ(processor_of(name), std::nullopt) << name;
}

TEST(TimesTest, GroupsAreKnownByTheirRange) {
  const auto part = group_of("processors4_2-3");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->all_ranks, 4);
  EXPECT_EQ(part->first, 2);
  EXPECT_EQ(part->last, 3);
  const auto whole = group_of("processors4");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->last, 3);
  for (const char* name : {"processor4", "processors", "processors4_", "processors4_3-2", "processors4_2-4",
                           "processors0", "processors4_1"})
    EXPECT_FALSE(group_of(name)) << name;
}

TEST(TimesTest, APathTellsItsRankAndTime) {
  const auto uniform = time_path("processor3/0.005/uniform/time");
  ASSERT_TRUE(uniform);
  EXPECT_EQ(uniform->rank, 3);
  EXPECT_EQ(uniform->time, "0.005");
  EXPECT_EQ(uniform->rest, "uniform/time");
  const auto directory = time_path("processor3/0.005");
  ASSERT_TRUE(directory);
  EXPECT_EQ(directory->rest, "");
  const auto serial = time_path("10/U");
  ASSERT_TRUE(serial);
  EXPECT_EQ(serial->rank, -1);
  EXPECT_EQ(serial->time, "10");
  for (const char* path : {"", "processor3", "processor3/constant/polyMesh", "constant/g", "system/1/x",
                           "processors4/1/U", "postProcessing/probes/0/p"})
    EXPECT_FALSE(time_path(path)) << path;
}

TEST(ProgramsTest, OpenFoamProgramsTolerateLinksWhateverTheirDirectory) {
  for (const char* program :
       {"simpleFoam", "/usr/bin/icoFoam", "snappyHexMesh", "decomposePar", "PDRMesh", "zipUpMesh"})
    EXPECT_TRUE(tolerates_links(program)) << program;
  for (const char* program : {"tar", "git", "python3", "", "Foam", "/opt/simpleFoam/run.sh"})
    EXPECT_FALSE(tolerates_links(program)) << program;
}

TEST(ProgramsTest, OnlyAProgramThatMakesRanksDirectoriesRunsWithoutThem) {
  EXPECT_TRUE(makes_rank_directories("/usr/bin/redistributePar"));
  for (const char* program : {"simpleFoam", "decomposePar", "snappyHexMesh", ""})
    EXPECT_FALSE(makes_rank_directories(program)) << program;
}

}  // namespace
}  // namespace forebay::openfoam
