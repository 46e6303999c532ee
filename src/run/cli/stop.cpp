// forebay stop: lets the OpenFOAM program of a run end well, from any host that has the case.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/pulse.h"
#include "base/say.h"
#include "run/advice/commands.h"
#include "run/cli/commands.h"
#include "run/cli/interface.h"
#include "run/cli/progress.h"
#include "run/cli/runs.h"
#include "run/launch/plan.h"
#include "run/launch/report.h"
#include "run/launch/request.h"
#include "run/launch/run.h"
#include "run/launch/worker.h"

namespace forebay::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto look_again_after = 250ms;
// An agent looks for requests every few seconds.
constexpr auto answers_soon = 15s;

struct StopOptions {
  std::string case_path = ".", when = "next-write";
  bool no_wait = false;
};

// A run as its case tells of it.
struct Run {
  std::string case_path;
  launch::Plan plan;
  std::vector<launch::NodeReport> nodes = {};
};

bool was_heard(const Run& run, const launch::NodeReport& node, Clock& clock) {
  const auto heard = heard_ago(run.case_path, node.node, clock);
  return heard && *heard <= run.plan.settings.drain.silence;
}

// Whether a run is at work, as far as this host can tell. No node has told anything yet of a run that has just begun on
// another host.
bool is_at_work(const Run& run, Clock& clock) {
  if (launch::is_alive(run.plan)) return true;
  if (run.nodes.empty() && run.plan.submit_host != launch::host_name()) {
    const auto marked = age_on_case(launch::control_directory(run.case_path), clock);
    return marked && *marked <= run.plan.settings.drain.silence;
  }
  return std::ranges::any_of(run.nodes, [&](const launch::NodeReport& node) {
    if (node.phase >= launch::Phase::removing) return false;
    if (node.node == launch::host_name()) return launch::is_forebay(node.agent_pid);
    return was_heard(run, node, clock);
  });
}

// One whose nodes have all at home is about to tell its end.
bool may_end_well(const Run& run, Clock& clock) {
  if (is_at_work(run, clock)) return true;
  return std::ranges::any_of(run.nodes, [&](const launch::NodeReport& node) {
    return node.phase >= launch::Phase::removing && was_heard(run, node, clock);
  });
}

std::vector<launch::NodeReport> nodes_of(const std::string& case_path, const std::string& run) {
  std::vector<launch::NodeReport> nodes = launch::read_node_reports(case_path);
  std::erase_if(nodes, [&](const launch::NodeReport& node) { return node.run != run; });
  return nodes;
}

Result<Run> find_run(const StopOptions& options, Clock& clock) {
  const auto path = real_path(options.case_path);
  if (!path) return error(Code::bad_input, "no such case:", options.case_path, "give the case's directory with --case");
  auto plan = launch::read_plan(*path);
  if (!plan && plan.error().errno_value == ENOENT)
    return error(Code::bad_input, "no run of forebay works on this case:", *path,
                 "a program that runs without forebay obeys `stopAt` in the case's own system/controlDict");
  if (!plan) return forward(plan);
  if (!plan->openfoam)
    return error(Code::bad_input, "its run is none of OpenFOAM (the case has no system/controlDict):", *path,
                 "only an OpenFOAM program can be told so; end another one as you would without forebay");
  Run run{*path, std::move(*plan)};
  run.nodes = nodes_of(*path, run.plan.run);
  if (!is_at_work(run, clock))
    return error(Code::bad_input, "run " + run.plan.run + " is not alive:", *path,
                 advice::resume(*path) + " on its nodes brings home what it left");
  return run;
}

// Whether every node has done what was asked; an error where one could not.
Result<bool> is_answered(const Run& run, const std::string& request) {
  bool all = !run.nodes.empty();
  for (const launch::NodeReport& node : run.nodes) {
    const bool answered = node.answer.request == request;
    if (answered && !node.answer.refusal.empty()) return error(Code::bad_input, node.answer.refusal);
    all = all && (answered || node.phase > launch::Phase::running);
  }
  return all;
}

std::string text_of_end(const launch::RunEnd& end) {
  return fmt::format(
      "run {} has ended with exit status {}; newest time on the case that a run can be restarted from: {}", end.run,
      end.exit_status, end.last_safe.empty() ? "none" : printable(end.last_safe));
}

// Until the run has ended, or with `no_wait` until its program is asked to: it may have ended by then.
Result<int> wait_for_end(Run run, launch::StopRequest request, bool no_wait, Clock& clock) {
  Progress progress(false, clock);
  const auto began = clock.now();
  for (bool accepted = false;; clock.sleep(look_again_after)) {
    Pulse::beat();
    if (const auto end = launch::read_end(run.case_path); end && end->run == run.plan.run) {
      progress.clear();
      launch::take_back_request(run.case_path);
      say(stdout, "{}\n", text_of_end(*end));
      return no_wait ? 0 : end->exit_status;
    }
    const auto plan = launch::read_plan(run.case_path);
    if ((plan && plan->run != run.plan.run) || (!plan && plan.error().errno_value == ENOENT))
      return error(Code::failed,
                   "run " + run.plan.run + " has ended, and its exit status was told to nobody:", run.case_path);
    run.nodes = nodes_of(run.case_path, run.plan.run);
    const auto answered = is_answered(run, request.name);
    if (!answered) return forward(answered);
    if (*answered && !std::exchange(accepted, true)) {
      progress.clear();
      say(stdout, "run {}: its program is asked to end; the case's own {} stays as it is\n", run.plan.run,
          launch::control_dict);
      std::fflush(stdout);
      request.waits = !no_wait;
      if (no_wait) (void)launch::put_request(run.case_path, request);
      if (no_wait) return 0;
    }
    if (!may_end_well(run, clock))
      return error(Code::undrained, "run " + run.plan.run + " died before it has ended well:", run.case_path,
                   advice::resume(run.case_path) + " on its nodes brings home what it left");
    progress.show(accepted                             ? "waits for the end of run " + run.plan.run
                  : clock.now() - began < answers_soon ? "waits for run " + run.plan.run + " to take the request"
                                                       : "run " + run.plan.run + " has not taken the request yet");
  }
}

int stop(const StopOptions& options, Clock& clock) {
  auto run = find_run(options, clock);
  if (!run) return failed(run.error());
  const launch::StopRequest request{launch::new_run_name(clock), run->plan.run, options.when == "now", true};
  const std::string case_path = run->case_path;
  if (auto put = launch::put_request(case_path, request); !put) return failed(put.error());
  auto ended = wait_for_end(std::move(*run), request, options.no_wait, clock);
  if (ended) return *ended;
  launch::take_back_request(case_path);
  return failed(ended.error());
}

}  // namespace

void add_stop(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<StopOptions>();
  CLI::App* command = app.add_subcommand("stop", "let the OpenFOAM program of a run end well, and wait for that");
  command->add_option("--case", options->case_path, "the case's directory")->type_name("DIR")->capture_default_str();
  command->add_option("--when", options->when, "with the next time that is written anyway, or write one now and end")
      ->check(CLI::IsMember({"next-write", "now"}).description(""))
      ->type_name("next-write|now")
      ->capture_default_str();
  command->add_flag("--no-wait", options->no_wait, "return as soon as the program is asked to end");
  command->footer(footer(
      {"forebay stop", "forebay stop --when now --case /shared/motorBike"},
      {"Works on any host that has the case, also on a login node. The program gets `stopAt nextWrite` or `stopAt "
       "writeNow` in the controlDict that it sees; the case's own controlDict stays as it is, so the next run goes on "
       "as "
       "usual. Refused, with status 2, where no run is alive, where the program is none of OpenFOAM, and where it does "
       "not read its controlDict again (runTimeModifiable).",
       "Ends with the exit status of `forebay run`, when all is on the case; with 3 where the run died meanwhile. "
       "Ctrl-C ends only the waiting. Of a script (./Allrun) each program that comes later is told to end, too."}));
  command->callback([options, &exit_status] {
    exit_status =
        launch::do_watched([&] { return stop(*options, real_clock()); }, {launch::command_waits, launch::command_works},
                           "on the run's own nodes `forebay status` shows what it does", real_clock());
  });
}

}  // namespace forebay::cli
