// Ranks that keep what they purge themselves: here they are played by hand, as src/run/redirect/hand_over.cpp does it.
#include "run/drain/hold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <limits>

#include "run/drain/tests/ranks_fixture.h"

namespace forebay::drain {
namespace {

// The parameter: whether the program removes a time as a whole, or file by file.
class HoldTest : public DrainTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    DrainTest::SetUp();
    settings_.hold_times = true;
    settings_.handed_over = true;
    at_work_ = false;
  }

  std::string page() const { return home_ + "/" + hold_name; }
  bool ranks_may_free() const {
    std::ifstream file(page(), std::ios::binary);
    std::uint64_t held = 1;
    file.read(reinterpret_cast<char*>(&held), sizeof held);
    return held == 0;
  }
  void put(std::streamoff at, double time) const {
    std::fstream file(page(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(at);
    file.write(reinterpret_cast<const char*>(&time), sizeof time);
  }
  void tell(int rank, int word, double time) const { put(64 * (1 + rank) + 8 * word, time); }
  void tell_complete(double time) const { put(16, time); }
  void leave(int rank, double time) const { tell(rank, 0, time); }
  void lack(int rank, double time) const {
    for (const int word : {1, 2}) tell(rank, word, time);
  }
  double left(int rank) const {
    std::ifstream file(page(), std::ios::binary);
    file.seekg(64 * (1 + rank));
    double time = 0;
    file.read(reinterpret_cast<char*>(&time), sizeof time);
    return time;
  }
  std::string handed_over(int rank) const { return keep_directory(rank, home_) + "/handed-over/"; }
  void hand_over(int rank, const std::string& time, const std::string& file) const {
    std::string name = time + "%2F" + file;
    if (const auto slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "%2F");
    std::filesystem::create_hard_link(local(rank) + "/" + time + "/" + file, handed_over(rank) + name);
    std::filesystem::remove(local(rank) + "/" + time + "/" + file);
  }
  void hand_over(int rank, const std::string& time) const {
    if (GetParam()) return std::filesystem::rename(local(rank) + "/" + time, handed_over(rank) + time);
    hand_over(rank, time, "p");
    hand_over(rank, time, "uniform/time");
    std::filesystem::remove_all(local(rank) + "/" + time);
  }
  void free(int rank, const std::string& time) const {
    for (const std::string file : {"%2Fp", "%2Funiform%2Ftime"})
      std::filesystem::remove(handed_over(rank) + time + file);
    std::filesystem::remove_all(handed_over(rank) + time);
  }
  // So many steps with purgeWrite 1, which nobody looks at: of the last one nothing is purged yet.
  void run(int first, int last) {
    for (int step = first; step <= last; ++step)
      for (const int rank : {0, 1}) {
        write_time(std::to_string(step), rank);
        if (step == 1) continue;
        leave(rank, step - 1);
        hand_over(rank, std::to_string(step - 1));
        free(rank, std::to_string(step - 2));
      }
  }
  // The agent has looked at ten steps before it was killed.
  void run_and_lose_the_agent(int last) {
    open();
    round();
    run(1, 10);
    round();
    drain_.reset();
    run(11, last);
  }
};

TEST_P(HoldTest, RanksFreeOnlyBetweenLooksAndWhileNothingMoreMustBeKnown) {
  open();
  EXPECT_FALSE(ranks_may_free()) << "before the first look";
  round();
  EXPECT_TRUE(ranks_may_free());
  EXPECT_FALSE(drain_->ranks_keep()) << "nobody has told of a time";
  for (const int rank : {0, 1}) leave(rank, 1);
  EXPECT_TRUE(drain_->ranks_keep());
  drain_->room_is_scarce(true);
  EXPECT_FALSE(ranks_may_free());
  drain_->room_is_scarce(false);
  EXPECT_FALSE(ranks_may_free()) << "what they had handed over was not looked at";
  round();
  EXPECT_TRUE(ranks_may_free());
  drain_->pool_is_full(true);
  round();
  EXPECT_FALSE(ranks_may_free() || drain_->ranks_keep());
  drain_.reset();
  EXPECT_FALSE(ranks_may_free());
}

TEST_P(HoldTest, NothingIsFreedWhereTimesAreCarriedAtOnceOrNodesMustAgree) {
  settings_.hold_times = false;
  open();
  round();
  EXPECT_FALSE(ranks_may_free());
  drain_.reset();
  TearDown();
  SetUp();
  settings_.all_ranks = 4;
  open();
  round();
  EXPECT_FALSE(ranks_may_free());
}

TEST_P(HoldTest, HoweverManyTimesComeAndGoTheNewestThatAllRanksLeftComesHomeAfterACrash) {
  open();
  round();
  run(1, 100);
  round();
  EXPECT_EQ(drain_->newest_complete(), "99");
  run(101, 200);
  std::filesystem::remove(local(1) + "/200/p");  // and there it was killed
  EXPECT_EQ(completed(finish(false)), (std::set<std::string>{"99", "100", "199"}));
  for (const std::string rank : {"processor0/", "processor1/"})
    EXPECT_TRUE(on_case(rank + "199/p") && on_case(rank + "199/uniform/time")) << rank;
  EXPECT_EQ(times_on_case(), (std::set<std::string>{"199", "200"}));
}

// A look finds it half purged: one file where it was written, one where it was handed over.
TEST_P(HoldTest, ATimeThatIsBeingPurgedIsFoundWhole) {
  open();
  round();
  run(1, 50);
  for (const int rank : {0, 1}) {
    write_time("51", rank);
    leave(rank, 50);
  }
  hand_over(0, "50", "p");
  hand_over(1, "50", "uniform/time");
  round();
  EXPECT_EQ(drain_->newest_complete(), "50");
}

// Its directory was seen when it had one file; the other came, and went, in a directory that nobody watched.
TEST_P(HoldTest, ATimeOfWhichRanksMayHaveFreedAFileUnseenIsNotCalledComplete) {
  open();
  round();
  for (const int rank : {0, 1}) write(local(rank) + "/1/p", "pressure");
  round();
  for (const int rank : {0, 1}) write(local(rank) + "/1/uniform/time", "1");
  for (const int rank : {0, 1}) {
    write_time("2", rank);
    hand_over(rank, "1");
    write_time("3", rank);
    leave(rank, 2);
    free(rank, "1");
    hand_over(rank, "2");
  }
  round();
  write_time("4");
  EXPECT_EQ(completed(finish(false)), (std::set<std::string>{"2", "3"}));
}

// The library is not loaded into a static program.
TEST_P(HoldTest, WhatARankPurgesThatTellsNothingMayBeGone) {
  open();
  expect_half_purged_is_not_complete();
}

// Nor does what an earlier program of the rank has left tell of what a later one, which has no library, leaves.
TEST_P(HoldTest, WhatARankPurgesThatToldOnlyOfEarlierTimesMayBeGone) {
  open();
  for (const int rank : {0, 1}) leave(rank, 0.5);
  expect_half_purged_is_not_complete();
}

// Nobody frees then what the other rank hands over.
TEST_P(HoldTest, WhereOneRankTellsNothingTheAgentLetsGoWhatTheOtherHandsOver) {
  open();
  round();
  for (int step = 1; step <= 30; ++step) {
    for (const int rank : {0, 1}) write_time(std::to_string(step), rank);
    if (step > 1) {
      leave(0, step - 1);
      hand_over(0, std::to_string(step - 1));
      std::filesystem::remove_all(local(1) + "/" + std::to_string(step - 1));
    }
    if (step % 3 == 0) round();
  }
  rounds();
  std::set<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator(handed_over(0))) names.insert(each.path().filename());
  EXPECT_LE(names.size(), 4u) << "of more than two times";
  finish(false);
}

TEST_P(HoldTest, ATimeThatHasMoreThanNewerOnesComesHomeThoughWhoBeginsToCarryItDies) {
  open();
  round();
  for (const std::string time : {"1", "2", "3"})
    for (const int rank : {0, 1}) {
      write_time(time, rank);
      if (time == "1") write(local(rank) + "/1/phi", field("1", "phi"));
      if (time == "2" && !GetParam()) hand_over(rank, "1", "phi");
      if (time == "2") hand_over(rank, "1");
      if (time != "1") leave(rank, time == "2" ? 1 : 2);
    }
  ASSERT_TRUE(drain_->begin_finish(false));
  drain_.reset();
  resume();
  EXPECT_EQ(finish(false).newest_complete, "2");
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(on_case("processor" + std::to_string(rank) + "/1/phi"));
    EXPECT_TRUE(on_case("processor" + std::to_string(rank) + "/2/p"));
  }
}

TEST_P(HoldTest, ATimeThatARankCouldNotHandOverOrThatMayBeCutIsNotCalledComplete) {
  open();
  round();
  run(1, 50);
  lack(1, 49);
  round();
  EXPECT_EQ(drain_->newest_complete(), std::nullopt);
  run(51, 100);
  round();
  EXPECT_EQ(drain_->newest_complete(), "99") << "what came later lacks nothing";
  run(101, 200);
  lack(0, 199);
  EXPECT_EQ(completed(finish(false)), (std::set<std::string>{"50", "99", "100"})) << "looked at while they were there";
}

// Though every rank closed its files, and goes on to live.
TEST_P(HoldTest, ATimeThatMayBeCutIsNotCalledCompleteByBeingQuiet) {
  at_work_ = true;
  open();
  lack(0, 2);
  for (const std::string time : {"1", "2"}) {
    for (const int rank : {0, 1}) write_time(time, rank);
    for (int i = 0; i < 200; ++i) round();
  }
  EXPECT_EQ(completed(finish(false)), (std::set<std::string>{"1"}));
}

// Nobody frees them, where no time's directory is removed.
TEST_P(HoldTest, FilesThatARankRemovesFromTimesThatStayAreLetGo) {
  open();
  round();
  for (int step = 1; step <= 30; ++step) {
    for (const int rank : {0, 1}) {
      write_time(std::to_string(step), rank);
      if (step > 1) leave(rank, step - 1);
      write(local(rank) + "/" + std::to_string(step) + "/temporary", "of the program");
      hand_over(rank, std::to_string(step), "temporary");
    }
    if (step % 3 == 0) round();
  }
  rounds();
  EXPECT_LE(std::distance(std::filesystem::directory_iterator(handed_over(0)), {}), 4) << "as many as restart points";
  finish(false);
}

// Before it, a rank may have told of more: a program that goes back takes that away.
TEST_P(HoldTest, NothingIsKeptWhereALookBeganWithoutAnythingComplete) {
  auto hold = Hold::make(page(), 2);
  ASSERT_TRUE(hold) << hold.error().text();
  for (const int rank : {0, 1}) hold->add_rank(rank);
  hold->end_look(true);
  hold->begin_look();
  for (const int rank : {0, 1}) leave(rank, 5);
  EXPECT_FALSE(hold->keeps(0, "5"));
  hold->end_look(true);
  hold->begin_look();
  EXPECT_TRUE(hold->keeps(0, "5"));
  EXPECT_FALSE(hold->keeps(0, "4") || hold->keeps(0, "6"));
}

TEST_P(HoldTest, ATimeThatWasPartlySeenWhenEventsWereLostIsNotCalledComplete) {
  open();
  round();
  write_half_and_lose_events();
  for (const int rank : {0, 1}) {
    write(local(rank) + "/1/uniform/time", "1");
    write_time("2", rank);
    leave(rank, 1);
    hand_over(rank, "1");
    write_time("3", rank);
    leave(rank, 2);
    hand_over(rank, "2");
    free(rank, "1");
  }
  rounds();
  write_time("4");
  EXPECT_EQ(drain_->newest_complete(), "3");
  EXPECT_EQ(completed(finish(false)).count("1"), 0u);
}

// Ranks have freed what they could before room became scarce; what is left of older times is no time.
TEST_P(HoldTest, WhereRoomIsScarceWhatRanksHandedOverIsLetGo) {
  open();
  round();
  run(1, 50);
  write(handed_over(0) + "20%2Fp", "the rest of an older one");
  drain_->room_is_scarce(true);
  rounds();
  EXPECT_EQ(drain_->newest_complete(), "49");
  for (int step = 51; step < 60; ++step)
    for (const int rank : {0, 1}) {
      write_time(std::to_string(step), rank);
      hand_over(rank, std::to_string(step - 1));
      rounds();
    }
  EXPECT_EQ(drain_->newest_complete(), "58");
  for (const int rank : {0, 1})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(handed_over(rank)))
      EXPECT_TRUE(entry.is_directory()) << entry;  // those go when it is looked what there is
  EXPECT_EQ(completed(finish(false)).count("20"), 0u);
}

TEST_P(HoldTest, AResumeFindsWhatRanksKeptAfterTheAgentWasKilled) {
  for (const bool collated : {false, true}) {
    SCOPED_TRACE(collated);
    settings_.collated = collated;
    run_and_lose_the_agent(100);
    hand_over(0, "100", "p");  // it was killed while it purged
    leave(0, 100);
    leave(1, 99);
    resume();
    EXPECT_EQ(drain_->newest_complete(), "99");
    const DrainReport report = finish(false);
    EXPECT_EQ(report.trouble, std::nullopt);
    const std::string first = collated ? "processors2/99/" : "processor0/99/";
    const std::string second = collated ? "processors2/99/" : "processor1/99/";
    for (const std::string file : {"p", "uniform/time"}) EXPECT_TRUE(on_case(first + file) && on_case(second + file));
    TearDown();
    SetUp();
  }
}

// It has not seen the agent's looks, so what the agent would have found out the ranks have told.
TEST_P(HoldTest, AResumeCallsNoTimeCompleteThatMayBeCut) {
  run_and_lose_the_agent(20);
  lack(1, 19);
  resume();
  EXPECT_EQ(drain_->newest_complete(), "9");
  EXPECT_EQ(finish(false).trouble, std::nullopt);
}

// The ranks have kept the one before it, and told that it is complete.
TEST_P(HoldTest, AResumeTakesTheTimeBeforeOneThatMayBeCut) {
  run_and_lose_the_agent(19);
  for (const int rank : {0, 1}) {
    write_time("20", rank);
    leave(rank, 19);
  }
  hand_over(0, "19", "p");
  lack(1, 19);
  tell_complete(18);
  resume();
  EXPECT_EQ(drain_->newest_complete(), "18");
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  for (const std::string rank : {"processor0/", "processor1/"})
    EXPECT_TRUE(on_case(rank + "18/p") && on_case(rank + "18/uniform/time")) << rank;
}

TEST_P(HoldTest, WhenTheAgentWasKilledTheRanksOfItsNodeMayFreeWhatTheyHaveLeft) {
  settings_.all_ranks = 4;
  open();
  leave(0, 7);
  round();
  drain_.reset();
  EXPECT_FALSE(ranks_may_free());
  let_ranks_free(home_, {0, 1});
  EXPECT_TRUE(ranks_may_free());
  EXPECT_EQ(left(0), 7);
  EXPECT_EQ(left(1), -std::numeric_limits<double>::infinity());
  for (const int rank : {2, 3}) EXPECT_EQ(left(rank), std::numeric_limits<double>::infinity());
  std::fstream(page(), std::ios::binary | std::ios::in | std::ios::out).put(1);
  let_ranks_free(home_, {0, 1, 4});  // another run's
  let_ranks_free(home_ + "/none", {0});
  EXPECT_FALSE(ranks_may_free());
}

TEST_P(HoldTest, AResumeCallsNoTimeCompleteOfWhichSomethingThatWasHandedOverIsNoFile) {
  run_and_lose_the_agent(20);
  const std::string taken = handed_over(0) + (GetParam() ? "19/p" : "19%2Fp");
  ASSERT_TRUE(std::filesystem::remove(taken));
  std::filesystem::create_symlink("/etc/passwd", taken);
  resume();
  EXPECT_EQ(drain_->newest_complete(), "9");
  EXPECT_EQ(finish(false).trouble, std::nullopt);
}

TEST_P(HoldTest, WhereARankHasLeftNothingNoTimeIsKnown) {
  const std::set<std::string> names{"-90.5", "6", "7", "8"};
  auto hold = Hold::make(page(), 2);
  ASSERT_TRUE(hold) << hold.error().text();
  using Times = std::set<std::string>;
  EXPECT_EQ(left_by_all(page(), {0, 1}, names), Times{});
  const double times[] = {-90.5, 7};
  for (const int rank : {0, 1}) {
    EXPECT_EQ(left_by_all(page(), {0, 1}, names), Times{});
    leave(rank, times[rank]);
  }
  EXPECT_EQ(left_by_all(page(), {0, 1}, names), Times{"-90.5"});
  EXPECT_EQ(left_by_all(page(), {1}, names), (Times{"-90.5", "6", "7"}));
  EXPECT_EQ(left_by_all(page(), {1, 2}, names), Times{}) << "of another run";
  EXPECT_EQ(left_by_all(home_ + "/none", {0}, names), Times{});
  put(8 * contract::hold_version, std::bit_cast<double>(contract::version + 1));
  EXPECT_EQ(left_by_all(page(), {1}, names), Times{}) << "of another version";
}

TEST_P(HoldTest, WhereItCannotBeListedWhatWasHandedOverNoFurtherTimeIsComplete) {
  open();
  round();
  run(1, 10);
  round();
  ASSERT_EQ(drain_->newest_complete(), "9");
  std::filesystem::remove_all(handed_over(0));
  for (const int rank : {0, 1}) write_time("11", rank);
  round();
  EXPECT_EQ(drain_->newest_complete(), "9");
  const auto messages = finish(true).messages;
  EXPECT_TRUE(std::ranges::any_of(
      messages, [](const std::string& message) { return message.find("handed-over") != std::string::npos; }));
}

// What was older is gone when that is found, but from then on nothing is freed.
TEST_P(HoldTest, WhatCannotBeKeptOfATimeThatWasRemovedAsAWholeIsTold) {
  open();
  round();
  run(1, 10);
  for (const int rank : {0, 1}) {
    write(local(rank) + "/10/" + std::string(254, 'x'), "its name is too long with the time's");
    write_time("11", rank);
    leave(rank, 10);
    std::filesystem::rename(local(rank) + "/10", handed_over(rank) + "10");
  }
  round();
  EXPECT_NE(drain_->newest_complete(), "10");
  EXPECT_FALSE(ranks_may_free());
}

TEST_P(HoldTest, NorIsAnythingFreedWhereALookFoundItBeforeItWasRemoved) {
  open();
  round();
  run(1, 10);
  write(local(0) + "/10/" + std::string(254, 'x'), "its name is too long with the time's");
  round();
  EXPECT_FALSE(ranks_may_free());
}

// With purgeWrite 1 a time is purged before it is let go, with 2 after; and some times nobody looks at.
TEST_P(HoldTest, WhatNeverHadToGoToTheCaseIsCounted) {
  open();
  round();
  for (const int kept : {1, 2})
    for (int step = 1; step <= 40; ++step) {
      const int number = 100 * kept + step;
      for (const int rank : {0, 1}) {
        write_time(std::to_string(number), rank);
        if (step > 1) leave(rank, number - 1);
        if (step > kept) hand_over(rank, std::to_string(number - kept));
        if (step > kept + 1) free(rank, std::to_string(number - kept - 1));
      }
      if (step < 20) round();
    }
  rounds();
  const std::size_t rank_times = 2 * 19 * 2;  // that a look found
  const std::size_t of_each = field("100", "values of 0").size() + field("100", "100").size();
  EXPECT_EQ(drain_->report().never_shared, (Amount{rank_times * 2, rank_times * of_each}));
}

INSTANTIATE_TEST_SUITE_P(Removed, HoldTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "AsAWhole" : "FileByFile"; });

}  // namespace
}  // namespace forebay::drain
