// A step, with its segment, moved to a tier by hand.
#include <gtest/gtest.h>

#include "store/trajectory/tests/api.h"

namespace forebay::move_test {
namespace {

constexpr std::uint64_t kSegment = 64 << 10;  // 8 steps of 1000 doubles

class Move : public testing::Test {
 protected:
  OptionsOf three_tiers(std::uint64_t pool_segments) {
    OptionsOf options;
    options.dram(8 * kSegment).pool(pool_.path(), pool_segments * kSegment).shared(shared_.path(), 20 * kSegment);
    options.segments(kSegment);
    return options;
  }
  static void fill(States& run, int steps) {
    for (int step = 0; step < steps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  }
  static void all_are_whole(States& run, int steps) {
    ASSERT_EQ(run.count(), static_cast<std::uint64_t>(steps));
    for (int step = steps - 1; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  }
  const Scratch pool_, shared_{"/tmp"};
};

TEST_F(Move, TakesASegmentDownAndUp) {
  States run(three_tiers(8));
  fill(run, 20);
  for (const int tier : {1, 2, 0, 2, 1, 0, 0}) {
    const std::uint64_t used[] = {run.tier(0).used, run.tier(1).used, run.tier(2).used};
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 3, tier));
    EXPECT_GE(run.tier(tier).used, used[tier]) << "tier " << tier;
    EXPECT_EQ(run.tier(0).used + run.tier(1).used + run.tier(2).used, used[0] + used[1] + used[2]);
    if (tier != 0) {
      EXPECT_EQ(run.tier(tier).used, 1u);
    }
  }
  EXPECT_EQ(run.tier(1).moved_in, 1u);
  EXPECT_EQ(run.tier(2).moved_in, 2u);
  all_are_whole(run, 20);
}

TEST_F(Move, MappedMemoryBelowIsThenReadWhereItIs) {
  States run(three_tiers(8));
  fill(run, 20);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 3, 2));
  ASSERT_TRUE(run.whole(3)) << "fetched";
  EXPECT_EQ(run.tier(2).fetched, 1u);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 3, 1));
  EXPECT_EQ(run.tier(2).used, 0u);
  ASSERT_TRUE(run.whole(3));
  EXPECT_EQ(run.tier(1).used, 1u);
}

// A move takes the copy that was read: a step that was dropped since is not to come back with it.
TEST_F(Move, BringsNothingBackThatWasDropped) {
  for (const bool kept_from_the_beginning : {true, false}) {
    OptionsOf options;
    options.pool(pool_.path(), 8 * kSegment).shared(shared_.path(), 20 * kSegment).segments(kSegment);
    OptionsOf again;
    again.pool(pool_.path(), 8 * kSegment).shared(shared_.path(), 20 * kSegment).segments(kSegment).keep();
    {
      States run(kept_from_the_beginning ? again : options);
      fill(run, 20);
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 3, 1));
      ASSERT_TRUE(run.whole(3)) << "fetched";
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, 4));
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, 1));
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 3, 0));
    }
    States run(again);
    EXPECT_STREQ(forebay_trajectory_get_recovery(run), "");
    EXPECT_EQ(run.count(), 19u);
    EXPECT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_get_time(run, 4, nullptr));
    EXPECT_TRUE(run.whole(3));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, 0));
  }
}

TEST_F(Move, EndsTheSegmentThatIsWritten) {
  States run(three_tiers(8));
  fill(run, 3);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 2, 0)) << "it is there";
  EXPECT_EQ(run.tier(0).used, 1u);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 2, 1));
  EXPECT_EQ(run.tier(0).used, 0u);
  for (int step = 3; step < 30; ++step) ASSERT_STATUS(FOREBAY_OK, run.write(step));
  all_are_whole(run, 30);
}

TEST_F(Move, WhatWasMovedIsFoundByTheNextProcess) {
  const Scratch upper;
  OptionsOf options;
  options.pool(upper.path(), 6 * kSegment).pool(pool_.path(), 8 * kSegment).shared(shared_.path(), 20 * kSegment);
  options.segments(kSegment).keep().process_only();
  {
    States run(options);
    fill(run, 40);
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 9, 2));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 17, 2));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 17, 1));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, 18));
    ASSERT_STATUS(FOREBAY_OK, run.put(18));
  }
  States run(options);
  EXPECT_STREQ(forebay_trajectory_get_recovery(run), "");
  all_are_whole(run, 40);
}

TEST_F(Move, HasAnErrorForEachMistake) {
  States run(three_tiers(1));
  fill(run, 20);
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_move(run, 99, 0));
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_TIER, forebay_trajectory_move(run, 3, 3));
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_TIER, forebay_trajectory_move(run, 3, -1));
  const void* pinned = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_get(run, 4, 0, &pinned));
  EXPECT_STATUS(FOREBAY_E_PINNED, forebay_trajectory_move(run, 3, 1)) << "of the same segment";
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 10, 1)) << "of another";
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_release(run, 4));
  EXPECT_STATUS(FOREBAY_E_NO_SPACE, forebay_trajectory_move(run, 3, 1));
  EXPECT_NE(std::string(forebay_error_get_text()).find(pool_.path()), std::string::npos) << forebay_error_get_text();
  void* memory = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_begin(run, 20, 2.0, &memory, 1));
  EXPECT_STATUS(FOREBAY_E_STEP_OPEN, forebay_trajectory_move(run, 19, 2)) << "written beside the open one";
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 3, 2)) << "of a segment that is complete";
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_cancel(run));
  all_are_whole(run, 20);
}

TEST_F(Move, LeavesTheFirstTierWhatItNeedsForStatesThatComeBack) {
  States run(three_tiers(8));
  fill(run, 80);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, 79)) << "nothing is moved down to make room";
  int status = FOREBAY_OK;
  for (int step = 0; step < 80 && status == FOREBAY_OK; step += 8) status = forebay_trajectory_move(run, step, 0);
  EXPECT_STATUS(FOREBAY_E_NO_SPACE, status);
  all_are_whole(run, 80);
  for (int step = 80; step < 200; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  all_are_whole(run, 200);
}

}  // namespace
}  // namespace forebay::move_test
