#include "arrays/blocks/moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "arrays/blocks/coverage.h"

namespace forebay::blocks {
namespace {

// Two peers: three runs into the block of one, single items into that of the other.
Moves some_moves(Moves::Form form) {
  Moves moves(form);
  moves.add({0, 4, 2});
  moves.add({5, 0, 3});
  moves.end_section();
  moves.add({2, 1, 1});
  moves.add({4, 0, 1});
  moves.add({3, 3, 1});
  moves.end_section();
  return moves;
}

std::vector<std::byte> items_of(std::size_t count, std::size_t item_bytes) {
  std::vector<std::byte> items(count * item_bytes);
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i] = static_cast<std::byte>(1 + i / item_bytes * 16 + i % item_bytes);
  return items;
}

// The items by their numbers, so that a test can say what it expects; 0 where nothing was put.
std::vector<int> numbers_in(const std::vector<std::byte>& bytes, std::size_t item_bytes) {
  std::vector<int> numbers;
  for (std::size_t at = 0; at < bytes.size(); at += item_bytes) {
    numbers.push_back(bytes[at] == std::byte{} ? -1 : (static_cast<int>(bytes[at]) - 1) / 16);
    for (std::size_t i = 1; i < item_bytes && bytes[at] != std::byte{}; ++i) {
      EXPECT_EQ(bytes[at + i], static_cast<std::byte>(static_cast<std::size_t>(bytes[at]) + i)) << "byte " << i;
    }
  }
  return numbers;
}

class AnyMoves : public testing::TestWithParam<std::tuple<Moves::Form, std::size_t>> {};

TEST_P(AnyMoves, PutItemsWhereTheyBelongAndGetThemBack) {
  const auto [form, size] = GetParam();
  const Moves moves = some_moves(form);
  const auto items = items_of(8, size);
  std::vector<std::byte> first(6 * size), second(4 * size), back(8 * size);
  moves.put(0, items.data(), first.data(), size);
  moves.put(1, items.data(), second.data(), size);
  EXPECT_EQ(numbers_in(first, size), (std::vector<int>{5, 6, 7, -1, 0, 1}));
  EXPECT_EQ(numbers_in(second, size), (std::vector<int>{4, 2, -1, 3}));
  moves.get(0, first.data(), back.data(), size);
  moves.get(1, second.data(), back.data(), size);
  EXPECT_EQ(back, items);
}

// Stretches end before places 2, 5 and 8; the second peer has nothing in the last one, the third nothing at all.
TEST(Moves, FillABlockWithWhatSeveralPeersHaveStretchByStretch) {
  const std::vector<std::uint32_t> to = {1, 4, 3, 7, 5, 6, 0, 2};
  const std::vector<std::uint64_t> ends = {6, 8, 8};
  const Moves moves = Moves::of_places({to.begin(), to.end()}, ends);
  for (const std::size_t size : {1, 8, 24, 5}) {
    const auto items = items_of(8, size);
    std::vector<std::byte> block(8 * size);
    const std::vector<Moves::Source> sources = {{0, items.data()}, {1, items.data() + 6 * size}, {2, nullptr}};
    moves.fill_by_stretches(sources, block.data(), size, 2, 3);
    EXPECT_EQ(numbers_in(block, size), (std::vector<int>{6, 0, 7, 2, 1, 4, 5, 3})) << size;
  }
}

TEST(Moves, FillABlockBetweenOthersThatBeginsAndEndsAnywhere) {
  constexpr std::uint32_t kItems = 3001, kStretch = 1024, kFirstEnd = 100;
  constexpr std::size_t kGuard = 64;
  std::vector<std::uint32_t> to(kItems);
  std::iota(to.begin(), to.end(), 0);
  for (std::uint32_t begin = 0, end = kFirstEnd; begin < kItems; begin = end, end = std::min(end + kStretch, kItems)) {
    std::shuffle(to.begin() + begin, to.begin() + end, std::mt19937_64(begin));
  }
  const std::vector<std::uint64_t> ends = {kItems};
  const Moves moves = Moves::of_places({to.begin(), to.end()}, ends);
  for (const std::size_t size : {1, 8, 24, 2000}) {  // the last ones are put one by one
    std::vector<std::byte> items(kItems * size);
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::byte>(to[i / size] * 7 + i % size);
    for (const std::size_t at : {kGuard, kGuard + 8, kGuard + 13}) {
      std::vector<std::byte> room(at + items.size() + kGuard, std::byte{0xee});
      const std::vector<Moves::Source> sources = {{0, items.data()}};
      moves.fill_by_stretches(sources, room.data() + at, size, kFirstEnd, kStretch);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < room.size(); ++i) {
        const bool inside = i >= at && i < at + items.size();
        const auto expected = static_cast<std::byte>(inside ? (i - at) / size * 7 + (i - at) % size : 0xee);
        wrong += room[i] == expected ? 0 : 1;
      }
      EXPECT_EQ(wrong, 0) << "items of " << size << " bytes, from byte " << at;
    }
  }
}

TEST_P(AnyMoves, PackMessagesThatTheOtherSidePutsIntoItsBlock) {
  const auto [form, size] = GetParam();
  const Moves moves = some_moves(form);
  Moves incoming(form);
  incoming.add({0, 4, 2});
  incoming.add({0, 0, 3});
  incoming.end_section();
  incoming.count_as_messages();
  const auto items = items_of(8, size);
  std::vector<std::byte> message(5 * size), block(6 * size), message_back(5 * size), back(8 * size);
  moves.pack(0, items.data(), message.data(), size);
  EXPECT_EQ(numbers_in(message, size), (std::vector<int>{0, 1, 5, 6, 7}));
  incoming.put(0, message.data(), block.data(), size);
  EXPECT_EQ(numbers_in(block, size), (std::vector<int>{5, 6, 7, -1, 0, 1}));
  incoming.get(0, block.data(), message_back.data(), size);
  EXPECT_EQ(message_back, message);
  moves.unpack(0, message.data(), back.data(), size);
  EXPECT_EQ(numbers_in(back, size), (std::vector<int>{0, 1, -1, -1, -1, 5, 6, 7}));
}

TEST_P(AnyMoves, CanDropItemsByTheirPlaces) {
  const auto [form, size] = GetParam();
  const std::vector<std::vector<std::uint32_t>> dropped = {{1, 3}, {0}};
  const Moves rest = some_moves(form).without(dropped);
  EXPECT_EQ(rest.items(0), 3U);
  EXPECT_EQ(rest.items(1), 2U);
  std::vector<std::byte> first(6 * size), second(4 * size);
  const auto items = items_of(8, size);
  rest.put(0, items.data(), first.data(), size);
  rest.put(1, items.data(), second.data(), size);
  EXPECT_EQ(numbers_in(first, size), (std::vector<int>{5, -1, 7, -1, 0, -1}));
  EXPECT_EQ(numbers_in(second, size), (std::vector<int>{4, -1, -1, 3}));
}

INSTANTIATE_TEST_SUITE_P(Form, AnyMoves,
                         testing::Combine(testing::Values(Moves::Form::runs, Moves::Form::places),
                                          testing::Values(1, 3, 4, 8, 12, 16)));

TEST(Coverage, NamesWhatIsMissingAndWhatComesTwice) {
  Moves incoming(Moves::Form::runs);
  incoming.add({0, 0, 3});
  incoming.end_section();
  incoming.add({0, 6, 2});
  incoming.end_section();
  incoming.add({0, 2, 1});
  incoming.add({0, 7, 1});
  incoming.end_section();
  const Coverage coverage = cover(incoming, 10);
  EXPECT_EQ(coverage.missing, 5U);  // 3, 4, 5, 8, 9
  EXPECT_EQ(coverage.first_missing, 3U);
  EXPECT_EQ(coverage.duplicates, 2U);
  ASSERT_TRUE(coverage.lowest_duplicate);
  EXPECT_EQ(coverage.lowest_duplicate->position, 2U);
  EXPECT_EQ(coverage.lowest_duplicate->first_peer, 0U);
  EXPECT_EQ(coverage.lowest_duplicate->second_peer, 2U);
  EXPECT_EQ(coverage.repeated[2], (std::vector<std::uint32_t>{0, 1}));
}

TEST(Coverage, OfAWholeBlockFindsNothing) {
  Large<std::uint32_t> positions(130);
  std::iota(positions.rbegin(), positions.rend(), 0U);
  const std::vector<std::uint64_t> ends = {65, 130};
  const Coverage coverage = cover(Moves::of_places(std::move(positions), ends), 130);
  EXPECT_EQ(coverage.missing + coverage.duplicates, 0U);
  EXPECT_FALSE(coverage.first_missing || coverage.lowest_duplicate);
}

}  // namespace
}  // namespace forebay::blocks
