#include "arrays/blocks/buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

namespace forebay::blocks {
namespace {

// The numbers as items, sorted: those of each block follow those of the block before, at the places that are told.
void expect_sorted(const std::vector<std::uint64_t>& numbers, const BlockMap& map) {
  const Buckets buckets(numbers, map);
  const auto places = buckets.places(numbers, map);
  std::vector<std::uint64_t> sorted(numbers.size()), back(numbers.size());
  buckets.sort(reinterpret_cast<const std::byte*>(numbers.data()), reinterpret_cast<std::byte*>(sorted.data()), 8);
  std::uint64_t k = 0, bucket = 0;
  for (int block = 0; block < map.blocks(); ++block) {
    for (; k < buckets.end_of_block(block); ++k) {
      ASSERT_GE((sorted[k] - 1) >> Buckets::bits(map), bucket);
      bucket = (sorted[k] - 1) >> Buckets::bits(map);
      ASSERT_EQ(map.owner(sorted[k]), block * map.rank_step());
      ASSERT_EQ(places[k], sorted[k] - 1 - static_cast<std::uint64_t>(block) * map.block_items());
    }
  }
  EXPECT_EQ(k, numbers.size());
  buckets.unsort(reinterpret_cast<const std::byte*>(sorted.data()), reinterpret_cast<std::byte*>(back.data()), 8);
  EXPECT_EQ(back, numbers);
}

TEST(Buckets, SortAnyNumbersByTheirBlocks) {
  std::mt19937_64 random(7);
  const auto try_all = [&](std::uint64_t items, std::initializer_list<int> all_ranks) {
    for (const int ranks : all_ranks) {
      for (const int rank_step : {1, 2}) {
        SCOPED_TRACE(testing::Message() << items << " items, " << ranks << " ranks, step " << rank_step);
        std::vector<std::uint64_t> numbers = {items, 1};
        while (numbers.size() < 5000) numbers.push_back(random() % items + 1);
        expect_sorted(numbers, BlockMap(items, ranks, {8, 8, rank_step, 0}));
      }
    }
  };
  for (const std::uint64_t items : {1, 3000, 1 << 20}) try_all(items, {1, 3, 8});
  try_all(std::uint64_t{1} << 33, {8, 11});  // no block has more than 2^31
}

TEST(Buckets, SortDenseNumbersIntoBlocksOfAnySize) {
  std::vector<std::uint64_t> numbers(3000);
  std::iota(numbers.begin(), numbers.end(), 1);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(5));
  for (const int ranks : {2, 7, 41, 1500, 2999, 3000}) expect_sorted(numbers, BlockMap(3000, ranks, {8, 8, 1, 0}));
}

TEST(Buckets, KeepTheOrderOfEqualNumbersAndItemsOfAnySize) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 300; ++i) numbers.insert(numbers.end(), {500, 7 + i % 3, 90'000});
  const BlockMap map(100'000, 2, {8, 8, 1, 0});
  const Buckets buckets(numbers, map);
  for (const std::size_t size : {1, 3, 4, 8, 16, 24}) {
    std::vector<std::byte> items(numbers.size() * size), sorted(items.size()), back(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::byte>(i / size * 7 + i % size);
    buckets.sort(items.data(), sorted.data(), size);
    // The first bucket has 500, 7, 500, 8, ... as they come; the last one every third item.
    EXPECT_EQ(std::memcmp(sorted.data(), items.data(), 2 * size), 0);
    EXPECT_EQ(std::memcmp(sorted.data() + 2 * size, items.data() + 3 * size, 2 * size), 0);
    EXPECT_EQ(std::memcmp(sorted.data() + 600 * size, items.data() + 2 * size, size), 0);
    EXPECT_EQ(std::memcmp(sorted.data() + 601 * size, items.data() + 5 * size, size), 0);
    buckets.unsort(sorted.data(), back.data(), size);
    EXPECT_EQ(back, items);
  }
}

TEST(Buckets, OfNothingAreEmpty) {
  EXPECT_TRUE(Buckets({}, BlockMap(0, 4, {})).empty());
  EXPECT_TRUE(Buckets({}, BlockMap(10, 4, {})).empty());
  EXPECT_EQ(Buckets({}, BlockMap(10, 1, {})).end_of_block(0), 0U);
}

}  // namespace
}  // namespace forebay::blocks
