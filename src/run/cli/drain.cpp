// forebay drain --resume: bring home what dead runs left in this node's pools.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/pulse.h"
#include "base/say.h"
#include "base/shell.h"
#include "run/advice/commands.h"
#include "run/advice/statuses.h"
#include "run/cli/commands.h"
#include "run/cli/elsewhere.h"
#include "run/cli/interface.h"
#include "run/cli/progress.h"
#include "run/cli/runs.h"
#include "run/launch/report.h"
#include "run/launch/resume.h"
#include "run/launch/run.h"
#include "run/launch/signals.h"
#include "run/launch/worker.h"
#include "run/settings/settings.h"

namespace forebay::cli {
namespace {

constexpr std::chrono::milliseconds poll_interval{200};

struct DrainOptions {
  std::string case_path;
  std::vector<std::string> pools;
  bool resume = false, quiet = false;
};

// Nodes of the run that have told the case of something that is not home.
std::vector<std::string> unfinished_nodes(const launch::Plan& plan) {
  std::vector<std::string> nodes;
  for (const launch::NodeReport& each : launch::read_node_reports(plan.case_path))
    if (each.run == plan.run && !launch::is_home(each)) nodes.push_back(each.node);
  return nodes;
}

void say_what_helps(Code trouble, const std::string& case_path) {
  const std::string helps = advice::what_helps(trouble, case_path);
  if (!helps.empty()) say(stderr, "  {}\n", printable(helps));
}

// An error's trouble, and what helps where it has no advice of its own.
Code say_failed(const Error& error, const std::string& case_path) {
  const auto code = static_cast<Code>(failed(error));
  if (error.advice.empty() && !case_path.empty()) say_what_helps(code, case_path);
  return code;
}

// Says what a run told of itself besides what came home; its trouble, or the one before where that is graver.
std::optional<Code> say_messages(const drain::DrainReport& report, const std::string& case_path,
                                 std::optional<Code> before) {
  for (const std::string& notice : report.notices) say(stderr, "  note: {}\n", printable(notice));
  for (const std::string& message : report.messages) say(stderr, "  ! {}\n", printable(message));
  if (report.trouble) say_what_helps(*report.trouble, case_path);
  return drain::graver(before, report.trouble);
}

// The control directory goes when no node of the run has anything left: the one that was just brought home has told the
// case so. The other nodes' reports go with that directory: they are printed here, and their trouble is added.
// Code::undrained: another node has something left.
Status forget_run(const launch::PoolRun& run, std::optional<Code>& trouble) {
  auto plan = launch::read_plan(run.plan.case_path);
  if (!plan || plan->run != run.plan.run || launch::is_alive(*plan)) return {};
  plan->case_path = run.plan.case_path;
  if (const auto others = unfinished_nodes(*plan); !others.empty())
    return error(Code::undrained, "all of this node is home, but not of " + others.front() + ", for the case",
                 plan->case_path, "the same command there brings home what it holds");
  for (const std::string& path : launch::node_report_paths(launch::control_directory(plan->case_path)))
    if (!launch::read_node_report(path)) return {};
  for (const launch::NodeReport& each : launch::read_node_reports(plan->case_path))
    if (each.run == plan->run && each.node != run.node) trouble = say_messages(each.drain, plan->case_path, trouble);
  return launch::remove_control_directory(plan->case_path, real_clock());
}

// The mark of a run of which this node has nothing: where all is home by now, it goes, and the trouble that its nodes
// have told of is told. Where not, the error says what is left to do.
Result<std::optional<Code>> follow_mark(const FoundRuns& found, const launch::WatchedSignals& signals,
                                        Progress& progress) {
  auto plan = launch::read_plan(found.case_path);
  if (!plan) {
    if (plan.error().errno_value == ENOENT) return std::nullopt;
    plan.error().code = Code::undrained;  // it may be another user's, whose pools are not seen here
    return forward(plan);
  }
  if (home_of(plan->run, found)) return std::nullopt;
  plan->case_path = found.case_path;
  while (launch::is_alive(*plan)) {
    Pulse::beat();
    progress.show(fmt::format("waits for run {} (process {}), which works on this case", plan->run, plan->submit_pid));
    if (signals.next(poll_interval))
      return error(Code::undrained, "interrupted while waiting for run " + plan->run + " on", plan->case_path);
    const auto now = launch::read_plan(found.case_path);
    if (!now && now.error().errno_value == ENOENT) return std::nullopt;  // it has ended well
  }
  progress.clear();
  if (auto lost = lost_here(*plan, found)) return tl::unexpected<Error>(std::move(*lost));
  if (const auto home = home_elsewhere(*plan, found.case_path))
    return error(Code::undrained, "run " + plan->run + " has what it left in another pool:", *home,
                 "name that pool by --pool, or none");
  if (launch::was_never_begun(*plan, found.case_path)) {
    if (auto removed = launch::remove_control_directory(found.case_path, real_clock()); !removed)
      return forward(removed);
    say(stdout,
        "run {}: it was killed before its program began, so nothing was written; its mark on the case is removed\n",
        plan->run);
    return std::nullopt;
  }
  if (!launch::is_all_home(*plan)) {
    const auto others = unfinished_nodes(*plan);
    if (others.empty() && launch::is_being_removed(found.case_path, plan->run, real_clock())) return std::nullopt;
    return error(
        Code::undrained,
        fmt::format("run {}, started on {}, works on this case or has left its mark there{}:", plan->run,
                    plan->submit_host, others.empty() ? "" : ", and node " + others.front() + " is not done"),
        plan->case_path,
        "resume on its nodes; " + advice::clean(plan->case_path) + " tells how to remove the mark where they are gone");
  }
  const std::vector<launch::NodeReport> nodes = launch::read_node_reports(found.case_path);
  if (plan->submit_host != launch::host_name()) {
    say(stderr,
        "forebay: all that run {} left is home; the same command on {}, where it was started, removes its mark\n",
        plan->run, plan->submit_host);
  } else {
    if (auto removed = launch::remove_control_directory(found.case_path, real_clock()); !removed)
      return forward(removed);
    say(stdout, "run {}: all that it left is home; its mark on the case is removed\n", plan->run);
  }
  std::optional<Code> trouble;
  for (const launch::NodeReport& each : nodes) trouble = say_messages(each.drain, plan->case_path, trouble);
  return trouble;
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
  const launch::WatchedSignals signals({SIGINT, SIGTERM}, real_clock());
  auto found = find_runs(options.case_path, options.pools);
  if (!found) return failed(found.error());
  int resumed = 0;
  std::optional<Code> trouble;
  for (const auto& each : found->unreadable) {
    trouble = drain::graver(trouble, static_cast<Code>(failed(each.error)));
    if (!each.tree.empty())
      say(stderr, "  {}, compare what both have, then `rm -r {}`\n",
          copy_by_hand(each.tree, name_of(each.tree) == name_of(found->case_path) ? found->case_path : "CASE"),
          shell_word(each.home));
  }
  Progress progress(options.quiet, real_clock());
  for (const launch::PoolRun& run : found->runs) {
    ++resumed;
    const auto show = [&](const launch::NodeReport& now) {
      progress.show({now});
      return !signals.next(std::chrono::milliseconds(0));
    };
    const auto waits = [&](const std::string& whom, const launch::NodeReport& now) {
      const std::string line = progress_line(std::vector{now});
      progress.show(fmt::format("run {}: waits for {}{}", run.plan.run, whom, line.empty() ? "" : "; " + line));
      return !signals.next(std::chrono::milliseconds(0));
    };
    auto report = launch::bring_home(run, false, show, waits, real_clock());
    progress.clear();
    if (!report) {
      trouble = drain::graver(trouble, say_failed(report.error(), run.plan.case_path));
      continue;
    }
    const drain::DrainReport& drain = report->drain;
    const drain::Carried& shared = drain.amounts.shared;
    say(stdout, "run {}: {} in {} brought home to {}\n", run.plan.run, human_bytes(shared.bytes),
        plural(shared.files + shared.again, "file"), printable(run.plan.case_path));
    trouble = say_messages(drain, run.plan.case_path, trouble);
    if (drain::needs_pool(drain.trouble)) continue;
    if (auto forgotten = forget_run(run, trouble); !forgotten)
      trouble = drain::graver(trouble, say_failed(forgotten.error(), run.plan.case_path));
  }
  if (const auto staged = staged_by_the_dead(*found); !staged.empty()) {
    ++resumed;
    const int status = carry_elsewhere(staged, real_clock());
    if (status != 0) trouble = drain::graver(trouble, static_cast<Code>(status));
  }
  if (resumed == 0 && !options.case_path.empty()) {
    const auto followed = follow_mark(*found, signals, progress);
    trouble = drain::graver(trouble, followed ? *followed : say_failed(followed.error(), found->case_path));
  }
  if (resumed == 0 && !trouble) say(stdout, "nothing to resume on this node\n");
  return trouble ? static_cast<int>(*trouble) : 0;
}

}  // namespace

void add_drain(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<DrainOptions>();
  CLI::App* command = app.add_subcommand("drain", "bring home what runs left in this node's pools");
  command->add_flag("--resume", options->resume, "go on where a dead or interrupted run stopped")->required();
  command->add_option("--case", options->case_path, "only runs of this case")->type_name("DIR");
  add_list(*command, "--pool", options->pools, "DIR", "look in this pool only, not in those configured or found");
  command->add_flag("--quiet,-q", options->quiet, "no progress");
  command->footer(footer(
      {"forebay drain --resume", "forebay drain --resume --case /shared/motorBike"},
      {"A run drains by itself. This is for what is left after a crash, a kill or a full disk; run it on the node "
       "that holds the data, as often as you like. Staged checkpoints of programs that write global arrays come home "
       "too; where such a program ran on several nodes, run it on all of them, on the one of rank 0 last, and then on "
       "the others once more."}));
  command->callback([options, &exit_status] {
    const auto settings = settings::load().value_or(settings::Settings()).drain;
    exit_status = launch::do_watched([&] { return resume(*options); }, launch::bounds_of(settings),
                                     "what is only local stays in its pool, and the same command brings it home when "
                                     "the case answers",
                                     real_clock());
  });
}

}  // namespace forebay::cli
