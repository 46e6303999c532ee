// trajectory_bench PART: measures one part of what a trajectory promises, and prints the seconds of all slices as JSON.
// `forebay bench trajectory` runs it for every part and judges the figures.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "parts.h"

int main(int count, char** words) {
  namespace bench = forebay::trajectory::bench;
  using Part = nlohmann::json (*)(const bench::Settings&);
  const std::map<std::string, Part> parts{{"steady", bench::steady}, {"fresh", bench::fresh},
                                          {"spill", bench::spill},   {"files", bench::files},
                                          {"lossy", bench::lossy},   {"reopen", bench::reopen}};
  CLI::App app("Measures one part of what a trajectory promises; prints the seconds of every slice as JSON.");
  bench::Settings settings;
  std::string part;
  app.add_option("PART", part, "steady, fresh, spill, files, lossy or reopen")->required()->check(CLI::IsMember(parts));
  app.add_option("--directory", settings.directory, "Of the first tier; an empty one")->required();
  app.add_option("--disk", settings.disk, "Directory of the next tier, for spill");
  app.add_option("--state-bytes", settings.state_bytes, "Bytes of a state, a multiple of 64");
  app.add_option("--states", settings.states, "States in a slice");
  app.add_option("--flow", settings.flow, "What lossy stores: steady or turbulent");
  app.add_option("--accepted", settings.accepted, "Its accepted relative L2 error");
  app.add_option("--repetitions", settings.repetitions, "Slices of each kind");
  app.add_option("--ranks", settings.ranks, "Processes that measure files at the same time");
  CLI11_PARSE(app, count, words);
  if (settings.state_bytes == 0 || settings.state_bytes % 64 != 0 || settings.states == 0 || settings.repetitions < 1 ||
      settings.ranks < 1 || (part == "spill" && settings.disk.empty())) {
    fmt::print(stderr,
               "trajectory_bench: sizes and counts must be positive, states of whole lines; spill needs --disk\n");
    return 2;
  }
  fmt::print("{}\n", parts.at(part)(settings).dump());
  return 0;
}
