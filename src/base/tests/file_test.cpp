#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace forebay {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/forebay-base-XXXXXX";
    directory_ = mkdtemp(pattern);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string directory_;
};

TEST_F(FileTest, AReplacedFileHasTheNewContentAndIsPrivate) {
  const std::string path = directory_ + "/status";
  ASSERT_TRUE(replace_file(path, "one"));
  ASSERT_TRUE(replace_file(path, "two"));
  EXPECT_EQ(read_file(path).value(), "two");
  struct stat status {};
  ASSERT_EQ(lstat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(FileTest, APrivateDirectoryRefusesALinkAndAnOpenMode) {
  ASSERT_TRUE(make_private_directory(directory_ + "/a/b"));
  std::filesystem::create_directory_symlink(directory_ + "/a", directory_ + "/link");
  EXPECT_FALSE(make_private_directory(directory_ + "/link"));
  ASSERT_EQ(mkdir((directory_ + "/open").c_str(), 0755), 0);
  const auto refused = make_private_directory(directory_ + "/open");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("0700"), std::string::npos);
}

TEST_F(FileTest, OnlyARealDirectoryOfThisUserIsItsOwn) {
  const std::string mine = directory_ + "/mine";
  EXPECT_FALSE(is_own_directory(mine));
  ASSERT_TRUE(make_private_directory(mine));
  EXPECT_TRUE(is_own_directory(mine));
  std::filesystem::create_directory_symlink(mine, directory_ + "/link");
  EXPECT_FALSE(is_own_directory(directory_ + "/link"));
  ASSERT_TRUE(replace_file(directory_ + "/file", ""));
  EXPECT_FALSE(is_own_directory(directory_ + "/file"));
  const std::string others = ::geteuid() == 0 ? mine : "/";
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(mine.c_str(), 65534, 65534), 0);
  }
  EXPECT_FALSE(is_own_directory(others));
}

TEST_F(FileTest, WhatIsWrittenBackEarlyIsWhatWasWritten) {
  const std::string path = directory_ + "/bytes";
  const auto file = open_file(path, O_RDWR | O_CREAT);
  ASSERT_TRUE(file);
  ASSERT_TRUE(write_all(file->get(), "whole", path));
  begin_writing_back(file->get(), 0, 5);
  EXPECT_EQ(read_file(path).value(), "whole");
  begin_writing_back(-1, 0, 5);  // what cannot be hinted at is no error
}

TEST_F(FileTest, RemovingATreeDoesNotFollowLinks) {
  std::filesystem::create_directories(directory_ + "/keep");
  std::filesystem::create_directories(directory_ + "/gone/deep");
  ASSERT_TRUE(replace_file(directory_ + "/keep/file", "x"));
  std::filesystem::create_directory_symlink(directory_ + "/keep", directory_ + "/gone/deep/link");
  ASSERT_TRUE(remove_tree(directory_ + "/gone"));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/gone"));
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/keep/file"));
}

TEST_F(FileTest, SeveralMayRemoveATreeAtOnce) {
  const std::string tree = directory_ + "/gone";
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 20; ++i) {
      std::filesystem::create_directories(tree + "/" + std::to_string(i) + "/deep");
      ASSERT_TRUE(replace_file(tree + "/" + std::to_string(i) + "/file", "x"));
    }
    Status outcomes[3];
    {
      std::vector<std::jthread> removers;
      for (Status& outcome : outcomes) removers.emplace_back([&] { outcome = remove_tree(tree); });
    }
    for (const Status& outcome : outcomes) ASSERT_TRUE(outcome) << outcome.error().text();
    EXPECT_FALSE(std::filesystem::exists(tree));
  }
}

// As an ordinary user: no mode keeps root out.
TEST_F(FileTest, RemovingATreeMindsNoModesOfItsOwner) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && (::chmod(directory_.c_str(), 0777) != 0 || ::setresuid(65534, 65534, 65534) != 0))
      ::_exit(2);
    for (const mode_t mode : {0500, 0300, 0000}) {
      const std::string tree = directory_ + "/tree", closed = tree + "/closed";
      std::filesystem::create_directories(closed + "/deep");
      if (!replace_file(closed + "/deep/file", "x")) ::_exit(3);
      for (const std::string& each : {closed + "/deep", closed, tree})
        if (::chmod(each.c_str(), mode) != 0) ::_exit(4);
      if (!remove_tree(tree) || ::access(tree.c_str(), F_OK) == 0) ::_exit(5);
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(FileTest, AnErrorNamesThePathAndTheReason) {
  const auto missing = read_file(directory_ + "/nothing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text(), "cannot open " + directory_ + "/nothing: No such file or directory");
}

TEST_F(FileTest, AFileOverTheLimitIsRefused) {
  ASSERT_TRUE(replace_file(directory_ + "/big", std::string(100, 'x')));
  EXPECT_FALSE(read_file(directory_ + "/big", 99));
  EXPECT_TRUE(read_file(directory_ + "/big", 100));
}

TEST(Identity, AChangedCtimeIsAcceptedOnlyWithAnotherNumberOfNames) {
  struct stat now {};
  now.st_ino = 7;
  now.st_size = 100;
  now.st_nlink = 2;
  now.st_mtim.tv_sec = now.st_ctim.tv_sec = 1000;
  const Identity known = identity_of(now);
  EXPECT_TRUE(still_is(now, known));
  now.st_ctim.tv_sec = 2000;
  EXPECT_FALSE(still_is(now, known)) << "changed alone";
  for (const nlink_t links : {1, 3}) {
    now.st_nlink = links;
    EXPECT_TRUE(still_is(now, known)) << links << " names";
  }
  now.st_mtim.tv_sec = 2000;
  EXPECT_FALSE(still_is(now, known)) << "written";
  now.st_mtim.tv_sec = 1000;
  now.st_size = 99;
  EXPECT_FALSE(still_is(now, known)) << "shorter";
}

TEST(Path, PartsAreJoinedAndTaken) {
  EXPECT_EQ(join("a/b", "c"), "a/b/c");
  EXPECT_EQ(join("", "c"), "c");
  EXPECT_EQ(join("/", "c"), "/c");
  EXPECT_EQ(parent_of("a/b/c"), "a/b");
  EXPECT_EQ(parent_of("c"), "");
  EXPECT_EQ(parent_of("/c"), "/");
  EXPECT_EQ(directory_of("a/b"), "a");
  EXPECT_EQ(directory_of("c"), ".");
  EXPECT_EQ(directory_of("/c"), "/");
  EXPECT_TRUE(is_below("/a/b", "/a"));
  EXPECT_TRUE(is_below("/a", "/a/"));
  EXPECT_FALSE(is_below("/ab", "/a"));
}

}  // namespace
}  // namespace forebay
