// A rank's global numbers in rising order, each with the local position that has it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/base.h"

namespace forebay::blocks {

// One word for each number: the number - 1 above, the local position in the low bits, so that sorting words is all.
class Order {
 public:
  // Numbers are 1 .. items in any order; anything else is an error that names the first one.
  static Result<Order> of(std::span<const std::uint64_t> numbers, std::uint64_t items);

  std::size_t size() const { return words_.size(); }
  std::uint64_t item(std::size_t k) const { return words_[k] >> position_bits_; }  // the number - 1
  std::uint32_t position(std::size_t k) const { return static_cast<std::uint32_t>(words_[k] & position_mask_); }
  std::uint64_t peak_bytes() const { return peak_bytes_; }
  // The first place from `from` on whose item is not below `item`.
  std::size_t lower_bound(std::size_t from, std::uint64_t item) const;

 private:
  std::vector<std::uint64_t> words_;
  unsigned position_bits_ = 0;
  std::uint64_t position_mask_ = 0;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace forebay::blocks
