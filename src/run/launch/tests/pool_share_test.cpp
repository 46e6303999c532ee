// The bytes of a pool that runs may hold, as a function of numbers.
#include "run/launch/pool_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace forebay::launch {
namespace {

TEST(LimitTest, AloneItIsTheBudgetOrWhatFits) {
  EXPECT_EQ(limit_of({100, 20}, 500, {}), 100U);
  EXPECT_EQ(limit_of({100, 20}, 80, {}), 100U);
  EXPECT_EQ(limit_of({100, 20}, 30, {}), 50U);
  EXPECT_EQ(limit_of({100, 120}, 0, {}), 100U) << "what is too much already must go";
  EXPECT_EQ(limit_of({UINT64_MAX, 20}, UINT64_MAX, {}), UINT64_MAX);
}

TEST(LimitTest, WhatAnotherRunsBudgetStillAllowsIsNotFree) {
  EXPECT_EQ(limit_of({100, 0}, 150, std::vector<Claim>{{100, 0}}), 50U);
  EXPECT_EQ(limit_of({100, 0}, 90, std::vector<Claim>{{100, 60}}), 50U) << "what it has is not free any more";
  EXPECT_EQ(limit_of({100, 0}, 90, std::vector<Claim>{{100, 160}}), 90U);
}

TEST(LimitTest, ARunThatMayTakeAllLeavesTheOthersSomething) {
  EXPECT_EQ(limit_of({1000, 0}, 1000, std::vector<Claim>{{1000, 0}}), 250U);
  EXPECT_EQ(limit_of({1000, 0}, 1000, std::vector<Claim>{{1000, 0}, {1000, 0}}), 166U);
}

TEST(LimitTest, WhatTheyMayTakeTogetherIsThereWhoeverCameFirst) {
  std::mt19937 random(1);
  const auto up_to = [&](std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(random); };
  for (int trial = 0; trial < 1000; ++trial) {
    const std::uint64_t free_bytes = up_to(1000);
    std::vector<Claim> claims(1 + up_to(4));
    for (Claim& claim : claims) claim = {up_to(1500), up_to(500)};
    std::uint64_t together = 0;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      std::vector<Claim> others = claims;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const std::uint64_t limit = limit_of(claims[i], free_bytes, others);
      together += limit - std::min(limit, claims[i].held);
    }
    ASSERT_LE(together, free_bytes) << "trial " << trial;
  }
}

TEST(HoldingTest, BetweenCountsEverythingThatIsTakenMayBeTheRuns) {
  Holding holding;
  holding.free_is(1000);
  holding.count_begins();
  holding.counted(100);
  EXPECT_EQ(holding.at_most(), 100U);
  EXPECT_FALSE(holding.is_stale());
  holding.free_is(950);
  EXPECT_EQ(holding.at_most(), 150U);
  EXPECT_EQ(holding.at_last_count(), 100U);
  EXPECT_TRUE(holding.is_stale());
  holding.free_is(990);
  EXPECT_EQ(holding.at_most(), 150U) << "a neighbour may have freed it";
  holding.free_is(960);
  EXPECT_EQ(holding.at_most(), 180U);
}

TEST(HoldingTest, WhatIsTakenDuringACountMayHaveBeenMissed) {
  Holding holding;
  holding.free_is(1000);
  holding.count_begins();
  holding.free_is(970);
  holding.counted(100);
  EXPECT_EQ(holding.at_most(), 130U);
  EXPECT_TRUE(holding.is_stale());
}

TEST(LeastBudgetTest, HasTwoDigitsAndGrowsWithTheRanks) {
  EXPECT_EQ(least_budget(0), least_budget(1));
  std::uint64_t before = 0;
  for (const int ranks : {1, 4, 100, 10'000}) {
    std::uint64_t least = least_budget(ranks);
    EXPECT_GT(least, before);
    before = least;
    while (least % 10 == 0) least /= 10;
    EXPECT_LT(least, 100U);
  }
}

}  // namespace
}  // namespace forebay::launch
