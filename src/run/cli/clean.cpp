// forebay clean: remove what dead runs left. Undrained data only when told twice.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "base/say.h"
#include "run/cli/commands.h"
#include "run/cli/interface.h"
#include "run/cli/runs.h"
#include "run/drain/drain.h"
#include "run/drain/ledger.h"
#include "run/drain/walk.h"
#include "run/launch/drop.h"
#include "run/launch/plan.h"
#include "run/launch/processes.h"
#include "run/launch/resume.h"
#include "run/launch/run.h"

namespace forebay::cli {
namespace {

struct CleanOptions {
  std::string case_path;
  std::vector<std::string> pools;
  std::vector<std::string> dropped;
  int throw_away = 0;
};

// What the run's trees hold that the case does not; an unreadable journal counts as undrained.
Result<std::vector<drain::Output>> undrained(const launch::PoolRun& run) {
  auto records = drain::Journal::read(join(run.home(), "journal"));
  if (!records) return forward(records);
  drain::Ledger ledger;
  for (const drain::Record& record : *records) ledger.apply(record);
  return drain::outputs(run.roots(), run.placed, ledger, run.lower(), run.plan.case_path);
}

// Images of programs that are gone. The memory of those that are carried goes; a checkpoint that is not, only when told
// twice.
int clean_staged(const FoundRuns& found, bool throw_away) {
  int exit_status = 0, cleaned = 0;
  for (const slots::SlotDirectory& found_directory : found.staged) {
    slots::SlotDirectory directory(found_directory.path());
    if (const auto locked = directory.lock(); !locked) {
      if (locked.error().code != Code::busy) exit_status = failed(locked.error());
      continue;
    }
    const auto committed = directory.committed();
    for (const auto& each : committed) {
      const bool asked = found.case_path.empty() || (each.record && is_below(each.record->path, found.case_path));
      if (throw_away && asked) {
        directory.give_up(each.slot);
        continue;
      }
      if (each.record) {
        fmt::print(stderr,
                   "forebay: checkpoint {} is only here; `forebay drain --resume` brings it home. To throw it away say "
                   "so twice: forebay clean --throw-away --throw-away\n",
                   printable(each.record->path));
      } else {
        fmt::print(stderr,
                   "forebay: {}. Draining cannot bring it home. To throw it away say so twice: forebay clean "
                   "--throw-away --throw-away\n",
                   printable(each.record.error().text()));
      }
      exit_status = static_cast<int>(Code::undrained);
    }
    if (directory.remove_carried() > 0) ++cleaned;
  }
  if (cleaned > 0) fmt::print("images of {} programs that staged checkpoints: removed\n", cleaned);
  return exit_status;
}

// The mark of a run of which nothing was found: its node is gone, its pool was emptied, or lies where nobody looked.
int clean_mark(const CleanOptions& options, const FoundRuns& found) {
  const auto plan = launch::read_plan(found.case_path);
  if (!plan || home_of(plan->run, found)) return 0;
  if (launch::is_alive(*plan) || !launch::processes_of(plan->run).empty()) {
    say(stderr, "forebay: run {} is alive: kept\n", plan->run);
    return 0;
  }
  if (const auto home = home_elsewhere(*plan, options.case_path)) {
    say(stderr, "forebay: run {} has what it left in another pool: {}; kept\n", plan->run, printable(*home));
    return static_cast<int>(Code::undrained);
  }
  if (const auto lost = lost_here(*plan, found); lost && options.throw_away < 2) {
    say(stderr, "forebay: {}\n", text_of_loss(*lost, found.case_path));
    return static_cast<int>(Code::lost);
  }
  const bool only_mark =
      launch::is_all_home(*plan) && plan->submit_host == launch::host_name();  // elsewhere it may live
  if (options.throw_away < 2 && !only_mark) {
    fmt::print(stderr,
               "forebay: run {} (started on {}) left its mark on this case, but this node holds nothing of it; if its "
               "nodes are gone for good, say so twice: --throw-away --throw-away\n",
               plan->run, plan->submit_host);
    return static_cast<int>(Code::undrained);
  }
  if (auto removed = launch::remove_temporaries(*plan); !removed) return failed(removed.error());
  if (auto removed = launch::remove_control_directory(found.case_path); !removed) return failed(removed.error());
  fmt::print("run {}: its mark on the case is removed\n", plan->run);
  return 0;
}

// As messages name it: relative to the case, or absolute.
Result<std::string> path_in_case(const std::string& case_path, const std::string& given) {
  std::string path = given;
  if (given.starts_with('/')) path = is_below(given, case_path) ? given.substr(case_path.size()) : std::string();
  path.erase(0, path.find_first_not_of('/'));
  while (path.ends_with('/')) path.pop_back();
  for (const std::string_view part : split(path, '/'))
    if (part.empty() || part == "." || part == "..") path.clear();
  if (path.empty())
    return error(Code::bad_input, "not a name below the case:", given, "give it as the message does that names it");
  return path;
}

// Only from runs that are dead and unfinished.
int drop(const CleanOptions& options, const FoundRuns& found) {
  std::vector<std::string> paths;
  for (const std::string& each : options.dropped) {
    auto path = path_in_case(found.case_path, each);
    if (!path) return failed(path.error());
    paths.push_back(std::move(*path));
  }
  if (found.runs.empty()) return failed(Error{Code::bad_input, "no run left anything here of", found.case_path, 0, {}});
  for (const launch::PoolRun& run : found.runs) {
    auto locked = launch::lock(run);
    if (!locked || !launch::processes_of(run.plan.run).empty())
      return failed(
          Error{Code::busy, "run " + run.plan.run + " is alive: nothing is dropped of", found.case_path, 0, {}});
    for (const std::string& path : paths) {
      if (auto dropped = launch::drop(run, path); !dropped) return failed(dropped.error());
      say(stdout, "run {}: {} is dropped\n", run.plan.run, printable(path));
    }
  }
  say(stdout, "`forebay drain --resume --case {}` brings home the rest\n", printable(found.case_path));
  return 0;
}

int clean(const CleanOptions& options) {
  auto found = find_runs(options.case_path, options.pools);
  if (!found) return failed(found.error());
  if (!options.dropped.empty()) return drop(options, *found);
  std::optional<Code> trouble;
  const auto note = [&](int status) {
    if (status != 0) trouble = drain::graver(trouble, static_cast<Code>(status));
  };
  for (const auto& [home, error] : found->unreadable) {
    say(stderr, "forebay: {}; {}\n", error.text(),
        error.code == Code::lost ? "nobody can bring home what is there: look at it, then remove the directory"
                                 : "left alone");
    note(static_cast<int>(error.code));
  }
  for (const launch::PoolRun& run : found->runs) {
    auto locked = launch::lock(run);
    if (!locked || !launch::processes_of(run.plan.run).empty()) {
      say(stderr, "forebay: run {} is alive: kept\n", run.plan.run);
      continue;
    }
    const auto left = undrained(run);
    if ((!left || !left->empty()) && options.throw_away < 2) {
      fmt::print(stderr,
                 "forebay: run {} on {} has data that is only here{}; {}. To throw it away say so twice: forebay clean "
                 "--throw-away --throw-away\n",
                 run.plan.run, printable(run.plan.case_path),
                 left ? fmt::format(" ({} entries, the first is {})", left->size(), printable(left->front().path))
                      : " (" + left.error().text() + ")",
                 ::access(run.plan.case_path.c_str(), F_OK) != 0
                     ? "the case is gone: when it is back, `forebay drain --resume` brings home what it can"
                 : !launch::is_case_of(run, run.plan.case_path)
                     ? "another directory has that name now: `forebay drain --resume` says where the case is"
                     : "`forebay drain --resume` brings it home");
      note(static_cast<int>(Code::undrained));
      continue;
    }
    Status removed;
    if (launch::is_case_of(run, run.plan.case_path)) removed = launch::remove_temporaries(run.plan);
    if (removed) removed = launch::remove(run);
    if (!removed) {
      note(failed(removed.error()));
      continue;
    }
    const auto plan = launch::read_plan(run.plan.case_path);
    if (plan && plan->run == run.plan.run)
      if (removed = launch::remove_control_directory(run.plan.case_path); !removed) note(failed(removed.error()));
    fmt::print("run {}: removed\n", run.plan.run);
  }
  note(clean_staged(*found, options.throw_away >= 2));
  const auto warm = launch::remove_warm(found->pools, found->case_path);
  if (!warm) note(failed(warm.error()));
  if (warm && *warm > 0) fmt::print("{} sets of files that were kept for a next run: removed\n", *warm);
  if (!options.case_path.empty()) note(clean_mark(options, *found));
  return trouble ? static_cast<int>(*trouble) : 0;
}

}  // namespace

void add_clean(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<CleanOptions>();
  CLI::App* command = app.add_subcommand("clean", "remove what dead runs left in this node's pools");
  CLI::Option* of_case = command->add_option("--case", options->case_path, "only runs of this case")->type_name("DIR");
  add_list(*command, "--pool", options->pools, "DIR", "look in this pool only, not in those configured or found");
  add_list(*command, "--drop", options->dropped, "PATH",
           "throw away this file or directory of an unfinished run, as a message named it, and nothing else")
      ->needs(of_case);
  command->add_flag("--throw-away", options->throw_away, "given twice: also data that is nowhere else");
  command->footer(footer(
      {"forebay clean", "forebay clean --case /shared/motorBike", "forebay clean --throw-away --throw-away"},
      {"Runs that are alive are kept. A run whose data is nowhere else is kept, with exit status 3, unless "
       "--throw-away is given twice.",
       "--drop removes what cannot be carried, like a file that you may not read yourself, from an unfinished run; "
       "what the case has of this name stays there. Then `forebay drain --resume` brings home the rest."}));
  command->callback([options, &exit_status] { exit_status = clean(*options); });
}

}  // namespace forebay::cli
