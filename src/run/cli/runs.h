// Finding what this node's pools hold, for status, drain and clean.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "arrays/slots/slots.h"
#include "run/launch/kept_sets.h"
#include "run/launch/pool_run.h"
#include "run/launch/report.h"

namespace forebay::cli {

struct FoundRuns {
  std::vector<launch::PoolRun> runs;
  std::vector<launch::UnreadableRun> unreadable;  // of all cases
  std::vector<slots::SlotDirectory>
      staged;                      // of programs that write global arrays; with a case, all that have one of it
  std::vector<std::string> pools;  // where was looked
  std::string case_path;           // resolved; empty: all cases
};
// In `pools`, or when there are none in those of the configuration and in every node-local mount; only of `case_path`
// unless it is empty. A case that is gone is an error only when the pools have nothing of it.
Result<FoundRuns> find_runs(const std::string& case_path, const std::vector<std::string>& pools);

// How long ago something on a case was last written; nullopt: it is not there.
std::optional<std::chrono::seconds> age_on_case(const std::string& path, Clock& clock);
// How long ago a node of the run told the case of itself; nullopt: never. `case_path`: as this host has it.
std::optional<std::chrono::seconds> heard_ago(const std::string& case_path, const std::string& node, Clock& clock);

// The line about what is kept for the next run on a case: which case, how much, and where.
std::string line_of(const launch::KeptSet& set);

// home_of() in pools that were not named: those found, and where the run was told to have its own, as far as that is
// there.
std::optional<std::string> home_elsewhere(const launch::Plan& plan, const std::string& case_path);
// The error of a run that has its mark on the case: this node had something that only it held, and its pool is gone
// (Code::lost), or the file system that it lies on is not mounted now (Code::undrained). It says what is safe, and what
// to do.
std::optional<Error> lost_here(const launch::Plan& plan, const FoundRuns& found);
// Where a run has what it left, readable or not; nullopt: it was not found.
std::optional<std::string> home_of(const std::string& run, const FoundRuns& found);

}  // namespace forebay::cli
