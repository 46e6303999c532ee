// The mark of a run on its case, once the run has ended.
#include <gtest/gtest.h>

#include <functional>

#include "run/launch/run.h"
#include "run/launch/tests/marked_case.h"

namespace forebay::launch {
namespace {

class MarkTest : public MarkedCase {
 protected:
  MarkTest() {
    plan.decomposed = true;
    plan.ranks = 4;
  }

  NodeReport report(const std::string& node, std::vector<int> ranks) const {
    NodeReport report;
    report.node = node;
    report.run = plan.run;
    report.phase = Phase::done;
    report.ranks = std::move(ranks);
    return report;
  }
  void tell(const NodeReport& report) const {
    ASSERT_TRUE(replace_file(node_report_path(plan.case_path, report.node), to_json(report)));
  }
};

TEST_F(MarkTest, IsAllThatIsLeftWhenEveryRanksNodeHasToldThatAllIsHomeAndItsPoolEmpty) {
  EXPECT_FALSE(is_all_home(plan)) << "nobody has told anything";
  tell(report("n1", {0, 1}));
  EXPECT_FALSE(is_all_home(plan)) << "two ranks are missing";
  tell(report("n2", {2, 3}));
  EXPECT_TRUE(is_all_home(plan));
  plan.decomposed = false;
  EXPECT_TRUE(is_all_home(plan));
  plan.ranks = 6;
  EXPECT_FALSE(is_all_home(plan)) << "a node could not write to the case";
}

TEST_F(MarkTest, IsNotAllThatIsLeftWhereANodeHasMoreOrCannotBeHeard) {
  const std::function<void(NodeReport&)> changes[] = {
      [](NodeReport& node) { node.run = "another"; },
      [](NodeReport& node) { node.phase = Phase::removing; },
      [](NodeReport& node) { node.phase = Phase::draining; },
      [](NodeReport& node) { node.drain.trouble = Code::undrained; },
      [](NodeReport& node) { node.drain.trouble = Code::lost; },
  };
  tell(report("n1", {0, 1}));
  for (const auto& change : changes) {
    NodeReport other = report("n2", {2, 3});
    change(other);
    tell(other);
    EXPECT_FALSE(is_all_home(plan)) << to_json(other);
  }
  NodeReport conflict = report("n2", {2, 3});
  conflict.drain.trouble = Code::conflict;
  tell(conflict);
  EXPECT_TRUE(is_all_home(plan)) << "both versions are on the case";
  ASSERT_TRUE(replace_file(node_report_path(plan.case_path, "n3"), "{"));
  EXPECT_FALSE(is_all_home(plan));
}

TEST_F(MarkTest, IsWaitedForWhereARunIsAboutToTakeIt) {
  int waits = 0;
  clock.while_asleep = [&] {
    if (++waits == 3) {
      EXPECT_TRUE(remove_control_directory(plan.case_path, clock));
    }
  };
  EXPECT_TRUE(is_being_removed(plan.case_path, plan.run, clock));
  EXPECT_EQ(waits, 3);
}

TEST_F(MarkTest, ThatStaysForTwoSecondsIsNotAboutToGo) {
  const auto before = clock.now();
  EXPECT_FALSE(is_being_removed(plan.case_path, plan.run, clock));
  EXPECT_EQ(clock.now() - before, std::chrono::seconds(2));
}

TEST_F(MarkTest, NamesARunByTheTimeOfItsBeginning) {
  const std::string first = new_run_name(clock);
  clock.move(std::chrono::hours(24));
  EXPECT_LT(first.substr(0, 15), new_run_name(clock).substr(0, 15));
}

}  // namespace
}  // namespace forebay::launch
