// Runs of a rank's global numbers by the blocks that they lie in, each with the local position where it begins.
#pragma once

#include <cstdint>
#include <span>

#include "arrays/blocks/large.h"
#include "base/base.h"

namespace forebay::blocks {

// A number as the program knows it: those of Python and Fortran have a sign, and -3 comes here as 2^64 - 3.
std::string as_given(std::uint64_t number);

// The facts that one look at the numbers tells.
struct Survey {
  std::uint64_t runs = 0;  // of numbers that follow each other
  bool rising = true;
};
// Numbers are 1 .. items in any order; anything else is an error that names the first one.
Result<Survey> survey(std::span<const std::uint64_t> numbers, std::uint64_t items);

// One word for the first number of each run: the number - 1 above, the local position in the low bits, so that sorting
// words is all. Words of one block follow those of the block before; within a block they are near their
// order, not in it: a few lines of a cache may be filled in any order, and that saves a pass of the sort.
class Order {
 public:
  // The numbers have passed the survey, and outlive this.
  Order(std::span<const std::uint64_t> numbers, const Survey& survey, std::uint64_t items, std::uint64_t block_items);

  std::size_t size() const { return words_.size(); }
  std::uint64_t item(std::size_t k) const { return words_[k] >> position_bits_; }  // the number - 1
  std::uint32_t position(std::size_t k) const { return static_cast<std::uint32_t>(words_[k] & position_mask_); }
  // The length of the run that begins there; it ends with its block.
  std::uint32_t count(std::size_t k, std::uint64_t block_end) const;
  // The first place from `from` on that lies behind the block that ends before `block_end`.
  std::size_t end_of_block(std::size_t from, std::uint64_t block_end) const;
  std::uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  void take_runs(std::uint64_t most);
  void sort(unsigned near_bits, unsigned item_bits);
  void cut_at_blocks(unsigned near_bits, std::uint64_t items);
  std::uint64_t word_of(std::size_t position) const { return (numbers_[position] - 1) << position_bits_ | position; }

  std::span<const std::uint64_t> numbers_;
  std::uint64_t block_items_;
  Large<std::uint64_t> words_;
  unsigned position_bits_;
  std::uint64_t position_mask_;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace forebay::blocks
