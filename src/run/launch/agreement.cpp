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

std::optional<std::string> safe_over_all(const std::vector<NodeReport>& nodes, int all_ranks) {
  if (!represents_all(nodes, all_ranks)) return std::nullopt;
  return newest_in_all(nodes, &NodeReport::Times::safe);
}

std::optional<std::string> safe_over_others(const NodeReport& own, const std::vector<NodeReport>& others,
                                            int all_ranks) {
  if (!represents_all(together(own, others), all_ranks)) return std::nullopt;
  return newest_in_all(others, &NodeReport::Times::safe);
}

std::optional<std::string> complete_over_all(const std::vector<NodeReport>& nodes, int all_ranks) {
  if (!represents_all(nodes, all_ranks)) return std::nullopt;
  return newest_in_all(nodes, &NodeReport::Times::complete);
}

}  // namespace forebay::launch
