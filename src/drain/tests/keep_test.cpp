#include "drain/keep.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace forebay::drain {
namespace {

class KeepTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-keep-XXXXXX";
    pool_ = mkdtemp(pattern);
    std::filesystem::create_directories(pool_ + "/tree/0.1/uniform");
  }
  void TearDown() override { std::filesystem::remove_all(pool_); }
  std::string write(const std::string& file, const std::string& content) {
    const std::string path = pool_ + "/tree/0.1/" + file;
    std::ofstream(path) << content;
    return path;
  }
  std::string pool_;
};

TEST_F(KeepTest, AKeptTimeSurvivesThePurgeOfTheProgram) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  EXPECT_TRUE(keep.add(3, "0.1", "U", write("U", "velocity")).value());
  EXPECT_TRUE(keep.add(3, "0.1", "uniform/time", write("uniform/time", "now")).value());
  std::filesystem::remove_all(pool_ + "/tree/0.1");
  const std::string directory = keep.as_directory(3, "0.1").value();
  EXPECT_EQ(read_file(directory + "/U").value(), "velocity");
  EXPECT_EQ(read_file(directory + "/uniform/time").value(), "now");
}

TEST_F(KeepTest, AFileThatIsGoneAlreadyIsToldSo) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  EXPECT_FALSE(keep.add(3, "0.1", "U", pool_ + "/tree/0.1/U").value());
}

TEST_F(KeepTest, AFileWrittenAnewReplacesWhatWasKept) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  const std::string path = write("U", "old");
  ASSERT_TRUE(keep.add(3, "0.1", "U", path).value());
  std::filesystem::remove(path);
  write("U", "new");
  ASSERT_TRUE(keep.add(3, "0.1", "U", path).value());
  EXPECT_EQ(read_file(keep.as_directory(3, "0.1").value() + "/U").value(), "new");
}

TEST_F(KeepTest, ADroppedTimeTakesNoSpace) {
  Keep keep;
  ASSERT_TRUE(keep.add_rank(3, pool_));
  const std::string path = write("U", "x");
  ASSERT_TRUE(keep.add(3, "0.1", "U", path).value());
  (void)keep.as_directory(3, "0.1");
  ASSERT_TRUE(keep.drop("0.1"));
  struct stat status {};
  ASSERT_EQ(lstat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_nlink, 1u);
  EXPECT_TRUE(keep.times().empty());
}

TEST_F(KeepTest, WhatADeadRunKeptIsFoundAgain) {
  const std::string name = "odd%2Fname \n%";
  {
    Keep keep;
    ASSERT_TRUE(keep.add_rank(3, pool_));
    ASSERT_TRUE(keep.add(3, "0.1", name, write(name, "x")).value());
  }
  Keep again;
  ASSERT_TRUE(again.add_rank(3, pool_));
  EXPECT_EQ(again.files(3, "0.1"), std::set<std::string>{name});
}

}  // namespace
}  // namespace forebay::drain
