// When a terminal, or a file in its place, is told that programs are held back.
#include "run/cli/standing.h"

#include <gtest/gtest.h>

namespace forebay::cli {
namespace {

using namespace std::chrono_literals;

class StandingTest : public testing::Test {
 protected:
  StandingTest() { node_.phase = launch::Phase::running; }
  std::string told(std::chrono::seconds at) { return lines_.next({node_}, Clock::time_point(1h + at)).value_or(""); }
  void hold(std::uint64_t units = 3, const std::string& failure = "") {
    node_.waits.for_room = launch::Standstill{"/dev/shm", 90, 100, 100, false, units, failure};
  }

  launch::NodeReport node_;
  StandingLines lines_{true};
};

class StandingElsewhereTest : public StandingTest {
 protected:
  StandingElsewhereTest() { lines_ = StandingLines(false); }
};

TEST_F(StandingTest, NothingIsSaidOfARunThatIsNotHeld) {
  for (const auto at : {0s, 100s}) EXPECT_EQ(told(at), "");
}

TEST_F(StandingTest, ALineWhenItBeginsAndOneWhenItEnds) {
  hold();
  EXPECT_NE(told(100s).find("waits for room in its pool: /dev/shm"), std::string::npos);
  hold(2);
  for (const auto at : {101s, 200s, 2000s}) EXPECT_EQ(told(at), "") << "numbers are no news";
  node_.waits.for_room.reset();
  node_.lasted.paused_milliseconds = 1'900'000;
  EXPECT_EQ(told(2001s).find("the program goes on"), 0U);
  EXPECT_EQ(told(2100s), "");
}

TEST_F(StandingTest, AnotherReasonIsNews) {
  hold();
  told(0s);
  hold(3, "cannot write: No space left on device");
  EXPECT_NE(told(20s).find("No space left"), std::string::npos);
}

TEST_F(StandingTest, ManyShortHoldsAreFewLines) {
  int lines = 0;
  for (std::chrono::seconds at{0}; at < 60s; ++at) {
    if (at.count() % 2 == 0) hold();
    if (at.count() % 2 == 1) node_.waits.for_room.reset();
    if (!told(at).empty()) ++lines;
  }
  EXPECT_LE(lines, 6);
  EXPECT_GT(lines, 1);
}

TEST_F(StandingTest, TheEndOfTheProgramIsNoEndOfWaiting) {
  hold();
  told(0s);
  node_.waits.for_room.reset();
  node_.phase = launch::Phase::draining;
  EXPECT_EQ(told(100s), "");
}

TEST_F(StandingTest, OfSeveralNodesTheOneThatWaitsIsNamed) {
  hold();
  node_.node = "n2";
  launch::NodeReport other;
  other.phase = launch::Phase::running;
  const auto line = lines_.next({other, node_}, Clock::time_point(1h));
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->starts_with("node n2: ")) << *line;
}

TEST_F(StandingElsewhereTest, ItIsSaidAgainButNotMoreThanEvery30Seconds) {
  hold();
  int lines = 0;
  for (std::chrono::seconds at{0}; at < 90s; ++at) {
    if (at == 40s) node_.waits.for_room.reset();
    if (!told(at).empty()) ++lines;
  }
  EXPECT_EQ(lines, 3) << "at 0 and 30 s, and at 60 s that it is over";
}

}  // namespace
}  // namespace forebay::cli
