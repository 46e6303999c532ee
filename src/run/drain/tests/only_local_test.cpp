#include "run/drain/only_local.h"

#include <gtest/gtest.h>

namespace forebay::drain {
namespace {

TEST(OnlyLocalTest, EachFileCountsOnceWithItsLastSizeUntilItIsGone) {
  OnlyLocal local;
  local.closed("processor0/1/U", 100, 1);
  local.closed("processor0/1/p", 10, 2);
  local.closed("log", 5, 3);
  local.closed("processor0/1/U", 40, 4);
  OnlyLocalAmount amount = local.amount(11);
  EXPECT_EQ(amount.files, 3U);
  EXPECT_EQ(amount.bytes, 55U);
  EXPECT_DOUBLE_EQ(amount.seconds, 10);
  local.gone("log");
  local.gone("never");
  EXPECT_EQ(local.amount(11).bytes, 50U);
  local.gone("processor0/1/U");
  local.gone("processor0/1/p");
  amount = local.amount(11);
  EXPECT_EQ(amount.files, 0U);
  EXPECT_DOUBLE_EQ(amount.seconds, 0);
  local.closed("processor0/1/U", 1, 12);
  EXPECT_DOUBLE_EQ(local.amount(15).seconds, 3);
}

TEST(OnlyLocalTest, ADirectoryTakesAllBelowAndNoNeighbourOfLikeName) {
  OnlyLocal local;
  local.closed("1/U", 1, 0);
  local.closed("1/uniform/time", 2, 0);
  local.closed("10/U", 4, 0);
  local.closed("1-old/U", 8, 0);
  local.gone("1");
  EXPECT_EQ(local.amount(0).bytes, 12U);
}

}  // namespace
}  // namespace forebay::drain
