// Ranks whose program writes to directories of groups by itself (OpenFOAM's collated file handler): the first rank of a
// group has the times of all of it. Its writing threads may be behind.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "run/drain/tests/ranks_fixture.h"

namespace forebay::drain {
namespace {

using namespace std::chrono_literals;

class WrittenGroupsTest : public DrainTest {
 protected:
  void SetUp() override {
    DrainTest::SetUp();
    settings_.hold_times = settings_.redirected = true;
    settings_.safe_interval = 1h;
    settings_.written_groups = {{0, "processors2"}};
    settings_.start_time = "0";
    write(case_ + "/processors2/0/p", field("0", "values at the start"));
  }
  // Rank 0 is the first of the group.
  void begin(const std::string& time) {
    write_time(time, 0);
    rounds();
  }
  void purge_group(const std::string& time) {
    purge(time, 0);
    rounds();
  }
  std::optional<std::string> newest() const { return drain_->report().newest_complete; }
};

TEST_F(WrittenGroupsTest, ATimeIsCompleteWhenTwoLaterOnesWereBegun) {
  open();
  begin("1");
  begin("2");
  EXPECT_EQ(newest(), std::nullopt) << "a thread may still write";
  begin("3");
  EXPECT_EQ(newest(), "1");
  finish();
  EXPECT_TRUE(on_case("processors2/3/p"));
  EXPECT_FALSE(on_case("processor0/1") || on_case("processor0/3"));
}

TEST_F(WrittenGroupsTest, AThreadThatHasShownItselfTellsHowFarItIs) {
  open();
  begin("1");
  begin("2");
  page_of(0).place = 2;
  rounds();
  EXPECT_EQ(newest(), "1");
  finish();
}

TEST_F(WrittenGroupsTest, APurgedTimeIsCarriedWithinTheInterval) {
  settings_.safe_interval = 1ms;
  open();
  for (const std::string time : {"1", "2", "3"}) begin(time);
  purge_group("1");
  EXPECT_TRUE(drive([&] { return is_safe("1"); }));
  EXPECT_TRUE(on_case("processors2/1/p"));
  finish();
  EXPECT_FALSE(on_case("processors2/1")) << "the program has removed it";
}

TEST_F(WrittenGroupsTest, AfterABadEndThePurgedTimeComesHome) {
  open();
  begin("1");
  begin("2");
  purge_group("1");
  EXPECT_FALSE(on_case("processors2/1"));
  finish(false);
  EXPECT_TRUE(on_case("processors2/1/p") && on_case("processors2/2/p")) << "who is dead has no threads";
}

TEST_F(WrittenGroupsTest, AThreadOfAProgramThatWasKilledIsWaitedForByNobody) {
  open();
  for (const std::string time : {"1", "2"}) begin(time);
  page_of(0).place = 1;  // it was behind
  purge_group("1");
  finish(false);
  EXPECT_TRUE(on_case("processors2/1/p"));
}

TEST_F(WrittenGroupsTest, AResumeFindsWhatTheGroupHasPurged) {
  open();
  for (const std::string time : {"1", "2"}) begin(time);
  purge_group("1");
  drain_.reset();
  resume();
  finish(false);
  EXPECT_TRUE(on_case("processors2/1/p") && on_case("processors2/2/p"));
}

TEST_F(WrittenGroupsTest, AStateNeedsAllGroups) {
  settings_.written_groups = {{0, "processors2_0-0"}, {1, "processors2_1-1"}};
  for (const std::string group : {"0-0", "1-1"})
    write(case_ + "/processors2_" + group + "/0/p", field("0", "values at the start"));
  open();
  for (const std::string time : {"1", "2", "3"}) write_time(time, 0);
  for (const std::string time : {"1", "2"}) write_time(time, 1);
  rounds();
  EXPECT_EQ(newest(), std::nullopt);
  write_time("3", 1);
  rounds();
  EXPECT_EQ(newest(), "1");
  finish();
}

// A program that makes directories of ranks all the same loses nothing.
TEST_F(WrittenGroupsTest, DirectoriesOfRanksAreCarriedLikeOthers) {
  open();
  begin("1");
  write(tree() + "/processor1/1/p", field("1", "of a rank"));
  rounds();
  finish();
  EXPECT_TRUE(on_case("processor1/1/p") && on_case("processors2/1/p"));
}

}  // namespace
}  // namespace forebay::drain
