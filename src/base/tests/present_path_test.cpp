#include "base/present_path.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "base/base.h"
#include "base/tests/scratch.h"

namespace forebay {
namespace {

TEST(PresentPath, FollowsADirectoryUntilItIsRemoved) {
  const Scratch scratch;
  const std::string before = join(scratch.path(), "case"), after = join(scratch.path(), "renamed");
  ASSERT_EQ(::mkdir(before.c_str(), 0700), 0);
  const auto directory = open_file(before, O_PATH | O_DIRECTORY);
  ASSERT_TRUE(directory);
  EXPECT_EQ(present_path(directory->get(), before).value_or(""), before);
  std::filesystem::rename(before, after);
  ASSERT_EQ(::mkdir(before.c_str(), 0700), 0);  // another one has the name
  EXPECT_EQ(present_path(directory->get(), before).value_or(""), after);
  std::filesystem::remove(after);
  const auto gone = present_path(directory->get(), before);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().errno_value, ENOENT);
}

TEST(PresentPath, TellsWhatWasTakenOutOfTheTree) {
  const SmallTmpfs mounted(0, "size=1m");
  if (!mounted.mounted()) GTEST_SKIP() << "mounting needs root";
  const std::string before = join(mounted.path(), "case");
  ASSERT_EQ(::mkdir(before.c_str(), 0700), 0);
  const auto directory = open_file(before, O_PATH | O_DIRECTORY);
  ASSERT_TRUE(directory);
  ASSERT_EQ(::umount2(mounted.path().c_str(), MNT_DETACH), 0);
  const auto gone = present_path(directory->get(), before);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().errno_value, ENODEV);
}

}  // namespace
}  // namespace forebay
