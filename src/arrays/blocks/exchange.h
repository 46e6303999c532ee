// Moves the items of one array between the ranks that hold them and the blocks, which lie in an image that the ranks of
// a node share: within a node by plain loads and stores, between nodes by one message for each pair.
#pragma once

#include "arrays/blocks/memory.h"
#include "arrays/blocks/plan.h"
#include "arrays/blocks/post.h"

namespace forebay::blocks {

// The blocks of the ranks of this node, in rising order of ranks, without gaps: the image of an array.
struct ImageLayout {
  std::vector<std::uint64_t> first;  // in items, by place in the node
  std::uint64_t items = 0;           // of all of them

  static ImageLayout of(const Team& team, const BlockMap& map);
};

class Exchange {
 public:
  // Collective. The plan outlives it.
  explicit Exchange(const Plan& plan);

  const Plan& plan() const { return *plan_; }
  const ImageLayout& layout() const { return layout_; }
  // The block of this rank in its node's image.
  std::span<std::byte> my_block(std::byte* image, std::size_t item_bytes) const;

  // Collective. When it returns, this node's image is whole. `image` is that of the node, mapped by each of its ranks
  // (anywhere); it may hold what it likes before. An error is that of the whole team. `sum` gets what this rank copies
  // there: all ranks of a node together have summed its image, each byte once.
  Status to_image(const std::byte* items, std::size_t item_bytes, std::byte* image, slots::ItemSum* sum = nullptr);
  // Collective; every rank of the node has stored its part of the image before it calls.
  Status from_image(std::byte* image, std::size_t item_bytes, std::byte* items);

 private:
  enum class Direction { to_blocks, from_blocks };
  std::byte* my_sorted(std::size_t item_bytes) const { return sorted_.data() + sorted_first_ * item_bytes; }
  void fill_my_block(std::byte* image, std::size_t item_bytes, slots::ItemSum* sum) const;
  void deliver(const Post& post, Direction direction, std::size_t item_bytes);
  Status reserve(const Post& post, std::size_t item_bytes);

  const Plan* plan_;
  ImageLayout layout_;
  Post writing_, reading_;
  NodeMemory out_, in_;
  NodeMemory sorted_;  // the items of each rank of the node, in the order of its buckets; none where no rank sorts
  std::uint64_t sorted_first_ = 0, sorted_items_ = 0;  // where this rank's begin, and all of them
  std::vector<std::uint64_t> sorted_at_;               // by place in the node: where its items for this block begin
};

}  // namespace forebay::blocks
