// A place for the ranks of a node to wait for each other.
#pragma once

#include "arrays/blocks/memory.h"

namespace forebay::blocks {

// Asleep: a rank that waits as MPI does takes its core from those that it waits for, where there are more of them than
// cores.
class Meeting {
 public:
  // Collective over the ranks of the node, which share the error.
  static Result<Meeting> of(MPI_Comm node);
  // Returns when all ranks have called it; what they stored before is then seen by all.
  void wait() const;

 private:
  NodeMemory memory_;
};

}  // namespace forebay::blocks
