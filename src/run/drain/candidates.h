// Candidates: the complete times that a node of several holds until all nodes have agreed on one of them.
//
// Nodes see each other's lists late, by different numbers of time steps, so "the last few" of one may have nothing in
// common with the last few of another. Every time therefore has a level by the hash of its name, the same on all nodes:
// half of the times have level 0, a quarter level 1, and so on up to `highest_level`. Of each level and those above it
// the newest `per_level` are held. Two nodes that are d steps apart then share a time that is a few times d old,
// however large d is (up to about 2^highest_level steps; beyond, until they have caught up, they may share none). Held
// are about 10 times, never more than `most`. The choice follows from the names alone, so the nodes need not agree on
// it. Pure bookkeeping. One thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace forebay::drain {

class Candidates {
 public:
  static constexpr int highest_level = 8;
  static constexpr std::size_t per_level = 2;
  static constexpr std::size_t most = (highest_level + 1) * per_level;

  // A time has become complete; to be called in the order of times.
  void add(const std::string& time);
  void remove(const std::string& time);
  bool contains(const std::string& time) const;
  // Oldest first.
  std::vector<std::string> times() const;

 private:
  struct Entry {
    std::string time;
    int level;
  };
  std::vector<Entry> entries_;  // oldest first
};

}  // namespace forebay::drain
