// Which times a run may restart from (run/core/restartable.h): what lies here and on the case, as names.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "run/drain/state.h"
#include "run/openfoam/case_times.h"
#include "run/openfoam/cut_file.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {
namespace {

// The first so many, as a list in words.
std::string listed(const core::Lacks& lacks) {
  constexpr std::size_t most = 4;
  core::Names names = lacks.on_all_ranks;
  for (const auto& [rank, of_rank] : lacks.on_rank) names.insert(of_rank.begin(), of_rank.end());
  std::string text;
  std::size_t named = 0;
  for (const std::string& name : names) {
    if (named++ == most) return text + fmt::format(" and {} more", names.size() - most);
    text += (text.empty() ? "" : ", ") + printable(name);
  }
  return text;
}

// Files and links of a time in the tree, without what the redirection library has not yet copied up.
core::Names files_in(const std::string& directory, const std::string& lower) {
  auto files = openfoam::names_of_time(directory).value_or(core::Names());
  std::erase_if(files, [&](const std::string& file) { return is_copy_up(name_of(file), lower); });
  return files;
}

core::NamesOfRanks uncut(const openfoam::Habits& habits, const std::map<int, openfoam::Endings>& endings) {
  core::NamesOfRanks names;
  for (const auto& [rank, of_endings] : endings) {
    core::Names& of_rank = names[rank];
    for (const auto& [name, ending] : of_endings)
      if (!habits.is_cut(name, ending)) of_rank.insert(name);
  }
  return names;
}

// Puts a time into a list in order, in place of what it had of it.
template <class Before>
void put_time(std::vector<core::WholeTime>& times, core::WholeTime time, const Before& before) {
  core::forget_time(times, time.time);
  const auto at =
      std::ranges::find_if(times, [&](const core::WholeTime& each) { return before(time.time, each.time); });
  times.insert(at, std::move(time));
}

}  // namespace

// Files of the time that the run started from, as they were staged: with their names in it.
void Policy::each_of_start(int rank,
                           const std::function<void(const std::string& path, const std::string& name)>& take) const {
  if (!run.request.settings.start_time) return;
  bool any = false;
  const auto each_in = [&](const std::string& directory) {
    run.ledger.each(directory, [&](const std::string& path, const Known& known) {
      if (!known.staged || known.directory) return true;
      take(path, core::plain_name(path.substr(directory.size() + 1)));
      any = true;
      return true;
    });
  };
  each_in(time_directory(rank, *run.request.settings.start_time));
  if (any) return;
  for (const std::string& group : run.request.settings.start_groups)
    each_in(join(group, *run.request.settings.start_time));
}

// To be called when a rank's inputs are known. Of each name one file tells.
void Policy::note_start() {
  openfoam::Endings endings;
  for (const int rank : seen.times.ranks())
    each_of_start(rank, [&](const std::string& path, const std::string& name) {
      if (!habits.knows(name) && !endings.contains(name))
        endings[name] = openfoam::ending_of(join(run.request.case_path, path));
    });
  if (!endings.empty()) habits.add(*run.request.settings.start_time, endings);
}

// By the names of the start time of the ranks that have come so far.
core::Required Policy::required() const {
  std::optional<core::Spread> started_from;
  if (run.request.settings.start_time) {
    core::NamesOfRanks names;
    for (const int rank : seen.times.ranks()) {
      core::Names& of_rank = names[rank];
      each_of_start(rank, [&](const std::string&, const std::string& name) { of_rank.insert(name); });
    }
    core::Spread spread = core::spread_of(names);
    if (!spread.on_some_rank.empty()) started_from = std::move(spread);
  }
  return core::Required::of(started_from, written);
}

// What there is of a time here: where the program wrote it, and kept aside.
std::map<int, openfoam::Endings> Policy::endings_here(const std::string& time) const {
  std::map<int, openfoam::Endings> endings;
  for (const int rank : seen.times.ranks()) {
    openfoam::Endings& of_rank = endings[rank];
    const std::set<std::string> kept = seen.keep.files(rank, time);
    for (const std::string& file : kept)
      of_rank[core::plain_name(file)] = openfoam::ending_of(seen.keep.path(rank, time, file));
    const std::string directory = local_of(run.roots, time_directory(rank, time));
    for (const std::string& file : files_in(directory, run.request.lower)) {
      // A link leads to the case, or is the program's own.
      const std::string path = join(directory, file);
      if (!kept.contains(file))
        of_rank[core::plain_name(file)] = read_link(path) ? openfoam::Ending::plain : openfoam::ending_of(path);
    }
  }
  return endings;
}

core::NamesOfRanks Policy::names_here(const std::string& time) const {
  return uncut(habits, endings_here(time));
}

// Of a whole time, whose files tell how others of their names are to be judged.
core::NamesOfRanks Policy::learn_names(const std::string& time) {
  const auto& endings = seen_endings[time] = endings_here(time);
  bool changed = false;
  for (const auto& [rank, of_rank] : endings) changed = habits.add(time, of_rank) || changed;
  core::NamesOfRanks names = uncut(habits, endings);
  std::erase_if(seen_endings, [&](const auto& each) {
    return each.first != time && core::find_time(whole_times, each.first) == nullptr;
  });
  // As they ended when they were looked at: by now ranks may have freed some.
  for (core::WholeTime& whole : whole_times) {
    if (!changed || whole.time == time) continue;
    for (auto& [rank, of_rank] : uncut(habits, seen_endings[whole.time])) whole.names[rank].merge(of_rank);
    for (const auto& [rank, of_rank] : seen_endings[whole.time])
      for (const auto& [name, ending] : of_rank)
        if (habits.is_cut(name, ending)) whole.names[rank].erase(name);
    written.add(whole.time, whole.names);
  }
  return names;
}

// What the case has of a time that this run has carried.
core::NamesOfRanks Policy::names_on_case(const std::string& time) const {
  core::NamesOfRanks names;
  for (const int rank : seen.times.ranks()) {
    core::Names& of_rank = names[rank];
    const auto collated = run.ledger.collated_of(rank, time);
    const std::string directory = collated ? join(collated->group, time) : time_directory(rank, time);
    run.ledger.each(directory, [&](const std::string& path, const Known& known) {
      if (!known.directory && known.on_case) of_rank.insert(core::plain_name(path.substr(directory.size() + 1)));
      return true;
    });
  }
  return names;
}

core::NamesOfRanks Policy::learn_names_anywhere(const std::string& time) {
  core::NamesOfRanks names = learn_names(time);
  for (const auto& [rank, on_case] : names_on_case(time)) names[rank].insert(on_case.begin(), on_case.end());
  return names;
}

// The case has all that there is of the time here.
bool Policy::is_home(const std::string& time) const {
  const core::NamesOfRanks on_case = names_on_case(time);
  for (const auto& [rank, here] : names_here(time)) {
    const core::Names& home = on_case.at(rank);
    if (!std::ranges::includes(home, here)) return false;
  }
  return true;
}

// A file of it was closed after the time was called complete.
void Policy::renew_names(const std::string& time) {
  if (core::WholeTime* whole = core::find_time(whole_times, time)) {
    whole->names = learn_names(time);
    written.add(time, whole->names);
  }
}

// A time that is complete, and kept aside for all ranks (only what is kept aside may stand for the last).
void Policy::note_whole(const std::string& time) {
  core::NamesOfRanks names = learn_names(time);
  written.add(time, names);
  if (!alike_names) alike_names = names;
  times_are_alike = times_are_alike && names == *alike_names;
  put_time(whole_times, {time, std::move(names)},
           [&](const auto& a, const auto& b) { return seen.times.before(a, b); });
}

// To be called when a time has become complete, or has got a file.
void Policy::choose_restart_points() {
  const core::Required needed = required();
  const auto newest = core::newest_restartable(whole_times, needed);
  newest_complete = newest ? std::optional(whole_times[*newest].time) : std::nullopt;
  auto each = whole_times.begin();
  if (nodes.newest_candidate)
    each = std::ranges::find_if(whole_times, [&](const core::WholeTime& time) {
      return seen.times.before(*nodes.newest_candidate, time.time);
    });
  for (; each != whole_times.end(); ++each) {
    if (!core::is_restartable(each->names, needed)) continue;
    nodes.candidates.add(each->time);
    nodes.newest_candidate = each->time;
  }
  choose_safe(needed);
}

// Of the times that the case has whole.
void Policy::choose_safe(const core::Required& needed) {
  const auto newest = core::newest_restartable(safe_whole_times, needed);
  newest_safe = newest ? std::optional(safe_whole_times[*newest].time) : std::nullopt;
  recently_safe.clear();
  for (const core::WholeTime& each : safe_whole_times)
    if (core::is_restartable(each.names, needed)) recently_safe.push_back(each.time);
  if (recently_safe.size() > Candidates::most)
    recently_safe.erase(recently_safe.begin(), recently_safe.end() - static_cast<std::ptrdiff_t>(Candidates::most));
}

// True when it is a restart point, as far as is known now.
bool Policy::note_safe(const std::string& time) {
  core::NamesOfRanks names = names_on_case(time);
  if (const core::WholeTime* whole = core::find_time(whole_times, time))  // its cut files are cut on the case, too
    for (auto& [rank, of_rank] : names) {
      const core::Names& whole_here = whole->names.at(rank);
      std::erase_if(of_rank, [&](const std::string& name) { return !whole_here.contains(name); });
    }
  const core::Required needed = required();
  const bool restartable = core::is_restartable(names, needed);
  put_time(safe_whole_times, {time, std::move(names)},
           [&](const auto& a, const auto& b) { return seen.times.before(a, b); });
  // With several nodes the newest ones are what they agree on, whatever supersedes them here.
  if (safe_whole_times.size() > Candidates::most + core::most_restart_points)
    if (const auto go = core::superfluous(safe_whole_times, needed); !go.empty())
      core::forget_time(safe_whole_times, go.front());
  choose_safe(needed);
  return restartable;
}

std::vector<std::string> Policy::restart_points() const {
  return core::restart_points(whole_times, required());
}

// Of a time that may not have been seen whole: the newest complete one has all that this rank has of it.
bool Policy::is_superseded(int rank, const std::string& time, const core::Names& names) const {
  if (!newest_complete || !seen.times.before(time, *newest_complete)) return false;
  const std::vector<std::string> points = restart_points();
  if (std::ranges::find(points, time) != points.end()) return false;
  const core::Names& newest = core::find_time(whole_times, *newest_complete)->names.at(rank);
  return std::ranges::includes(newest, names);
}

// The newest complete time, held here or on the case. What could not be kept aside may be safe all the same.
std::optional<std::string> Policy::newest_anywhere() const {
  const bool safe_is_newer =
      newest_safe && (!newest_complete || core::find_time(safe_whole_times, *newest_complete) != nullptr);
  return safe_is_newer ? newest_safe : newest_complete;
}

// Restart points beside the newest complete time, each with what it has. At a clean end none is kept for a restart.
std::map<std::string, std::string> Policy::kept_beside() const {
  std::map<std::string, std::string> kept;
  if (!newest_complete || end.ended_cleanly) return kept;
  const core::WholeTime* newest = core::find_time(whole_times, *newest_complete);
  const std::vector<std::string> points = restart_points();
  for (const core::WholeTime& each : whole_times) {
    if (&each == newest) break;
    if (std::ranges::find(points, each.time) == points.end()) continue;
    kept[each.time] =
        fmt::format("has {}, which time {} lacks", listed(core::lacks(newest->names, each.names)), newest->time);
  }
  return kept;
}

// What a run left that ended badly, as it lies on disk. Ranks that keep times themselves (hold.h) may have left newer
// ones than were looked at: then no file of these is lost. They lie in part where they were written, in part where the
// ranks have handed them over. `resumed`: of the times that the dead run had called complete only the journal tells.
Status Policy::find_last_times(bool resumed) {
  if (seen.times.ranks().empty()) return {};
  std::map<std::string, core::NamesOfRanks> handed_over;
  std::set<std::string> whole;
  if (resumed) whole = run.ledger.complete_times();
  if (run.request.settings.handed_over && seen.alone() && run.holds_times() && !run.ledger.pool_was_full() &&
      !run.ledger.lost_events()) {
    std::set<std::string> here;
    for (const int rank : seen.times.ranks()) {
      const auto handed = seen.keep.handed_over(rank, run.request.lower);
      if (!handed) {  // it may be of any time
        run.note(std::nullopt, "the last times cannot be vouched for: " + handed.error().text());
        return {};
      }
      for (const Keep::HandedOver& each : *handed) handed_over[each.time][rank].insert(core::plain_name(each.file));
      for (const Keep::HandedOver& each : *handed) here.insert(each.time);
      for (const std::string& time : run.times_here(rank)) here.insert(time);
    }
    whole.merge(left_by_all(join(run.request.home, hold_name), seen.times.ranks(), here));
  }
  std::erase_if(whole, [&](const std::string& time) {
    return core::find_time(whole_times, time) != nullptr || !run.is_new_time(seen.times.ranks().front(), time);
  });
  add_found(whole, handed_over);
  while (!keep_restart_points()) continue;
  choose_restart_points();
  if (newest_complete && run.ledger.newest_complete() != newest_complete) run.record(complete_record(*newest_complete));
  return {};
}

// False: one of them cannot be kept, or is found to be cut now, and others take its place. Journalled first: what was
// handed over is not, once it is kept, where another attempt would look for it.
bool Policy::keep_restart_points() {
  const std::vector<std::string> points = restart_points();
  for (const std::string& time : points)
    if (!run.ledger.complete_times().contains(time)) run.record(complete_record(time));
  for (const std::string& time : points) {
    if (safe_times.contains(time)) continue;
    if (!keep_aside(time)) {
      core::forget_time(whole_times, time);
      return false;
    }
    core::WholeTime* const whole = core::find_time(whole_times, time);
    core::NamesOfRanks names = learn_names_anywhere(time);  // of what was handed over, too
    if (names == whole->names) continue;
    whole->names = std::move(names);
    return false;
  }
  return true;
}

// Whole times that were found on disk, from the newest back to the newest restartable one and to all that is kept or
// was handed over.
void Policy::add_found(const std::set<std::string>& whole,
                       const std::map<std::string, core::NamesOfRanks>& handed_over) {
  std::vector<std::string> order(whole.begin(), whole.end());
  std::ranges::sort(order, [](const auto& a, const auto& b) { return openfoam::time_less(b, a); });
  std::set<std::string> aside;
  for (const std::string& time : seen.keep.times()) aside.insert(time);
  for (const auto& [time, names] : handed_over) aside.insert(time);
  std::erase_if(aside, [&](const std::string& time) { return !whole.contains(time); });
  for (const std::string& time : order) {
    if (aside.empty() && core::newest_restartable(whole_times, required())) break;
    aside.erase(time);
    core::WholeTime found{time, learn_names_anywhere(time)};
    if (const auto handed = handed_over.find(time); handed != handed_over.end())
      for (const auto& [rank, names] : handed->second) found.names[rank].insert(names.begin(), names.end());
    written.add(time, found.names);
    put_time(whole_times, std::move(found), openfoam::time_less);
  }
}

// All that there is of a time, for each rank. False: something of it cannot be kept.
bool Policy::keep_aside(const std::string& time) {
  for (const int rank : seen.times.ranks()) {
    const auto handed = seen.keep.handed_over(rank, run.request.lower);
    if (!handed) return false;
    for (const Keep::HandedOver& each : *handed)
      if (each.time == time && !seen.keep.contains(rank, time, each.file) && !seen.keep.take(each)) return false;
    const std::string local = local_of(run.roots, time_directory(rank, time));
    for (const std::string& file : files_in(local, run.request.lower)) {
      if (seen.keep.contains(rank, time, file) || read_link(join(local, file))) continue;  // the walk carries links
      const auto kept = seen.keep.add(rank, time, file, join(local, file));
      // A pool without an inode to spare: what lies in the tree is carried all the same.
      if (!kept) run.note(std::nullopt, fmt::format("time {} cannot be kept aside: {}", time, kept.error().text()));
      if (!kept || !*kept) return false;
    }
    seen.late.passed_over.erase({rank, time});
    seen.late.unseen.erase({rank, time});
  }
  return true;
}

}  // namespace forebay::drain
