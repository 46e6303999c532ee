#include "run/drain/timeline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace forebay::drain {
namespace {

TEST(Timeline, TheNewestEntriesAreToldAndNoMoreThanAskedFor) {
  Timeline timeline;
  for (int step = 0; step < 12'500; ++step) timeline.begun(std::to_string(step), step);
  const auto newest = timeline.newest(50);
  ASSERT_EQ(newest.size(), 50u);
  EXPECT_EQ(newest.front().time, "12450");
  EXPECT_EQ(newest.back().time, "12499");
  EXPECT_EQ(timeline.newest(100'000).size(), 12'500u);
}

TEST(Timeline, WhatHappenedToATimeIsKeptTogether) {
  Timeline timeline;
  timeline.begun("1", 10);
  timeline.begun("1", 11);  // by another rank
  timeline.begun("2", 20);
  timeline.complete("1", 21);
  EXPECT_EQ(timeline.longest_lag(), std::nullopt) << "none is safe";
  timeline.safe("1", 24);
  const auto entries = timeline.newest(2);
  EXPECT_EQ(entries[0].begun, 10);
  EXPECT_EQ(entries[0].complete, 21);
  EXPECT_EQ(entries[0].safe, 24);
  EXPECT_LT(entries[1].complete, 0);
  EXPECT_EQ(timeline.longest_lag(), 3.0);
  EXPECT_EQ(timeline.safe_times(), 1u);
}

// "time: when", with a star where it was noticed together with others.
std::vector<std::string> taken(Timeline& timeline, bool all = false) {
  std::vector<std::string> told;
  for (const Timeline::Begun& each : timeline.take_begun(all))
    told.push_back(fmt::format("{}: {:g}{}", each.time, each.when, each.together ? "*" : ""));
  return told;
}
using Told = std::vector<std::string>;

TEST(Timeline, ATimeBeginsWhenItsFirstFileWasWrittenAndNotWhenSomebodyLooked) {
  Timeline timeline;
  timeline.begun("1", 10);
  EXPECT_EQ(taken(timeline), Told{}) << "its files may not be told of yet";
  timeline.written("1", 9.25);
  timeline.written("1", 9);
  timeline.written("1", 9.5);
  timeline.begun("2", 12);
  timeline.begun("3", 12);
  timeline.written("2", 10.5);
  EXPECT_EQ(taken(timeline), (Told{"1: 9", "2: 10.5"}));
  timeline.written("3", 10.4);  // older than the one before it: brought from elsewhere
  timeline.written("2", 1);
  EXPECT_EQ(taken(timeline, true), (Told{"3: 12"}));
  EXPECT_EQ(timeline.newest(3)[1].begun, 10.5);
}

TEST(Timeline, TimesThatAreNoticedTogetherShareTheSecondsSinceTheLastOne) {
  Timeline timeline;
  timeline.begun("1", 4);
  timeline.written("1", 3);
  for (const char* time : {"2", "3", "4", "5"}) timeline.begun(time, 10);
  timeline.written("4", 9);  // so the two before it had begun by then
  EXPECT_EQ(taken(timeline), (Told{"1: 3", "2: 5*", "3: 7*", "4: 9*"}));
  timeline.begun("6", 20);
  EXPECT_EQ(taken(timeline), (Told{"5: 10"}));
  timeline.begun("7", 20);
  EXPECT_EQ(taken(timeline), Told{}) << "more may be noticed at that moment";
  EXPECT_EQ(taken(timeline, true), (Told{"6: 15*", "7: 20*"}));
  EXPECT_EQ(taken(timeline, true), Told{});
}

TEST(Timeline, OfTheFirstTimesThatAreNoticedTogetherOnlyTheLastOnesMomentIsKnown) {
  Timeline timeline;
  for (const char* time : {"1", "2", "3"}) timeline.begun(time, 61);
  timeline.begun("4", 62);
  EXPECT_EQ(taken(timeline, true), (Told{"3: 61*", "4: 62"}));
  EXPECT_EQ(timeline.newest(4)[0].begun, 61);
}

TEST(Timeline, WhatARunBeforeHadBegunIsNoStep) {
  Timeline timeline;
  timeline.complete("1", 2);
  timeline.begun("2", 3);
  EXPECT_EQ(taken(timeline, true), (Told{"2: 3"}));
}

}  // namespace
}  // namespace forebay::drain
