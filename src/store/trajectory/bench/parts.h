// The parts of trajectory_bench: each alternates the trajectory with its reference in one process, and answers with the
// seconds of every slice, so that the caller can pair and judge them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace forebay::trajectory::bench {

struct Settings {
  std::string directory;             // where the first tier lies
  std::string disk;                  // where the next tier lies
  std::uint64_t state_bytes = 4096;  // a multiple of 64
  std::uint64_t states = 1000;       // in a slice
  int repetitions = 5;
  int ranks = 1;                // for files: that write at the same time
  std::string flow = "steady";  // for lossy: what is stored,
  double accepted = 1e-4;       // and its accepted relative L2 error
};

// Into recycled segments, by put and in place, against a non-temporal copy into the same pages; then read in reverse,
// against a plain sweep over those pages in rising order.
nlohmann::json steady(const Settings& settings);
// Into segments that nobody has touched, against touching as many pages.
nlohmann::json fresh(const Settings& settings);
// Runs with room for half of the states; the sweep back against reading the disk.
nlohmann::json spill(const Settings& settings);
// Against one file for each state and rank, written and read in reverse, by all ranks at the same time.
nlohmann::json files(const Settings& settings);
// Fields with an accepted error, written and read in reverse by a solver that has work of its own, against the same as
// they are.
nlohmann::json lossy(const Settings& settings);
// Opening a kept store, against reading one line for each record of it.
nlohmann::json reopen(const Settings& settings);

}  // namespace forebay::trajectory::bench
