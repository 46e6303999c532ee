// Times that are carried as groups: what happens to them afterwards, and when the case takes nothing.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "run/drain/tests/ranks_fixture.h"

namespace forebay::drain {
namespace {

using namespace std::chrono_literals;

// Lets modes bind this thread, though it is root's.
class AsOwnerOnly {
 public:
  AsOwnerOnly() {
    EXPECT_EQ(::syscall(SYS_capget, &header_, saved_.data()), 0);
    auto without = saved_;
    without[0].effective &= ~((1u << CAP_DAC_OVERRIDE) | (1u << CAP_DAC_READ_SEARCH));
    EXPECT_EQ(::syscall(SYS_capset, &header_, without.data()), 0);
  }
  ~AsOwnerOnly() { EXPECT_EQ(::syscall(SYS_capset, &header_, saved_.data()), 0); }
  AsOwnerOnly(const AsOwnerOnly&) = delete;
  AsOwnerOnly& operator=(const AsOwnerOnly&) = delete;

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> saved_{};
};

class CollatedTest : public DrainTest {
 protected:
  void SetUp() override {
    DrainTest::SetUp();
    settings_.collated = true;
  }
  // Memory is enough for what these tests ask.
  std::string default_root() const override { return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; }
  // Time 1 is on the case as a group, and the program is at time 2.
  void carry_one() {
    open();
    write_time("1");
    write_time("2");
    ASSERT_TRUE(drive([&] { return is_safe("1"); }));
  }
  bool group_has(const std::string& time, const std::string& text) const {
    return content(case_ + "/processors2/" + time + "/p").find(text) != std::string::npos;
  }
  bool rank_has(const std::string& time) const {
    return on_case("processor0/" + time) || on_case("processor1/" + time);
  }
};

TEST_F(CollatedTest, ATimeThatIsBegunAgainIsNotSafeByTheGroupOfTheTimeBefore) {
  settings_.redirected = true;
  carry_one();
  for (const int rank : {0, 1}) std::filesystem::remove_all(local(rank) + "/1");
  rounds();
  write_time("1");
  write_time("3");
  rounds();
  EXPECT_FALSE(is_safe("1"));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_TRUE(group_has("1", "values of 1"));
}

TEST_F(CollatedTest, AGroupWhoseTimeWasWrittenToAgainIsReplacedAlsoWhenTheRunWasKilledBefore) {
  for (const bool killed : {false, true}) {
    carry_one();
    write(local(0) + "/1/p", field("1", "corrected values"));
    for (const int rank : {0, 1}) write(local(rank) + "/1/uniform/late", field("1", "came late"));
    for (int i = 0; i < 10; ++i) round();
    if (killed) {
      drain_.reset();
      resume();
    }
    EXPECT_EQ(finish(!killed).trouble, std::nullopt);
    EXPECT_TRUE(group_has("1", "corrected values") && group_has("1", "values of 1"));
    EXPECT_TRUE(on_case("processors2/1/uniform/late"));
    EXPECT_FALSE(rank_has("1")) << "it would win over the group";
    EXPECT_EQ(temporaries(), std::set<std::string>());
    TearDown();
    SetUp();
  }
}

TEST_F(CollatedTest, AGroupThatCanNoLongerBeOneGivesWayToTheRanksOwnTimes) {
  carry_one();
  write(local(1) + "/1/late", field("1", "a field that one rank lacks"));
  for (int i = 0; i < 10; ++i) round();
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_FALSE(on_case("processors2/1"));
  EXPECT_TRUE(on_case("processor0/1/p") && on_case("processor1/1/p") && on_case("processor1/1/late"));
}

TEST_F(CollatedTest, SuchAGroupStaysUntilTheRanksOwnTimesAreThere) {
  carry_one();
  write(local(1) + "/1/late", field("1", "a field that one rank lacks"));
  for (int i = 0; i < 10; ++i) round();
  std::filesystem::rename(case_ + "/processor1", case_ + "/aside");
  write(case_ + "/processor1", "in the way");
  EXPECT_EQ(finish().trouble, Code::undrained);
  EXPECT_TRUE(group_has("1", "values of 0") && group_has("1", "values of 1"));
  std::filesystem::remove(case_ + "/processor1");
  std::filesystem::rename(case_ + "/aside", case_ + "/processor1");
  resume();
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_TRUE(on_case("processor0/1/p") && on_case("processor1/1/p") && on_case("processor1/1/late"));
  EXPECT_FALSE(on_case("processors2/1"));
}

TEST_F(CollatedTest, SuchAGroupStaysWholeWhereTheUserChangedAFileOfIt) {
  for (const std::string name : {"uniform/time", "notes"}) {
    carry_one();
    write(local(1) + "/1/late", field("1", "a field that one rank lacks"));
    write(case_ + "/processors2/1/" + name, "of the user");
    for (int i = 0; i < 10; ++i) round();
    EXPECT_EQ(finish().trouble, Code::conflict);
    EXPECT_TRUE(group_has("1", "values of 0") && group_has("1", "values of 1"));
    EXPECT_EQ(content(case_ + "/processors2/1/" + name), "of the user");
    EXPECT_TRUE(on_case("processor0/1/p") && on_case("processor1/1/late"));
    TearDown();
    SetUp();
  }
}

TEST_F(CollatedTest, AGroupThatTheUserChangedMeanwhileIsNotReplaced) {
  carry_one();
  write(local(0) + "/1/p", field("1", "corrected values"));
  for (int i = 0; i < 10; ++i) round();
  write(case_ + "/processors2/1/p", "of the user");
  EXPECT_EQ(finish().trouble, Code::conflict);
  EXPECT_TRUE(group_has("1", "of the user"));
  EXPECT_NE(content(case_ + "/processors2/1.forebay-run1/p").find("corrected values"), std::string::npos);
}

TEST_F(CollatedTest, WhereOneOfTheRanksWasKilledBeforeItPurgedATimeThatWasNotCarriedItsPartIsCarried) {
  settings_.hold_times = true;
  settings_.safe_interval = 1h;
  open();
  for (const std::string time : {"1", "2", "3", "4"}) {
    write_time(time);
    for (int i = 0; i < 10; ++i) round();
  }
  std::filesystem::remove_all(local(1) + "/1");
  for (int i = 0; i < 10; ++i) round();
  ASSERT_FALSE(on_case("processors2/1"));
  const DrainReport report = finish(false);
  EXPECT_EQ(report.trouble, std::nullopt) << (report.messages.empty() ? "" : report.messages.front());
  EXPECT_TRUE(on_case("processor0/1/p"));
  EXPECT_TRUE(group_has("3", "values of 1"));
}

TEST_F(CollatedTest, WhereAProgramWasKilledWhileItPurgedATimeTheGroupStaysWhole) {
  for (const bool resumed : {false, true}) {
    carry_one();
    std::filesystem::remove(local(0) + "/1/p");
    std::filesystem::remove_all(local(1) + "/1");
    for (int i = 0; i < 10; ++i) round();
    if (resumed) {
      drain_.reset();
      resume();
    }
    EXPECT_EQ(finish(false).trouble, std::nullopt);
    EXPECT_TRUE(group_has("1", "values of 0") && group_has("1", "values of 1"));
    EXPECT_FALSE(rank_has("1"));
    TearDown();
    SetUp();
  }
}

TEST_F(CollatedTest, WhatComesAfterATimesRoomWasNeededIsNotSilentlyLost) {
  open();
  for (const std::string time : {"1", "2", "3"}) write_time(time);
  ASSERT_TRUE(drive([&] { return is_safe("1") && is_safe("2"); }));
  (void)drain_->evict(1'000'000);
  EXPECT_FALSE(std::filesystem::exists(local(0) + "/1"));
  write(local(0) + "/1/late", field("1", "came late"));
  for (int i = 0; i < 10; ++i) round();
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, Code::undrained);
  ASSERT_FALSE(report.messages.empty());
  EXPECT_NE(report.messages.back().find("time 1 was written to after it was drained"), std::string::npos)
      << report.messages.back();
  EXPECT_TRUE(group_has("1", "values of 0") && group_has("2", "values of 0") && group_has("3", "values of 0"));
  EXPECT_EQ(content(local(0) + "/1/late"), field("1", "came late"));
  for (int again = 0; again < 2; ++again) {
    resume();
    EXPECT_EQ(finish(false).trouble, Code::undrained) << "or the pool would be removed, and the only copy with it";
    EXPECT_EQ(content(local(0) + "/1/late"), field("1", "came late"));
  }
  EXPECT_TRUE(group_has("1", "values of 0"));
}

TEST_F(CollatedTest, AsManyNewFilesAsAnEvictedGroupHadDoNotReplaceIt) {
  open();
  for (const std::string time : {"1", "2", "3"}) write_time(time);
  ASSERT_TRUE(drive([&] { return is_safe("1") && is_safe("2"); }));
  (void)drain_->evict(1'000'000);
  for (const int rank : {0, 1})
    for (const std::string name : {"Q", "vorticity"}) write(local(rank) + "/1/" + name, field("1", "came late"));
  for (int i = 0; i < 10; ++i) round();
  EXPECT_EQ(finish().trouble, Code::undrained);
  EXPECT_TRUE(group_has("1", "values of 0") && group_has("1", "values of 1"));
}

TEST_F(CollatedTest, WhatIsNewInAHalfPurgedTimeKeepsThePool) {
  for (const bool resumed : {false, true}) {
    carry_one();
    std::filesystem::remove(local(0) + "/1/uniform/time");
    std::filesystem::remove_all(local(1) + "/1");
    write(local(0) + "/1/p", field("1", "corrected values"));
    for (int i = 0; i < 10; ++i) round();
    if (resumed) {
      drain_.reset();
      resume();
    }
    EXPECT_EQ(finish(false).trouble, Code::undrained);
    EXPECT_EQ(content(local(0) + "/1/p"), field("1", "corrected values"));
    EXPECT_TRUE(group_has("1", "values of 0"));
    TearDown();
    SetUp();
  }
}

TEST_F(CollatedTest, ATimeThatIsWrittenToAgainIsNotRemovedToMakeRoom) {
  open();
  for (const std::string time : {"1", "2", "3", "4"}) write_time(time);
  ASSERT_TRUE(drive([&] { return is_safe("1") && is_safe("2") && is_safe("3"); }));
  write(local(1) + "/1/p", field("1", "corrected values"));
  const std::ofstream writing(local(1) + "/2/p", std::ios::app);
  (void)drain_->evict(1'000'000);
  EXPECT_TRUE(std::filesystem::exists(local(0) + "/1/p") && std::filesystem::exists(local(1) + "/1/p"));
  EXPECT_TRUE(std::filesystem::exists(local(0) + "/2/p") && std::filesystem::exists(local(1) + "/2/p"));
  for (int i = 0; i < 10; ++i) round();
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_TRUE(group_has("1", "corrected values") && group_has("1", "values of 0"));
}

TEST_F(CollatedTest, AGroupMakesRoomWithAllItsRanksOrNone) {
  two_pools_ = true;
  open();
  for (const std::string time : {"1", "2", "3"}) write_time(time);
  ASSERT_TRUE(drive([&] { return is_safe("1") && is_safe("2"); }));
  EXPECT_GT(drain_->evict(1, pool_of(1)), 0u);
  for (const int rank : {0, 1}) EXPECT_FALSE(std::filesystem::exists(local(rank) + "/1")) << rank;
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_TRUE(group_has("1", "values of 0") && group_has("3", "values of 1"));
}

TEST_F(CollatedTest, ALateFileIsNoReasonToWaitForRoom) {
  open();
  for (const std::string time : {"1", "2", "3"}) write_time(time);
  ASSERT_TRUE(drive([&] { return is_safe("1") && is_safe("2"); }));
  write(local(0) + "/1/uniform/late", field("1", "came late"));
  for (int i = 0; i < 10; ++i) round();
  EXPECT_FALSE(drain_->can_make_room()) << "it is carried at the end";
}

TEST_F(CollatedTest, WhatIsWrittenWhileAGroupIsOnItsWayWhenTheProgramEndsComesHome) {
  hold_mover();
  open();
  write_time("1");
  write_time("2");
  ASSERT_TRUE(drive([&] { return mover_has_stopped(); }));
  for (const int rank : {0, 1}) write(local(rank) + "/1/uniform/late", field("1", "came late"));
  for (const int rank : {0, 1}) drain_->rank_ended(rank, true);
  ASSERT_TRUE(drain_->begin_finish(true));
  release_mover();
  await_end();
  EXPECT_EQ(drain_->report().trouble, std::nullopt);
  drain_.reset();
  EXPECT_TRUE(on_case("processors2/1/uniform/late"));
  EXPECT_FALSE(rank_has("1"));
}

TEST_F(CollatedTest, ATimeThatCannotBeReadAtTheEndKeepsThePool) {
  carry_one();
  ASSERT_EQ(::chmod((local(1) + "/1").c_str(), 0300), 0);
  DrainReport report;
  {
    const AsOwnerOnly owner;
    report = finish();
  }
  EXPECT_EQ(report.trouble, Code::undrained);
  ASSERT_FALSE(report.messages.empty());
  EXPECT_NE(report.messages.back().find("cannot"), std::string::npos) << report.messages.back();
  EXPECT_EQ(::chmod((local(1) + "/1").c_str(), 0700), 0);
}

TEST_F(CollatedTest, AFileThatIsGoneSinceItsGroupWasCarriedIsNamedWhereItStays) {
  carry_one();
  for (const int rank : {0, 1}) std::filesystem::remove(local(rank) + "/1/p");
  for (int i = 0; i < 10; ++i) round();
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, std::nullopt);
  ASSERT_FALSE(report.messages.empty());
  EXPECT_NE(report.messages.back().find("processors2/1 still has them"), std::string::npos) << report.messages.back();
  EXPECT_TRUE(group_has("1", "values of 0"));
}

// With a file where the groups' directory belongs, nothing can be made in it.
TEST_F(CollatedTest, WhatTheCaseDidNotTakeComesHomeAsGroupsWhenItDoes) {
  for (const bool purges : {false, true}) {
    settings_.hold_times = settings_.redirected = purges;
    settings_.safe_interval = std::chrono::milliseconds(1);
    write(case_ + "/processors2", "in the way");
    open();
    for (const std::string time : {"1", "2", "3"}) write_time(time);
    ASSERT_TRUE(drive([&] { return drain_->report().newest_complete == "2"; }));
    if (purges) {
      for (int i = 0; i < 20; ++i) round();
      purge("1");
    }
    const DrainReport failed = finish(false);
    EXPECT_EQ(failed.trouble, Code::undrained);
    EXPECT_FALSE(rank_has("1") || rank_has("2"));
    std::filesystem::remove(case_ + "/processors2");
    resume();
    EXPECT_EQ(finish(false).trouble, std::nullopt);
    EXPECT_TRUE(purges || group_has("1", "values of 1"));
    EXPECT_TRUE(group_has("2", "values of 0") && group_has("2", "values of 1"));
    EXPECT_FALSE(rank_has("1") || rank_has("2"));
    EXPECT_EQ(temporaries(), std::set<std::string>());
    TearDown();
    SetUp();
  }
}

TEST_F(CollatedTest, ASafeTimeWaitsForTheCaseAndIsCarriedFromWhatIsKept) {
  settings_.hold_times = settings_.redirected = true;
  settings_.safe_interval = std::chrono::milliseconds(1);
  write(case_ + "/processors2", "in the way");
  open();
  write_time("1");
  write_time("2");
  purge("1");
  write_time("3");
  EXPECT_EQ(drain_->report().newest_safe, std::nullopt);
  std::filesystem::remove(case_ + "/processors2");
  EXPECT_TRUE(drive([&] { return group_has("1", "values of 0") && group_has("1", "values of 1"); }));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_EQ(times_on_case(), (std::set<std::string>{"2", "3"})) << "1 was purged";
  EXPECT_FALSE(rank_has("2") || rank_has("3"));
}

// The agent was killed before it looked again at times that all ranks had left behind.
TEST_F(CollatedTest, WhatWasLeftBehindWhenTheRunWasKilledComesHomeAsGroups) {
  settings_.live = false;
  open();
  write_unseen({"8", "9", "10", "11"});
  rounds();
  write_unseen({"12", "13"});
  drain_.reset();
  resume();
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  for (const std::string time : {"8", "9", "10", "11", "12"}) EXPECT_TRUE(group_has(time, "values of 1")) << time;
  EXPECT_TRUE(rank_has("13"));
  EXPECT_FALSE(rank_has("8") || on_case("processors2/13"));
}

TEST_F(CollatedTest, ATimeThatWasOpenWhileThePoolWasFullIsNoGroup) {
  settings_.hold_times = true;
  open();
  write_time("1");
  write_time("2", 0);
  rounds();
  drain_->pool_is_full(false);
  drain_->pool_is_full(true);
  write_time("2", 1);
  // The date by the clock of this test.
  const auto date = std::chrono::duration_cast<std::chrono::nanoseconds>(clock_.date().time_since_epoch()).count();
  const timespec now{date / 1'000'000'000, date % 1'000'000'000};
  for (const auto& file : std::filesystem::recursive_directory_iterator(local(1) + "/2"))
    ::utimensat(AT_FDCWD, file.path().c_str(), std::array{now, now}.data(), 0);
  drain_->pool_is_full(false);
  write_time("3");
  write_time("4");
  purge("1");
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, Code::pool_full);
  EXPECT_TRUE(group_has("3", "values of 0") && group_has("4", "values of 1"));
  EXPECT_FALSE(on_case("processors2/2"));
  EXPECT_TRUE(on_case("processor0/2/p") && on_case("processor1/2/p")) << "as it is, since it is not complete";
  EXPECT_FALSE(times_on_case().contains("1"));
}

}  // namespace
}  // namespace forebay::drain
