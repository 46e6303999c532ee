// Over all nodes: what their reports say together. A node carries what its own looks and its settings say (run/core/
// decide.h); nobody asks another for anything. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "run/launch/report.h"

namespace forebay::launch {

// How often nodes read each other's reports, from the time that a dead node may cost.
struct Pace {
  std::chrono::milliseconds listen;  // between two readings of the others' reports
};
Pace pace_of(std::chrono::milliseconds safe_interval);

// True when the reports stand for all ranks of the run, each at most once.
bool represents_all(const std::vector<NodeReport>& nodes, int all_ranks);
// The newest time that is on the case for all ranks. `all_ranks`: with directories of their own, as far as that is
// known; 0: those that the nodes tell of.
std::optional<std::string> safe_of(const std::vector<NodeReport>& nodes, int all_ranks);
// The same for complete times, wherever they are.
std::optional<std::string> complete_of(const std::vector<NodeReport>& nodes, int all_ranks);
// The newest that is on the case for the ranks of all other nodes, as these tell.
std::optional<std::string> safe_over_others(const NodeReport& own, const std::vector<NodeReport>& others,
                                            int all_ranks);
// The sums, and the longest lag.
drain::Amounts amounts_of(const std::vector<NodeReport>& nodes);

}  // namespace forebay::launch
