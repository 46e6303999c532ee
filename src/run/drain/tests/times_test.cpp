#include "run/drain/times.h"

#include <gtest/gtest.h>

namespace forebay::drain {
namespace {

class TimesTest : public testing::Test {
 protected:
  TimesTest() {
    times.add_rank(0);
    times.add_rank(1);
  }
  void write(int rank, const std::string& time, const std::string& file) {
    times.file_made(rank, time, file);
    times.file_closed(rank, time, file);
  }
  void fields(int rank, const std::string& time) {
    times.directory_made(rank, time);
    write(rank, time, "U");
    write(rank, time, "p");
    write(rank, time, "uniform/time");
  }
  void properties(int rank, const std::string& time) {
    write(rank, time, "uniform/functionObjects/functionObjectProperties");
  }
  Times times;
};

TEST_F(TimesTest, FieldsAloneDoNotMakeAFirstTimeComplete) {
  fields(0, "1");
  fields(1, "1");
  EXPECT_FALSE(times.complete("1"));
  properties(0, "1");
  properties(1, "1");
  EXPECT_FALSE(times.complete("1")) << "nothing tells yet that this was the last file";
  times.directory_made(0, "2");
  times.directory_made(1, "2");
  EXPECT_TRUE(times.complete("1"));
}

TEST_F(TimesTest, ALaterTimeIsCompleteWhenItHasTheFilesOfTheLast) {
  for (const int rank : {0, 1}) {
    fields(rank, "1");
    properties(rank, "1");
    fields(rank, "2");
  }
  EXPECT_FALSE(times.complete("2")) << "functionObjectProperties comes one step late";
  properties(0, "2");
  EXPECT_FALSE(times.complete("2"));
  properties(1, "2");
  EXPECT_FALSE(times.complete("2")) << "a rank that is killed closes its files too";
  times.vouch(0);
  times.vouch(1);
  EXPECT_TRUE(times.complete("2"));
  EXPECT_EQ(times.take_newly_complete(), (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(times.take_newly_complete().empty()) << "each is told once";
}

TEST_F(TimesTest, ATimeHasAllFilesWhenEveryRankHasThoseOfItsLastWholeOneClosedOrNot) {
  EXPECT_EQ(times.begun_by_all(), "");
  fields(0, "1");
  EXPECT_EQ(times.begun_by_all(), "");
  fields(1, "1");
  EXPECT_EQ(times.begun_by_all(), "1");
  EXPECT_FALSE(times.has_all_files("1")) << "nothing to compare it with";
  fields(0, "2");
  EXPECT_EQ(times.begun_by_all(), "1");
  times.directory_made(1, "2");
  EXPECT_EQ(times.begun_by_all(), "2");
  EXPECT_FALSE(times.has_all_files("2"));
  for (const char* file : {"U", "p", "uniform/time"}) times.file_made(1, "2", file);
  EXPECT_TRUE(times.has_all_files("2"));
  times.suspect(0, "2");
  EXPECT_FALSE(times.has_all_files("2"));
  times.trust(0, "2");
  times.spoil(1, "2");
  EXPECT_FALSE(times.has_all_files("2"));
}

TEST_F(TimesTest, ASuspectTimeIsWholeWhenItIsTrusted) {
  for (const std::string time : {"1", "2"}) {
    fields(0, time);
    times.suspect(0, time);
  }
  times.directory_made(0, "3");
  EXPECT_FALSE(times.whole(0, "1"));
  times.trust(0, "1");
  EXPECT_TRUE(times.whole(0, "1"));
  EXPECT_FALSE(times.whole(0, "2")) << "it may have had more files than the last";
  times.spoil(0, "2");
  times.trust(0, "2");
  EXPECT_FALSE(times.whole(0, "2"));
}

TEST_F(TimesTest, ATimeIsComparedWithTheNextAndTheLastWholeOne) {
  fields(0, "1");
  properties(0, "1");
  fields(0, "2");
  times.suspect(0, "2");
  fields(0, "3");
  EXPECT_FALSE(times.has_files_of_others(0, "2", "3")) << "1 has functionObjectProperties";
  properties(0, "2");
  EXPECT_TRUE(times.has_files_of_others(0, "2", "3"));
  times.file_made(0, "3", "UMean");
  EXPECT_FALSE(times.has_files_of_others(0, "2", "3"));
  EXPECT_FALSE(times.has_files_of_others(0, "2", "4")) << "not begun";
}

TEST_F(TimesTest, WhatIsClosedAfterARankWasSeenAtWorkIsDoubtfulAgain) {
  for (const int rank : {0, 1}) {
    fields(rank, "1");
    times.directory_made(rank, "2");
  }
  write(0, "2", "U");
  write(0, "2", "p");
  EXPECT_FALSE(times.needs_voucher(0)) << "one file is missing";
  times.vouch(0);
  write(0, "2", "uniform/time");
  EXPECT_FALSE(times.whole(0, "2"));
  EXPECT_TRUE(times.needs_voucher(0));
  times.vouch(0);
  EXPECT_TRUE(times.whole(0, "2"));
  EXPECT_FALSE(times.needs_voucher(0));
}

TEST_F(TimesTest, ATimeThatWasLetGoStaysCompleteWhateverComesLate) {
  fields(0, "1");
  fields(1, "1");
  times.directory_made(0, "2");
  times.directory_made(1, "2");
  times.compact("1");
  EXPECT_TRUE(times.complete("1"));
  properties(0, "1");
  times.file_deleted(1, "1", "U");
  times.compact("1");
  EXPECT_TRUE(times.complete("1"));
  EXPECT_TRUE(times.before("1", "2"));
  times.spoil(0, "1");
  EXPECT_FALSE(times.complete("1"));
}

TEST_F(TimesTest, SpoiledTimesAreForgottenWhenALaterOneIsComplete) {
  fields(0, "1");
  times.spoil(0, "1");
  fields(0, "2");
  times.spoil(0, "3");
  times.forget_spoiled_before("2");
  EXPECT_EQ(times.all(), (std::vector<std::string>{"2", "3"}));
}

TEST_F(TimesTest, TheOrderOfATimeThatWasCompleteOutlivesItsSpoiling) {
  for (const std::string time : {"1", "2", "3"})
    for (const int rank : {0, 1}) fields(rank, time);
  EXPECT_EQ(times.take_newly_complete(), (std::vector<std::string>{"1", "2"}));
  times.spoil(0, "1");
  times.forget_spoiled_before("2");
  EXPECT_FALSE(times.before("2", "1"));
  EXPECT_TRUE(times.before("1", "2"));
  EXPECT_FALSE(times.complete("1"));
}

TEST_F(TimesTest, ATimeThatOneRankLacksIsNotComplete) {
  fields(0, "1");
  times.directory_made(0, "2");
  EXPECT_TRUE(times.whole(0, "1"));
  EXPECT_FALSE(times.complete("1"));
  EXPECT_TRUE(times.take_newly_complete().empty());
}

TEST_F(TimesTest, AnOpenFileKeepsATimeIncomplete) {
  times.directory_made(0, "1");
  times.file_made(0, "1", "U");
  times.directory_made(0, "2");
  EXPECT_FALSE(times.whole(0, "1"));
  times.file_closed(0, "1", "U");
  EXPECT_TRUE(times.whole(0, "1"));
}

TEST_F(TimesTest, TheLastTimeIsCompleteWhenTheProgramEndsCleanly) {
  fields(0, "1");
  fields(1, "1");
  times.rank_ended(0, true);
  times.rank_ended(1, false);
  EXPECT_TRUE(times.whole(0, "1"));
  EXPECT_FALSE(times.whole(1, "1"));
}

TEST_F(TimesTest, ASpoiledTimeIsNeverComplete) {
  fields(0, "1");
  fields(1, "1");
  times.spoil_open();
  times.directory_made(0, "2");
  times.directory_made(1, "2");
  EXPECT_FALSE(times.complete("1"));
}

TEST_F(TimesTest, AWholeTimeStaysWholeWhenTheProgramPurgesIt) {
  fields(0, "1");
  fields(1, "1");
  times.directory_made(0, "2");
  times.directory_made(1, "2");
  times.file_deleted(0, "1", "U");
  EXPECT_TRUE(times.complete("1"));
}

TEST_F(TimesTest, ATimePurgedBeforeItWasWholeIsNot) {
  fields(0, "1");
  times.file_deleted(0, "1", "U");
  times.directory_made(0, "2");
  EXPECT_FALSE(times.whole(0, "1"));
}

TEST_F(TimesTest, ATimePurgedBeforeItWasWholeIsWholeInWhatIsKept) {
  fields(0, "1");
  times.file_purged(0, "1", "U");
  times.directory_made(0, "2");
  EXPECT_TRUE(times.whole(0, "1"));
  EXPECT_TRUE(times.purged("1"));
}

TEST_F(TimesTest, APurgedFileThatIsWrittenAnewMustBeClosedAgain) {
  fields(0, "1");
  times.file_purged(0, "1", "U");
  EXPECT_TRUE(times.purged_file_made(0, "1", "U"));
  times.file_made(0, "1", "U");
  times.directory_made(0, "2");
  EXPECT_FALSE(times.whole(0, "1"));
  times.file_closed(0, "1", "U");
  EXPECT_TRUE(times.whole(0, "1"));
}

TEST_F(TimesTest, OrderIsThatOfBeginningNotOfNames) {
  fields(0, "10");
  fields(0, "9");
  EXPECT_TRUE(times.before("10", "9"));
  EXPECT_EQ(times.all(), (std::vector<std::string>{"10", "9"}));
}

// Its files are not known; nor do they tell what a later time must have.
TEST(Times, what_was_passed_over_is_whole_when_it_was_left_and_is_trusted) {
  Times times;
  times.add_rank(0);
  times.directory_made(0, "1");
  times.pass_over(0, "1");
  times.suspect(0, "1");
  times.directory_made(0, "2");
  times.pass_over(0, "2");
  times.suspect(0, "2");
  times.spoil(0, "2");
  times.directory_made(0, "3");
  EXPECT_FALSE(times.whole(0, "1"));
  times.trust(0, "1");
  times.trust(0, "2");
  EXPECT_TRUE(times.complete("1"));
  EXPECT_FALSE(times.whole(0, "2")) << "it may be cut";
  EXPECT_FALSE(times.has_all_files("1"));
  times.file_made(0, "3", "p");
  times.file_closed(0, "3", "p");
  times.vouch(0);
  EXPECT_FALSE(times.whole(0, "3")) << "nothing tells how many files a time has";
}

}  // namespace
}  // namespace forebay::drain
