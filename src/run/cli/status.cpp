// forebay status: what this node's runs have locally, and what of it is safe; of a case, also what other nodes told.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/pulse.h"
#include "base/question.h"
#include "base/say.h"
#include "run/cli/commands.h"
#include "run/cli/interface.h"
#include "run/cli/progress.h"
#include "run/cli/runs.h"
#include "run/launch/job.h"
#include "run/launch/nodes.h"
#include "run/launch/plan.h"
#include "run/launch/report.h"
#include "run/launch/run.h"
#include "run/launch/worker.h"

namespace forebay::cli {
namespace {

struct StatusOptions {
  std::string case_path;
  std::vector<std::string> pools;
  bool watch = false, json = false;
};

struct Seen {
  std::string run, case_path, home;
  launch::NodeReport report;
  bool alive = false;                         // where its pool is here
  std::optional<std::chrono::seconds> heard;  // where not: how long ago it told the case
  bool silent = false;                        // longer ago than a node may be silent
  int all_ranks = 0;                          // of the run; 0: not known
};

// The run that has its mark on the case.
std::optional<launch::Plan> marked_by(const std::string& case_path) {
  if (case_path.empty()) return std::nullopt;
  auto plan = launch::read_plan(case_path);
  if (plan) return std::move(*plan);
  if (plan.error().errno_value != ENOENT) say(stderr, "forebay: {}\n", plan.error().text());
  return std::nullopt;
}

// Nodes of the run that have no pool here, as they told the case: so a login node sees the job.
// `case_path`: as this host has it.
void add_other_nodes(const std::string& case_path, const launch::Plan& plan, Clock& clock, std::vector<Seen>& all) {
  for (const launch::NodeReport& report : launch::read_node_reports(case_path)) {
    const bool here = std::ranges::any_of(
        all, [&](const Seen& each) { return each.run == report.run && each.report.node == report.node; });
    const auto heard = here || report.run != plan.run ? std::nullopt : heard_ago(case_path, report.node, clock);
    if (heard)
      all.push_back({plan.run, case_path, report.home, report, false, heard, *heard > plan.settings.drain.silence,
                     plan.expected_ranks()});
  }
}

// The pools are shown also where a case does not answer.
std::string trouble_with_case(const launch::PoolRun& run) {
  const auto told = ask(
      [&] {
        const auto there = launch::expect_case(run);
        return there ? std::string() : there.error().text();
      },
      launch::case_answers_within, real_clock());
  return told ? *told : "the file system of the case does not answer: " + printable(run.plan.case_path);
}

std::vector<Seen> runs_seen(const FoundRuns& found) {
  std::vector<Seen> all;
  for (const launch::PoolRun& run : found.runs) {
    Seen seen{run.plan.run,           run.plan.case_path, run.home(), {},
              launch::has_agent(run), std::nullopt,       false,      run.plan.expected_ranks()};
    if (auto report = launch::read_node_report(join(run.home(), launch::status_name))) seen.report = std::move(*report);
    seen.report.node = run.node;
    if (!seen.alive)
      if (const std::string trouble = trouble_with_case(run); !trouble.empty())
        seen.report.drain.messages.push_back(trouble);
    all.push_back(std::move(seen));
  }
  return all;
}

std::string agent_of(const Seen& seen) {
  if (seen.heard)
    return fmt::format("{} on node {}, as it told {} s ago{}", phase_name(seen.report.phase), seen.report.node,
                       seen.heard->count(),
                       seen.silent && !launch::is_home(seen.report)
                           ? ": it may be dead; `forebay drain --resume` there carries home what is left"
                           : "");
  if (!seen.alive) return "gone: `forebay drain --resume` carries home what is left";
  return fmt::format("{} (process {})", phase_name(seen.report.phase), seen.report.agent_pid);
}

// The reports of all nodes of a run.
struct SeenJob {
  std::string case_path;
  std::vector<launch::NodeReport> nodes;
  int all_ranks = 0;
  bool alive = false;
  launch::Job job = {};
};

std::vector<SeenJob> jobs_of(const std::vector<Seen>& all) {
  std::vector<SeenJob> jobs;
  for (const Seen& seen : all) {
    auto job = std::ranges::find_if(jobs, [&](const SeenJob& each) { return each.nodes.front().run == seen.run; });
    if (job == jobs.end()) job = jobs.insert(job, SeenJob{seen.case_path, {}, seen.all_ranks});
    job->nodes.push_back(seen.report);
    job->nodes.back().run = seen.run;
    job->alive = job->alive || seen.alive || (seen.heard && !seen.silent);
  }
  for (SeenJob& each : jobs) each.job = launch::job_of(each.nodes, each.all_ranks);
  return jobs;
}

// A checkpoint that a program has staged and that is not at home yet.
struct Staged {
  std::string path;
  std::string directory;
  bool alive = false, readable = true;
};

std::vector<Staged> find_staged(const FoundRuns& found) {
  std::vector<Staged> all;
  for (const slots::SlotDirectory& directory : found.staged) {
    const bool alive = directory.is_locked();
    for (const auto& [slot, record] : directory.committed())
      all.push_back({record ? record->path : record.error().text(), directory.path(), alive, record.has_value()});
  }
  return all;
}

void print_text(const std::vector<Staged>& staged) {
  for (const Staged& each : staged) {
    fmt::print("checkpoint {}\n", printable(each.path));
    fmt::print("  {:<20}{}\n", "program",
               each.alive      ? "carries it home"
               : each.readable ? "gone: `forebay drain --resume` carries it home"
                               : "gone, and nobody can carry it home");
    fmt::print("  {:<20}staged in {}\n", "only local", printable(each.directory));
  }
}

// The JSON has all.
constexpr std::size_t growing_told = 10;

// Times are known by their directories, which a run that writes over earlier times does not make.
std::string text_of_safe(const drain::DrainReport& drain) {
  if (drain.newest_safe) return "time " + *drain.newest_safe;
  const std::string none = "no time yet";
  if (drain.standing.safe_of_script)
    return fmt::format("time {} of the {} that the script started", *drain.standing.safe_of_script,
                       plural(drain.standing.ranks_of_script, "rank"));
  if (drain.standing.ranks_of_script > 0) return none;
  return drain.amounts.shared.files == 0
             ? none
             : none + "; times that were on the case before the run are not judged when it writes over them";
}

// Prints one line for each run, and where it is at work another.
void print_text(const std::vector<SeenJob>& jobs) {
  for (const SeenJob& each : jobs) {
    fmt::print("job on {}: {}\n", printable(each.case_path), launch::to_text(each.job));
    if (each.alive) fmt::print("  {:<20}{}\n", "now", printable(progress_line(each.nodes, each.all_ranks)));
  }
}

void print_text(const std::vector<Seen>& all) {
  for (const Seen& seen : all) {
    const drain::DrainReport& drain = seen.report.drain;
    fmt::print("run {} on {}\n", seen.run, printable(seen.case_path));
    fmt::print("  {:<20}{}\n", "agent", printable(agent_of(seen)));
    fmt::print("  {:<20}{}\n", "only local",
               drain.newest_complete && drain.newest_complete != drain.newest_safe
                   ? "last complete time " + *drain.newest_complete
                   : std::string("nothing that is complete"));
    fmt::print("  {:<20}{}\n", "safe", text_of_safe(drain));
    fmt::print("  {:<20}{}{} in {}\n", "written locally", drain.amounts.written_is_more ? "at least " : "",
               human_bytes(drain.amounts.written.bytes), plural(drain.amounts.written.files, "file"));
    fmt::print("  {:<20}{} in {}, {} to go\n", "on the case", human_bytes(drain.amounts.shared.bytes),
               plural(drain.amounts.shared.files, "file"), plural(seen.report.queued_units, "entry"));
    std::size_t told = 0;
    for (const auto& [path, amount] : drain.standing.growing.files) {
      if (++told > growing_told) break;
      fmt::print("  {:<20}{}: {} here, {} on the case\n", "grows", printable(path), human_bytes(amount.local),
                 human_bytes(amount.on_case));
    }
    if (const std::uint64_t grow = drain.standing.growing.files.size() + drain.standing.growing.more;
        grow > growing_told)
      fmt::print("  {:<20}{} more\n", "grow", plural(grow - growing_told, "file"));
    if (seen.report.lasted.paused_milliseconds > 0)
      fmt::print("  {:<20}{}\n", "held back",
                 human_duration(std::chrono::milliseconds(seen.report.lasted.paused_milliseconds)));
    if (seen.report.waits.for_room) fmt::print("  {:<20}{}\n", "held back now", to_text(*seen.report.waits.for_room));
    for (const std::string& each : seen.report.waits.for_writers)
      fmt::print("  {:<20}{}\n", "waits, since", printable(each));
    for (const std::string& notice : drain.notices) fmt::print("  {:<20}{}\n", "note", printable(notice));
    for (const std::string& message : drain.messages) fmt::print("  ! {}\n", printable(message));
  }
}

void print_text(const std::vector<launch::KeptSet>& kept) {
  for (const launch::KeptSet& each : kept)
    fmt::print("kept for the next run: {}; `forebay clean` gives the memory back\n", line_of(each));
}

nlohmann::json json_of(const SeenJob& seen) {
  const launch::Job& job = seen.job;
  const auto time = [](const std::optional<std::string>& each) {
    return each ? nlohmann::json(*each) : nlohmann::json();
  };
  nlohmann::json where = nlohmann::json::array(), held_back = nlohmann::json::array();
  for (const std::string& each : job.where) where.push_back(printable(each));
  for (const std::string& each : job.held_back) held_back.push_back(printable(each));
  nlohmann::json out{{"case", printable(seen.case_path)},
                     {"run", seen.nodes.front().run},
                     {"safe", time(job.safe)},
                     {"safe_of_script", time(job.safe_of_script)},
                     {"newest_begun", time(job.writes)},
                     {"only_local",
                      {{"files", job.only_local.files},
                       {"bytes", job.only_local.bytes},
                       {"seconds", job.only_local.seconds},
                       {"where", where}}},
                     {"held_back", held_back},
                     {"pool",
                      {{"part_held", job.pool_fill ? nlohmann::json(*job.pool_fill) : nlohmann::json()},
                       {"may_hold_bytes", job.pool_may_hold}}}};
  if (!job.draining) return out;
  const auto left = job.draining->seconds_left();
  out["draining"] = {{"carried_bytes", job.draining->carried},
                     {"all_bytes", job.draining->all},
                     {"bytes_per_second", job.draining->bytes_per_second()},
                     {"seconds_left", left ? nlohmann::json(*left) : nlohmann::json()}};
  return out;
}

void print_json(const std::vector<Seen>& all, const std::vector<SeenJob>& jobs, const std::vector<Staged>& staged,
                const std::vector<launch::KeptSet>& kept) {
  auto runs = nlohmann::json::array();
  for (const Seen& seen : all) {
    auto report = nlohmann::json::parse(launch::to_json(seen.report));
    report["run"] = seen.run;
    report["case"] = printable(seen.case_path);
    report["home"] = printable(seen.home);
    if (seen.heard) {
      report["alive"] = nullptr;
      report["heard_seconds_ago"] = seen.heard->count();
    } else {
      report["alive"] = seen.alive;
    }
    runs.push_back(std::move(report));
  }
  for (const Staged& each : staged)
    runs.push_back({{"checkpoint", printable(each.path)}, {"home", printable(each.directory)}, {"alive", each.alive}});
  for (const launch::KeptSet& each : kept)
    runs.push_back({{"kept_for", printable(each.case_path)},
                    {"home", printable(each.directory)},
                    {"files", each.files},
                    {"bytes", each.bytes}});
  auto told = nlohmann::json::array();
  for (const SeenJob& job : jobs) told.push_back(json_of(job));
  fmt::print("{}\n", nlohmann::json{{"forebay_version", FOREBAY_VERSION}, {"jobs", told}, {"runs", runs}}.dump(1));
}

int status(const StatusOptions& options, Clock& clock) {
  for (;;) {
    Pulse::beat();
    auto found = find_runs(options.case_path, options.pools);
    if (!found) return failed(found.error());
    std::vector<Seen> all = runs_seen(*found);
    const auto marked = marked_by(found->case_path);
    if (marked) add_other_nodes(found->case_path, *marked, clock, all);
    const std::vector<Staged> staged = find_staged(*found);
    const std::vector<launch::KeptSet> kept = launch::find_kept(found->pools, found->case_path);
    const bool nothing = all.empty() && staged.empty() && !marked;
    if (options.watch && ::isatty(STDOUT_FILENO) != 0) fmt::print("\033[H\033[2J");
    if (options.json) {
      print_json(all, jobs_of(all), staged, kept);
    } else {
      if (all.empty() && marked)
        fmt::print("run {} on {}: none of its nodes (started on {}) has told of it\n", marked->run,
                   printable(found->case_path), printable(marked->submit_host));
      if (nothing)
        fmt::print(
            "no run of forebay has anything{} in this node's pools{}\n", kept.empty() ? "" : " else",
            options.case_path.empty() ? "; --case DIR asks the case for other nodes" : ", or works on this case");
      print_text(jobs_of(all));
      print_text(all);
      print_text(staged);
      print_text(kept);
    }
    if (marked)
      if (const auto lost = lost_here(*marked, *found)) say(stderr, "forebay: {}\n", lost->text());
    for (const auto& each : found->unreadable) say(stderr, "forebay: {}\n", each.error.text());
    std::fflush(stdout);
    // A run that has all at home takes its mark from the case next; who left it behind tells nothing more.
    const bool left_behind = !all.empty() && staged.empty() && std::ranges::all_of(all, [](const Seen& each) {
      return each.silent && launch::is_home(each.report);
    });
    if (!options.watch || nothing || left_behind) return 0;
    clock.sleep(std::chrono::seconds(1));
  }
}

}  // namespace

void add_status(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<StatusOptions>();
  CLI::App* command = app.add_subcommand("status", "show the runs of this node: what is only local, what is safe");
  command->add_option("--case", options->case_path, "only the run of this case, on all its nodes")->type_name("DIR");
  add_list(*command, "--pool", options->pools, "DIR", "look in this pool only, not in those configured or found");
  command->add_flag("--watch,-w", options->watch, "again every second, until no run is left");
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(footer(
      {"forebay status", "forebay status --watch", "forebay status --case /shared/motorBike --json"},
      {"\"safe\" is what the case holds, whole and verified; what is \"only local\" goes with this node. Staged "
       "checkpoints of programs that write global arrays are shown until they are carried home; among the \"runs\" of "
       "JSON they have \"checkpoint\" instead of \"run\". Files that a pool keeps for the next run on a case are also "
       "on "
       "the case; there they have \"kept_for\".",
       "With --case also nodes are shown that have nothing in this node's pools (from a login node, all), as they last "
       "told the case; in JSON their \"alive\" is null, and \"heard_seconds_ago\" tells how long ago that was."}));
  command->callback([options, &exit_status] {
    exit_status = launch::do_watched([&] { return status(*options, real_clock()); },
                                     {launch::command_waits, launch::command_works},
                                     "without --case this shows what the pools of this node have", real_clock());
  });
}

}  // namespace forebay::cli
