// What a run that was killed leaves, when it is resumed.
#include <gtest/gtest.h>

#include "drain/tests/ranks_fixture.h"

namespace forebay::drain {
namespace {

// Killed as soon as the program has ended well: what it purged stays purged, the last complete time too, though copies
// of all these are held.
TEST_F(DrainTest, AResumeAfterACleanEndLeavesWhatTheProgramLeft) {
  for (const bool collated : {false, true}) {
    for (const int all_ranks : {2, 4}) {
      settings_.hold_times = true;
      settings_.collated = collated;
      settings_.all_ranks = all_ranks;
      SCOPED_TRACE(testing::Message() << (collated ? "collated, " : "verbatim, ") << all_ranks << " ranks in all");
      open();
      write_time("1");
      write_time("2");
      drain_->secure("1");
      ASSERT_TRUE(drive([&] { return drain_->report().newest_safe == "1"; }));
      purge("1");
      write_time("3");
      purge("2");
      write_time("4");
      write_time("5");
      purge("5");
      for (const int rank : {0, 1}) drain_->rank_ended(rank, true);
      ASSERT_TRUE(drain_->begin_finish(true));
      drain_.reset();
      resume();
      const DrainReport report = finish(false);
      EXPECT_EQ(report.trouble, std::nullopt);
      EXPECT_EQ(times_on_case(), (std::set<std::string>{"3", "4"}));
      TearDown();
      SetUp();
    }
  }
}

TEST_F(DrainTest, AResumeAfterAKillStillHoldsTheLastCompleteTimes) {
  settings_.hold_times = true;
  settings_.all_ranks = 4;
  open();
  for (const std::string time : {"1", "2", "3"}) write_time(time);
  purge("1");
  purge("2");
  drain_.reset();
  resume();
  EXPECT_EQ(finish(false).trouble, std::nullopt);
  EXPECT_TRUE(times_on_case().contains("2")) << "the other nodes may not have 3";
}

}  // namespace
}  // namespace forebay::drain
