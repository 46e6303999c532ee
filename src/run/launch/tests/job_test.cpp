#include "run/launch/job.h"

#include <gtest/gtest.h>

namespace forebay::launch {
namespace {

NodeReport told_by(const std::string& name, std::vector<int> ranks, std::vector<std::string> safe) {
  NodeReport report;
  report.node = name;
  report.run = "run";
  report.home = "/dev/shm/" + name;
  report.phase = Phase::running;
  report.ranks = std::move(ranks);
  report.times.safe = safe;
  if (!safe.empty()) report.drain.newest_safe = safe.back();
  return report;
}

TEST(JobTest, SafeIsWhatTheCaseHasForAllRanksOfAllNodes) {
  const NodeReport a = told_by("a", {0, 1}, {"1", "2"}), b = told_by("b", {2, 3}, {"1"});
  EXPECT_EQ(job_of({a, b}, 4).safe, "1");
  EXPECT_EQ(job_of({a, b}, 0).safe, "1");
  EXPECT_EQ(job_of({a}, 2).safe, "2");
  EXPECT_EQ(job_of({a}, 4).safe, std::nullopt) << "the other node has told nothing";
  EXPECT_EQ(job_of({}, 4).safe, std::nullopt);
}

TEST(JobTest, OnlyLocalIsTheSumOfTheNodesThatAreNotDone) {
  NodeReport a = told_by("a", {0}, {"1"}), b = told_by("b", {1}, {"1"}), c = told_by("c", {2}, {"1"});
  a.drain.standing.only_local = {2, 100, 3};
  b.drain.standing.only_local = {1, 50, 9};
  c.drain.standing.only_local = {5, 500, 99};
  c.phase = Phase::done;
  b.waits.for_room = Standstill{"/dev/shm", 90, 100, 100};
  const Job job = job_of({a, b, c}, 3);
  EXPECT_EQ(job.only_local.files, 3U);
  EXPECT_EQ(job.only_local.bytes, 150U);
  EXPECT_DOUBLE_EQ(job.only_local.seconds, 9);
  EXPECT_EQ(to_text(job),
            "safe on all nodes: time 1; only local: 150 B in 3 files, for 9 s, in a:/dev/shm/a, b:/dev/shm/b; held "
            "back by room: b: " +
                to_text(*b.waits.for_room));
}

TEST(JobTest, WhereNothingIsLeftItSaysSo) {
  EXPECT_EQ(to_text(job_of({told_by("a", {}, {})}, 0)),
            "safe on all nodes: no time yet; only local: nothing; held back by room: nothing");
}

TEST(JobTest, TimesOfAScriptsRanksAreToldApart) {
  NodeReport a = told_by("a", {}, {});
  a.drain.standing.safe_of_script = "30";
  EXPECT_EQ(running_text(job_of({a}, 0)), "no time written yet; safe: time 30 of the script's ranks; nothing waits");
  a.drain.newest_safe = "20";
  EXPECT_NE(running_text(job_of({a}, 0)).find("safe: time 20, and time 30 of the script's ranks"), std::string::npos);
}

TEST(JobTest, TheDrainHasAPartARateAndATimeLeft) {
  NodeReport a = told_by("a", {0}, {}), b = told_by("b", {1}, {});
  for (NodeReport* each : {&a, &b}) {
    each->phase = Phase::draining;
    each->drain.amounts.shared.bytes = 700;
    each->lasted.carried_before_drain = 200;
    each->lasted.drain_seconds = 5;
    each->drain.standing.only_local = {1, 500, 0};
  }
  EXPECT_EQ(draining_text(job_of({a, b}, 2)), "50 % of 2.00 kB, 200 B/s, 5 s left");
  a.lasted.drain_seconds = b.lasted.drain_seconds = 0;
  EXPECT_EQ(draining_text(job_of({a, b}, 2)), "50 % of 2.00 kB") << "no rate is known";
  b.phase = Phase::running;
  EXPECT_EQ(draining_text(job_of({a, b}, 2)), "") << "a program still works";
}

}  // namespace
}  // namespace forebay::launch
