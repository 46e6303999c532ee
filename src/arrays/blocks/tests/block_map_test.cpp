#include "arrays/blocks/block_map.h"

#include <gtest/gtest.h>

namespace forebay::blocks {
namespace {

// Every item in exactly one block, whose owner is what owner() says.
void expect_partition(const BlockMap& map, int ranks) {
  std::uint64_t end = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const Range block = map.block(rank);
    EXPECT_EQ(block.first, block.count == 0 ? map.items() : end) << "block of rank " << rank;
    if (block.count == 0) continue;
    EXPECT_EQ(map.owner(block.first + 1), rank);
    EXPECT_EQ(map.owner(block.end()), rank);
    end = block.end();
  }
  EXPECT_EQ(end, map.items());
}

TEST(BlockMap, CoversAllItemsOnce) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 33;
  for (const std::uint64_t items :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{1000}, kLarge, kLarge + 12345}) {
    for (const int ranks : {1, 2, 3, 8, 4097}) {
      for (const std::uint64_t least : {0, 800, 1 << 23}) {
        for (const int step : {1, 2, 5}) {
          for (const int most : {0, 1, 3}) {
            SCOPED_TRACE(testing::Message() << items << " items, " << ranks << " ranks, " << least << " bytes, step "
                                            << step << ", at most " << most);
            const BlockMap map(items, ranks, {least, 8, step, most});
            expect_partition(map, ranks);
            EXPECT_LE(map.blocks(), most > 0 ? most : ranks);
          }
        }
      }
    }
  }
}

TEST(BlockMap, IsThatOfCodeSaturne) {
  // 64,000 cells of 8 bytes on 4 ranks and its default of 8 MiB: all on rank 0.
  EXPECT_EQ(BlockMap(64'000, 4, {std::uint64_t{8} << 20, 8, 1, 0}).blocks(), 1);
  // 4,000,000 cells on 16 ranks: the step doubles until blocks have a million cells.
  const BlockMap map(4'200'000, 16, {8'000'000, 8, 1, 0});
  EXPECT_EQ(map.rank_step(), 4);
  EXPECT_EQ(map.block_items(), 1'050'000U);
  EXPECT_EQ(map.owner(1'050'000), 0);
  EXPECT_EQ(map.owner(1'050'001), 4);
}

TEST(BlockMap, CanHaveOneBlockForSerialLibraries) {
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 31) - 1;  // that a plan takes
  for (const std::uint64_t items : {std::uint64_t{1}, std::uint64_t{1000}, kMost}) {
    const BlockMap map(items, 8, {0, 8, 1, 1});
    EXPECT_EQ(map.block(0).count, items);
    EXPECT_EQ(map.block(1).count, 0U);
  }
}

}  // namespace
}  // namespace forebay::blocks
