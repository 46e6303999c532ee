// Growing files: what is to be done with one, and what a Drain makes of it.
#include "run/drain/growing.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <fstream>

#include "run/drain/tests/ranks_fixture.h"

namespace forebay::drain {
namespace {

constexpr FileId one{1, 7}, other{1, 8};

TEST(GrowthTest, AFileIsCarriedWhenItWasLookedAtBefore) {
  EXPECT_EQ(growth_of({}, one, 10, std::nullopt), Growth::anew);  // nothing is known of it
  const GrowingFile seen{.file = one, .size = 10, .seen = true};
  EXPECT_EQ(growth_of(seen, one, 10, std::nullopt), Growth::begin);  // it stands still, but is open
  EXPECT_EQ(growth_of(seen, one, 20, std::nullopt), Growth::begin);
  EXPECT_EQ(growth_of({.file = one, .seen = true}, one, 0, std::nullopt), Growth::wait);
}

TEST(GrowthTest, WhatTheCaseHasIsAppendedTo) {
  const GrowingFile seen{.file = one, .size = 10, .seen = true};
  EXPECT_EQ(growth_of(seen, one, 20, 10), Growth::append);
  EXPECT_EQ(growth_of(seen, one, 20, 20), Growth::wait);
}

TEST(GrowthTest, AFileThatWasCutOrReplacedBeginsAnew) {
  const GrowingFile seen{.file = one, .size = 10, .seen = true};
  EXPECT_EQ(growth_of(seen, one, 5, 10), Growth::cut);
  EXPECT_EQ(growth_of(seen, one, 9, std::nullopt), Growth::cut);
  EXPECT_EQ(growth_of({.file = one, .size = 5, .seen = true}, one, 7, 10), Growth::cut);
  EXPECT_EQ(growth_of(seen, other, 30, 10), Growth::anew);
}

TEST(GrowthTest, WhatIsNoTextWaitsUntilItIsCutOrReplaced) {
  const GrowingFile alone{.file = one, .size = 10, .seen = true, .left_alone = true};
  EXPECT_EQ(growth_of(alone, one, 20, std::nullopt), Growth::wait);
  EXPECT_EQ(growth_of(alone, one, 3, std::nullopt), Growth::cut);
  EXPECT_EQ(growth_of(alone, other, 20, std::nullopt), Growth::anew);
}

class GrowingTest : public DrainTest {
 protected:
  void SetUp() override {
    DrainTest::SetUp();
    settings_.refresh = std::chrono::seconds(1);
    settings_.settle = std::chrono::seconds(30);
    open();
    log_.open(tree() + "/log.solver");
  }
  void append(const std::string& text) { log_ << text << std::flush; }
  void refresh() {
    clock_.move(std::chrono::seconds(1));
    look();
    // The clock stands: a refresh that takes long is followed by a long pause.
    const auto is_busy = [&] { return drain_->progress().queued + drain_->progress().active > 0; };
    for (int i = 0; i < 10'000 && is_busy(); ++i) ::poll(nullptr, 0, 1);
    look();
  }
  // At the second look.
  void appear(const std::string& text) {
    append(text);
    refresh();
    refresh();
  }
  std::string on_case() const { return content(case_ + "/log.solver"); }

  std::ofstream log_;
};

TEST_F(GrowingTest, WhatIsAppendedAppearsInTheSameFile) {
  append("one\n");
  refresh();
  EXPECT_EQ(on_case(), "<none>");  // it may be a file that is closed in a moment
  refresh();
  EXPECT_EQ(on_case(), "one\n");
  const auto inode = identity(case_ + "/log.solver").inode;
  append("two\n");
  refresh();
  EXPECT_EQ(on_case(), "one\ntwo\n");
  refresh();
  append("three\n");
  log_.close();
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, std::nullopt);
  EXPECT_EQ(on_case(), "one\ntwo\nthree\n");
  EXPECT_EQ(identity(case_ + "/log.solver").inode, inode);
}

TEST_F(GrowingTest, AFileThatIsBegunAnewReplacesTheOldOne) {
  append("a long line that was here first\n");
  refresh();
  refresh();
  log_.close();
  log_.open(tree() + "/log.solver", std::ios::trunc);
  append("new\n");
  refresh();
  EXPECT_EQ(on_case(), "a long line that was here first\n");
  refresh();
  EXPECT_EQ(on_case(), "new\n");
  append("newer, and more than the old one ever had\n");
  refresh();
  EXPECT_EQ(on_case(), "new\nnewer, and more than the old one ever had\n");
}

TEST_F(GrowingTest, WhatIsRewrittenInPlaceStaysAsItWasUntilItIsClosed) {
  append("count 0\n");
  refresh();
  refresh();
  log_.seekp(0);
  append("count 9\n");
  log_.seekp(0, std::ios::end);
  append("more\n");
  refresh();
  refresh();
  EXPECT_EQ(on_case(), "count 0\n");
  log_.close();
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(on_case(), "count 9\nmore\n");
}

TEST_F(GrowingTest, OnlyTextGrowsAndOnlyUpToAHole) {
  append("text\n");
  std::ofstream binary(tree() + "/history.bin", std::ios::binary);
  binary << std::string("\x89HDF\0\0\0", 7) << std::flush;
  refresh();
  refresh();
  log_.seekp(10);
  append("beyond\n");
  refresh();
  EXPECT_EQ(content(case_ + "/history.bin"), "<none>");
  EXPECT_EQ(on_case(), "text\n");
  log_.seekp(5);
  append("hole\n");
  refresh();
  EXPECT_EQ(on_case(), "text\nhole\nbeyond\n");
  log_.close();
  binary.close();
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/history.bin").size(), 7);
}

TEST_F(GrowingTest, ACopyThatSomebodyEditedIsLeftAloneAndBothAreKept) {
  appear("one\n");
  write(case_ + "/log.solver", "mine\n");
  append("two\n");
  refresh();
  refresh();
  EXPECT_EQ(on_case(), "mine\n");
  log_.close();
  EXPECT_EQ(finish().trouble, Code::conflict);
  EXPECT_EQ(on_case(), "mine\n");
  EXPECT_EQ(content(case_ + "/log.solver.forebay-run1"), "one\ntwo\n");
}

TEST_F(GrowingTest, AResumedRunKnowsItsOwnBeginning) {
  appear("one\n");
  for (int i = 0; i < 5; ++i) {  // of these the journal tells the first alone
    append("more\n");
    refresh();
  }
  const auto inode = identity(case_ + "/log.solver").inode;
  append("and the last\n");
  log_.close();
  drain_.reset();
  resume();
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_EQ(on_case(), "one\nmore\nmore\nmore\nmore\nmore\nand the last\n");
  EXPECT_EQ(identity(case_ + "/log.solver").inode, inode);
}

TEST_F(GrowingTest, AResumedRunDoesNotTakeWhatSomebodyEditedForItsOwn) {
  appear("one\n");
  append("two\n");
  refresh();
  std::ofstream(case_ + "/log.solver", std::ios::app) << "mine\n";
  append("three, and four\n");
  log_.close();
  drain_.reset();
  resume();
  EXPECT_EQ(finish(false).trouble, Code::conflict);
  EXPECT_EQ(on_case(), "one\ntwo\nmine\n");
}

TEST_F(GrowingTest, WhatTheProgramRemovesWhileItGrowsGoes) {
  appear("one\n");
  append("two\n");
  refresh();
  std::filesystem::remove(tree() + "/log.solver");
  log_.close();
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(on_case(), "<none>");
}

// More than the mover takes at once.
TEST_F(GrowingTest, ThousandsOfFilesAreAllLookedAtInOneRefresh) {
  constexpr int many = 2100;
  std::vector<std::ofstream> files;
  for (int i = 0; i < many; ++i) {
    std::filesystem::create_directories(tree() + "/probes" + std::to_string(i / 100));
    files.emplace_back(tree() + "/probes" + std::to_string(i / 100) + "/" + std::to_string(i));
    files.back() << "one\n" << std::flush;
    if (i % 500 == 0) look();
  }
  const auto on_case = [&] {
    int there = 0;
    for (int i = 0; i < many; ++i)
      there += content(case_ + "/probes" + std::to_string(i / 100) + "/" + std::to_string(i)) == "one\n" ? 1 : 0;
    return there;
  };
  look();
  clock_.move(std::chrono::seconds(1));
  look();  // what is there
  clock_.move(std::chrono::seconds(1));
  look();
  drive([&] { return drain_->progress().queued + drain_->progress().active == 0; });
  EXPECT_EQ(on_case(), many);
}

TEST_F(GrowingTest, NothingOfATimeOfAScriptsRanksGrows) {
  write(tree() + "/processor7/1/U", "closed, and not quiet for long\n");
  for (int i = 0; i < 4; ++i) refresh();
  EXPECT_EQ(content(case_ + "/processor7/1/U"), "<none>");
  log_.close();
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(content(case_ + "/processor7/1/U"), "closed, and not quiet for long\n");
}

TEST_F(GrowingTest, ARefreshThatTookLongIsFollowedByALongPauseButNotForEver) {
  append("one\n");
  refresh();
  clock_.move(std::chrono::seconds(1));
  look();  // carries it
  clock_.move(std::chrono::seconds(3));
  drive([&] { return drain_->progress().queued + drain_->progress().active == 0; });
  ASSERT_EQ(on_case(), "one\n");
  append("two\n");
  clock_.move(std::chrono::seconds(8));
  rounds();
  EXPECT_EQ(on_case(), "one\n");
  clock_.move(std::chrono::seconds(4));
  EXPECT_TRUE(drive([&] { return on_case() == "one\ntwo\n"; }));
}

TEST_F(GrowingTest, AModeThatIsChangedWhileItGrowsArrives) {
  appear("one\n");
  ASSERT_EQ(chmod((tree() + "/log.solver").c_str(), 0600), 0);
  append("two\n");
  refresh();
  log_.close();
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(on_case(), "one\ntwo\n");
  struct stat status {};
  ASSERT_EQ(stat((case_ + "/log.solver").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
}

TEST_F(GrowingTest, WhoStillHasItOpenAtTheEndIsWaitedFor) {
  appear("one\n");
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, Code::undrained);
  EXPECT_EQ(report.amounts.undrained.files, 1U);
  EXPECT_EQ(on_case(), "one\n");
}

TEST_F(GrowingTest, WhatWasClosedMakesRoomLikeAnyOther) {
  appear("one\n");
  append("two\n");
  refresh();
  EXPECT_EQ(drain_->evict(1), 0U);
  log_.close();
  look();
  clock_.move(std::chrono::seconds(60));
  EXPECT_TRUE(drive([&] {
    (void)drain_->evict(1);
    return std::filesystem::is_symlink(tree() + "/log.solver");
  }));
  EXPECT_EQ(on_case(), "one\ntwo\n");
  EXPECT_EQ(finish().trouble, std::nullopt);
}

TEST_F(GrowingTest, AKillAfterItsRemovalOrItsCutLeavesNoConflict) {
  for (const bool removed : {true, false}) {
    appear("one\n");
    for (int i = 0; i < 3; ++i) {
      append("more\n");
      refresh();
    }
    log_.close();
    if (removed)
      std::filesystem::remove(tree() + "/log.solver");
    else
      log_.open(tree() + "/log.solver", std::ios::trunc);
    refresh();
    log_.close();
    drain_.reset();
    resume();
    EXPECT_EQ(finish(false).trouble, std::nullopt) << removed;
    if (!removed) break;
    SetUp();
  }
  EXPECT_EQ(on_case(), "");
}

}  // namespace
}  // namespace forebay::drain
