// What a run has to say at its end, for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "check.h"
#include "optimise.h"
#include "options.h"

namespace n3d {

struct Report {
  Options options;
  int ranks = 1;
  std::uint64_t state_bytes = 0;  // of one step, all ranks
  Step states_kept = 0;           // at once, at most
  std::vector<Iteration> iterations;
  std::string gradient_checksum;  // equal bits, equal checksum; for the same number of ranks
  double total_seconds = 0;       // of the slowest rank: all runs, without start and end of the program
  nlohmann::ordered_json phases;

  std::string text() const;
  std::string json() const;
};

// Mean and largest seconds over the ranks, and counts. Collective; the result is rank 0's.
nlohmann::ordered_json gather(const Grid& grid, const Phases& phases);
// Of all ranks' parts in their order. Collective; the result is rank 0's.
std::string checksum(const Grid& grid, std::span<const double> state);
std::string to_json(const Checked& checked, int ranks);

}  // namespace n3d
