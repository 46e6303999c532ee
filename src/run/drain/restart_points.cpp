#include "run/drain/restart_points.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "run/drain/state.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {
namespace {

// On several nodes the state that all carry may be a few windows old.
constexpr std::size_t most_states_looked_at = 64;
constexpr std::size_t most_told = 8;

core::Ticks in_ticks(std::chrono::system_clock::time_point date) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(date.time_since_epoch()).count();
}

}  // namespace

void RestartPoints::map_nothing() {
  if (run_.witnesses.pages) run_.witnesses.pages->map_nothing();
}

void RestartPoints::pool_is_full(bool now) {
  looks_.pool_is_full(now, in_ticks(run_.clock.date()));
}

void RestartPoints::hear(core::Reports reports, int nodes) {
  reports_ = std::move(reports);
  nodes_ = nodes;
}

// Where the time that the run started from may lie for this rank; the first one that is there counts.
std::vector<std::string> RestartPoints::start_directories(int rank) const {
  const DrainSettings& settings = run_.request.settings;
  std::vector<std::string> directories{run_.time_directory(rank, *settings.start_time)};
  for (const std::string& group : settings.start_groups) directories.push_back(join(group, *settings.start_time));
  if (!settings.written_groups.empty()) directories.push_back(join(contract::name_of_rank(rank), *settings.start_time));
  return directories;
}

// Files of the time that the run started from, as they were staged: their names in it.
core::Names RestartPoints::start_names() const {
  core::NamesOfRanks names;
  const auto each_in = [&](int rank, const std::string& directory) {
    run_.ledger.each(directory, [&](const std::string& path, const Known& known) {
      if (known.staged && !known.directory) names[rank].insert(core::plain_name(path.substr(directory.size() + 1)));
      return true;
    });
  };
  for (const int rank : run_.ranks) {
    for (const std::string& directory : start_directories(rank))
      if (names[rank].empty()) each_in(rank, directory);
  }
  return core::spread_of(names).on_every_rank;
}

core::Settings RestartPoints::settings() const {
  core::Settings of{
      .nodes = run_.alone() ? 1 : std::max(nodes_, 2),
      .start = {},
      .interval = std::chrono::duration_cast<std::chrono::nanoseconds>(run_.request.settings.safe_interval).count(),
      .tells_states = true};
  if (run_.request.settings.start_time)
    if (core::Names names = start_names(); !names.empty()) of.start = std::move(names);
  return of;
}

// One file of each name tells.
void RestartPoints::note_start() {
  if (!run_.request.settings.start_time) return;
  const std::string& time = *run_.request.settings.start_time;
  openfoam::Endings endings;
  const auto each_in = [&](const std::string& directory) {
    run_.ledger.each(directory, [&](const std::string& path, const Known& known) {
      if (!known.staged || known.directory) return true;
      const std::string name = core::plain_name(path.substr(directory.size() + 1));
      if (!looks_.knows(name) && !endings.contains(name))
        endings[name] = openfoam::ending_of(join(run_.request.case_path, path));
      return true;
    });
  };
  for (const int rank : run_.ranks)
    for (const std::string& directory : start_directories(rank)) each_in(directory);
  if (!endings.empty()) looks_.learn(time, endings);
}

// A look may pass over lines that stand in the tree and are older than the states that are still of interest. A time
// that goes as a whole is of interest until the case has it.
std::uint64_t RestartPoints::first_line(int rank) const {
  const std::vector<core::StateId>& good = last_.states().restartable;
  const auto mine = last_.states().times.find(rank);
  if (good.empty() || mine == last_.states().times.end()) return 0;
  core::StateId oldest = good[std::min(good.size() - 1, run_.alone() ? 0 : most_states_looked_at)];
  // Where times go when they are quiet, what is not home yet.
  const core::StateId newest_home = home_.newest().value_or(core::StateId{});
  for (const core::StateId& each : good)
    if (!run_.holds_times() && newest_home < each) oldest = std::min(oldest, each);
  const auto part = std::ranges::find_if(mine->second, [&](const core::Time& time) { return time.id == oldest; });
  std::uint64_t first = part == mine->second.end() ? 0 : part->line.sequence;
  if (run_.carries_times_whole() && !run_.holds_times())
    for (const core::Time& time : mine->second)
      if (!time.kept && !work_.drained.contains(rank, time.line.time)) first = std::min(first, time.line.sequence);
  return first;
}

void RestartPoints::look(bool all) {
  if (run_.witnesses.pages) run_.witnesses.pages->clear_wish(run_.ranks);
  std::map<int, RankTimesFound> found;
  for (const int rank : run_.ranks) found[rank] = looks_.at(rank, all ? 0 : first_line(rank));
  last_ = LastLook(std::move(found), ledger_.written, settings());
  home_.forget_begun_again(last_.states().times);
  noted_.note(last_.found(), last_.states().times, last_.states().common, work_.drained);
}

void RestartPoints::look_and_act() {
  next_look_ = run_.clock.now() + run_.request.settings.look;
  look();
  act();
}

void RestartPoints::look_when_due() {
  if (run_.clock.now() >= next_look_ || look_is_wanted()) look_and_act();
}

void RestartPoints::act() {
  const core::Seen seen{.states = last_.states(),
                        .threads = last_.has_threads(),
                        .now = in_ticks(run_.clock.date()),
                        .ended = run_.phase != Phase::running,
                        .held = held_.states()};
  if (ledger_.carried_at == 0) ledger_.carried_at = seen.now;
  const bool carries = work_.mover != nullptr;
  const bool is_busy = held_.is_any_used();  // a slow case gets one state after the other
  if (carries && !run_.holds_times()) find_home();
  std::map<int, std::set<core::LineId>> to_free = last_.purged_and_empty();
  const core::Settings rules = settings();
  for (const core::Action& action : core::decide(seen, ledger_, reports_, rules)) {
    switch (action.kind) {
      case core::Action::Kind::note_written:
        ledger_.written.insert(action.names.begin(), action.names.end());
        break;
      case core::Action::Kind::free:
        to_free[action.rank].insert(action.line);
        break;
      case core::Action::Kind::set_window:
        if (is_busy) break;
        ledger_.window = action.window;
        ledger_.carried_at = seen.now;
        break;
      case core::Action::Kind::take:
        // Where times go when they are quiet nothing has to be taken: they are home soon.
        if (!carries || !run_.holds_times() || is_busy) break;
        held_.release_unused();
        if (!take(action.state)) break;
        // A node carries each state that a window begins with, so a window lasts half an interval at least.
        if (!run_.alone() && seen.now - ledger_.carried_at < rules.interval / 2) ledger_.window *= 2;
        carry(action.state);
        break;
      case core::Action::Kind::carry:
        carry(action.state);
        break;
      case core::Action::Kind::call_safe:
        ledger_.safe = action.state;
        // All nodes have it, so nobody asks for older ones any more.
        ledger_.carried.erase(ledger_.carried.begin(), ledger_.carried.find(action.state));
        break;
      case core::Action::Kind::end:
        break;
    }
  }
  for (const auto& [rank, lines] : to_free) free(rank, lines);
  const std::set<core::StateId> held = held_.states();
  if (std::ranges::all_of(held, [&](const core::StateId& each) { return home_.has(each); })) held_.release_unused();
  // Where a time goes as a whole because its layout asks for that.
  if (carries && run_.request.settings.live && !run_.holds_times() && run_.carries_times_whole()) carry_complete();
}

void RestartPoints::carry_complete() {
  for (const std::string& time : last_.complete_in_tree())
    if (!work_.drained.times.contains(time)) work_.submit_time(time, false);
}

void RestartPoints::make_room() {
  if (!run_.carries_times_whole()) return;
  look(true);
  carry_complete();
}

// A directory leaves its place in one step, then its files go.
void RestartPoints::free(int rank, const std::set<core::LineId>& lines) {
  const std::string& kept = looks_.kept(rank);
  if (kept.empty() || lines.empty()) return;
  if (const auto of = last_.found().find(rank); of != last_.found().end())
    for (const core::LineId& line : lines) noted_.note_freed(rank, line, of->second, kept);
  for (const KeptEntry& entry : entries_kept(kept)) {
    if (!lines.contains(entry.line.id)) continue;
    const std::string going = join(kept, freed_prefix + name_of_line(entry.line.id));
    Status freed;
    if ((entry.is_directory ? ::rename(entry.path.c_str(), going.c_str()) : ::unlink(entry.path.c_str())) != 0)
      freed = errno_error("cannot free what the program purged:", entry.path);
    else if (entry.is_directory)
      freed = remove_tree(going);
    if (!freed) run_.note(std::nullopt, freed.error().text());
  }
}

void RestartPoints::note_end() {
  for (const auto& [rank, of] : last_.found())
    for (const auto& each : of.look.lines) noted_.note_freed(rank, each.after.id, of, looks_.kept(rank));
}

std::optional<std::string> RestartPoints::newest_complete() const {
  if (!last_.states().restartable.empty()) return last_.states().restartable.front().time;
  return newest_safe();
}

std::optional<std::string> RestartPoints::newest_safe() const {
  const auto newest = home_.newest();
  return newest ? std::optional(newest->time) : std::nullopt;
}

std::vector<std::string> RestartPoints::safe_times() const {
  std::vector<std::string> newest = home_.times();
  if (newest.size() > most_told) newest.erase(newest.begin(), newest.end() - static_cast<std::ptrdiff_t>(most_told));
  return newest;
}

std::vector<std::string> RestartPoints::complete_times() const {
  const std::vector<core::StateId>& good = last_.states().restartable;
  std::vector<std::string> newest;
  for (std::size_t i = 0; i < std::min(good.size(), most_told); ++i) newest.push_back(good[i].time);
  std::ranges::reverse(newest);
  return newest;
}

bool RestartPoints::is_home(const std::string& time) const {
  if (work_.drained.times.contains(time) && !home_.was_begun_again(time)) return true;
  if (home_.has(time)) return true;
  // As a group, which an agent that was killed had carried; or file by file.
  return !run_.ranks.empty() && std::ranges::all_of(run_.ranks, [&](int rank) {
    return run_.ledger.collated_of(rank, time).has_value() || held_.is_home(rank, time);
  });
}

TimeFiles RestartPoints::files_of(int rank, const std::string& time) const {
  if (held_.of(time) == nullptr) return last_.files_of(rank, time);
  const HeldStates::Part* part = held_.part_of(rank, time);
  return part == nullptr ? TimeFiles() : part->files;
}

bool RestartPoints::take(const core::StateId& state) {
  const auto parts = last_.states().common.find(state);
  return parts != last_.states().common.end() && held_.take(state, parts->second, last_.found());
}

void RestartPoints::take_last() {
  for (const core::StateId& state : last_.last_states())
    if (held_.of_state(state.time) == nullptr) (void)take(state);
}

void RestartPoints::carry(const core::StateId& state) {
  const HeldStates::Held* held = held_.of_state(state.time);
  if (held == nullptr || held_.is_used(state.time)) return;
  std::set<std::string> meshes;
  for (const auto& [rank, parts] : held->parts)
    for (const HeldStates::Part& part : parts)
      if (part.line.time != state.time) meshes.insert(part.line.time);
  for (const std::string& mesh : meshes) work_.submit_time(mesh, true);
  work_.submit_time(state.time, true);
}

void RestartPoints::time_is_home(const std::string& time) {
  const HeldStates::Held* held = held_.of_state(time);
  if (held == nullptr) {
    if (const core::StateId* state = last_.restartable_of(time); state != nullptr)
      note_home(*state, HomeStates::home_of(last_.states().common.at(*state)));
    return;
  }
  HomeStates::Home now{time, {}, {}};
  for (const auto& [rank, parts] : held->parts)
    for (const HeldStates::Part& part : parts) {
      if (part.line.time != time) continue;
      now.lines[rank] = part.line;
      for (const auto& [name, file] : part.files) now.names[rank].insert(core::plain_name(name));
    }
  note_home(held->state, std::move(now));
}

void RestartPoints::note_home(const core::StateId& state, HomeStates::Home of) {
  home_.note(state, std::move(of));
  ledger_.carried.insert(state);
  ledger_.carried_at = in_ticks(run_.clock.date());
}

// Where times go when they are quiet, a state is home when all its files are.
void RestartPoints::find_home() {
  const std::vector<core::StateId>& good = last_.states().restartable;
  for (auto state = good.rbegin(); state != good.rend(); ++state)
    if (const core::Parts& parts = last_.states().common.at(*state);
        !home_.has(*state) && home_.has_parts(parts, last_.found()))
      note_home(*state, HomeStates::home_of(parts));
}

// The run removes superseded states only while nothing is in doubt. The end deals with those that stay.
bool RestartPoints::may_remove() const {
  return run_.phase == Phase::running && work_.not_carried.failures.empty() && !run_.ledger.lost_events() &&
         !run_.witnesses.lost_events && run_.trouble != Code::conflict && run_.trouble != Code::lost;
}

void RestartPoints::give_up_superseded() {
  if (may_remove() && run_.request.settings.hold_times && ledger_.safe) home_.give_up_superseded(*ledger_.safe);
}

void RestartPoints::remove_superseded() {
  if (!may_remove()) return;
  for (const std::string& directory : home_.take_superseded()) work_.submit_removal(directory);
}

}  // namespace forebay::drain
