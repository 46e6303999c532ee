#include "blocks/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace forebay::blocks {
namespace {

TEST(Order, SortsAnyNumbersUpToTwoToThe33) {
  const std::uint64_t items = std::uint64_t{1} << 33;
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> numbers(10'000);
  for (std::uint64_t& number : numbers) number = random() % items + 1;
  numbers[17] = items;
  numbers[18] = 1;
  const auto order = Order::of(numbers, items);
  ASSERT_TRUE(order) << order.error().text();
  for (std::size_t k = 0; k < order->size(); ++k) {
    EXPECT_EQ(order->item(k) + 1, numbers[order->position(k)]);
    EXPECT_LE(order->item(k == 0 ? 0 : k - 1), order->item(k));
  }
  EXPECT_EQ(order->item(0), 0U);
  EXPECT_EQ(order->lower_bound(0, items - 1), numbers.size() - 1);
  EXPECT_LE(order->peak_bytes(), 16 * numbers.size());
}

TEST(Order, RefusesNumbersOutOfRange) {
  for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{11}, ~std::uint64_t{0}}) {
    const std::vector<std::uint64_t> numbers = {3, 10, wrong};
    const auto order = Order::of(numbers, 10);
    ASSERT_FALSE(order);
    EXPECT_EQ(order.error().code, Code::bad_input);
    EXPECT_EQ(order.error().what, "global number " + std::to_string(wrong) + " at position 2 is not in 1 .. 10");
  }
}

TEST(Order, OfNothingIsEmpty) {
  const auto order = Order::of({}, 0);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->size(), 0U);
}

}  // namespace
}  // namespace forebay::blocks
