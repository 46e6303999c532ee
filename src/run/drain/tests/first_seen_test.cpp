// Times that are first seen when the program has gone on, has purged some of them, or when events were lost.
#include <gtest/gtest.h>

#include <filesystem>

#include "run/drain/tests/ranks_fixture.h"

namespace forebay::drain {
namespace {

TEST_F(DrainTest, TimesThatAreGoneBeforeTheyAreSeenAreCounted) {
  settings_.hold_times = true;
  open();
  for (const std::string time : {"1", "2", "3"})
    for (const int rank : {0, 1}) {
      write_time(time, rank);
      if (time != "3") std::filesystem::remove_all(local(rank) + "/" + time);
    }
  const DrainReport report = finish();
  EXPECT_EQ(report.unseen_times, 4);
  EXPECT_EQ(report.local_files, 4);
}

// The program removes a time while it still has the next one to complete, and nobody saw what it removed first.
TEST_F(DrainTest, ATimeThatMayHaveBeenHalfPurgedWhenItWasFirstSeenIsNotCalledComplete) {
  settings_.hold_times = true;
  at_work_ = false;
  open();
  expect_half_purged_is_not_complete();
}

TEST_F(DrainTest, SoMayOneOfWhichADirectoryWasSeenLate) {
  settings_.hold_times = true;
  at_work_ = false;
  open();
  for (const int rank : {0, 1}) std::filesystem::create_directory(local(rank) + "/1");
  rounds();
  write_unseen({"1", "2"});
  for (const int rank : {0, 1}) std::filesystem::remove(local(rank) + "/1/uniform/time");
  rounds();
  EXPECT_EQ(completed(finish(false)), (std::set<std::string>{}));
}

TEST_F(DrainTest, TimesThatAreFirstSeenTogetherAreCompleteWhereTheyHaveTheSameFiles) {
  settings_.hold_times = true;
  at_work_ = false;
  open();
  write_unseen({"1", "2", "3"});
  const DrainReport report = finish(false);
  EXPECT_EQ(completed(report), (std::set<std::string>{"1", "2"}));
  EXPECT_EQ(report.local_files, 3 * 4);
}

// What still is there when the program goes on is not what it was about to remove.
TEST_F(DrainTest, TimesThatAreFirstSeenTogetherAndDifferAreCompleteWhenTheProgramGoesOn) {
  settings_.hold_times = true;
  at_work_ = false;
  open();
  write_unseen({"1", "2"});
  write(local(0) + "/2/UMean", "more");
  rounds();
  EXPECT_EQ(drain_->report().newest_complete, std::nullopt);
  write_time("3");
  EXPECT_EQ(drain_->report().newest_complete, "2");
  EXPECT_EQ(completed(finish(false)), (std::set<std::string>{"1", "2"}));
}

// Where times are only sampled, a look that came between two writings may be followed by a long pause.
TEST_F(DrainTest, WhetherTheLastTimeIsHeldIsKnownWhenItIsFirstSeen) {
  settings_.hold_times = true;
  at_work_ = false;
  open();
  EXPECT_FALSE(drain_->holds_last_time());
  write_time("1");
  round();
  EXPECT_FALSE(drain_->holds_last_time()) << "nothing tells how many files a time has";
  write_time("2", 0);
  write_time("2", 1);
  round();
  EXPECT_EQ(drain_->newest_complete(), "1");
  EXPECT_TRUE(drain_->holds_last_time());
  purge("1");
  write_time("3", 0);
  write(local(1) + "/3/p", "pressure");
  round();
  EXPECT_EQ(drain_->newest_complete(), "2");
  EXPECT_TRUE(drain_->holds_last_time()) << "3 is being written, but 2 is complete";
  purge("2");
  write_unseen({"4", "5"});
  std::filesystem::remove_all(local(0) + "/4");
  std::filesystem::remove_all(local(1) + "/4");
  std::filesystem::remove(local(1) + "/5/p");
  round();
  EXPECT_FALSE(drain_->holds_last_time()) << "5 is being written, and 4 was not seen";
}

// The next has not got its late file yet either.
TEST_F(DrainTest, ATimeThatLacksAFileOfTheLastWholeOneIsNotComplete) {
  settings_.hold_times = true;
  at_work_ = false;
  open();
  for (const int rank : {0, 1}) {
    write_time("1", rank);
    write(local(rank) + "/1/uniform/late", "late");
  }
  round();
  write_unseen({"2", "3"});
  purge("1");
  purge("2");
  for (const int rank : {0, 1}) write_time("4", rank);
  EXPECT_EQ(completed(finish(false)), (std::set<std::string>{"1", "3"}));
}

// Nothing is on the case before the end, so only what is there then matters.
TEST_F(DrainTest, TimesThatAreLeftBehindWhenTheyAreFirstSeenAreNotKeptAside) {
  settings_.live = false;
  settings_.collated = true;
  at_work_ = false;
  open();
  write_unseen({"1", "2", "3", "4"});
  round();
  std::set<std::string> kept;
  for (const auto& entry : std::filesystem::directory_iterator(keep_directory(0, home_)))
    if (entry.is_regular_file()) kept.insert(entry.path().filename());
  EXPECT_EQ(kept, (std::set<std::string>{"3%2Fp", "3%2Funiform%2Ftime", "4%2Fp", "4%2Funiform%2Ftime"}));
  std::filesystem::remove(local(0) + "/1/p");
  std::filesystem::remove(local(1) + "/1/p");
  purge("2");
  write_time("5");
  EXPECT_EQ(drain_->report().newest_complete, "4");
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, std::nullopt);
  EXPECT_EQ(report.local_files, 3 * 4 + 2) << "2 was never looked into, and 1 when it had but one file";
  EXPECT_TRUE(on_case("processors2/1/uniform/time") && on_case("processors2/4/p") && on_case("processors2/5/p"));
  EXPECT_FALSE(on_case("processors2/1/p") || on_case("processors2/2") || on_case("processor0/2"));
}

TEST_F(DrainTest, WhatHappensInATimeThatWasNotWatchedIsTheCasesOnceItIsThere) {
  settings_.live = false;
  open();
  write_unseen({"1", "2", "3", "4"});
  round();
  write_time("5");
  (void)drain_->evict(1);
  ASSERT_TRUE(drive([&] { return is_safe("1"); }));
  EXPECT_TRUE(on_case("processor0/1/p"));
  std::filesystem::remove(local(0) + "/1/p");
  write(local(1) + "/1/late", "more");
  const DrainReport report = finish();
  EXPECT_EQ(report.trouble, std::nullopt);
  EXPECT_FALSE(on_case("processor0/1/p"));
  EXPECT_TRUE(on_case("processor1/1/p") && on_case("processor1/1/late"));
}

TEST_F(DrainTest, ATimeIsWatchedWhereNotAllRanksHaveLeftIt) {
  settings_.live = false;
  open();
  for (const std::string time : {"1", "2", "3"}) write_time(time, 0);
  for (const std::string time : {"1", "2"}) write_time(time, 1);
  round();
  write(local(0) + "/1/late", "told");
  EXPECT_EQ(finish().local_files, 5 * 2 + 1);
}

TEST_F(DrainTest, ATimeThatIsBegunAnewIsWatched) {
  settings_.live = false;
  open();
  for (const int rank : {0, 1}) {
    for (const std::string time : {"1", "2", "3"}) write_time(time, rank);
    std::filesystem::remove_all(local(rank) + "/1");
    write_time("1", rank);
  }
  for (int i = 0; i < 200; ++i) round();  // until all are known to be closed
  std::uint64_t before = drain_->report().local_files;
  write(local(0) + "/1/late", "told");
  round();
  EXPECT_EQ(drain_->report().local_files, before + 1);
  for (const int rank : {0, 1}) {
    std::filesystem::remove_all(local(rank) + "/1");
    for (const std::string time : {"1", "4", "5", "6"}) write_time(time, rank);
  }
  for (int i = 0; i < 200; ++i) round();
  before = drain_->report().local_files;
  write(local(0) + "/1/late", "told");
  EXPECT_EQ(finish().local_files, before + 1 + 2 * 4) << "2 and 4 were passed over, and are counted at the end";
}

TEST_F(DrainTest, SoIsOneThatOnlyOneRankBeginsAnew) {
  settings_.live = false;
  open();
  write_time("1", 0);
  std::filesystem::remove_all(local(0) + "/1");
  write_unseen({"1", "2", "3", "4"});
  for (int i = 0; i < 200; ++i) round();
  const std::uint64_t before = drain_->report().local_files;
  write(local(0) + "/1/late", "told");
  round();
  EXPECT_EQ(drain_->report().local_files, before + 1);
  finish();
}

// With purgeWrite 4 several times that were left behind are still there, until the program removes them.
TEST_F(DrainTest, TimesThatWerePassedOverAndThenPurgedAreCounted) {
  settings_.hold_times = true;
  open();
  write_unseen({"1", "2", "3", "4", "5"});
  round();
  write_time("6");
  purge("1");
  write_time("7");
  purge("2");
  const DrainReport report = finish();
  EXPECT_EQ(completed(report), (std::set<std::string>{"1", "2", "3", "4", "5", "6", "7"}));
  EXPECT_EQ(report.local_files, 5 * 4);
  EXPECT_EQ(report.unseen_times, 2 * 2);
  EXPECT_FALSE(on_case("processor0/1") || on_case("processor0/2"));
  EXPECT_TRUE(on_case("processor0/3/p"));
}

// What the program was about to remove when it was killed may be half of a time.
TEST_F(DrainTest, OfTimesThatWerePassedOverThoseAreCompleteThatHaveAllFilesAtTheEnd) {
  settings_.live = false;
  settings_.collated = true;
  at_work_ = false;
  open();
  write_unseen({"1", "2", "3", "4", "5"});
  round();
  EXPECT_EQ(completed(drain_->report()), (std::set<std::string>{"4"}));
  for (const int rank : {0, 1}) std::filesystem::remove(local(rank) + "/1/p");
  const DrainReport report = finish(false);
  EXPECT_EQ(completed(report), (std::set<std::string>{"2", "3", "4"}));
  EXPECT_EQ(report.local_files, 5 * 4 - 2);
  EXPECT_TRUE(on_case("processors2/2/p") && on_case("processors2/4/p"));
  EXPECT_TRUE(on_case("processor0/1/uniform/time") && on_case("processor0/5/p"));
}

TEST_F(DrainTest, WhatWasPassedOverWhileThePoolWasFullIsNotComplete) {
  settings_.live = false;
  open();
  write_unseen({"1", "2", "3", "4"});
  drain_->pool_is_full(true);
  round();
  drain_->pool_is_full(false);
  write_time("5");
  write_time("6");
  const DrainReport report = finish();
  EXPECT_EQ(completed(report), (std::set<std::string>{"5", "6"}));
  EXPECT_EQ(report.local_files, 6 * 4);
}

// A look came between the ranks' beginnings of 1, and the next when three others had been left behind.
TEST_F(DrainTest, ATimeWhoseNextWasPassedOverIsCompleteWhenTheProgramGoesOn) {
  settings_.hold_times = true;
  at_work_ = false;
  open();
  write_time("1", 0);
  round();
  write_time("1", 1);
  write_unseen({"2", "3", "4", "5"});
  round();
  write_time("6");
  EXPECT_TRUE(completed(finish(false)).contains("1"));
}

TEST_F(DrainTest, WhatWasPassedOverAndMadeRoomIsOlderThanWhatCameAfter) {
  settings_.hold_times = true;
  open();
  write_unseen({"1", "2", "3", "4", "5"});
  round();
  (void)drain_->evict(1);
  ASSERT_TRUE(drive([&] { return is_safe("3") && is_safe("4"); }));
  EXPECT_EQ(drain_->report().newest_safe, "4");
  write_time("6");
  write_time("7");
  drain_->secure("6");
  ASSERT_TRUE(drive([&] { return is_safe("6"); }));
  EXPECT_EQ(drain_->report().newest_safe, "6");
  purge("6");
  rounds();
  EXPECT_TRUE(on_case("processor0/6/p")) << "nothing newer is safe";
  EXPECT_EQ(finish().local_files, 7 * 4);
}

TEST_F(DrainTest, WhatWasRemovedWhileEventsWereLostIsNotTrusted) {
  settings_.hold_times = true;
  at_work_ = false;
  open();
  write_unseen({"1", "2", "3", "4", "5"});
  round();
  lose_events();
  for (const int rank : {0, 1}) std::filesystem::remove_all(local(rank) + "/1");
  write_unseen({"6"});
  rounds();
  EXPECT_FALSE(completed(finish(false)).contains("1"));
}

// The pool is nearly full, and ranks that wait for room begin no other time.
TEST_F(DrainTest, TimesThatWerePassedOverMakeRoomBeforeTheirRanksGoOn) {
  settings_.live = false;
  open();
  write_unseen({"1", "2", "3", "4"});
  round();
  (void)drain_->evict(1);
  EXPECT_TRUE(drive([&] { return is_safe("1") && is_safe("2") && is_safe("3"); }));
  EXPECT_TRUE(on_case("processor1/1/p"));
  write_time("5");
  write_time("6");
  std::uint64_t step = 0;
  for (const int rank : {0, 1})
    for (const std::string file : {"/5/p", "/5/uniform/time"}) step += std::filesystem::file_size(local(rank) + file);
  EXPECT_LT(drain_->largest_step(), 2 * step) << "what was found late was written in many steps";
}

TEST_F(DrainTest, NoTimeIsPassedOverWhereOthersMustAgreeOrItIsCarriedAtOnce) {
  for (const int way : {0, 1, 2}) {
    settings_.live = way == 0;
    settings_.all_ranks = way == 1 ? 4 : 2;
    settings_.handed_over = way == 2;
    open();
    write_unseen({"1", "2", "3", "4"});
    round();
    const std::uint64_t before = drain_->report().local_files;
    write(local(0) + "/1/late", "told");
    round();
    EXPECT_EQ(drain_->report().local_files - before, 1) << way;
    drain_.reset();
    TearDown();
    SetUp();
  }
}

// Its files differ from those of the next, so it is known for whole only when the program has gone on; by then a newer
// one may have been complete for long.
TEST_F(DrainTest, ATimeIsCompleteThoughANewerOneWasBefore) {
  settings_.collated = true;
  open();
  write_time("1");
  write_unseen({"2"});
  write_unseen({"3"});
  for (const int rank : {0, 1}) write(local(rank) + "/3/UMean", "more");
  ASSERT_TRUE(drive([&] { return drain_->report().newest_complete == "3"; }));
  EXPECT_EQ(completed(drain_->report()), (std::set<std::string>{"1", "3"}));
  write_time("4");
  EXPECT_EQ(completed(drain_->report()), (std::set<std::string>{"1", "2", "3"}));
  EXPECT_EQ(finish().trouble, std::nullopt);
  EXPECT_TRUE(on_case("processors2/2/p"));
}

// A solver that is started again writes the same time once more: that does not make the first one whole.
TEST_F(DrainTest, ATimeThatWasRemovedBeforeItWasTrustedIsNotTrustedForItsName) {
  settings_.hold_times = true;
  at_work_ = false;
  open();
  write_half_purged();
  purge("1");
  purge("2");
  for (const int rank : {0, 1}) write(local(rank) + "/1/p", "cut");
  rounds();
  EXPECT_EQ(completed(finish(false)), (std::set<std::string>{"2"}));
}

TEST_F(DrainTest, ATimeThatIsMadeRemovedAndMadeAgainUnseenIsWatched) {
  settings_.live = false;
  open();
  for (const int rank : {0, 1}) {
    write_time("1", rank);
    std::filesystem::remove_all(local(rank) + "/1");
  }
  write_unseen({"1", "2", "3", "4"});
  rounds();
  (void)drain_->evict(1);
  ASSERT_TRUE(drive([&] { return is_safe("1"); }));
  std::filesystem::remove(local(0) + "/1/p");
  finish();
  EXPECT_FALSE(on_case("processor0/1/p"));
  EXPECT_TRUE(on_case("processor1/1/p"));
}

TEST_F(DrainTest, ATimeOfWhichTheRestWasWrittenAndPurgedWhenEventsWereLostIsNotCalledComplete) {
  settings_.hold_times = true;
  at_work_ = false;
  open();
  write_half_and_lose_events();
  for (const int rank : {0, 1}) {
    write(local(rank) + "/1/uniform/time", "1");
    write_time("2", rank);
    std::filesystem::remove_all(local(rank) + "/1");
    write_time("3", rank);
  }
  rounds();
  EXPECT_EQ(completed(finish(false)).count("1"), 0u);
}

// The kernel drops what does not fit into its queue. What is found by looking afterwards was begun in the order of the
// times, which is not that of their names; and the last may have been closed by the death of its rank.
TEST_F(DrainTest, AfterLostEventsTheTimeThatARankWasWritingIsNotCalledComplete) {
  settings_.hold_times = true;
  at_work_ = false;
  open();
  lose_events();
  write_unseen({"8", "9", "10"});
  for (int i = 0; i < 200; ++i) round();
  EXPECT_EQ(drain_->report().newest_complete, "9");
  const DrainReport report = finish(false);
  EXPECT_EQ(completed(report), (std::set<std::string>{"8", "9"}));
  ASSERT_FALSE(report.messages.empty());
  EXPECT_NE(report.messages.front().find("overflowed"), std::string::npos) << report.messages.front();
}

}  // namespace
}  // namespace forebay::drain
