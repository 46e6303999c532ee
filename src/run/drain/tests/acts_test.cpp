// Changes that a program makes to names that the case already has, carried by a whole Drain.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/drain/tests/whole_case.h"

namespace forebay::drain {
namespace {

class ActsTest : public WholeCaseTest {
 protected:
  void SetUp() override {
    WholeCaseTest::SetUp();
    write(case_ + "/data/a", "content of a");
    write(case_ + "/data/b", "content of b");
    std::filesystem::permissions(case_ + "/data", std::filesystem::perms(0755));
  }

  // Drives the Drain until something is on its way to the case.
  void carry_until_active() {
    ASSERT_TRUE(drive([this] { return drain_->progress().active > 0; })) << "nothing was on its way";
  }
  void rename(const std::string& from, const std::string& to) {
    ASSERT_EQ(::rename((tree_ + "/" + from).c_str(), (tree_ + "/" + to).c_str()), 0);
  }
  static mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }
};

TEST_F(ActsTest, TwoInputsThatExchangeTheirNamesKeepTheirContent) {
  start();
  rename("data/a", "t");
  rename("data/b", "data/a");
  rename("t", "data/b");
  const DrainReport report = finish();
  EXPECT_FALSE(report.trouble) << report.messages.front();
  EXPECT_EQ(content(case_ + "/data/a"), "content of b");
  EXPECT_EQ(content(case_ + "/data/b"), "content of a");
}

TEST_F(ActsTest, AnInputIsGoneWhateverHasItsNameNow) {
  write(case_ + "/old/c", "content of c");
  start();
  std::filesystem::remove(tree_ + "/data/a");
  ASSERT_EQ(::mkfifo((tree_ + "/data/a").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((tree_ + "/pipe").c_str(), 0600), 0);
  rename("pipe", "data/b");
  std::filesystem::remove_all(tree_ + "/old");
  ASSERT_EQ(::mkfifo((tree_ + "/old").c_str(), 0600), 0);
  write(tree_ + "/output", "first");
  ASSERT_TRUE(drive([this] { return content(case_ + "/output") == "first"; }));
  ASSERT_EQ(::mkfifo((tree_ + "/pipe").c_str(), 0600), 0);
  rename("pipe", "output");
  const DrainReport report = finish();
  EXPECT_FALSE(report.trouble) << report.messages.front();
  for (const std::string path : {"/data/a", "/data/b", "/old", "/output"})
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::symlink_status(case_ + path))) << path;
}

TEST_F(ActsTest, ARenamedInputKeepsItsContentWhenItsOldNameIsWrittenAnew) {
  start();
  rename("data/a", "data/old");
  write(tree_ + "/data/a", "new");
  const DrainReport report = finish();
  EXPECT_FALSE(report.trouble) << report.messages.front();
  EXPECT_EQ(content(case_ + "/data/a"), "new");
  EXPECT_EQ(content(case_ + "/data/old"), "content of a");
}

TEST_F(ActsTest, AFileThatIsRemovedOnItsWayIsNotOnTheCaseInTheEnd) {
  settings_.mover.bytes_per_second = 2'000'000;
  start();
  write(tree_ + "/made/large", std::string(1'000'000, 'x'));
  carry_until_active();
  std::filesystem::remove_all(tree_ + "/made");
  ASSERT_TRUE(drain_->on_events());
  const DrainReport report = finish();
  EXPECT_FALSE(report.trouble) << report.messages.front();
  EXPECT_FALSE(names().contains("made/large"));
  EXPECT_FALSE(names().contains("made"));
}

TEST_F(ActsTest, ADirectoryThatWasMadeForAFileThatNeverArrivedGoesWithIt) {
  settings_.mover.bytes_per_second = 2'000'000;
  start();
  write(tree_ + "/made/large", std::string(1'000'000, 'x'));
  carry_until_active();
  write(tree_ + "/made/large", "changed while it is read");
  std::filesystem::remove_all(tree_ + "/made");
  ASSERT_TRUE(drain_->on_events());
  const DrainReport report = finish();
  EXPECT_FALSE(report.trouble) << report.messages.front();
  EXPECT_FALSE(names().contains("made"));
}

TEST_F(ActsTest, AChangedModeOfADirectoryReachesTheCase) {
  start();
  std::filesystem::permissions(tree_ + "/data", std::filesystem::perms(0700));
  std::filesystem::create_directories(tree_ + "/closed/in");
  write(tree_ + "/closed/in/file", "x");
  std::filesystem::permissions(tree_ + "/closed", std::filesystem::perms(0550));
  const DrainReport report = finish();
  EXPECT_FALSE(report.trouble) << report.messages.front();
  EXPECT_EQ(mode_of(case_ + "/data"), 0700u);
  EXPECT_EQ(mode_of(case_ + "/closed"), 0550u);
  EXPECT_EQ(content(case_ + "/closed/in/file"), "x");
}

TEST_F(ActsTest, ADirectoryTakesThePlaceOfAFileAndTheReverse) {
  write(case_ + "/kept", "kept");
  start();
  std::filesystem::remove(tree_ + "/kept");
  write(tree_ + "/kept/in", "in");
  std::filesystem::remove_all(tree_ + "/data");
  write(tree_ + "/data", "file");
  const DrainReport report = finish();
  EXPECT_FALSE(report.trouble) << report.messages.front();
  EXPECT_EQ(content(case_ + "/kept/in"), "in");
  EXPECT_EQ(content(case_ + "/data"), "file");
}

TEST_F(ActsTest, AFileThatTheUserPutsIntoAReplacedDirectoryStays) {
  start();
  std::filesystem::remove_all(tree_ + "/data");
  write(tree_ + "/data", "file");
  write(case_ + "/data/of-the-user", "hers");
  const DrainReport report = finish();
  EXPECT_TRUE(report.trouble);
  EXPECT_EQ(content(case_ + "/data/of-the-user"), "hers");
  EXPECT_EQ(content(tree_ + "/data"), "file");
}

TEST_F(ActsTest, AnInputThatWasWrittenThroughItsLinkIsTold) {
  start();
  write(tree_ + "/data/a", "written through the link");
  const DrainReport report = finish();
  EXPECT_FALSE(report.trouble);
  ASSERT_EQ(report.messages.size(), 1u);
  EXPECT_NE(report.messages.front().find("data/a"), std::string::npos) << report.messages.front();
}

}  // namespace
}  // namespace forebay::drain
