// Agreement: which time is complete over all nodes and safe to give up older ones for.
//
// The node of rank 0 leads. When it is due, it proposes the newest time that every node's report holds; the others pin
// it (hold it whatever comes) and say so in their own reports; once all have, it is agreed, and every node that reads
// this drains the time at once and lets older ones go. So the case always gets the same times from all nodes, however
// late they read each other. When all have told that it is on the case, the leader says so, and copies of older times
// that the program has purged may leave the case. After a program that ended badly no agreement is needed: every node
// carries its two newest complete times, and since ranks cannot be more than one time apart, the newest that all have
// is among them. Pure: reports in, what to do out.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "run/launch/report.h"

namespace forebay::launch {

// How a run paces its nodes' agreement, from the time that a dead node may cost.
struct Pace {
  std::chrono::milliseconds listen;  // between two readings of the others' reports
  std::chrono::milliseconds round;   // from one agreement to the next proposal
};
Pace pace_of(std::chrono::milliseconds safe_interval);

// True when the reports stand for all ranks of the run, each at most once.
bool represents_all(const std::vector<NodeReport>& nodes, int all_ranks);
// The newest time that all nodes hold, in the order of the first one.
std::optional<std::string> newest_common(const std::vector<NodeReport>& nodes);
// The newest time that is on the case for all ranks.
std::optional<std::string> safe_over_all(const std::vector<NodeReport>& nodes, int all_ranks);
// The newest that is on the case for the ranks of all other nodes, as these tell.
std::optional<std::string> safe_over_others(const NodeReport& own, const std::vector<NodeReport>& others,
                                            int all_ranks);
// The same of times that are complete, wherever they are.
std::optional<std::string> complete_over_all(const std::vector<NodeReport>& nodes, int all_ranks);

// What a node says next, given its own report and those of the others. While the program runs; `due`: a round may
// begin.
Accord next_accord(const NodeReport& own, const std::vector<NodeReport>& others, int all_ranks, bool due);

}  // namespace forebay::launch
