#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "run/layouts/layouts.h"

namespace forebay::layouts {
namespace {

namespace fs = std::filesystem;

class VerbatimTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-layouts-XXXXXX";
    directory_ = mkdtemp(pattern);
  }
  void TearDown() override { fs::remove_all(directory_); }
  std::string make(const std::string& path, std::string_view content) {
    const std::string whole = join(directory_, path);
    fs::create_directories(fs::path(whole).parent_path());
    EXPECT_TRUE(replace_file(whole, content));
    return whole;
  }
  std::string directory_;
};

TEST_F(VerbatimTest, ATimeKeepsItsFilesDirectoriesModesLinksAndTimes) {
  const std::string velocity = make("3/U", "12345");
  make("3/uniform/time", "t");
  make("3/empty", "");
  make("3/unlisted", "not sealed");
  fs::create_directory(directory_ + "/3/bare");
  fs::create_symlink("U", directory_ + "/3/link");
  ASSERT_EQ(chmod(velocity.c_str(), 0640), 0);
  ASSERT_EQ(chmod((directory_ + "/3/uniform").c_str(), 0750), 0);
  const struct timespec times[2] = {{1, 2}, {1234567890, 987654321}};
  ASSERT_EQ(utimensat(AT_FDCWD, velocity.c_str(), times, 0), 0);

  const auto unit = verbatim_time({2, directory_ + "/3", {"U", "empty", "link", "uniform/time"}}, "3");
  ASSERT_TRUE(unit) << unit.error().text();
  EXPECT_EQ(unit->target, "processor2/3");
  EXPECT_TRUE(unit->is_directory);
  ASSERT_EQ(unit->directories.size(), 3u);
  EXPECT_EQ(unit->directories[0].path, "");
  EXPECT_EQ(unit->directories[1].path, "bare");
  EXPECT_EQ(unit->directories[2].path, "uniform");
  EXPECT_EQ(unit->directories[2].mode, 0750u);

  ASSERT_EQ(unit->files.size(), 4u);
  EXPECT_EQ(unit->files[0].path, "U");
  EXPECT_EQ(unit->files[0].mode, 0640u);
  EXPECT_EQ(unit->files[0].mtime_ns, 1234567890987654321);
  ASSERT_EQ(unit->files[0].pieces.size(), 1u);
  EXPECT_EQ(unit->files[0].pieces[0].source, velocity);
  EXPECT_EQ(unit->files[0].pieces[0].offset, 0u);
  EXPECT_EQ(unit->files[0].pieces[0].length, 5u);
  EXPECT_TRUE(unit->files[1].pieces.empty());
  EXPECT_EQ(unit->files[2].link_target, "U");
  EXPECT_TRUE(unit->files[2].pieces.empty());
  EXPECT_EQ(unit->files[3].path, "uniform/time");
}

TEST_F(VerbatimTest, AFileUnitReplacesOnlyWhatItWasToldTo) {
  const std::string log = make("log", "text");
  const auto fresh = verbatim_file(log, "logs/log", std::nullopt);
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh->target, "logs/log");
  EXPECT_FALSE(fresh->is_directory);
  ASSERT_EQ(fresh->files.size(), 1u);
  EXPECT_EQ(fresh->files[0].path, "");
  EXPECT_FALSE(fresh->replaces);
  const Identity staged{1, 2, 3, 4, 5};
  EXPECT_EQ(verbatim_file(log, "log", staged)->replaces, staged);
}

TEST_F(VerbatimTest, WhatIsGoneOrNoFileIsAnErrorWithItsPath) {
  make("3/U", "1");
  const auto gone = verbatim_time({0, directory_ + "/3", {"p"}}, "3");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().path, directory_ + "/3/p");
  EXPECT_EQ(gone.error().errno_value, ENOENT);
  ASSERT_EQ(mkfifo((directory_ + "/3/pipe").c_str(), 0600), 0);
  const auto pipe = verbatim_file(directory_ + "/3/pipe", "pipe", std::nullopt);
  ASSERT_FALSE(pipe);
  EXPECT_EQ(pipe.error().path, directory_ + "/3/pipe");
}

}  // namespace
}  // namespace forebay::layouts
