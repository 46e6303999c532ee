#include "run/drain/restart_points.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "run/contract/text.h"
#include "run/drain/state.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {
namespace {

// On several nodes the state that all carry may be a few windows old.
constexpr std::size_t most_states_looked_at = 64;
constexpr std::size_t most_told = 8;
constexpr std::chrono::seconds longest_wait_for_nodes{30};
// The bytes of all ranks are added up for so many of the newest lines.
constexpr std::size_t steps_measured = 64;

const core::RankLook::OfLine* line_in(const core::RankLook& look, const core::LineId& id) {
  const auto of = std::ranges::find_if(look.lines, [&](const auto& each) { return each.after.id == id; });
  return of == look.lines.end() ? nullptr : &*of;
}

// The date as the calls of the kernel have it.
timespec date_of(core::Ticks ticks) {
  return {ticks / 1'000'000'000, ticks % 1'000'000'000};
}

core::Ticks in_ticks(std::chrono::system_clock::time_point date) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(date.time_since_epoch()).count();
}

}  // namespace

bool RestartPoints::several() const {
  return !seen.alone();
}

// Files of the time that the run started from, as they were staged: their names in it.
core::Names RestartPoints::start_names() const {
  const std::string& time = *run.request.settings.start_time;
  core::NamesOfRanks names;
  const auto each_in = [&](int rank, const std::string& directory) {
    run.ledger.each(directory, [&](const std::string& path, const Known& known) {
      if (known.staged && !known.directory) names[rank].insert(core::plain_name(path.substr(directory.size() + 1)));
      return true;
    });
  };
  for (const int rank : seen.ranks) {
    names[rank];
    each_in(rank, time_directory(rank, time));
    if (!names[rank].empty()) continue;
    for (const std::string& group : run.request.settings.start_groups) each_in(rank, join(group, time));
  }
  return core::spread_of(names).on_every_rank;
}

core::Settings RestartPoints::settings() const {
  core::Settings of{
      .nodes = several() ? std::max(others.count, 2) : 1,
      .start = {},
      .interval = std::chrono::duration_cast<std::chrono::nanoseconds>(run.request.settings.safe_interval).count(),
      .tells_states = true};
  if (run.request.settings.start_time)
    if (core::Names names = start_names(); !names.empty()) of.start = std::move(names);
  return of;
}

// One file of each name tells.
void RestartPoints::note_start() {
  if (!run.request.settings.start_time) return;
  const std::string& time = *run.request.settings.start_time;
  openfoam::Endings endings;
  const auto each_in = [&](const std::string& directory) {
    run.ledger.each(directory, [&](const std::string& path, const Known& known) {
      if (!known.staged || known.directory) return true;
      const std::string name = core::plain_name(path.substr(directory.size() + 1));
      if (!looks.knows(name) && !endings.contains(name))
        endings[name] = openfoam::ending_of(join(run.request.case_path, path));
      return true;
    });
  };
  for (const int rank : seen.ranks) each_in(time_directory(rank, time));
  for (const std::string& group : run.request.settings.start_groups) each_in(join(group, time));
  if (!endings.empty()) looks.learn(time, endings);
}

// But not much later for that, since what the case lacks is lost with the node.
bool RestartPoints::waits_for_nodes(const std::string& time, Clock::time_point since) const {
  if (!seen.serves(0) || seen.alone()) return false;
  if (others.on_case && !openfoam::time_less(*others.on_case, time)) return false;
  const auto longest = std::min<Clock::duration>(longest_wait_for_nodes, run.request.settings.safe_interval / 4);
  return run.clock.now() - since < longest;
}

bool RestartPoints::carries_times_whole() const {
  return run.holds_times() || run.request.settings.collated;
}

// A look may pass over lines that stand in the tree and are older than the states that are still of interest. A time
// that goes as a whole is of interest until the case has it.
std::uint64_t RestartPoints::first_line(int rank) const {
  const auto mine = times.find(rank);
  if (good.empty() || mine == times.end()) return 0;
  core::StateId oldest = good[std::min(good.size() - 1, several() ? most_states_looked_at : 0)];
  // Where files go as they are closed, what is not home yet.
  const core::StateId newest_home = home.empty() ? core::StateId{} : home.rbegin()->first;
  for (const core::StateId& each : good)
    if (!run.holds_times() && newest_home < each) oldest = std::min(oldest, each);
  const auto part = std::ranges::find_if(mine->second, [&](const core::Time& time) { return time.id == oldest; });
  std::uint64_t first = part == mine->second.end() ? 0 : part->line.sequence;
  if (carries_times_whole() && !run.holds_times())
    for (const core::Time& time : mine->second)
      if (!time.kept && !work.drained.contains(rank, time.line.time)) first = std::min(first, time.line.sequence);
  return first;
}

void RestartPoints::look(bool all) {
  if (pages) pages->clear_wish(seen.ranks);
  std::map<int, RankTimesFound> now;
  for (const int rank : seen.ranks) now[rank] = looks.at(rank, all ? 0 : first_line(rank));
  found = std::move(now);
  times.clear();
  for (const auto& [rank, of] : found) times[rank] = core::times_of(of.look);
  good = core::restartable_states(times, ledger.written, settings());
  std::erase_if(home, [&](const auto& each) {
    const bool again = is_begun_again(each.second);
    if (again) begun_again.insert(each.second.time);
    return again;
  });
  note_times();
}

// The case gets what the program writes there now, file by file.
bool RestartPoints::is_begun_again(const Home& of) const {
  return std::ranges::any_of(of.lines, [&](const auto& each) {
    const auto mine = times.find(each.first);
    return mine != times.end() && std::ranges::any_of(mine->second, [&](const core::Time& time) {
             return time.line.time == of.time && time.line.sequence > each.second.sequence;
           });
  });
}

// For people, and for who must know how much a step writes.
void RestartPoints::note_times() {
  for (const auto& [rank, mine] : times) {
    std::uint64_t& told = counted.begun[rank];
    for (const core::Time& time : mine) {
      const TimeFiles& files = found.at(rank).files.at(time.line);
      if (time.line.sequence > told) {
        std::int64_t first = INT64_MAX;
        for (const auto& [name, file] : files) first = std::min(first, file.mark.mtime_ns);
        const auto* of = line_in(found.at(rank).look, time.line);
        if (of != nullptr && of->after.begun_at != 0) first = of->after.begun_at;
        seen.begin_time(time.line.time, run.seconds_at(date_of(first)));
      }
      if (time.left && time.line.sequence > found.at(rank).left_before) note_files(time, files);
      if (carries_times_whole() && !time.kept && !work.drained.contains(rank, time.line.time))
        note_names(rank, time.line, files);
    }
    if (!mine.empty()) told = std::max(told, mine.back().line.sequence);
  }
  for (const auto& [rank, of] : found) run.numbers.unseen_times += of.unseen;
  for (const auto& [state, parts] : core::common_states(times)) seen.timeline.complete(state.time, left_at(parts));
  run.uncarried.flush();
}

// A resume tells of these names where they are gone.
void RestartPoints::note_names(int rank, const core::LineId& line, const TimeFiles& files) {
  const auto* of = line_in(found.at(rank).look, line);
  const auto is_closed = [&](const auto& each) {
    const auto facts = of->files.find(core::plain_name(each.first));
    return facts != of->files.end() && !facts->second.open;
  };
  const std::size_t closed = of == nullptr ? 0 : static_cast<std::size_t>(std::ranges::count_if(files, is_closed));
  std::size_t& noted = counted.names[{rank, line}];
  if (noted == files.size() + closed) return;
  noted = files.size() + closed;
  for (const auto& each : files) {
    const std::string path = join(time_directory(rank, line.time), each.first);
    run.uncarried.written(path);
    if (closed > 0 && is_closed(each)) run.uncarried.closed(path, each.second.mark.size, run.now());
  }
  std::erase_if(counted.names,
                [&](const auto& each) { return each.first.second.sequence + steps_measured < line.sequence; });
}

// When the last rank left it, as far as lines tell: then it began its next time.
double RestartPoints::left_at(const core::Parts& parts) const {
  double last = 0;
  for (const auto& [rank, part] : parts) {
    const auto& lines = found.at(rank).look.lines;
    const auto next = std::ranges::upper_bound(lines, part->line.sequence, {},
                                               [](const auto& each) { return each.after.id.sequence; });
    if (next == lines.end() || next->after.begun_at == 0) return run.now();
    last = std::max(last, run.seconds_at(date_of(next->after.begun_at)));
  }
  return last;
}

// Each line once, when its rank has left it. Where files go as they are closed events tell of them, too.
void RestartPoints::note_files(const core::Time& time, const TimeFiles& files) {
  const core::LineId& line = time.line;
  std::uint64_t& step = counted.step_bytes[line.sequence];
  for (const auto& [name, file] : files) {
    step += file.mark.size;
    if (!carries_times_whole()) continue;
    run.numbers.closed(file.mark.size);
  }
  run.numbers.largest_step = std::max(run.numbers.largest_step, step);
  if (counted.step_bytes.size() > steps_measured) counted.step_bytes.erase(counted.step_bytes.begin());
}

void RestartPoints::look_and_act() {
  next_look = run.clock.now() + run.request.settings.look;
  look();
  act();
}

void RestartPoints::look_when_due() {
  if (run.clock.now() >= next_look || look_is_wanted()) look_and_act();
}

void RestartPoints::pool_is_full(bool now) {
  looks.pool_is_full(now, in_ticks(run.clock.date()));
}

void RestartPoints::act() {
  core::Seen look;
  for (const auto& [rank, of] : found) look.ranks[rank] = of.look;
  look.now = in_ticks(run.clock.date());
  look.ended = end.phase != Phase::running;
  for (const auto& [time, each] : held) look.held.insert(each.state);
  if (ledger.carried_at == 0) ledger.carried_at = look.now;
  const bool carries = work.mover != nullptr;
  const bool is_busy = !uses.empty();  // a slow case gets one state after the other
  if (carries && !run.holds_times()) find_home();
  std::map<int, std::set<core::LineId>> to_free;
  for (const auto& [rank, of] : found)
    for (const auto& each : of.look.lines)
      if (each.kept && each.files.empty()) to_free[rank].insert(each.after.id);
  for (const core::Action& action : core::decide(look, ledger, reports, settings())) {
    switch (action.kind) {
      case core::Action::Kind::note_written:
        ledger.written.insert(action.names.begin(), action.names.end());
        break;
      case core::Action::Kind::free:
        to_free[action.rank].insert(action.line);
        break;
      case core::Action::Kind::set_window:
        if (is_busy) break;
        ledger.window = action.window;
        ledger.carried_at = look.now;
        break;
      case core::Action::Kind::take:
        // Where times go as the program closes them nothing has to be taken: they are home soon.
        if (!carries || !run.holds_times() || is_busy) break;
        release_unused();
        if (!take(action.state)) break;
        // A node carries each state that a window begins with, so a window lasts half an interval at least.
        if (several() && look.now - ledger.carried_at < settings().interval / 2) ledger.window *= 2;
        carry(action.state);
        break;
      case core::Action::Kind::carry:
        carry(action.state);
        break;
      case core::Action::Kind::call_safe:
        ledger.safe = action.state;
        // All nodes have it, so nobody asks for older ones any more.
        ledger.carried.erase(ledger.carried.begin(), ledger.carried.find(action.state));
        break;
      case core::Action::Kind::end:
        break;
    }
  }
  for (const auto& [rank, lines] : to_free) free(rank, lines);
  if (std::ranges::all_of(held, [&](const auto& each) { return home.contains(each.second.state); })) release_unused();
  // Where a time goes as a whole because its layout asks for that.
  if (carries && run.request.settings.live && !run.holds_times() && carries_times_whole())
    for (const std::string& time : complete_in_tree())
      if (!work.drained.times.contains(time)) work.submit_time(time, false);
}

// A directory leaves its place in one step, then its files go.
void RestartPoints::free(int rank, const std::set<core::LineId>& lines) {
  const std::string& kept = looks.kept(rank);
  if (kept.empty() || lines.empty()) return;
  for (const core::LineId& line : lines) note_freed(rank, line);
  for (const KeptEntry& entry : entries_kept(kept)) {
    if (!lines.contains(entry.line.id)) continue;
    const std::string going = join(kept, freed_prefix + name_of_line(entry.line.id));
    Status freed;
    if ((entry.is_directory ? ::rename(entry.path.c_str(), going.c_str()) : ::unlink(entry.path.c_str())) != 0)
      freed = errno_error("cannot free what the program purged:", entry.path);
    else if (entry.is_directory)
      freed = remove_tree(going);
    if (!freed) run.note(std::nullopt, freed.error().text());
  }
}

void RestartPoints::note_freed(int rank, const core::LineId& line) {
  const auto mine = found.find(rank);
  if (mine == found.end() || !mine->second.files.contains(line)) return;
  for (const auto& [file, what] : mine->second.files.at(line)) {
    if (!is_below(what.path, looks.kept(rank))) continue;
    run.numbers.gone.add(what.mark.size);
    if (!run.ledger.find(join(time_directory(rank, line.time), file))) run.numbers.never_shared.add(what.mark.size);
  }
}

void RestartPoints::note_end() {
  for (const auto& [rank, of] : found)
    for (const auto& each : of.look.lines) note_freed(rank, each.after.id);
}

std::optional<std::string> RestartPoints::newest_complete() const {
  if (!good.empty()) return good.front().time;
  return newest_safe();
}

std::optional<std::string> RestartPoints::newest_safe() const {
  return home.empty() ? std::nullopt : std::optional(home.rbegin()->second.time);
}

std::vector<std::string> RestartPoints::safe_times() const {
  std::vector<std::string> newest;
  for (const auto& [state, of] : home) newest.push_back(of.time);
  if (newest.size() > most_told) newest.erase(newest.begin(), newest.end() - static_cast<std::ptrdiff_t>(most_told));
  return newest;
}

std::vector<std::string> RestartPoints::complete_times() const {
  std::vector<std::string> newest;
  for (std::size_t i = 0; i < std::min(good.size(), most_told); ++i) newest.push_back(good[i].time);
  std::ranges::reverse(newest);
  return newest;
}

bool RestartPoints::is_complete(const std::string& time) const {
  return !times.empty() && std::ranges::all_of(times, [&](const auto& each) {
    return std::ranges::any_of(each.second, [&](const core::Time& of) { return of.line.time == time && of.whole; });
  });
}

bool RestartPoints::is_complete_but_open(const std::string& time) const {
  return !found.empty() && std::ranges::all_of(found, [&](const auto& each) {
    const core::RankLook& look = each.second.look;
    const auto is_sound = [](const auto& file) { return !file.second.torn; };
    return std::ranges::any_of(look.lines, [&](const auto& of) {
      return of.after.id.time == time && core::is_left(look.before, of.after.id.sequence) && !of.after.cut &&
             std::ranges::all_of(of.files, is_sound);
    });
  });
}

std::vector<std::string> RestartPoints::complete_in_tree() const {
  std::vector<std::string> complete;
  if (times.empty()) return complete;
  for (const core::Time& of : times.begin()->second)
    if (is_complete(of.line.time) && stands_in_tree(of.line.time)) complete.push_back(of.line.time);
  return complete;
}

std::vector<std::string> RestartPoints::times_begun() const {
  std::map<std::string, core::Ticks> begun;
  for (const auto& [rank, mine] : times)
    for (const core::Time& of : mine) begun.try_emplace(of.line.time, static_cast<core::Ticks>(of.line.sequence));
  std::vector<std::string> names;
  for (const auto& [time, at] : begun) names.push_back(time);
  std::ranges::sort(names, [&](const auto& a, const auto& b) {
    return begun.at(a) != begun.at(b) ? begun.at(a) < begun.at(b) : openfoam::time_less(a, b);
  });
  return names;
}

bool RestartPoints::is_home(const std::string& time) const {
  if (work.drained.times.contains(time) && !begun_again.contains(time)) return true;
  if (std::ranges::any_of(home, [&](const auto& each) { return each.second.time == time; })) return true;
  // As a group, which an agent that was killed had carried; or file by file.
  return !seen.ranks.empty() && std::ranges::all_of(seen.ranks, [&](int rank) {
    return run.ledger.collated_of(rank, time).has_value() || is_home(rank, time);
  });
}

bool RestartPoints::stands_in_tree(const std::string& time) const {
  return std::ranges::none_of(times, [&](const auto& each) {
    return std::ranges::any_of(each.second, [&](const core::Time& of) { return of.line.time == time && of.kept; });
  });
}

std::vector<core::StateId> RestartPoints::last_states() const {
  std::map<int, core::RankLook> ranks;
  for (const auto& [rank, of] : found) ranks[rank].after = of.look.after;
  return core::last_states(times, good, core::states_kept(ranks, settings().nodes));
}

std::vector<std::string> RestartPoints::last_times() const {
  std::vector<std::string> last;
  const auto add = [&](const std::string& time) {
    if (std::ranges::find(last, time) == last.end()) last.push_back(time);
  };
  const auto common = core::common_states(times);
  const std::vector<core::StateId> states = last_states();
  for (auto state = states.rbegin(); state != states.rend(); ++state) {
    for (const auto& [rank, part] : common.at(*state))
      if (part->mesh && *part->mesh != part->line) add(part->mesh->time);
    add(state->time);
  }
  return last;
}

void RestartPoints::take_last() {
  for (const core::StateId& state : last_states())
    if (!held.contains(state.time)) (void)take(state);
}

// All of its files are linked to names of ours; then it is seen that it still is what the look judged.
bool RestartPoints::take(const core::StateId& state) {
  if (const auto known = held.find(state.time); known != held.end() && is_used(known->second)) return false;
  release(state.time);
  const auto common = core::common_states(times);
  const auto parts = common.find(state);
  if (parts == common.end()) return false;
  Held& into = held[state.time];
  into.state = state;
  for (const auto& [rank, part] : parts->second) {
    const core::RankLook& look = found.at(rank).look;
    const auto* of = line_in(look, part->line);
    const auto* mesh = part->mesh && *part->mesh != part->line ? line_in(look, *part->mesh) : nullptr;
    if (of == nullptr || (mesh != nullptr && !take_line(rank, *mesh, into)) || !take_line(rank, *of, into)) {
      release(state.time);
      return false;
    }
  }
  return true;
}

// A file of a line lies at these paths once the program has purged it.
std::vector<std::string> RestartPoints::paths_kept(int rank, const core::LineId& line, const std::string& name) const {
  std::vector<std::string> paths;
  for (const KeptEntry& each : entries_kept(looks.kept(rank)))
    if (each.line.id == line && (each.is_directory || each.file == name))
      paths.push_back(each.is_directory ? join(each.path, name) : each.path);
  return paths;
}

bool RestartPoints::take_line(int rank, const core::RankLook::OfLine& of, Held& into) {
  const core::LineId& line = of.after.id;
  if (looks.kept(rank).empty()) return false;
  const std::string pool(parent_of(parent_of(looks.kept(rank))));
  const std::string directory = join(join(held_in(pool), contract::name_of_kept(rank)), name_of_line(line));
  const TimeFiles& files = found.at(rank).files.at(line);
  into.parts[rank].push_back({line, directory, files});
  if (is_held_elsewhere(directory, into)) return true;                // a mesh that several states have
  if (auto removed = remove_tree(directory); !removed) return false;  // what an agent that was killed had taken
  if (!make_private_directory(std::string(parent_of(directory)))) return false;
  const mode_t umask = run.request.settings.mover.publish.umask;
  for (const auto& [name, file] : files) {
    const std::string path = join(directory, name);
    // The parent keeps all below it private. These modes are those that the case will get.
    for (std::size_t slash = parent_of(directory).size(); slash != std::string::npos; slash = path.find('/', slash + 1))
      if (slash > parent_of(directory).size() &&
          ::mkdir(path.substr(0, slash).c_str(), (0777 & ~umask) | S_IRWXU) != 0 && errno != EEXIST)
        return false;
    if (::link(file.path.c_str(), path.c_str()) != 0) {
      // The program may have purged it since: then it lies there.
      if (errno != ENOENT) return false;
      const auto purged = paths_kept(rank, line, name);
      if (std::ranges::none_of(purged, [&](const auto& each) { return ::link(each.c_str(), path.c_str()) == 0; }))
        return false;
    }
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return false;
    const LocalMark mark = mark_of(status);
    if (mark.inode != file.mark.inode || mark.size != file.mark.size || mark.mtime_ns != file.mark.mtime_ns)
      return false;
    if (!file.is_link && is_open_for_writing(path)) return false;
  }
  // Nor cut since, nor begun again where it stands.
  const core::Page page = pages ? pages->page_of(rank) : core::Page{};
  if (page.begun == 0) return true;
  if (const auto now = pages->line(rank, line.sequence); now && now->cut) return false;
  for (std::uint64_t later = line.sequence + 1; !of.kept && later <= page.begun; ++later)
    if (const auto each = pages->line(rank, later); each && each->id.time == line.time) return false;
  return true;
}

void RestartPoints::release(const std::string& time) {
  const auto found_held = held.find(time);
  if (found_held == held.end()) return;
  for (const auto& [rank, parts] : found_held->second.parts)
    for (const Taken& part : parts) {
      if (is_held_elsewhere(part.directory, found_held->second)) continue;
      if (auto removed = remove_tree(part.directory); !removed) run.note(std::nullopt, removed.error().text());
    }
  held.erase(found_held);
}

void RestartPoints::release_unused() {
  std::vector<std::string> unused;
  for (const auto& [time, each] : held)
    if (!is_used(each)) unused.push_back(time);
  for (const std::string& time : unused) release(time);
}

bool RestartPoints::is_used(const Held& each) const {
  return std::ranges::any_of(each.parts, [&](const auto& of) {
    return std::ranges::any_of(of.second, [&](const Taken& part) { return uses.contains(part.line.time); });
  });
}

bool RestartPoints::is_held_elsewhere(const std::string& directory, const Held& than) const {
  return std::ranges::any_of(held, [&](const auto& each) {
    return &each.second != &than && std::ranges::any_of(each.second.parts, [&](const auto& of) {
      return std::ranges::any_of(of.second, [&](const Taken& part) { return part.directory == directory; });
    });
  });
}

void RestartPoints::use(const std::string& time, bool begin) {
  if (begin) {
    ++uses[time];
  } else if (--uses[time] <= 0) {
    uses.erase(time);
  }
}

const RestartPoints::Held* RestartPoints::held_of(const std::string& time) const {
  for (const auto& [state, each] : held)
    for (const auto& [rank, parts] : each.parts)
      for (const Taken& part : parts)
        if (part.line.time == time) return &each;
  return nullptr;
}

const RestartPoints::Taken* RestartPoints::taken_of(int rank, const std::string& time) const {
  const Held* of = held_of(time);
  if (of == nullptr || !of->parts.contains(rank)) return nullptr;
  const std::vector<Taken>& parts = of->parts.at(rank);
  const auto part = std::ranges::find_if(parts, [&](const Taken& each) { return each.line.time == time; });
  return part == parts.end() ? nullptr : &*part;
}

std::string RestartPoints::held_directory(int rank, const std::string& time) const {
  const Taken* part = taken_of(rank, time);
  return part == nullptr ? std::string() : part->directory;
}

TimeFiles RestartPoints::held_files(int rank, const std::string& time) const {
  const Taken* part = taken_of(rank, time);
  return part == nullptr ? TimeFiles() : part->files;
}

TimeFiles RestartPoints::files_of(int rank, const std::string& time) const {
  if (held_of(time) != nullptr) return held_files(rank, time);
  const auto of_rank = found.find(rank);
  std::uint64_t newest = 0;
  TimeFiles files;
  for (const auto& [line, each] : of_rank == found.end() ? std::map<core::LineId, TimeFiles>() : of_rank->second.files)
    if (line.time == time && line.sequence > std::exchange(newest, std::max(newest, line.sequence))) files = each;
  return files;
}

OwnNames RestartPoints::own_names(int rank, const std::string& time, const std::string& directory) const {
  OwnNames own;
  const Taken* part = taken_of(rank, time);
  if (part == nullptr) return own;
  const std::string tree = local_of(run.roots, time_directory(rank, time));
  for (const auto& [name, file] : part->files) {
    for (const std::string& other : {part->directory, tree})
      if (other != directory) own[name].push_back(join(other, name));
    std::ranges::copy(paths_kept(rank, part->line, name), std::back_inserter(own[name]));
  }
  return own;
}

void RestartPoints::carry(const core::StateId& state) {
  const auto of = held.find(state.time);
  if (of == held.end() || uses.contains(state.time)) return;
  std::set<std::string> meshes;
  for (const auto& [rank, parts] : of->second.parts)
    for (const Taken& part : parts)
      if (part.line.time != state.time) meshes.insert(part.line.time);
  for (const std::string& mesh : meshes) work.submit_time(mesh, true);
  work.submit_time(state.time, true);
}

// All ranks of the node have it there.
void RestartPoints::time_is_home(const std::string& time) {
  if (const auto of_held = held.find(time); of_held != held.end()) {
    Home now{time, {}, {}};
    for (const auto& [rank, parts] : of_held->second.parts)
      for (const Taken& part : parts) {
        if (part.line.time != time) continue;
        now.lines[rank] = part.line;
        for (const auto& [name, file] : part.files) now.names[rank].insert(core::plain_name(name));
      }
    return note_home(of_held->second.state, std::move(now));
  }
  const auto state = std::ranges::find_if(good, [&](const core::StateId& each) { return each.time == time; });
  if (state != good.end()) note_home(*state, home_of(core::common_states(times).at(*state)));
}

RestartPoints::Home RestartPoints::home_of(const core::Parts& parts) {
  Home now;
  for (const auto& [rank, part] : parts) {
    now.time = part->line.time;
    now.names[rank] = part->names;
    now.lines[rank] = part->line;
  }
  return now;
}

void RestartPoints::note_home(const core::StateId& state, Home&& of) {
  // Another node may be dead, and this one does not know what that brought home: all of these stay.
  if (several()) run.record(complete_record(of.time));
  seen.timeline.safe(of.time, run.now());
  begun_again.erase(of.time);
  home.insert_or_assign(state, std::move(of));
  ledger.carried.insert(state);
  ledger.carried_at = in_ticks(run.clock.date());
}

// The case has these files as they lie here.
bool RestartPoints::are_home(const std::string& directory, const TimeFiles& files) const {
  return std::ranges::all_of(files, [&](const auto& each) {
    const auto& [name, file] = each;
    const auto known = run.ledger.find(join(directory, name));
    if (!known) return false;
    return file.is_link ? known->evicted || !known->link_target.empty()
                        : known->on_case && is_as_known(*known, file.mark);
  });
}

bool RestartPoints::is_home(int rank, const std::string& time) const {
  const TimeFiles files = held_files(rank, time);
  return !files.empty() && are_home(time_directory(rank, time), files);
}

// All of the state is on the case as it lies here.
bool RestartPoints::are_home(const core::Parts& parts) const {
  return std::ranges::all_of(parts, [&](const auto& each) {
    const auto& [rank, part] = each;
    const std::string directory = time_directory(rank, part->line.time);
    if (run.ledger.collated_of(rank, part->line.time)) return true;
    const TimeFiles& files = found.at(rank).files.at(part->line);
    return are_home(directory, files) && std::ranges::none_of(files, [&](const auto& file) {
             return run.ledger.find(join(directory, file.first))->deleted;
           });
  });
}

// Where files go as they are closed, a state is home when all of them are.
void RestartPoints::find_home() {
  const auto common = core::common_states(times);
  for (auto state = good.rbegin(); state != good.rend(); ++state)
    if (!home.contains(*state) && are_home(common.at(*state))) note_home(*state, home_of(common.at(*state)));
}

// The run removes superseded states only while nothing is in doubt. The end deals with those that stay.
bool RestartPoints::may_remove() const {
  return end.phase == Phase::running && work.not_carried.failures.empty() && !run.ledger.lost_events() &&
         run.trouble != Code::conflict && run.trouble != Code::lost;
}

bool RestartPoints::was_purged(const Home& of) const {
  return !of.lines.empty() && std::ranges::all_of(of.lines, [&](const auto& each) {
    const std::string directory = time_directory(each.first, of.time);
    const auto known = run.ledger.find(directory);
    const bool removed = (known && known->deleted) || run.ledger.deleted_unknown(directory);
    return removed && !name_exists(local_of(run.roots, directory));
  });
}

// States that were carried while the program purges them would pile up on the case until its end. Such a copy nothing
// needs any more when the program itself has removed it (journalled) and a newer state that has all its names is safe.
void RestartPoints::find_superseded() {
  if (!may_remove() || !run.request.settings.hold_times || !ledger.safe || !home.contains(*ledger.safe)) return;
  const Home& safe = home.at(*ledger.safe);
  std::erase_if(home, [&](auto& each) {
    auto& [state, of] = each;
    if (!(state < *ledger.safe) || !was_purged(of) || !core::lacks(safe.names, of.names).nothing()) return false;
    to_leave.push_back(std::move(of));
    return true;
  });
}

void RestartPoints::remove_superseded() {
  if (!may_remove()) return;
  for (Home& of : std::exchange(leaving, std::exchange(to_leave, {}))) {
    if (!was_purged(of)) continue;  // it was begun again
    std::set<std::string> directories;
    for (const int rank : seen.ranks) {
      const auto collated = run.ledger.collated_of(rank, of.time);
      directories.insert(collated ? join(collated->group, of.time) : time_directory(rank, of.time));
    }
    if (is_linked_to(directories)) {
      to_leave.push_back(std::move(of));
      continue;
    }
    for (const std::string& path : directories) work.submit_removal(path);
  }
}

// A link of the case leads into one of them: it may be about to lead to a newer one.
bool RestartPoints::is_linked_to(const std::set<std::string>& directories) const {
  bool found_one = false;
  run.ledger.each("", [&](const std::string& path, const Known& known) {
    if (known.link_target.empty() || !known.on_case) return true;
    const auto target = target_in_case(path, known.link_target, run.request.case_path);
    found_one = target && std::ranges::any_of(directories, [&](const auto& each) { return is_below(*target, each); });
    return !found_one;
  });
  return found_one;
}

}  // namespace forebay::drain
