#include "run/launch/agreement.h"

#include <algorithm>
#include <set>
#include <utility>

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;

bool contains(const std::vector<std::string>& times, const std::string& time) {
  return std::ranges::find(times, time) != times.end();
}

std::vector<NodeReport> together(const NodeReport& own, const std::vector<NodeReport>& others) {
  std::vector<NodeReport> all{own};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

bool stand_for_all(const std::vector<NodeReport>& nodes, int all_ranks) {
  if (all_ranks > 0) return represents_all(nodes, all_ranks);
  for (const NodeReport& node : nodes)
    for (const int rank : node.ranks) all_ranks = std::max(all_ranks, rank + 1);
  return nodes.size() == 1 || represents_all(nodes, all_ranks);
}

// It asks the nodes that have times.
std::optional<std::string> newest_in_all(const std::vector<NodeReport>& nodes,
                                         std::vector<std::string> NodeReport::Times::*member) {
  const auto first = std::ranges::find_if(nodes, [](const NodeReport& node) { return node.times.are_written; });
  if (first == nodes.end()) return std::nullopt;
  const std::vector<std::string>& times = first->times.*member;
  const auto has = [&](const NodeReport& node, const std::string& time) {
    return !node.times.are_written || contains(node.times.*member, time);
  };
  for (auto time = times.rbegin(); time != times.rend(); ++time)
    if (std::ranges::all_of(nodes, [&](const auto& node) { return has(node, *time); })) return *time;
  return std::nullopt;
}

}  // namespace

Pace pace_of(std::chrono::milliseconds safe_interval) {
  Pace pace{};
  pace.listen = std::clamp<std::chrono::milliseconds>(safe_interval / 12, 200ms, 5s);
  return pace;
}

bool represents_all(const std::vector<NodeReport>& nodes, int all_ranks) {
  std::set<int> ranks;
  for (const NodeReport& node : nodes) {
    const std::set<int> own(node.ranks.begin(), node.ranks.end());
    for (const int rank : own)
      if (!ranks.insert(rank).second) return false;
  }
  return static_cast<int>(ranks.size()) == all_ranks;
}

std::optional<std::string> safe_of(const std::vector<NodeReport>& nodes, int all_ranks) {
  if (!stand_for_all(nodes, all_ranks)) return std::nullopt;
  if (nodes.size() == 1) return nodes.front().drain.newest_safe;
  return newest_in_all(nodes, &NodeReport::Times::safe);
}

std::optional<std::string> safe_over_others(const NodeReport& own, const std::vector<NodeReport>& others,
                                            int all_ranks) {
  if (!represents_all(together(own, others), all_ranks)) return std::nullopt;
  return newest_in_all(others, &NodeReport::Times::safe);
}

// A safe time is complete, also where no pool has it any more.
std::optional<std::string> complete_of(const std::vector<NodeReport>& nodes, int all_ranks) {
  if (!stand_for_all(nodes, all_ranks)) return std::nullopt;
  if (nodes.size() == 1) return nodes.front().drain.newest_complete;
  const auto complete = newest_in_all(nodes, &NodeReport::Times::complete);
  return complete ? complete : safe_of(nodes, all_ranks);
}

drain::Amounts amounts_of(const std::vector<NodeReport>& nodes) {
  drain::Amounts all;
  for (const NodeReport& node : nodes) all += node.drain.amounts;
  return all;
}

}  // namespace forebay::launch
