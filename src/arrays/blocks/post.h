// Where items lie in the memory of a node on their way to other nodes: one message for each pair of nodes.
//
//   outgoing area of node A   [message to node B: [for each rank d of B: [for each rank s of A: items of s for d]]] ...
//   incoming area of node B   [message from node A, the same bytes] ...
#pragma once

#include <cstdint>
#include <vector>

#include "arrays/blocks/plan.h"

namespace forebay::blocks {

struct Parcel {
  int node = 0;
  std::uint64_t first = 0;  // in items, in its area
  std::uint64_t items = 0;
};

// All counts are in items, so that they serve arrays of any item size.
struct Post {
  std::vector<std::uint64_t> out_at;  // by rank: where this rank's items for its block begin in the outgoing area
  std::vector<std::uint64_t> in_at;   // by rank: where its items for this rank's block begin in the incoming area
  std::vector<Parcel> out, in;
  std::uint64_t out_items = 0, in_items = 0;

  // Collective over the ranks of each node.
  static Post of(const Team& team, const Route& route);
};

}  // namespace forebay::blocks
