#include "run/launch/run.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>

#include "base/say.h"
#include "base/shell.h"
#include "run/launch/agreement.h"
#include "run/launch/several_nodes.h"
#include "run/launch/signals.h"

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;

// Between two readings of the nodes' reports: where there is something to show, while nobody has told anything yet or
// somebody sits before a terminal, and while the program works. A reading of a report is work for the file server and
// for this node's mount of it, a millisecond or two of a processor that the program would have. Who sits before a
// terminal is told within 2 s that the program is held back; of many nodes later.
constexpr std::chrono::milliseconds showing_interval = 200ms, expecting_interval = 1s, resting_interval = 10s;
constexpr int nodes_read_at_once = 8;

// Watches the reports of all nodes. A node is silent when its beat has not changed for too long: agents report at least
// every few seconds.
class Nodes {
 public:
  Nodes(std::string case_path, std::chrono::milliseconds silence, Clock& clock)
      : case_path_(std::move(case_path)), silence_(silence), clock_(clock) {}

  void read() {
    const auto now = clock_.now();
    for (NodeReport& report : read_node_reports(case_path_)) {
      const std::string name = report.node;
      const auto before = reports_.find(name);
      if (before == reports_.end() || before->second.beat != report.beat) changed_[name] = now;
      reports_[name] = std::move(report);
    }
  }
  // Until the next reading while the program works, where the last one was so long after the one before.
  std::chrono::milliseconds next_interval(std::chrono::milliseconds last, bool at_terminal) const {
    if (busy()) return showing_interval;
    const auto expecting = (1 + static_cast<int>(reports_.size()) / nodes_read_at_once) * expecting_interval;
    const bool expects = at_terminal || reports_.empty();
    return std::min({2 * last, resting_interval, expects ? expecting : resting_interval});
  }
  // From now on nodes have to tell something new.
  void expect_beats() {
    for (auto& [name, changed] : changed_) changed = clock_.now();
  }
  bool done() const {
    for (const auto& [name, report] : reports_)
      if (report.phase != Phase::done && !is_silent(name)) return false;
    return true;
  }
  bool is_silent(const std::string& name) const {
    const auto changed = changed_.find(name);
    return changed != changed_.end() && clock_.now() - changed->second > silence_;
  }
  std::vector<NodeReport> reports() const {
    std::vector<NodeReport> all;
    for (const auto& [name, report] : reports_) all.push_back(report);
    return all;
  }

 private:
  // Some node stages or drains.
  bool busy() const {
    return std::ranges::any_of(reports_, [this](const auto& each) {
      const auto& [name, report] = each;
      return report.phase != Phase::running && report.phase != Phase::done && !is_silent(name);
    });
  }

  const std::string case_path_;
  const std::chrono::milliseconds silence_;
  Clock& clock_;
  std::map<std::string, NodeReport> reports_;
  std::map<std::string, Clock::time_point> changed_;
};

// The launcher's wait status.
Result<int> run_launcher(const LaunchLine& line, SignalHandler on_broken_pipe, WatchedSignals& signals, Nodes& nodes,
                         const Watcher& watcher) {
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
  for (auto interval = showing_interval;;) {
    const auto signal = signals.next(interval);
    int status = 0;
    const bool ended = ::waitpid(child, &status, WNOHANG) == child;
    // From the terminal the launcher gets it by itself; sent to us alone, we pass it on. Where it has ended the wait
    // for the drains is meant.
    if (signal && signal->ssi_signo != SIGCHLD && signal->ssi_code <= 0)
      ::kill(ended ? ::getpid() : child, static_cast<int>(signal->ssi_signo));
    if (ended) return status;
    if (watcher.show) {
      nodes.read();
      watcher.show(nodes.reports());
    }
    interval = nodes.next_interval(interval, watcher.at_terminal);
  }
}

// Until every node is done; false when the user lost patience.
bool wait_for_drains(WatchedSignals& signals, Nodes& nodes, const Watcher& watcher) {
  nodes.expect_beats();
  for (std::chrono::milliseconds interval = 5ms;; interval = std::min(2 * interval, showing_interval)) {
    nodes.read();
    if (watcher.show) watcher.show(nodes.reports());
    if (nodes.done()) return true;
    const auto signal = signals.next(interval);
    if (signal && (signal->ssi_signo == SIGINT || signal->ssi_signo == SIGTERM)) return false;
  }
}

}  // namespace

std::string node_report_path(const std::string& case_path, const std::string& node) {
  return join(control_directory(case_path), fmt::format("node-{}.json", node));
}

std::vector<NodeReport> read_node_reports(const std::string& case_path) {
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
  // One that could not write to the case has told nothing.
  return !plan.launched || represents_all(nodes, plan.ranks);
}

namespace {
// `waited`: until each node had ended or was silent for too long.
void add_unfinished_nodes(RunReport& report, const Plan& plan, bool waited) {
  for (const NodeReport& node : report.nodes) {
    if (node.phase == Phase::done) continue;
    if (is_home(node)) {
      report.messages.push_back(
          fmt::format("all of node {} is home, but it has not told that its pool is empty: where it is dead, run "
                      "`forebay drain --resume --case {}` there when it is back",
                      node.node, shell_word(plan.case_path)));
      continue;
    }
    add_trouble(
        report, Code::undrained,
        waited
            ? fmt::format("node {} has been silent for {} and may be dead: the last time that is safe for all ranks is "
                          "{}; when it is back, run `forebay drain --resume --case {}` there",
                          node.node, human_duration(plan.settings.drain.silence), report.last_safe.value_or("none"),
                          shell_word(plan.case_path))
            : fmt::format("node {} still drains in the background; `forebay status --case {}` shows it", node.node,
                          shell_word(plan.case_path)));
  }
}

}  // namespace

Result<RunReport> carry_out(const Prepared& prepared, const Watcher& watcher, Clock& clock) {
  const Plan& plan = prepared.plan;
  const auto began = clock.now();
  if (auto made = make_control_directory(plan); !made) return forward(made);
  if (auto made = make_direct_directories(plan); !made) {
    (void)remove_control_directory(plan.case_path);
    return forward(made);
  }
  WatchedSignals signals({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXFSZ}, clock);
  Nodes nodes(plan.case_path, plan.settings.drain.silence, clock);
  auto status = run_launcher(prepared.line, prepared.on_broken_pipe, signals, nodes, watcher);
  if (!status) {
    (void)remove_control_directory(plan.case_path);
    return forward(status);
  }
  const bool waited = wait_for_drains(signals, nodes, watcher);
  RunReport report;
  report.case_path = plan.case_path;
  report.run = plan.run;
  report.command = quoted(prepared.line.words);
  report.program_status = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
  report.nodes = nodes.reports();
  report.steps_per_time = prepared.steps_per_time;
  report.application = prepared.application;
  summarise(report, plan.settings.drain.layout == settings::Layout::collated, plan.ranks);
  add_unfinished_nodes(report, plan, waited);
  if (plan.decomposed && plan.launched && report.program_status == 0 && !represents_all(report.nodes, plan.ranks))
    add_trouble(report, Code::undrained,
                "not all ranks are in the nodes' reports: a node could not write to the case; `forebay drain --resume "
                "--case " +
                    shell_word(plan.case_path) + "` there brings home what it holds");
  struct stat mark {};
  // Without it no node can tell how it fared, so silence is not consent.
  if (::lstat(control_directory(plan.case_path).c_str(), &mark) != 0)
    add_trouble(report, Code::undrained,
                errno_error("the case, or the run's mark on it, vanished during the run:",
                            control_directory(plan.case_path), "`forebay status` shows what is only local")
                    .value()
                    .text());
  report.wall_seconds = std::chrono::duration<double>(clock.now() - began).count();
  if (!drain::needs_pool(report.trouble))
    if (auto removed = remove_control_directory(plan.case_path); !removed)
      report.messages.push_back(removed.error().text());
  return report;
}

}  // namespace forebay::launch
