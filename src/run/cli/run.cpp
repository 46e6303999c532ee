// forebay run: an unmodified program, its files at the speed of local memory, its results on the case.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/say.h"
#include "run/cli/commands.h"
#include "run/cli/interface.h"
#include "run/cli/progress.h"
#include "run/cli/result_file.h"
#include "run/launch/run.h"
#include "run/settings/settings.h"

namespace forebay::cli {
namespace {

struct RunOptions {
  std::string case_path = ".", json;
  bool quiet = false, dry = false;
  std::vector<std::string> pools, copies, direct, watch, checkpoints, command;
  GivenSettings given;
};

Result<settings::Settings> settings_of(const RunOptions& options) {
  auto settings = settings::load();
  if (!settings) return settings;
  if (!options.pools.empty()) settings->pool.paths = options.pools;
  const auto append = [](std::vector<std::string>& list, const std::vector<std::string>& more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  append(settings->stage.copy, options.copies);
  append(settings->stage.direct, options.direct);
  append(settings->stage.watch, options.watch);
  append(settings->drain.checkpoints, options.checkpoints);
  if (auto applied = apply(options.given, *settings); !applied) return forward(applied);
  return settings;
}

std::string own_path() {
  return real_path("/proc/self/exe").value_or("forebay");
}

// A report of any version.
ResultKind report_kind() {
  return {"report of a run", [](const std::string& text) {
            const auto told = nlohmann::json::parse(text, nullptr, false);
            return told.is_object() && told.contains("program_status") && told.contains("timeline");
          }};
}

int run(const RunOptions& options) {
  auto settings = settings_of(options);
  if (!settings) return failed(settings.error());
  // The report is written last, but a place where it cannot be written is known first.
  if (!options.json.empty())
    if (auto checked = check_result_file(options.json, report_kind(), "--json"); !checked)
      return failed(checked.error());
  const bool json_is_file = is_file_to_be(options.json);
  auto prepared = launch::prepare({options.case_path, options.command, *settings, own_path()}, real_clock());
  if (!prepared) return failed(prepared.error());
  // The reader of our words may go away (`| head`): the run goes on, and ends as it would.
  prepared->on_broken_pipe = ::signal(SIGPIPE, SIG_IGN);
  for (const std::string& notice : prepared->notices) say(stderr, "forebay: {}\n", notice);
  if (options.dry) {
    fmt::print("{}\n", launch::quoted(prepared->line.words));
    return 0;
  }
  Progress progress(options.quiet, real_clock(), Progress::both_are_one_terminal());
  const int all_ranks = prepared->plan.expected_ranks();
  launch::Watcher watcher{.show = {}, .at_terminal = ::isatty(STDERR_FILENO) != 0};
  if (!options.quiet) watcher.show = [&](const auto& nodes) { progress.show(nodes, all_ranks); };
  auto report = launch::carry_out(*prepared, watcher, real_clock());
  progress.clear();
  if (!report) return failed(report.error());
  if (!options.quiet || report->trouble) say(stderr, "{}", launch::to_text(*report));
  if (!options.json.empty()) {
    const auto written = write_result_file_in_time(options.json, json_is_file, report_kind(), "--json",
                                                   launch::to_json(*report) + "\n", real_clock());
    if (!written) {
      const int status = failed(written.error());
      return report->exit_status != 0 ? report->exit_status : status;
    }
  }
  return report->exit_status;
}

}  // namespace

void add_run(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "run a program on a case, its files in local memory");
  command->add_option("--case", options->case_path, "the case's directory; the program starts where you stand")
      ->type_name("DIR")
      ->capture_default_str();
  add_list(*command, "--pool", options->pools, "DIR",
           "directory of local memory to use; once per socket, {socket} is its number");
  add_list(*command, "--copy", options->copies, "PATTERN",
           "inputs to copy instead of link, as a pattern like constant/*");
  add_list(*command, "--direct", options->direct, "DIR",
           "directory of the case that stays on the shared file system, since ranks of several nodes write into it");
  add_list(*command, "--watch", options->watch, "DIR",
           "directory of the case in which new, changed and removed files are shown to the running program, as in the "
           "case itself, system and constant");
  add_list(
      *command, "--checkpoint", options->checkpoints, "DIR",
      "directory of the case whose files are one state that the program overwrites: only whole ones reach the case "
      "while it works");
  const auto setting = [&](const std::string& flag, const std::string& key, const std::string& meaning) {
    add_setting(*command, options->given, flag, key, meaning);
  };
  setting("--via", "run.via", "how the program gets to its files");
  setting("--layout", "drain.layout", "how results are arranged on the case");
  setting("--drain-when", "drain.when",
          "drain while the program runs, or hold until it has ended all but the newest complete time and what a nearly "
          "full pool gives up");
  setting("--verify", "drain.verify", "checksum of what was written, or of every drained file read again");
  setting("--bandwidth", "drain.bandwidth",
          "bytes per second that the drain of a node may take, for example 500M (default: no limit)");
  setting("--safe-interval", "drain.safe_interval", "the newest complete time is drained at least this often");
  setting("--patience", "drain.patience", "how long the end waits for a shared file system that takes nothing");
  setting("--budget", "pool.budget",
          "bytes that a pool may hold (default: of memory a quarter of what is left, of a disk what is free)");
  add_set(*command, options->given);
  command->add_option("--json", options->json, "write the run's report to this file")->type_name("FILE");
  command->add_flag("--quiet,-q", options->quiet, "print nothing unless something is wrong");
  command->add_flag("--dry-run", options->dry, "check everything and print the launch line, run nothing");
  add_program(*command, "command", options->command, "the program, as it is run today, behind `--`");
  set_rare(*command, {"--copy", "--direct", "--watch", "--checkpoint", "--via", "--verify", "--bandwidth",
                      "--safe-interval", "--patience", "--set"});
  command->footer(footer(
      {"forebay run -- mpirun -n 4 simpleFoam -parallel", "forebay run --layout collated -- srun simpleFoam -parallel",
       "forebay run -- decomposePar"},
      {"The program sees the case under the path that it knows. What it writes is in local memory at once, and on "
       "the case, whole and verified, when the run has ended; `forebay status` shows how far it is."}));
  command->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace forebay::cli
