#include "run/launch/resume.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>

#include "base/pulse.h"
#include "base/startup.h"
#include "run/advice/commands.h"
#include "run/drain/drain.h"
#include "run/launch/pool_run.h"
#include "run/launch/processes.h"
#include "run/launch/reporter.h"
#include "run/launch/run.h"
#include "run/launch/writers.h"
#include "run/node/node.h"

namespace forebay::launch {
namespace {

constexpr std::chrono::milliseconds poll_interval{200};

// The agent's report before it began to empty the pool; nullopt: it had not come so far.
std::optional<NodeReport> report_of_all_home(const PoolRun& run) {
  auto report = read_node_report(join(run.home(), status_name));
  if (!report || report->run != run.plan.run || !is_home(*report)) return std::nullopt;
  return std::move(*report);
}

// The case knows that all is home before the pool goes: a node with neither pool nor report would have lost its data.
Status report_to_case(const PoolRun& run, const NodeReport& report) {
  const auto plan = read_plan(run.plan.case_path);
  if (!plan || plan->run != run.plan.run) return {};
  auto written = replace_file(node_report_path(run.plan.case_path, run.node), to_json(report));
  if (!written) written.error().code = Code::undrained;
  return written;
}

void empty_pool(const PoolRun& run, NodeReport& report) {
  if (auto removed = remove(run); !removed) report.drain.messages.push_back(removed.error().text());
  report.phase = Phase::done;
}

// Reports and empties the pool of a run whose files are all on the case.
Result<NodeReport> tell_and_empty(const PoolRun& run, NodeReport report) {
  if (auto reported = report_to_case(run, report); !reported) return forward(reported);
  empty_pool(run, report);
  (void)report_to_case(run, report);
  return report;
}

// Killed while its pool was made: no rank is let in before the journal is there. (Without its journal a run that did
// begin has something in its tree.)
bool never_began(const PoolRun& run) {
  if (name_exists(join(run.home(), "journal"))) return false;
  const auto entries = list_directory(run.tree());
  return entries ? entries->empty() : entries.error().errno_value == ENOENT;
}

NodeReport report_of(const std::string& node, const std::string& run, Phase phase) {
  NodeReport report;
  report.node = node;
  report.run = run;
  report.phase = phase;
  return report;
}

}  // namespace

Result<NodeReport> resume_drain(const PoolRun& found, bool cleanly, const ResumeProgress& progress, Clock& clock) {
  allow_large_files();
  const std::string& home = found.home();
  auto locked = lock(found);
  if (!locked) return forward(locked);
  // As it is now: since it was found more ranks may have come, or somebody has emptied it.
  auto run = load_pool_run(home);
  if (!run && run.error().errno_value == ENOENT && remove_emptied(home))
    return error(Code::busy, "the pool of run " + found.plan.run + " has just been emptied:", home);
  if (!run) return forward(run);
  run->plan.case_path = found.plan.case_path;
  if (!ranks_of(run->plan.run).empty())
    return error(Code::busy, "the program of run " + run->plan.run + " still runs on", run->plan.case_path,
                 "when it has ended, " + advice::resume(run->plan.case_path) + " brings home what it wrote");
  if (auto home_already = report_of_all_home(*run)) {
    leave_outcome(*locked, *home_already);
    return tell_and_empty(*run, std::move(*home_already));
  }
  // Only now: one that is being emptied has neither journal nor tree either.
  if (never_began(*run)) return tell_and_empty(*run, report_of(run->node, run->plan.run, Phase::removing));
  if (auto there = expect_case(*run); !there) return forward(there);
  ::unlink(join(home, leave_name).c_str());  // of who left it before
  ::umask(0);
  ::signal(SIGIO, SIG_IGN);
  auto drain = drain::Drain::resume(drain_request(*run), run->roots(), run->rank_numbers(), clock);
  if (!drain) return forward(drain);
  NodeReport report = report_of(run->node, run->plan.run, Phase::draining);
  report.home = home;
  report.agent_pid = ::getpid();
  report.pool = {run->agent_pid, node::mount_point_of(home)};
  report.ranks = run->rank_numbers();
  const auto began = clock.now();
  const auto update = [&] {
    Pulse::beat();
    ++report.beat;
    take_state(report, **drain);
    report.lasted.drain_seconds = std::chrono::duration<double>(clock.now() - began).count();
    add_usage(report);
    (void)replace_file(join(home, status_name), to_json(report));
    return progress(report);
  };
  WriterWatch watch(*run, **drain, clock);
  watch.begin();
  if (auto begun = (*drain)->begin_finish(cleanly); !begun) return forward(begun);
  while (!(*drain)->finished()) {
    if (name_exists(join(home, leave_name))) (*drain)->carry_restartable_only();
    pollfd wait{(*drain)->outcomes_descriptor(), POLLIN, 0};
    clock.poll({&wait, 1}, watch.pause());
    watch.update();
    report.waits.for_writers = watch.waits_for();
    if (!update()) (*drain)->abandon();
  }
  report.waits.for_writers.clear();
  const bool keep = drain::needs_pool((*drain)->report().trouble);
  report.phase = keep ? Phase::done : Phase::removing;
  (void)update();
  leave_outcome(*locked, report);
  drain->reset();
  return keep ? Result<NodeReport>(std::move(report)) : tell_and_empty(*run, std::move(report));
}

namespace {
// Its agent held its programs back when it was killed.
bool holds_ranks(const PoolRun& run) {
  std::uint32_t closed = 0;
  const auto gate = open_file(join(run.home(), gate_name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  return gate && ::pread(gate->get(), &closed, sizeof closed, 0) == static_cast<ssize_t>(sizeof closed) && closed != 0;
}
}  // namespace

void release_ranks(const PoolRun& run) {
  // A process that waits at the gate looks again after a second.
  constexpr std::uint32_t open = 0;
  if (auto gate = open_file(join(run.home(), gate_name), O_WRONLY | O_NOFOLLOW))
    (void)!::pwrite(gate->get(), &open, sizeof open, 0);
  pause_processes(processes_of(run.plan.run), false);
}

namespace {
// The outcome of a run whose pool went before its lock was seen: the process that emptied it had told the case, unless
// the mark was to go, too.
Result<NodeReport> outcome_on_case(const PoolRun& run, Clock& clock) {
  for (NodeReport& each : read_node_reports(run.plan.case_path))
    if (each.node == run.node && each.run == run.plan.run && is_home(each)) return std::move(each);
  if (!is_being_removed(run.plan.case_path, run.plan.run, clock))
    return error(Code::lost,
                 "the pool was emptied, and nobody has told that all of run " + run.plan.run + " is home:", run.home());
  return report_of(run.node, run.plan.run, Phase::done);
}
}  // namespace

Result<NodeReport> bring_home(const PoolRun& run, bool cleanly, const ResumeProgress& progress,
                              const std::function<bool(const std::string& whom, const NodeReport&)>& waits,
                              Clock& clock) {
  const auto stopped = [&] {
    return error(Code::undrained, "interrupted while waiting for run " + run.plan.run + ": what it left may be only at",
                 run.home(), "`forebay status` shows it");
  };
  Pulse::set_home(run.home());
  std::optional<NodeReport> last;
  std::chrono::milliseconds same{0};  // in looks, which a process that is stopped does not make
  const auto wait = [&](const std::string& whom) {
    Pulse::beat();
    if (auto report = read_node_report(join(run.home(), status_name))) {
      same = last && last->beat == report->beat && last->agent_pid == report->agent_pid ? same + poll_interval
                                                                                        : std::chrono::milliseconds(0);
      last = std::move(*report);
    } else {
      same += poll_interval;
    }
    clock.sleep(poll_interval);
    return waits(whom, last.value_or(NodeReport()));
  };
  const auto is_silent = [&] { return same > run.plan.settings.drain.silence; };
  const auto silent = [&] {
    const std::string where =
        last && !last->drain.messages.empty() ? ": " + last->drain.messages.back() : std::string();
    return error(Code::undrained,
                 "the process that works on run " + run.plan.run + " has been silent for " +
                     human_duration(run.plan.settings.drain.silence) + where + "; its pool is",
                 run.home(),
                 "where it is stopped let it go on; where it waits for the case, it ends when that answers");
  };
  std::optional<Descriptor> lock;  // also when its name is gone it has the outcome
  for (;;) {
    // Another process may work on it in each round.
    if (auto opened = open_lock(run)) lock = std::move(*opened);
    bool worked_on = !name_exists(run.home());
    for (; lock && is_locked(*lock); worked_on = true) {
      if (!wait("the process that works on it")) return stopped();
      if (is_silent()) return silent();
    }
    same = std::chrono::milliseconds(0);
    const bool was_told_to_leave = name_exists(join(run.home(), leave_name));
    if (worked_on && lock && !was_told_to_leave)
      if (auto outcome = outcome_in(*lock)) {
        outcome->phase = Phase::done;
        return std::move(*outcome);
      }
    if (!ranks_of(run.plan.run).empty()) {
      if (holds_ranks(run)) release_ranks(run);  // nobody else is left who would
      drain::tell_alive(run.home());
      if (!wait("its program, which still runs")) return stopped();
      continue;
    }
    if (!name_exists(run.home())) return outcome_on_case(run, clock);
    auto report = resume_drain(run, cleanly, progress, clock);
    if (report || report.error().code != Code::busy) return report;
  }
}

Result<std::vector<std::string>> pools_here(const Plan& plan) {
  auto machine = node::observe();
  if (!machine) return forward(machine);
  auto pools = node::choose_pools(*machine, plan.settings.pool);
  if (!pools) return forward(pools);
  std::vector<std::string> paths;
  for (const node::Pool& pool : *pools) paths.push_back(pool.path);
  return paths;
}

namespace {

// The run in this node's pools; nullopt: they hold nothing of it.
Result<std::optional<PoolRun>> find_here(const Plan& plan) {
  const auto paths = pools_here(plan);
  if (!paths) return forward(paths);
  std::vector<UnreadableRun> unreadable;
  for (PoolRun& run : find_pool_runs(*paths, unreadable))
    if (run.plan.run == plan.run && run.node == host_name()) {
      run.plan.case_path = plan.case_path;  // it may have been renamed
      return std::optional(std::move(run));
    }
  if (!unreadable.empty()) return tl::unexpected<Error>(unreadable.front().error);
  return std::optional<PoolRun>();
}

// Removes the directories of a run whose agent was killed after it had removed all files that describe the run.
void remove_empty_directories(const Plan& plan) {
  const auto paths = pools_here(plan);
  if (!paths) return;
  for (const std::string& path : *paths) {
    for (const std::string& own : user_directories_in(path)) (void)remove_emptied(join(join(own, plan.run), "s0"));
  }
}

// No rank is let in before the journal is there.
bool had_begun(const PoolRun& run) {
  return name_exists(join(run.home(), "journal"));
}

Result<NodeReport> resume_here(const Plan& plan, bool cleanly, pid_t agent, Reporter& reporter, Clock& clock) {
  auto run = find_here(plan);
  const bool empties = run && *run && report_of_all_home(**run);
  if (run && *run && (empties || had_begun(**run))) {
    const auto post = [&](const NodeReport& now) {
      reporter.post(to_json(now));
      return true;
    };
    // Somebody may be resuming it already.
    auto resumed = bring_home(
        **run, cleanly, post, [&](const std::string&, const NodeReport& now) { return post(now); }, clock);
    if (resumed && !empties)
      resumed->drain.messages.push_back(
          "the agent was killed while the program ran; the drain was resumed after its end");
    return resumed;
  }
  NodeReport report;
  for (NodeReport& each : read_node_reports(plan.case_path))
    if (each.node == host_name() && each.run == plan.run) report = std::move(each);
  // Told by the agent, or by who resumed its run; not by an agent that this run had here before.
  if (report.pool.made_by == agent && is_home(report)) {
    report.phase = Phase::done;
    if (run && *run) {
      empty_pool(**run, report);
    } else {
      remove_empty_directories(plan);
    }
    return report;
  }
  if (!run) return forward(run);
  report.node = host_name();
  report.run = plan.run;
  report.phase = Phase::done;
  if (report.ranks.empty()) {
    if (*run)
      if (auto removed = remove(**run); !removed) return forward(removed);
    report.drain.messages.push_back("the agent was killed before the program began; nothing was written");
  } else {
    report.drain.trouble = Code::lost;
    report.drain.messages.push_back("the agent was killed and its pool is gone: what was not drained before is lost");
  }
  return report;
}

}  // namespace

void free_purged_while(const Plan& plan, const std::function<bool()>& goes_on, Clock& clock) {
  ::signal(SIGIO, SIG_IGN);  // as in the agent: looks ask for leases
  const auto run = find_here(plan);
  std::unique_ptr<drain::Drain> drain;
  if (run && *run)
    if (auto stand_in = drain::Drain::stand_in(drain_request(**run), (*run)->roots(), (*run)->rank_numbers(), clock))
      drain = std::move(*stand_in);
  while (goes_on())
    if (drain) drain->free_purged();
}

void release_ranks(const Plan& plan) {
  if (auto run = find_here(plan); run && *run) return release_ranks(**run);
  pause_processes(processes_of(plan.run), false);
}

void tell_that_it_hangs(const Plan& plan, const std::string& home, const std::string& path) {
  if (home.empty() || !name_exists(home)) return;
  const std::string told = join(home, status_name);
  NodeReport report = read_node_report(told).value_or(report_of(host_name(), plan.run, Phase::draining));
  ++report.beat;
  report.agent_pid = 0;  // nobody works on it any more
  if (report.phase != Phase::done) {
    report.phase = Phase::done;
    report.drain.trouble = drain::graver(report.drain.trouble, Code::undrained);
    report.drain.messages.push_back(fmt::format(
        "the file system of the case has not answered for {} (drain.patience), at {}; what is only local stays in the "
        "pool; when it answers, run {} on this node",
        human_duration(plan.settings.drain.patience), printable(path), advice::resume(plan.case_path)));
  }
  (void)replace_file(told, to_json(report));
}

Result<NodeReport> resume_node(const Plan& plan, bool cleanly, pid_t agent, Clock& clock) {
  const auto others_work = [&] {
    Pulse::beat();
    if (ranks_of(plan.run).empty()) return false;
    clock.sleep(poll_interval);
    return true;
  };
  free_purged_while(plan, others_work, clock);
  // Files that are missing in the pool were removed by the program: it has only just ended.
  if (const auto run = find_here(plan); run && *run) drain::tell_alive((*run)->home());
  Reporter reporter(node_report_path(plan.case_path, host_name()), clock);
  auto report = resume_here(plan, cleanly, agent, reporter, clock);
  if (!report) {
    // The processes that wait for this node must learn that nobody works on it any more.
    NodeReport failure = report_of(host_name(), plan.run, Phase::done);
    failure.drain.trouble = report.error().code == Code::lost ? Code::lost : Code::undrained;
    failure.drain.messages.push_back("the agent was killed, and resuming failed: " + report.error().text() + "; run " +
                                     advice::resume(plan.case_path) + " on this node");
    reporter.post(to_json(failure));
  } else {
    reporter.post(to_json(*report));
  }
  reporter.flush(plan.settings.drain.patience);
  return report;
}

}  // namespace forebay::launch
