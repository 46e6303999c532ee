#include "arrays/blocks/block_map.h"

#include <algorithm>

namespace forebay::blocks {
namespace {

constexpr std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace

BlockMap::BlockMap(std::uint64_t items, int ranks, const BlockRequest& request) : items_(items) {
  const auto all = static_cast<std::uint64_t>(ranks);
  const std::uint64_t least = divided_up(request.least_bytes, std::max<std::uint64_t>(request.item_bytes, 1));
  std::uint64_t step = static_cast<std::uint64_t>(std::clamp(request.rank_step, 1, ranks));
  if (request.most_blocks > 0) step = std::max(step, divided_up(all, static_cast<std::uint64_t>(request.most_blocks)));
  while (step < all && items / divided_up(all, step) < least) step = std::min(2 * step, all);
  const std::uint64_t owners = divided_up(all, step);
  block_items_ = std::max<std::uint64_t>(divided_up(items, owners), 1);
  rank_step_ = static_cast<int>(step);
  blocks_ = static_cast<int>(divided_up(items, block_items_));
}

Range BlockMap::block(int rank) const {
  const auto which = static_cast<std::uint64_t>(rank / rank_step_);
  if (rank % rank_step_ != 0 || which >= static_cast<std::uint64_t>(blocks_)) return {items_, 0};
  const std::uint64_t first = which * block_items_;
  return {first, std::min(block_items_, items_ - first)};
}

}  // namespace forebay::blocks
