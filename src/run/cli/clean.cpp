// forebay clean: remove what dead runs left. Undrained data only when told twice.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

#include "base/pulse.h"
#include "base/say.h"
#include "run/advice/commands.h"
#include "run/cli/commands.h"
#include "run/cli/interface.h"
#include "run/cli/runs.h"
#include "run/drain/drain.h"
#include "run/drain/walk.h"
#include "run/journal/ledger.h"
#include "run/launch/drop.h"
#include "run/launch/plan.h"
#include "run/launch/processes.h"
#include "run/launch/resume.h"
#include "run/launch/run.h"
#include "run/launch/worker.h"

namespace forebay::cli {
namespace {

struct CleanOptions {
  std::string case_path;
  std::vector<std::string> pools;
  std::vector<std::string> dropped;
  int throw_away = 0;
  bool yes = false;
};

// One thing that can be removed: it is listed first, and removed when the user has said so.
struct Removal {
  std::string name, detail;           // "run X on CASE", "all of it is home"
  std::function<Status()> carry_out;  // looks again: minutes may have passed
};

// The things that were found, and the gravest trouble of those that are kept.
struct Survey {
  std::vector<Removal> removals;
  std::optional<Code> trouble;
  void note(int status) {
    if (status != 0) trouble = drain::graver(trouble, static_cast<Code>(status));
  }
};

// Files that the run's trees hold and the case does not; an unreadable journal counts as undrained.
Result<std::vector<drain::Output>> undrained(const launch::PoolRun& run) {
  auto records = drain::Journal::read(join(run.home(), "journal"));
  if (!records) return forward(records);
  drain::Ledger ledger;
  for (const drain::Record& record : *records) ledger.apply(record);
  return drain::outputs(run.roots(), run.placed, ledger, run.lower(), run.plan.case_path);
}

// "only here: 12 entries, the first is results": what is only in the pool, or was.
std::string text_of(const Result<std::vector<drain::Output>>& left, const std::set<std::string>& missing) {
  if (!left) return "data that is only here: " + left.error().text();
  std::string text;
  if (!left->empty())
    text = fmt::format("data that is only here: {}, the first is {}", plural(left->size(), "entry"),
                       printable(left->front().path));
  if (!missing.empty())
    text += fmt::format("{}lost {} that something removed from its pool: {}", text.empty() ? "" : ", and ",
                        plural(missing.size(), "file"), listed(missing, 10));
  return text;
}

// A process that waits to resume it must hear that it is gone.
void tell_waiting(const launch::PoolRun& run, const Descriptor& lock) {
  launch::NodeReport outcome;
  outcome.node = run.node;
  outcome.run = run.plan.run;
  outcome.phase = launch::Phase::done;
  outcome.drain.trouble = Code::lost;
  outcome.drain.messages.push_back(
      fmt::format("`forebay clean --throw-away` has removed what run {} had only here", run.plan.run));
  launch::leave_outcome(lock, outcome);
}

Status remove_run(const launch::PoolRun& run, bool is_home) {
  auto locked = launch::lock(run);
  if (!locked) return forward(locked);
  if (!is_home) tell_waiting(run, *locked);
  if (launch::is_case_of(run, run.plan.case_path))
    if (auto removed = launch::remove_temporaries(run.plan); !removed) return removed;
  if (auto removed = launch::remove(run); !removed) return removed;
  const auto plan = launch::read_plan(run.plan.case_path);
  if (!plan || plan->run != run.plan.run) return {};
  return launch::remove_control_directory(run.plan.case_path, real_clock());
}

bool is_there(const std::string& case_path) {
  const MayHang call(case_path);
  return ::access(case_path.c_str(), F_OK) == 0;
}

void survey_runs(const CleanOptions& options, const FoundRuns& found, Survey& survey) {
  for (const auto& [home, error, tree] : found.unreadable) {
    say(stderr, "forebay: {}; {}\n", error.text(),
        error.code == Code::lost ? "nobody can bring home what is there: look at it, then remove the directory"
                                 : "left alone");
    survey.note(static_cast<int>(error.code));
  }
  for (const launch::PoolRun& run : found.runs) {
    Pulse::beat();
    auto locked = launch::lock(run);
    if (!locked || !launch::processes_of(run.plan.run).empty()) {
      say(stderr, "forebay: run {} is alive: kept\n", run.plan.run);
      continue;
    }
    const auto left = undrained(run);
    const auto missing = drain::missing_files(run.home(), run.roots(), run.placed);
    const bool is_home = left && left->empty() && missing.empty();
    if (is_home || options.throw_away >= 2) {
      survey.removals.push_back({fmt::format("run {} on {}", run.plan.run, printable(run.plan.case_path)),
                                 is_home ? "all of it is home" : text_of(left, missing),
                                 [run, is_home] { return remove_run(run, is_home); }});
      continue;
    }
    say(stderr, "forebay: run {} on {} has {}; {}. To throw it away say so twice: {}\n", run.plan.run,
        printable(run.plan.case_path), text_of(left, missing),
        !is_there(run.plan.case_path)
            ? "the case is gone: when it is back, `forebay drain --resume` brings home what it can"
        : !launch::is_case_of(run, run.plan.case_path)
            ? "another directory has that name now: `forebay drain --resume` says where the case is"
            : advice::resume(run.plan.case_path) + " brings home what is there",
        advice::throw_away(run.plan.case_path));
    survey.note(static_cast<int>(missing.empty() ? Code::undrained : Code::lost));
  }
}

// The memory of images that are carried, and `given_up` checkpoints that are not.
Removal removal_of_images(const std::string& path, const std::vector<int>& given_up, const std::string& detail) {
  return {"images of a program that staged checkpoints, in " + printable(path), detail, [path, given_up]() -> Status {
            slots::SlotDirectory directory(path);
            if (auto locked = directory.lock(); !locked) return locked;
            for (const int slot : given_up) directory.give_up(slot);
            (void)directory.remove_carried();
            return {};
          }};
}

// Images of programs that are gone. A checkpoint that is not carried goes only when told twice.
void survey_staged(const CleanOptions& options, const FoundRuns& found, Survey& survey) {
  for (const slots::SlotDirectory& found_directory : found.staged) {
    slots::SlotDirectory directory(found_directory.path());
    if (const auto locked = directory.lock(); !locked) {
      if (locked.error().code != Code::busy) survey.note(failed(locked.error()));
      continue;
    }
    std::vector<int> given_up;
    std::string detail = "carried already";
    bool has_images = false;
    for (int slot = 0; slot < slots::kSlots; ++slot)
      has_images = has_images || (name_exists(directory.image(slot)) && !name_exists(directory.record(slot)));
    for (const auto& each : directory.committed()) {
      const std::string named = each.record ? printable(each.record->path) : each.record.error().text();
      if (options.throw_away >= 2 &&
          (found.case_path.empty() || (each.record && is_below(each.record->path, found.case_path)))) {
        given_up.push_back(each.slot);
        detail = "only here: checkpoint " + named;
        continue;
      }
      if (each.record) {
        say(stderr,
            "forebay: checkpoint {} is only here; `forebay drain --resume` brings it home. To throw it away say so "
            "twice: {}\n",
            named, advice::throw_away(found.case_path));
      } else {
        say(stderr, "forebay: {}. Draining cannot bring it home. To throw it away say so twice: {}\n", named,
            advice::throw_away());
      }
      survey.note(static_cast<int>(Code::undrained));
    }
    if (has_images || !given_up.empty()) {
      survey.removals.push_back(removal_of_images(directory.path(), given_up, detail));
    } else {
      (void)directory.remove_carried();  // a lock that nobody holds is all there is
    }
  }
}

void survey_kept(const FoundRuns& found, Survey& survey) {
  for (const launch::KeptSet& set : launch::find_kept(found.pools, found.case_path))
    survey.removals.push_back({"kept for the next run: " + line_of(set), "the case has them, too", [set]() -> Status {
                                 if (const auto removed = launch::remove_kept(set); !removed) return forward(removed);
                                 return {};  // or `forebay stage` works in it
                               }});
}

// The mark of a run of which nothing was found: its node is gone, its pool was emptied, or lies where nobody looked.
int survey_mark(const CleanOptions& options, const FoundRuns& found, Survey& survey) {
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
    return failed(*lost);
  }
  const bool never_begun = launch::was_never_begun(*plan, found.case_path);
  const bool only_mark =
      never_begun || (launch::is_all_home(*plan) && plan->submit_host == launch::host_name());  // elsewhere it may live
  if (options.throw_away < 2 && !only_mark) {
    say(stderr,
        "forebay: run {} (started on {}) left its mark on this case, but this node holds nothing of it; if its nodes "
        "are gone for good, say so twice: {}\n",
        plan->run, plan->submit_host, advice::throw_away(found.case_path));
    return static_cast<int>(Code::undrained);
  }
  survey.removals.push_back({fmt::format("run {}: its mark on the case", plan->run),
                             never_begun ? "nothing was written"
                             : only_mark ? "all of it is home"
                                         : "nothing of it was found",
                             [plan = *plan, &found] {
                               if (auto removed = launch::remove_temporaries(plan); !removed) return removed;
                               return launch::remove_control_directory(found.case_path, real_clock());
                             }});
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

Status drop_from(const launch::PoolRun& run, const std::string& path) {
  auto locked = launch::lock(run);
  if (!locked || !launch::processes_of(run.plan.run).empty())
    return error(Code::busy, "run " + run.plan.run + " is alive: nothing is dropped of", run.plan.case_path);
  return launch::drop(run, path);
}

// Only from runs that are dead and unfinished.
Status survey_dropped(const CleanOptions& options, const FoundRuns& found, Survey& survey) {
  if (found.runs.empty()) return error(Code::bad_input, "no run left anything here of", found.case_path);
  for (const std::string& each : options.dropped) {
    const auto path = path_in_case(found.case_path, each);
    if (!path) return forward(path);
    for (const launch::PoolRun& run : found.runs)
      survey.removals.push_back({fmt::format("run {}: {}", run.plan.run, printable(*path)), "only here",
                                 [run, path = *path] { return drop_from(run, path); }});
  }
  return {};
}

// Nothing is removed that was not listed, and nothing without an answer.
bool may_remove(const CleanOptions& options, const Survey& survey) {
  say(stdout, "to remove:\n");
  for (const Removal& each : survey.removals) say(stdout, "  {} ({})\n", each.name, each.detail);
  if (options.yes) return true;
  std::fflush(stdout);
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) {
    say(stderr, "forebay: nothing was removed, since nobody can be asked here: give --yes, too\n");
    return false;
  }
  say(stderr, "Remove {}? [y/N] ", survey.removals.size() == 1 ? "this" : "these");
  std::string answer;
  Pulse::rest(true);
  const bool answered = static_cast<bool>(std::getline(std::cin, answer));
  Pulse::rest(false);
  if (!answered || (answer != "y" && answer != "yes" && answer != "Y")) {
    say(stderr, "forebay: nothing was removed\n");
    return false;
  }
  return true;
}

int clean(const CleanOptions& options) {
  auto found = find_runs(options.case_path, options.pools);
  if (!found) return failed(found.error());
  Survey survey;
  const bool drops = !options.dropped.empty();
  if (drops) {
    if (auto named = survey_dropped(options, *found, survey); !named) return failed(named.error());
  } else {
    survey_runs(options, *found, survey);
    survey_staged(options, *found, survey);
    survey_kept(*found, survey);
    if (!options.case_path.empty()) survey.note(survey_mark(options, *found, survey));
  }
  if (survey.removals.empty() && !survey.trouble) {
    say(stdout, "nothing to remove{}\n", found->case_path.empty() ? "" : " of " + printable(found->case_path));
  } else if (!survey.removals.empty()) {
    if (!may_remove(options, survey)) return static_cast<int>(Code::bad_input);
    for (const Removal& each : survey.removals) {
      Pulse::beat();
      const Status removed = each.carry_out();
      if (removed) {
        say(stdout, "{}: {}\n", each.name, drops ? "dropped" : "removed");
      } else {
        survey.note(failed(removed.error()));
      }
    }
    if (drops && !survey.trouble) say(stdout, "{} brings home the rest\n", advice::resume(found->case_path));
  }
  return survey.trouble ? static_cast<int>(*survey.trouble) : 0;
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
  command->add_flag("--yes,-y", options->yes, "remove what is listed without asking");
  command->add_flag("--throw-away", options->throw_away, "given twice: also data that is nowhere else");
  set_rare(*command, {"--pool", "--drop", "--throw-away"});
  command->footer(footer(
      {"forebay clean", "forebay clean --case /shared/motorBike --yes", "forebay clean --throw-away --throw-away"},
      {"What can go is listed first, and removed when you have answered; where nobody can be asked, as in a job, only "
       "with --yes, else the exit status is 2 and nothing is removed.",
       "Runs that are alive are kept. A run whose data is nowhere else is kept, with exit status 3, unless "
       "--throw-away is given twice.",
       "--drop removes what cannot be carried, like a file that you may not read yourself, from an unfinished run; "
       "what the case has of this name stays there. Then `forebay drain --resume` brings home the rest."}));
  command->callback([options, &exit_status] {
    exit_status = launch::do_watched([&] { return clean(*options); }, {launch::command_waits, launch::command_works},
                                     "what is not said to be removed is as it was", real_clock());
  });
}

}  // namespace forebay::cli
