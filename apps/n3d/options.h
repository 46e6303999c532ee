// The command line of n3d.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "objective.h"
#include "store.h"

namespace n3d {

enum class StoreKind { arrays, files, memory, revolve };
std::string name_of(StoreKind kind);

struct Options {
  std::size_t points = 32;
  Step steps = 100;
  double viscosity = 0.02, time_step = 0.02;
  bool random = false;  // where the run starts: random flow, or the Taylor-Green vortex with a little of it
  std::uint64_t seed = 1;
  Measure measure = Measure::energy;
  int iterations = 0;
  StoreKind store = StoreKind::arrays;
  Step slots = 10, pool_slots = 0;
  std::vector<Tier> tiers;  // of the trajectory; none: dram, as much as all states need
  double accepted_error = 0;
  std::string directory;
  bool keep_files = false;
  bool check_gradient = false, quick = false, quiet = false;
  std::string json, pictures;
};

// The options, or the exit status where n3d has nothing more to do (help was asked for, or a word is wrong, which is
// then told by `speaks`).
struct Parsed {
  Options options;
  std::optional<int> exit_status;
};
Parsed parse(int count, char** words, bool speaks);
// Empty when a run with these options is possible on so many ranks.
std::string complaint(const Options& options, int ranks);

}  // namespace n3d
