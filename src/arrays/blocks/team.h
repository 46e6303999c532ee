// The ranks that write and read together, and which of them share a node's memory.
#pragma once

#include <cstdint>
#include <vector>

#include "arrays/blocks/meeting.h"

namespace forebay::blocks {

// A node is a group of ranks that can map the same memory. The groups are numbered from 0; the members of each, by
// rising rank. All ranks make a Team together and end it together.
class Team {
 public:
  // `most_per_node` cuts the ranks of a node into groups of at most so many, each with memory of its own (a socket's,
  // say); 0: one group.
  static Result<Team> of(MPI_Comm communicator, int most_per_node = 0);

  MPI_Comm all() const { return all_.get(); }
  MPI_Comm node() const { return node_.get(); }
  // One rank of each node, numbered as the nodes are; null on the others.
  MPI_Comm leaders() const { return leaders_.get(); }

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int nodes() const { return static_cast<int>(members_.size()); }
  int my_node() const { return node_of_[index(rank_)]; }
  int node_of(int rank) const { return node_of_[index(rank)]; }
  bool is_leader() const { return static_cast<bool>(leaders_); }
  bool is_here(int rank) const { return node_of(rank) == my_node(); }
  const std::vector<int>& members(int node) const { return members_[index(node)]; }
  const std::vector<int>& members() const { return members(my_node()); }
  int place_in_node() const { return place_; }
  // Which of the groups that the ranks of one machine were cut into.
  int group_of_machine() const { return group_; }

  // Waits for the ranks of this node; what they stored before is seen then.
  void meet_on_node() const { meeting_.wait(); }
  // A random number, the same on every rank. Collective.
  std::uint64_t new_identity() const;
  Status agree(const Status& mine) const { return blocks::agree(all(), mine); }
  // ok where all ranks have the same value; the error in the words of rank 0 otherwise. Collective.
  Status agree_on(std::uint64_t value, const Status& otherwise) const {
    return agree(same_on_all(all(), value) ? Status{} : otherwise);
  }

 private:
  Communicator all_, node_, leaders_;
  int rank_ = 0, ranks_ = 1, place_ = 0, group_ = 0;
  Meeting meeting_;
  std::vector<int> node_of_;
  std::vector<std::vector<int>> members_;
};

// Two sums for each of some numbers: over the ranks of this node before this one, and over all of them. Collective over
// the node.
struct NodeSums {
  NodeSums(const Team& team, const std::vector<std::uint64_t>& mine);

  std::vector<std::uint64_t> before, all;
};

}  // namespace forebay::blocks
