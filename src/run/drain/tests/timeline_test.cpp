#include "run/drain/timeline.h"

#include <gtest/gtest.h>

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
  timeline.safe("1", 24);
  const auto entries = timeline.newest(2);
  EXPECT_EQ(entries[0].begun, 10);
  EXPECT_EQ(entries[0].complete, 21);
  EXPECT_EQ(entries[0].safe, 24);
  EXPECT_LT(entries[1].complete, 0);
  EXPECT_EQ(timeline.steps(), 2u);
  EXPECT_EQ(timeline.longest_lag(), 3);
}

}  // namespace
}  // namespace forebay::drain
