#include "run/launch/agreement.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;

NodeReport node(const std::string& name, std::vector<int> ranks, std::vector<std::string> complete) {
  NodeReport report;
  report.node = name;
  report.run = "run";
  report.ranks = std::move(ranks);
  report.times.complete = std::move(complete);
  return report;
}

TEST(AgreementTest, ANodeWhoseRanksWriteNoTimesIsNotAsked) {
  NodeReport first = node("n1", {0, 1}, {"1", "2"}), second = node("n2", {2, 3}, {});
  first.times.safe = {"1"};
  EXPECT_EQ(safe_of({first, second}, 4), std::nullopt);
  second.times.are_written = false;
  EXPECT_EQ(safe_of({first, second}, 4), "1");
  EXPECT_EQ(safe_of({second, first}, 4), "1");
  EXPECT_EQ(complete_of({second, first}, 4), "2");
  EXPECT_EQ(safe_of({second}, 2), std::nullopt);
  first.times.are_written = false;
  EXPECT_EQ(safe_of({first, second}, 4), std::nullopt);
}

TEST(AgreementTest, WhatTheCaseHasOfAllOthersIsKnownWhenAllHaveTold) {
  const NodeReport first = node("n1", {0}, {});
  NodeReport second = node("n2", {1}, {}), third = node("n3", {2}, {});
  second.times.safe = {"1", "2", "3"};
  third.times.safe = {"1", "2"};
  EXPECT_EQ(safe_over_others(first, {second}, 3), std::nullopt);
  EXPECT_EQ(safe_over_others(first, {second, third}, 3), "2");
}

TEST(AgreementTest, WhatIsSafeIsWhatAllNodesHaveCarried) {
  NodeReport first = node("n1", {0, 1}, {"1", "2", "3"}), second = node("n2", {2, 3}, {"1", "2", "3"});
  first.times.safe = {"1", "2"};
  second.times.safe = {"1"};
  EXPECT_EQ(safe_of({first, second}, 4), "1");
  EXPECT_EQ(complete_of({first, second}, 4), "3");
  first.drain.newest_safe = "2";
  first.ranks = {0, 1, 0, 1};
  EXPECT_EQ(safe_of({first}, 4), std::nullopt) << "ranks 2 and 3 are not there, though 0 and 1 came twice";
  EXPECT_EQ(safe_of({first}, 2), "2");
  first.times.complete = second.times.complete = {};
  EXPECT_EQ(complete_of({first, second}, 4), "1") << "it is on the case only";
}

TEST(AgreementTest, TheAmountsOfNodesAreAddedUp) {
  NodeReport first = node("n1", {0}, {}), second = node("n2", {1}, {});
  first.drain.amounts = {{1, 10}, true, 2, {3, 4, 5}, {}, {}, {}, {}};
  second.drain.amounts = {{6, 70}, false, 0, {8, 9, 10}, {1, 2}, {3, 4}, {5, 6}, 0.5};
  const drain::Amounts all = amounts_of({first, second});
  EXPECT_EQ(all.written, (drain::Amount{7, 80}));
  EXPECT_TRUE(all.written_is_more);
  EXPECT_EQ(all.unseen_times, 2U);
  EXPECT_EQ(all.shared.files, 11U);
  EXPECT_EQ(all.shared.again, 13U);
  EXPECT_EQ(all.shared.bytes, 15U);
  EXPECT_EQ(all.undrained, (drain::Amount{1, 2}));
  EXPECT_EQ(all.never_shared, (drain::Amount{3, 4}));
  EXPECT_EQ(all.read_back, (drain::Amount{5, 6}));
  EXPECT_EQ(all.lag_seconds, 0.5);
}

TEST(AgreementTest, ReportsAreReadSeveralTimesWithinTheInterval) {
  for (const auto interval : std::initializer_list<std::chrono::milliseconds>{3s, 10s, 60s, 10min, 2h}) {
    const Pace pace = pace_of(interval);
    EXPECT_LE(4 * pace.listen, interval) << interval.count();
    EXPECT_LE(pace.listen, 5s);
  }
}

}  // namespace
}  // namespace forebay::launch
