#include "arrays/blocks/post.h"

namespace forebay::blocks {

Post Post::of(const Team& team, const Route& route) {
  const std::size_t ranks = index(team.ranks());
  Post post;
  post.out_at.resize(ranks);
  post.in_at.resize(ranks);
  std::vector<std::uint64_t> by_rank(ranks);
  std::vector<std::uint64_t> by_node(index(team.nodes()));
  for (int rank = 0; rank < team.ranks(); ++rank) {
    if (team.is_here(rank)) continue;
    by_rank[index(rank)] = route.outgoing.items(index(rank));
    by_node[index(team.node_of(rank))] += route.incoming.items(index(rank));
  }
  const NodeSums out(team, by_rank), in(team, by_node);
  for (int node = 0; node < team.nodes(); ++node) {
    if (node == team.my_node()) continue;
    const std::uint64_t first = post.out_items;
    std::uint64_t in_before = post.in_items + in.before[index(node)];
    for (const int rank : team.members(node)) {
      post.out_at[index(rank)] = post.out_items + out.before[index(rank)];
      post.out_items += out.all[index(rank)];
      post.in_at[index(rank)] = in_before;
      in_before += route.incoming.items(index(rank));
    }
    if (post.out_items > first) post.out.push_back({node, first, post.out_items - first});
    if (in.all[index(node)] > 0) post.in.push_back({node, post.in_items, in.all[index(node)]});
    post.in_items += in.all[index(node)];
  }
  return post;
}

}  // namespace forebay::blocks
