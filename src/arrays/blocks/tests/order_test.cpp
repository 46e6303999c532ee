#include "arrays/blocks/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace forebay::blocks {
namespace {

Order order_of(const std::vector<std::uint64_t>& numbers, std::uint64_t items, std::uint64_t block_items) {
  const auto seen = survey(numbers, items);
  EXPECT_TRUE(seen) << seen.error().text();
  return Order(numbers, *seen, items, block_items);
}

// Every position comes once, in the block of its number.
void expect_grouped(const std::vector<std::uint64_t>& numbers, std::uint64_t items, std::uint64_t block_items) {
  const Order order = order_of(numbers, items, block_items);
  std::vector<int> met(numbers.size());
  std::size_t k = 0;
  for (std::uint64_t end = block_items; k < order.size(); end += block_items) {
    for (const std::size_t last = order.end_of_block(k, end); k < last; ++k) {
      ASSERT_GE(order.item(k), end - block_items);
      const std::uint32_t count = order.count(k, end);
      for (std::uint32_t i = 0; i < count; ++i) {
        ASSERT_EQ(numbers[order.position(k) + i], order.item(k) + i + 1);
        ASSERT_LT(order.item(k) + i, end);
        ++met[order.position(k) + i];
      }
    }
  }
  EXPECT_EQ(std::count(met.begin(), met.end(), 1), static_cast<std::ptrdiff_t>(numbers.size()));
}

TEST(Order, GroupsAnyNumbersUpToTwoToThe33ByTheirBlocks) {
  const std::uint64_t items = std::uint64_t{1} << 33;
  std::mt19937_64 random(7);
  for (const std::uint64_t run : {1, 5}) {
    std::vector<std::uint64_t> numbers = {items, 1};
    while (numbers.size() < 10'000) {
      const std::uint64_t first = random() % (items - run) + 1;
      for (std::uint64_t i = 0; i < run; ++i) numbers.push_back(first + i);
    }
    for (const std::uint64_t block_items : {items / 7 + 1, std::uint64_t{1} << 26, std::uint64_t{5'000'000}}) {
      SCOPED_TRACE(testing::Message() << "runs of " << run << ", blocks of " << block_items);
      expect_grouped(numbers, items, block_items);
      EXPECT_LE(order_of(numbers, items, block_items).peak_bytes(), 20 * numbers.size());
    }
  }
}

TEST(Order, GroupsDenseNumbersIntoSmallBlocks) {
  std::vector<std::uint64_t> numbers(3000);
  std::iota(numbers.begin(), numbers.end(), 1);
  for (const std::uint64_t block_items : {1, 2, 7, 64, 999, 1500, 3000}) {
    expect_grouped(numbers, 3000, block_items);
    std::vector<std::uint64_t> mixed = numbers;
    std::rotate(mixed.begin(), mixed.begin() + 1234, mixed.end());
    expect_grouped(mixed, 3000, block_items);
    std::shuffle(mixed.begin(), mixed.end(), std::mt19937_64(block_items));
    expect_grouped(mixed, 3000, block_items);
  }
}

TEST(Order, LeavesEqualNumbersInTheOrderOfTheirPositions) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 100; ++i) numbers.insert(numbers.end(), {500, 7 + i % 3, 90'000});
  const Order order = order_of(numbers, 100'000, 501);
  std::map<std::uint64_t, std::uint32_t> last;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto [at, is_new] = last.insert({order.item(k), order.position(k)});
    EXPECT_TRUE(is_new || at->second < order.position(k));
    at->second = order.position(k);
  }
}

TEST(Survey, CountsRuns) {
  const std::vector<std::uint64_t> numbers = {1, 2, 3, 7, 8, 6, 7};
  const auto seen = survey(numbers, 10);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->runs, 3U);
  EXPECT_FALSE(seen->rising);
  EXPECT_TRUE(survey(std::span(numbers).first(5), 10)->rising);
}

TEST(Survey, RefusesNumbersOutOfRange) {
  for (const std::int64_t wrong : {0, 11, -1, -3}) {
    const std::vector<std::uint64_t> numbers = {3, 10, static_cast<std::uint64_t>(wrong)};
    const auto seen = survey(numbers, 10);
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, Code::bad_input);
    EXPECT_EQ(seen.error().what, "global number " + std::to_string(wrong) + " at position 2 is not in 1 .. 10");
  }
}

TEST(Order, OfNothingIsEmpty) {
  EXPECT_EQ(order_of({}, 0, 1).size(), 0U);
}

}  // namespace
}  // namespace forebay::blocks
