// Which rank owns which block of the numbers 1..N. Pure arithmetic: nothing here knows MPI.
#pragma once

#include <cstdint>

namespace forebay::blocks {

// The caller's wishes about blocks. A file system with few servers wants few large blocks, a serial library one.
struct BlockRequest {
  std::uint64_t least_bytes = std::uint64_t{1} << 20;  // of a block, as far as there are items
  std::uint64_t item_bytes = 8;                        // of the item that this is counted in
  int rank_step = 1;                                   // at most every so many-th rank owns a block
  int most_blocks = 0;                                 // 0: as many as there are ranks
};

// A contiguous range of items, counted from 0: item i has the global number i + 1.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t end() const { return first + count; }
};

// Blocks are contiguous, of equal size but for the last ones, and owned by every `rank_step`-th rank in rising order.
class BlockMap {
 public:
  BlockMap() = default;
  // The rule of Code_Saturne (cs_block_dist.c): the step doubles while blocks would be smaller than asked for.
  BlockMap(std::uint64_t items, int ranks, const BlockRequest& request);

  std::uint64_t items() const { return items_; }
  std::uint64_t block_items() const { return block_items_; }
  int rank_step() const { return rank_step_; }
  int blocks() const { return blocks_; }

  // The owner of a global number, 1 <= number <= items().
  int owner(std::uint64_t number) const { return static_cast<int>((number - 1) / block_items_) * rank_step_; }
  // The block of a rank; empty where it owns none.
  Range block(int rank) const;

 private:
  std::uint64_t items_ = 0;
  std::uint64_t block_items_ = 1;
  int rank_step_ = 1;
  int blocks_ = 0;
};

}  // namespace forebay::blocks
