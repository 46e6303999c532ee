// forebay stage: the inputs of a case into the pools, ahead of a run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>

#include "run/cli/commands.h"
#include "run/cli/interface.h"
#include "run/cli/progress.h"
#include "run/launch/stage_ahead.h"

namespace forebay::cli {
namespace {

struct StageOptions {
  std::string case_path = ".", ranks;
  std::vector<std::string> pools;
  bool quiet = false;
};

int stage(const StageOptions& options) {
  auto settings = settings::load();
  if (!settings) return failed(settings.error());
  if (!options.pools.empty()) settings->pool.paths = options.pools;
  launch::AheadRequest request{options.case_path, *settings, std::nullopt};
  if (!options.ranks.empty()) {
    const auto ranks = launch::parse_ranks(options.ranks);
    if (!ranks) return failed(ranks.error());
    request.ranks = *ranks;
  }
  Progress progress(options.quiet, real_clock());
  const auto report = launch::stage_ahead(
      request, [&](const launch::NodeReport& now) { progress.show({now}); }, real_clock());
  progress.clear();
  if (!report) return failed(report.error());
  if (!options.quiet)
    fmt::print("{}: {} in {} staged in {}{}\n", printable(report->case_path), human_bytes(report->bytes),
               plural(report->files, "file"), printable(fmt::format("{}", fmt::join(report->pools, ", "))),
               report->kept_files == 0 ? ""
                                       : fmt::format("; {} in {} of it there already", human_bytes(report->kept_bytes),
                                                     plural(report->kept_files, "file")));
  return 0;
}

}  // namespace

void add_stage(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<StageOptions>();
  CLI::App* command = app.add_subcommand("stage", "copy what the next run on a case reads into the pools, ahead of it");
  command->add_option("--case", options->case_path, "the case's directory")->type_name("DIR")->capture_default_str();
  command
      ->add_option("--ranks,-n", options->ranks,
                   "how many ranks the run has, or this node's first and last of them (8-15) (default: all that "
                   "the case is decomposed into)")
      ->type_name("RANKS");
  add_list(*command, "--pool", options->pools, "DIR",
           "directory of local memory to use; once per socket, {socket} is its number");
  command->add_flag("--quiet,-q", options->quiet, "print nothing unless something is wrong");
  command->footer(footer(
      {"forebay stage --case /shared/motorBike", "forebay stage --case /shared/motorBike --ranks 4"},
      {"Each copy is verified. What was interrupted goes on where it stopped when it is started again. The next "
       "run on the case on this node takes the copies of what has not changed since, and reads the rest from the "
       "case; `forebay clean` removes copies that no run took.",
       "Of a decomposed case: the ranks' directories, constant and system, without the mesh in one piece. Of the "
       "times, the one that the run starts from."}));
  command->callback([options, &exit_status] { exit_status = stage(*options); });
}

}  // namespace forebay::cli
