// forebay drain --resume: bring home what dead runs left in this node's pools.
#include <cstdio>
#include <memory>
#include <optional>

#include "base/say.h"
#include "cli/commands.h"
#include "cli/elsewhere.h"
#include "cli/interface.h"
#include "cli/progress.h"
#include "cli/runs.h"
#include "launch/report.h"
#include "launch/resume.h"
#include "launch/run.h"

namespace forebay::cli {
namespace {

struct DrainOptions {
  std::string case_path;
  std::vector<std::string> pools;
  bool resume = false, quiet = false;
};

// The control directory goes when no node of the run has anything left. So this node tells it what it has brought home.
Status forget_run(const launch::PoolRun& run, const launch::NodeReport& report) {
  const auto plan = launch::read_plan(run.plan.case_path);
  if (!plan || plan->run != run.plan.run) return {};
  const std::string own = launch::node_report_path(run.plan.case_path, run.node);
  if (auto told = replace_file(own, to_json(report)); !told) return told;
  for (const std::string& path : launch::node_report_paths(launch::control_directory(run.plan.case_path))) {
    const auto each = launch::read_node_report(path);
    if (!each || !launch::is_home(*each)) return {};
  }
  return launch::remove_control_directory(run.plan.case_path);
}

// The mark of a run of which this node has nothing: where the run drained on after `forebay run` had ended, and all is
// home by now, it goes.
Status look_at_mark(const FoundRuns& found) {
  const auto plan = launch::read_plan(found.case_path);
  if (!plan || home_of(plan->run, found)) return {};
  if (launch::is_alive(*plan)) {
    say(stderr, "forebay: run {} (process {}) works on this case\n", plan->run, plan->submit_pid);
  } else if (!launch::is_all_home(*plan)) {
    say(stderr,
        "forebay: run {}, started on {}, works on this case or has left its mark there: resume on its nodes; `forebay "
        "clean --case` tells how to remove the mark where they are gone\n",
        plan->run, plan->submit_host);
  } else if (plan->submit_host != launch::host_name()) {
    say(stderr,
        "forebay: all that run {} left is home; the same command on {}, where it was started, removes its mark\n",
        plan->run, plan->submit_host);
  } else {
    if (auto removed = launch::remove_control_directory(found.case_path); !removed) return removed;
    say(stdout, "run {}: all that it left is home; its mark on the case is removed\n", plan->run);
  }
  return {};
}

// Directories in which programs that are gone left checkpoints.
std::vector<std::string> staged_by_the_dead(const FoundRuns& found) {
  std::vector<std::string> directories;
  for (const slots::SlotDirectory& each : found.staged) {
    if (each.committed().empty()) continue;
    if (each.is_locked()) {
      say(stderr, "forebay: {} has its program: nothing to resume\n", each.path());
    } else {
      directories.push_back(each.path());
    }
  }
  return directories;
}

int resume(const DrainOptions& options) {
  auto found = find_runs(options.case_path, options.pools);
  if (!found) return failed(found.error());
  int resumed = 0;
  std::optional<Code> trouble;
  for (const auto& each : found->unreadable) trouble = drain::graver(trouble, static_cast<Code>(failed(each.error)));
  for (const launch::PoolRun& run : found->runs) {
    if (launch::has_agent(run)) {
      say(stderr, "forebay: run {} has its agent: nothing to resume\n", run.plan.run);
      continue;
    }
    ++resumed;
    Progress progress(options.quiet);
    auto report = launch::resume_drain(run.home(), false, [&](const launch::NodeReport& now) { progress.show({now}); });
    progress.clear();
    if (!report) {
      const Code code = static_cast<Code>(failed(report.error()));
      trouble = drain::graver(trouble, code == Code::busy ? Code::undrained : code);
      continue;
    }
    const drain::DrainReport& drain = report->drain;
    say(stdout, "run {}: {} in {} files brought home to {}\n", run.plan.run, human_bytes(drain.shared_bytes),
        drain.shared_files, printable(run.plan.case_path));
    for (const std::string& message : drain.messages) say(stderr, "  ! {}\n", printable(message));
    trouble = drain::graver(trouble, drain.trouble);
    if (drain::needs_pool(drain.trouble)) continue;
    if (auto forgotten = forget_run(run, *report); !forgotten)
      trouble = drain::graver(trouble, static_cast<Code>(failed(forgotten.error())));
  }
  if (const auto staged = staged_by_the_dead(*found); !staged.empty()) {
    ++resumed;
    if (const int status = carry_elsewhere(staged); status != 0)
      trouble = drain::graver(trouble, static_cast<Code>(status));
  }
  if (resumed == 0 && !trouble) say(stdout, "nothing to resume on this node\n");
  if (resumed == 0 && !options.case_path.empty())
    if (auto looked = look_at_mark(*found); !looked)
      trouble = drain::graver(trouble, static_cast<Code>(failed(looked.error())));
  return trouble ? static_cast<int>(*trouble) : 0;
}

}  // namespace

void add_drain(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<DrainOptions>();
  CLI::App* command = app.add_subcommand("drain", "bring home what runs left in this node's pools");
  command->add_flag("--resume", options->resume, "go on where a dead or interrupted run stopped")->required();
  command->add_option("--case", options->case_path, "only runs of this case")->type_name("DIR");
  command->add_option("--pool", options->pools, "look in this pool only, not in those configured or found")
      ->allow_extra_args(false)
      ->type_name("DIR");
  command->add_flag("--quiet,-q", options->quiet, "no progress");
  command->footer(footer(
      {"forebay drain --resume", "forebay drain --resume --case /shared/motorBike"},
      {"A run drains by itself. This is for what is left after a crash, a kill or a full disk; run it on the node "
       "that holds the data, as often as you like. Staged checkpoints of programs that write global arrays come home "
       "too; where such a program ran on several nodes, run it on all of them, on the one of rank 0 last, and then on "
       "the others once more."}));
  command->callback([options, &exit_status] { exit_status = resume(*options); });
}

}  // namespace forebay::cli
