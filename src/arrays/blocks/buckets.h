// Items in no order, put together by where they go before they go there: into buckets of near places, one after the
// other as the blocks are. Items stay in the near caches while they are stored into buckets, and from one bucket to
// their places; going straight to places that follow no order takes twice as long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arrays/blocks/block_map.h"
#include "arrays/blocks/large.h"

namespace forebay::blocks {

class Buckets {
 public:
  Buckets() = default;  // none, for items that are in order
  // By the global numbers of a rank's items, which are those of `map`. In a bucket items keep their order.
  Buckets(std::span<const std::uint64_t> numbers, const BlockMap& map);

  // A bucket has 2^bits places at most: of aligned ones, counted from the first item of all blocks.
  static unsigned bits(const BlockMap& map);
  bool empty() const { return bucket_.empty(); }
  std::uint64_t bytes() const;  // of memory
  // How many items go to this block (counted from 0) and those before it.
  std::uint64_t end_of_block(int block) const { return first_[first_of_block_[static_cast<std::size_t>(block) + 1]]; }
  // The places in their blocks of the sorted items, of these numbers.
  Large<std::uint32_t> places(std::span<const std::uint64_t> numbers, const BlockMap& map) const;

  // The items, one bucket after the other; and back.
  void sort(const std::byte* items, std::byte* sorted, std::size_t item_bytes) const;
  void unsort(const std::byte* sorted, std::byte* items, std::size_t item_bytes) const;

 private:
  Large<std::uint32_t> bucket_;                // of each item
  std::vector<std::uint32_t> first_;           // of the sorted items: where each bucket begins, and the end
  std::vector<std::uint32_t> first_of_block_;  // the first bucket of each block, and the end
};

}  // namespace forebay::blocks
