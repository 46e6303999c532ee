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

bool leads(const NodeReport& node) {
  return std::ranges::find(node.ranks, 0) != node.ranks.end();
}

const NodeReport* leader_among(const std::vector<NodeReport>& nodes) {
  const auto found = std::ranges::find_if(nodes, leads);
  return found == nodes.end() ? nullptr : &*found;
}

std::vector<NodeReport> together(const NodeReport& own, const std::vector<NodeReport>& others) {
  std::vector<NodeReport> all{own};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

template <class TimesOf>
std::optional<std::string> newest_in_all(const std::vector<NodeReport>& nodes, TimesOf times_of) {
  if (nodes.empty()) return std::nullopt;
  const std::vector<std::string>& first = times_of(nodes.front());
  for (auto time = first.rbegin(); time != first.rend(); ++time)
    if (std::ranges::all_of(nodes, [&](const auto& node) { return contains(times_of(node), *time); })) return *time;
  return std::nullopt;
}

}  // namespace

Pace pace_of(std::chrono::milliseconds safe_interval) {
  Pace pace{};
  pace.listen = std::clamp<std::chrono::milliseconds>(safe_interval / 12, 200ms, 5s);
  // A round takes three readings, and what was agreed must be drained before the interval is over.
  pace.round = std::max<std::chrono::milliseconds>(safe_interval - 6 * pace.listen, safe_interval / 4);
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

std::optional<std::string> newest_common(const std::vector<NodeReport>& nodes) {
  return newest_in_all(
      nodes, [](const NodeReport& node) -> const auto& { return node.complete_times; });
}

std::optional<std::string> safe_over_all(const std::vector<NodeReport>& nodes, int all_ranks) {
  if (!represents_all(nodes, all_ranks)) return std::nullopt;
  return newest_in_all(
      nodes, [](const NodeReport& node) -> const auto& { return node.safe_times; });
}

std::optional<std::string> safe_over_others(const NodeReport& own, const std::vector<NodeReport>& others,
                                            int all_ranks) {
  if (!represents_all(together(own, others), all_ranks)) return std::nullopt;
  return newest_in_all(
      others, [](const NodeReport& node) -> const auto& { return node.safe_times; });
}

std::optional<std::string> complete_over_all(const std::vector<NodeReport>& nodes, int all_ranks) {
  if (!represents_all(nodes, all_ranks)) return std::nullopt;
  return newest_common(nodes);
}

Accord next_accord(const NodeReport& own, const std::vector<NodeReport>& others, int all_ranks, bool due) {
  Accord accord = own.accord;
  if (!leads(own)) {
    const NodeReport* leader = leader_among(others);
    if (leader == nullptr || leader->run != own.run) return accord;
    // What an old copy of the leader's report asks for is no longer held, and so passed over.
    const Accord& asked = leader->accord;
    if (contains(own.complete_times, asked.agreed)) accord.agreed = asked.agreed;
    if (contains(own.complete_times, asked.proposed)) accord.pinned = asked.proposed;
    if (contains(own.safe_times, asked.safe)) accord.safe = asked.safe;
    return accord;
  }
  const std::vector<NodeReport> all = together(own, others);
  if (!represents_all(all, all_ranks)) return accord;
  if (const auto safe = safe_over_all(all, all_ranks)) accord.safe = *safe;
  if (!accord.proposed.empty()) {
    const auto pinned = [&](const NodeReport& node) { return node.accord.pinned == accord.proposed; };
    if (std::ranges::all_of(all, pinned)) {
      accord.agreed = std::exchange(accord.proposed, "");
    } else if (!std::ranges::all_of(others, [&](const NodeReport& node) {
                 return pinned(node) || contains(node.complete_times, accord.proposed);
               })) {
      accord.proposed.clear();  // a node let it go before it read this
    }
    return accord;
  }
  const auto newest = due ? newest_common(all) : std::nullopt;
  if (newest && *newest != accord.agreed) accord.proposed = accord.pinned = *newest;
  return accord;
}

}  // namespace forebay::launch
