#include "run/launch/stage_ahead.h"

#include <gtest/gtest.h>

namespace forebay::launch {
namespace {

TEST(StageAhead, ANumberOfRanksMeansAllOfThem) {
  const auto ranks = parse_ranks("4").value();
  EXPECT_EQ(ranks.first, 0);
  EXPECT_EQ(ranks.last, 3);
  EXPECT_EQ(ranks.all, 4);
}

TEST(StageAhead, ARangeIsANodesPart) {
  const auto ranks = parse_ranks("8-15").value();
  EXPECT_EQ(ranks.first, 8);
  EXPECT_EQ(ranks.last, 15);
  EXPECT_FALSE(ranks.all);
}

TEST(StageAhead, NoOtherTextIsTakenForRanks) {
  for (const char* text : {"", "0", "-1", "-", "3-", "-3", "5-4", "4x", "1-2-3", "99999999999"})
    EXPECT_FALSE(parse_ranks(text)) << text;
}

TEST(StageAhead, ARunStartsFromTheTimeThatItsDictionaryNames) {
  const std::vector<std::string> times{"10", "0", "5", "5.5"};
  EXPECT_EQ(start_time("", times), "10");
  EXPECT_EQ(start_time("startFrom latestTime; startTime 0;", times), "10");
  EXPECT_EQ(start_time("startFrom firstTime;", times), "0");
  EXPECT_EQ(start_time("startFrom startTime; startTime 5.50;", times), "5.5");
  EXPECT_EQ(start_time("startFrom startTime; startTime 5.1;", times), "5");
  EXPECT_EQ(start_time("startFrom startTime; startTime #calc \"1\";", times), "10");
  EXPECT_EQ(start_time("startFrom startTime;", {}), "");
}

}  // namespace
}  // namespace forebay::launch
