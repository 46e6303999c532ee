// Commands that need more libraries. To load HDF5 takes a program 12 ms, which every rank's `forebay exec` would pay
// too; so these are carried out by a program of their own, `forebay-files`.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace forebay::cli {

template <class Options>
struct Declared {
  CLI::App* command;
  std::shared_ptr<Options> options;  // filled in when the command line is parsed
};

struct InspectOptions {
  std::string path, other;
  bool no_verify = false;
  bool json = false;
};
Declared<InspectOptions> declare_inspect(CLI::App& app);

struct TrajectoryOptions {
  std::string action;
  std::vector<std::string> directories;
  bool json = false;
};
Declared<TrajectoryOptions> declare_trajectory(CLI::App& app);

struct MeshOptions {
  std::string action;
  std::vector<std::string> sources;
  std::string groups;  // the array of the sources' cells whose values are groups; empty: by its name
  std::vector<std::pair<std::string, std::string>> joints;
  double tolerance = 0;
  std::optional<double> merge;
  int levels = 0;
  std::string output;
  bool force = false;
  std::uint32_t parts = 0;
  std::string parts_from;
  std::string partition;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  bool json = false, quiet = false;
};
Declared<MeshOptions> declare_mesh(CLI::App& app);

// The request of `forebay drain --resume`: to carry home what programs left in these directories of slots.
Declared<std::vector<std::string>> declare_carry(CLI::App& app);

// Runs `forebay-files`, beside this program, with the arguments of this one; returns only when it cannot be started.
int carry_out_elsewhere();
// Has a declared command carried out so. Parsing needs its options, though nobody reads them here.
template <class Options>
void carry_out_elsewhere(const Declared<Options>& declared, int& exit_status) {
  declared.command->callback([kept = declared.options, &exit_status] { exit_status = carry_out_elsewhere(); });
}
// Lets it carry home, and returns its exit status. While it works this process has a pulse (base/pulse.h).
int carry_elsewhere(const std::vector<std::string>& directories, Clock& clock);

}  // namespace forebay::cli
