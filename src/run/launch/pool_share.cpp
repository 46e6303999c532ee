#include "run/launch/pool_share.h"

#include <algorithm>

namespace forebay::launch {
namespace {

// The bytes that forebay keeps in a pool beside files of the program: pages, texts, directories.
constexpr std::uint64_t own_bytes = std::uint64_t{96} << 10, own_bytes_of_rank = std::uint64_t{1} << 10;
// These bytes get the part of the budget between the journal and the lowest mark: 0.24 of it less 0.125, about a ninth.
constexpr std::uint64_t budget_of_own = 9;

}  // namespace

std::uint64_t limit_of(const Claim& own, std::uint64_t free_bytes, std::span<const Claim> others) {
  std::uint64_t left = free_bytes;
  for (const Claim& other : others) left -= std::min(left, other.rest());
  if (own.rest() <= left) return own.budget;
  const std::uint64_t part = (own.held + free_bytes) / (others.size() + 1);
  return std::min(own.budget, std::max(own.held + left, others.empty() ? 0 : part / 2));
}

std::uint64_t least_budget(int ranks) {
  std::uint64_t digits =
      budget_of_own * (own_bytes + static_cast<std::uint64_t>(std::max(ranks, 1)) * own_bytes_of_rank);
  std::uint64_t unit = 1;
  for (; digits >= 100; digits = (digits + 9) / 10) unit *= 10;
  return digits * unit;
}

void Holding::free_is(std::uint64_t bytes) {
  if (known_ && bytes != free_) stale_ = true;
  if (known_ && bytes < free_) taken_ += free_ - bytes;
  free_ = bytes;
  known_ = true;
}

void Holding::count_begins() {
  taken_at_begin_ = taken_;
  stale_ = false;
}

void Holding::counted(std::uint64_t bytes) {
  counted_ = bytes;
  taken_before_count_ = taken_at_begin_;
}

}  // namespace forebay::launch
