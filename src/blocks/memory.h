// Memory that the ranks of a node share while they run: the image of their blocks, and what goes to other nodes.
#pragma once

#include <cstddef>
#include <utility>

#include "blocks/team.h"

namespace forebay::blocks {

class NodeMemory {
 public:
  NodeMemory() = default;
  NodeMemory(NodeMemory&& other) noexcept { *this = std::move(other); }
  NodeMemory& operator=(NodeMemory&& other) noexcept {
    std::swap(window_, other.window_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  // Collective over the node, as is reserve().
  ~NodeMemory();

  // At least so many bytes, the same number on every rank of the node; content is lost where it has to grow.
  Status reserve(const Team& team, std::uint64_t bytes);
  std::byte* data() const { return data_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace forebay::blocks
