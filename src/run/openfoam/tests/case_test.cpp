#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "run/openfoam/openfoam.h"

namespace forebay::openfoam {
namespace {

class CaseTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-openfoam-XXXXXX";
    directory_ = mkdtemp(pattern);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  void make_directory(const std::string& path) { std::filesystem::create_directories(join(directory_, path)); }
  void make_control(std::string_view text) {
    make_directory("system");
    ASSERT_TRUE(replace_file(directory_ + "/system/controlDict", text));
  }
  std::string directory_;
};

TEST_F(CaseTest, ADecomposedCaseTellsItsRanksAndItsControl) {
  make_control("application simpleFoam; writeControl timeStep; writeInterval 1e1; purgeWrite 1; writeFormat binary;");
  for (const char* name : {"processor0", "processor1", "0", "constant"}) make_directory(name);
  // Ranks may live elsewhere, behind links.
  make_directory("elsewhere");
  std::filesystem::create_directory_symlink(directory_ + "/elsewhere", directory_ + "/processor2");
  const auto facts = inspect(directory_);
  ASSERT_TRUE(facts) << facts.error().text();
  EXPECT_TRUE(facts->is_case);
  EXPECT_EQ(facts->ranks, 3);
  EXPECT_EQ(facts->missing_rank, std::nullopt);
  EXPECT_EQ(facts->application, "simpleFoam");
  EXPECT_EQ(facts->write_control, "timeStep");
  EXPECT_EQ(facts->write_interval, 10.0);
  EXPECT_EQ(facts->purge_write, 1);
}

TEST_F(CaseTest, AGapInTheRanksIsNamed) {
  make_control("");
  for (const char* name : {"processor0", "processor1", "processor3", "processor10"}) make_directory(name);
  ASSERT_TRUE(replace_file(directory_ + "/processor2", "a file is no processor directory"));
  const auto facts = inspect(directory_);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->ranks, 0);
  EXPECT_EQ(facts->missing_rank, 2);
}

TEST_F(CaseTest, GroupsOfCollatedInputAreFound) {
  make_control("purgeWrite $n;");
  for (const char* name : {"processors4_2-3", "processors4_0-1"}) make_directory(name);
  const auto facts = inspect(directory_);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->groups, (std::vector<std::string>{"processors4_0-1", "processors4_2-3"}));
  EXPECT_EQ(facts->group_ranks, 4);
  EXPECT_EQ(facts->ranks, 0);
  EXPECT_EQ(facts->purge_write, std::nullopt);
  make_directory("processors8");
  EXPECT_EQ(inspect(directory_)->group_ranks, 0);
}

TEST_F(CaseTest, AnyOtherDirectoryIsNoCaseAndAMissingOneIsAnError) {
  const auto facts = inspect(directory_);
  ASSERT_TRUE(facts);
  EXPECT_FALSE(facts->is_case);
  const auto missing = inspect(directory_ + "/nothing");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text().find("/nothing"), std::string::npos);
}

}  // namespace
}  // namespace forebay::openfoam
