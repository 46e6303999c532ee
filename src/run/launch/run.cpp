#include "run/launch/run.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/pulse.h"
#include "base/say.h"
#include "run/advice/commands.h"
#include "run/launch/agreement.h"
#include "run/launch/nodes.h"
#include "run/launch/processes.h"
#include "run/launch/several_nodes.h"
#include "run/launch/signals.h"
#include "run/openfoam/openfoam.h"

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;

// The launcher's wait status.
Result<int> run_launcher(const LaunchLine& line, SignalHandler on_broken_pipe, WatchedSignals& signals, Nodes& nodes,
                         const Watcher& watcher, Clock& clock) {
  std::vector<std::string> words = line.words;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return errno_error("cannot start", words.front());
  if (child == 0) {
    signals.restore();
    ::signal(SIGPIPE, on_broken_pipe);
    ::execvp(arguments.front(), arguments.data());
    say(stderr, "forebay run: {}\n", errno_error("cannot run", words.front()).value().text());
    ::_exit(127);
  }
  // The process that read the case is our child, too: its end is no reason to read again.
  auto next = clock.now() + showing_interval;
  for (auto interval = showing_interval;;) {
    const auto signal = signals.next(std::max(std::chrono::ceil<std::chrono::milliseconds>(next - clock.now()), 0ms));
    int status = 0;
    const bool ended = ::waitpid(child, &status, WNOHANG) == child;
    // From the terminal the launcher gets it by itself; sent to us alone, we pass it on. Where it has ended the wait
    // for the drains is meant.
    if (signal && signal->ssi_signo != SIGCHLD && signal->ssi_code <= 0)
      ::kill(ended ? ::getpid() : child, static_cast<int>(signal->ssi_signo));
    if (ended) return status;
    if (clock.now() < next) continue;
    if (watcher.show) {
      nodes.read();
      watcher.show(nodes.reports());
    }
    interval = nodes.next_interval(interval, watcher.at_terminal);
    next = clock.now() + interval;
  }
}

// The signals that tell a run to end.
constexpr std::array leaving{SIGINT, SIGTERM, SIGHUP};

// Whether one of these comes. The end of the process that read the case is no reason to read again.
bool next_leaving(const WatchedSignals& signals, std::chrono::milliseconds at_most, Clock& clock) {
  const auto until = clock.now() + at_most;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock.now());
    const auto signal = signals.next(std::max(left, 0ms));
    if (signal && std::ranges::find(leaving, static_cast<int>(signal->ssi_signo)) != leaving.end()) return true;
    if (!signal && clock.now() >= until) return false;
  }
}

// Until every node is done; false when the user lost patience. Without a launcher the first signal has only what is
// restartable brought home. With one, nodes that cannot be told drain on, so all do.
bool wait_for_drains(const Plan& plan, WatchedSignals& signals, Nodes& nodes, const Watcher& watcher, Clock& clock) {
  nodes.expect_beats();
  bool asked = plan.launched;
  for (std::chrono::milliseconds interval = 5ms;; interval = std::min(2 * interval, showing_interval)) {
    nodes.read();
    if (watcher.show) watcher.show(nodes.reports());
    if (nodes.done()) return true;
    if (!next_leaving(signals, interval, clock)) continue;
    if (std::exchange(asked, true) || !nodes.ask_to_leave()) return false;
    say(stderr,
        "\nforebay: ends as soon as what the run can be restarted from is on the case; at once when told again\n");
  }
}

}  // namespace

std::string node_report_path(const std::string& case_path, const std::string& node) {
  return join(control_directory(case_path), fmt::format("node-{}.json", node));
}

std::vector<NodeReport> read_node_reports(const std::string& case_path) {
  const MayHang call(case_path);
  std::vector<NodeReport> reports;
  for (const std::string& path : node_report_paths(control_directory(case_path))) {
    auto report = read_node_report(path);
    if (!report) report = read_node_report(path);  // it was just being rewritten
    if (report) reports.push_back(std::move(*report));
  }
  return reports;
}

bool is_all_home(const Plan& plan) {
  const std::vector<NodeReport> nodes = read_node_reports(plan.case_path);
  if (nodes.empty() || nodes.size() != node_report_paths(control_directory(plan.case_path)).size()) return false;
  const auto has_ended = [&](const NodeReport& node) {
    return node.run == plan.run && node.phase == Phase::done && is_home(node);
  };
  if (!std::ranges::all_of(nodes, has_ended)) return false;
  // A node that could not write to the case has no report there, so the ranks are counted.
  return !plan.launched || represents_all(nodes, plan.ranks);
}

bool was_never_begun(const Plan& plan, const std::string& case_path) {
  return plan.submit_host == host_name() && !is_alive(plan) &&
         node_report_paths(control_directory(case_path)).empty() && processes_of(plan.run).empty();
}

namespace {
// `waited`: until each node had ended or was silent for too long.
void add_unfinished_nodes(RunReport& report, const Plan& plan, bool waited) {
  const std::string resume = advice::resume(report.case_path);
  for (const NodeReport& node : report.nodes) {
    if (node.phase == Phase::done) continue;
    if (is_home(node)) {
      report.messages.push_back(
          fmt::format("all of node {} is home, but it has not told that its pool is empty: where it is dead, run {} "
                      "there when it is back",
                      node.node, resume));
      continue;
    }
    const bool lives_here = node.node == host_name() && node.agent_pid > 0 && ::kill(node.agent_pid, 0) == 0;
    add_trouble(
        report, Code::undrained,
        waited && lives_here
            ? fmt::format(
                  "the agent of this node (process {}) has been silent for {}: where it is stopped, `kill -CONT "
                  "{}` lets it go on; where it is gone, run {}",
                  node.agent_pid, human_duration(plan.settings.drain.silence), node.agent_pid, resume)
        : waited
            ? fmt::format("node {} has been silent for {} and may be dead: the last time that is safe for all ranks is "
                          "{}; when it is back, run {} there",
                          node.node, human_duration(plan.settings.drain.silence), report.last_safe.value_or("none"),
                          resume)
            : fmt::format("node {} still drains in the background; {} shows it", node.node,
                          advice::status(report.case_path)));
  }
}

// Without the mark no node can tell how it fared, so silence is not consent.
void add_state_of_case(RunReport& report, const Plan& plan, const Nodes& nodes) {
  const auto now = nodes.case_path();
  if (const auto mute = nodes.case_is_mute_for(); mute && *mute >= case_answers_within) {
    add_trouble(report, Code::undrained,
                fmt::format("the file system of the case has not answered for {}: {}; when it answers, {} brings home "
                            "what is left",
                            human_duration(std::chrono::ceil<std::chrono::seconds>(*mute)), printable(report.case_path),
                            advice::resume(report.case_path)));
  } else if (!now && now.error().errno_value == ENOENT) {
    add_trouble(report, Code::undrained,
                fmt::format("the case was removed during the run: {}; {} lists what is only local, and throws it away",
                            printable(plan.case_path), advice::throw_away()));
  } else if (!nodes.has_mark()) {
    add_trouble(report, Code::undrained,
                fmt::format("the case, or the run's mark on it, vanished during the run: {}; `forebay status` shows "
                            "what is only local",
                            printable(control_directory(report.case_path))));
  } else if (!now) {
    report.notices.push_back(
        fmt::format("the case was unmounted during the run: {}; what the run left is on the file system that was there",
                    printable(plan.case_path)));
  } else if (*now != plan.case_path) {
    report.notices.push_back(
        fmt::format("the case was renamed during the run: {} is {} now", printable(plan.case_path), printable(*now)));
  }
}

}  // namespace

Result<RunReport> carry_out(const Prepared& prepared, const Watcher& watcher, Clock& clock) {
  const Plan& plan = prepared.plan;
  const auto began = clock.now();
  if (auto made = make_control_directory(plan); !made) return forward(made);
  if (auto made = make_direct_directories(plan); !made) {
    (void)remove_control_directory(plan.case_path, clock);
    return forward(made);
  }
  WatchedSignals signals({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXFSZ}, clock);
  Nodes nodes(plan, prepared.pool, clock);
  auto status = run_launcher(prepared.line, prepared.on_broken_pipe, signals, nodes, watcher, clock);
  if (!status) {
    (void)remove_control_directory(plan.case_path, clock);
    return forward(status);
  }
  const bool waited = wait_for_drains(plan, signals, nodes, watcher, clock);
  RunReport report;
  report.case_path = nodes.case_path().value_or(plan.case_path);
  report.run = plan.run;
  report.command = quoted(prepared.line.words);
  report.program_status = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
  report.nodes = nodes.reports();
  report.steps_per_time = prepared.steps_per_time;
  report.application = prepared.application;
  report.ranks = plan.ranks;
  summarise(report, plan.collates(), plan.expected_ranks());
  add_unfinished_nodes(report, plan, waited);
  if (plan.expected_ranks() > 0 && report.program_status == 0 && !represents_all(report.nodes, plan.ranks))
    add_trouble(report, Code::undrained,
                "not all ranks are in the nodes' reports: a node could not write to the case; " +
                    advice::resume(report.case_path) + " there brings home what it holds");
  add_state_of_case(report, plan, nodes);
  // It wrote no time: perhaps it did not even begin.
  if (plan.openfoam && report.program_status != 0 && !report.last_complete)
    if (std::string lacks = openfoam::lacking_environment(); !lacks.empty()) report.notices.push_back(std::move(lacks));
  report.wall_seconds = std::chrono::duration<double>(clock.now() - began).count();
  const RunEnd end{plan.run, report.exit_status, report.last_safe.value_or("")};
  if (auto ended = nodes.end(end, drain::needs_pool(report.trouble)); !ended)
    report.messages.push_back(ended.error().text());
  return report;
}

}  // namespace forebay::launch
