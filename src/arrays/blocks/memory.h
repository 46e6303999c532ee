// Memory that the ranks of a node share while they run: the image of their blocks, and what goes to other nodes.
#pragma once

#include <cstddef>
#include <span>

#include "arrays/blocks/mpi.h"
#include "base/base.h"

namespace forebay::blocks {

// Whole pages of what the ranks of a node have mapped: those that this rank touches first, so that they lie on its own
// socket.
std::span<std::byte> share_of(MPI_Comm node, std::span<std::byte> memory);

// Needs no room in /dev/shm, which containers and sites keep small. It goes with the last rank that has it mapped.
class NodeMemory {
 public:
  // At least so many bytes, the same number on every rank of the node, with room taken: what is stored there cannot
  // fail. Content is lost where it has to grow. Collective over the ranks of the node, which share the error; nothing
  // is left then.
  Status reserve(MPI_Comm node, std::uint64_t bytes);
  std::byte* data() const { return mapped_.bytes().data(); }

 private:
  MappedFile mapped_;
};

}  // namespace forebay::blocks
