#include "run/launch/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;

NodeReport node(const std::string& name, std::vector<int> ranks, std::vector<std::string> complete) {
  NodeReport report;
  report.node = name;
  report.run = "run";
  report.ranks = std::move(ranks);
  report.complete_times = std::move(complete);
  return report;
}

TEST(AgreementTest, NothingIsProposedBeforeAllRanksAreRepresented) {
  const NodeReport first = node("n1", {0, 1}, {"1", "2"});
  EXPECT_EQ(next_accord(first, {node("n2", {2}, {"1", "2"})}, 4, true), Accord{});
  EXPECT_EQ(next_accord(first, {}, 4, true), Accord{});
  EXPECT_EQ(next_accord(first, {node("n2", {2, 3}, {"1", "2"})}, 4, true).proposed, "2");
}

TEST(AgreementTest, TheLeaderProposesTheNewestTimeThatAllHold) {
  const NodeReport first = node("n1", {0, 1}, {"10", "20", "28", "30"});
  EXPECT_EQ(next_accord(first, {node("n2", {2, 3}, {"10", "20", "27", "31"})}, 4, true).proposed, "20");
}

TEST(AgreementTest, ARoundBeginsOnlyWhenItIsDue) {
  const NodeReport first = node("n1", {0, 1}, {"1"});
  EXPECT_EQ(next_accord(first, {node("n2", {2, 3}, {"1"})}, 4, false), Accord{});
}

TEST(AgreementTest, OnlyTheNodeOfRankZeroProposes) {
  const NodeReport second = node("n2", {2, 3}, {"1"});
  EXPECT_EQ(next_accord(second, {node("n1", {0, 1}, {"1"})}, 4, true), Accord{});
}

TEST(AgreementTest, WhatTheCaseHasOfAllOthersIsKnownWhenAllHaveTold) {
  const NodeReport first = node("n1", {0}, {});
  NodeReport second = node("n2", {1}, {}), third = node("n3", {2}, {});
  second.safe_times = {"1", "2", "3"};
  third.safe_times = {"1", "2"};
  EXPECT_EQ(safe_over_others(first, {second}, 3), std::nullopt);
  EXPECT_EQ(safe_over_others(first, {second, third}, 3), "2");
}

TEST(AgreementTest, ATimeIsAgreedOnlyWhenAllHavePinnedIt) {
  NodeReport first = node("n1", {0}, {"1", "2"}), second = node("n2", {1}, {"1", "2"}), third = node("n3", {2}, {"2"});
  first.accord = next_accord(first, {second, third}, 3, true);
  ASSERT_EQ(first.accord.proposed, "2");
  second.accord = next_accord(second, {first, third}, 3, false);
  EXPECT_EQ(second.accord.pinned, "2");
  EXPECT_EQ(next_accord(first, {second, third}, 3, true).agreed, "") << "n3 has not pinned it";
  third.accord = next_accord(third, {first}, 3, false);
  first.accord = next_accord(first, {second, third}, 3, false);
  EXPECT_EQ(first.accord.agreed, "2");
  EXPECT_EQ(first.accord.proposed, "");
  EXPECT_EQ(next_accord(second, {first}, 3, false).agreed, "2");
  EXPECT_EQ(next_accord(first, {second, third}, 3, true).proposed, "") << "nothing newer is there";
}

TEST(AgreementTest, AProposalThatANodeNoLongerHoldsIsWithdrawn) {
  NodeReport first = node("n1", {0}, {"1", "2"});
  first.accord.proposed = first.accord.pinned = "1";
  NodeReport second = node("n2", {1}, {"2", "3"});
  EXPECT_EQ(next_accord(second, {first}, 2, false).pinned, "") << "it does not promise what it does not have";
  first.accord = next_accord(first, {second}, 2, true);
  EXPECT_EQ(first.accord.proposed, "");
  EXPECT_EQ(next_accord(first, {second}, 2, true).proposed, "2");
}

TEST(AgreementTest, AnOldCopyOfTheLeadersReportMovesNothingBack) {
  NodeReport stale = node("n1", {0}, {"1", "2"});
  stale.accord = {"", "1", "1"};
  NodeReport second = node("n2", {1}, {"5", "6"});
  second.accord = {"", "5", "5"};
  EXPECT_EQ(next_accord(second, {stale}, 2, false), second.accord);
}

TEST(AgreementTest, TheReportOfAnotherRunIsIgnored) {
  NodeReport other = node("n1", {0}, {"1"});
  other.run = "an older run";
  other.accord.proposed = "1";
  EXPECT_EQ(next_accord(node("n2", {1}, {"1"}), {other}, 2, false), Accord{});
}

TEST(AgreementTest, ATimeIsSafeForAllOnlyWhenEveryNodeHasToldSo) {
  NodeReport first = node("n1", {0}, {"1", "2"}), second = node("n2", {1}, {"1", "2"}), third = node("n3", {2}, {"2"});
  for (NodeReport* each : {&first, &second, &third}) each->accord.agreed = each->accord.pinned = "2";
  first.safe_times = second.safe_times = {"1", "2"};
  EXPECT_EQ(next_accord(first, {second, third}, 3, false).safe, "") << "n3 has not carried it yet";
  EXPECT_EQ(next_accord(first, {second}, 3, false).safe, "") << "n3 is not there";
  third.safe_times = {"2"};
  first.accord = next_accord(first, {second, third}, 3, false);
  EXPECT_EQ(first.accord.safe, "2");
  EXPECT_EQ(next_accord(second, {first}, 3, false).safe, "2");
  third.safe_times = {"1"};
  EXPECT_EQ(next_accord(third, {first}, 3, false).safe, "") << "the leader's report is not of what this node holds";
}

TEST(AgreementTest, WhatWasSafeForAllStaysSoWhileANewerTimeIsOnItsWay) {
  NodeReport first = node("n1", {0}, {"2", "3"}), second = node("n2", {1}, {"2", "3"});
  for (NodeReport* each : {&first, &second}) {
    each->accord = {"", "3", "3", "2"};
    each->safe_times = {"2"};
  }
  second.safe_times.emplace_back("3");
  EXPECT_EQ(next_accord(first, {second}, 2, false).safe, "2");
  EXPECT_EQ(next_accord(second, {first}, 2, false).safe, "2");
}

// Three nodes that read each other's reports with delays of their own, while times pass.
TEST(AgreementTest, NodesThatReadEachOtherLateAgreeOnTheSameTimesAgainAndAgain) {
  constexpr int nodes = 3, rounds = 400;
  std::vector<NodeReport> now;
  std::vector<std::vector<NodeReport>> past;
  for (int i = 0; i < nodes; ++i) now.push_back(node("n" + std::to_string(i), {i}, {}));
  std::vector<std::vector<std::string>> agreed(nodes);
  for (int step = 0; step < rounds; ++step) {
    for (NodeReport& each : now) {
      each.complete_times.push_back(std::to_string(step));
      while (each.complete_times.size() > 30) each.complete_times.erase(each.complete_times.begin());
      if (!each.accord.pinned.empty()) each.complete_times.insert(each.complete_times.begin(), each.accord.pinned);
    }
    past.push_back(now);
    for (int i = 0; i < nodes; ++i) {
      std::vector<NodeReport> others;
      for (int j = 0; j < nodes; ++j)
        if (j != i)
          others.push_back(
              past[static_cast<std::size_t>(std::max(0, step - (i + 2 * j) % 7))][static_cast<std::size_t>(j)]);
      NodeReport& own = now[static_cast<std::size_t>(i)];
      const Accord next = next_accord(own, others, nodes, step % 40 == 0);
      if (next.agreed != own.accord.agreed) agreed[static_cast<std::size_t>(i)].push_back(next.agreed);
      own.accord = next;
    }
  }
  EXPECT_GE(agreed[0].size(), 5U);
  for (std::size_t i = 1; i < nodes; ++i) {
    agreed[i].resize(std::min(agreed[i].size(), agreed[0].size()));
    EXPECT_TRUE(std::equal(agreed[i].begin(), agreed[i].end(), agreed[0].begin())) << "node " << i;
    EXPECT_GE(agreed[i].size() + 1, agreed[0].size());
  }
}

TEST(AgreementTest, WhatIsSafeIsWhatAllNodesHaveCarried) {
  NodeReport first = node("n1", {0, 1}, {"1", "2", "3"}), second = node("n2", {2, 3}, {"1", "2", "3"});
  first.safe_times = {"1", "2"};
  second.safe_times = {"1"};
  EXPECT_EQ(safe_over_all({first, second}, 4), "1");
  EXPECT_EQ(complete_over_all({first, second}, 4), "3");
  EXPECT_EQ(safe_over_all({first}, 4), std::nullopt) << "ranks 2 and 3 are not there";
}

TEST(AgreementTest, ARoundAndItsThreeReadingsFitIntoTheInterval) {
  for (const auto interval : std::initializer_list<std::chrono::milliseconds>{3s, 10s, 60s, 10min, 2h}) {
    const Pace pace = pace_of(interval);
    EXPECT_LE(pace.round + 4 * pace.listen, interval) << interval.count();
    EXPECT_GE(pace.round, interval / 4);
    EXPECT_LE(pace.listen, 5s);
  }
}

}  // namespace
}  // namespace forebay::launch
