#include "run/core/decide.h"

#include <algorithm>
#include <iterator>

#include "run/contract/contract.h"

namespace forebay::core {
namespace {

bool contains_all(const Names& names, const Names& wanted) {
  return std::ranges::includes(names, wanted);
}

// It stayed as it was during the look, no write failed, and no late file of an older line of this time can have come
// here.
bool can_be_judged(const Page& page, const RankLook::OfLine& of) {
  if (is_changed(of) || of.after.cut) return false;
  if (page.place != 0 && of.after.begun_before) return false;
  return true;
}

bool is_closed(const FileFacts& file) {
  return !file.open && !file.torn;
}

// A state that had `uniform/time` and has it no more is being removed, by a process that nobody asked to tell of it.
bool is_being_removed(const RankLook::OfLine& of) {
  return of.after.state != 0 && !of.files.contains(state_file);
}

bool is_sound(const Page& page, const RankLook::OfLine& of) {
  return can_be_judged(page, of) && !is_being_removed(of) &&
         std::ranges::all_of(of.files, [](const auto& each) { return is_closed(each.second); });
}

bool has_whole_mesh(const RankLook& look, const std::optional<LineId>& mesh) {
  if (!mesh) return true;
  const RankLook::OfLine* found = look.find(*mesh);
  if (found == nullptr || !can_be_judged(look.after, *found)) return false;
  const auto is_mesh_file = [](const auto& each) { return is_of_mesh(each.first); };
  return std::ranges::any_of(found->files, is_mesh_file) && std::ranges::all_of(found->files, [&](const auto& each) {
           return !is_mesh_file(each) || is_closed(each.second);
         });
}

// Where the library counted no state, a child without it may have written one.
std::optional<StateId> state_of(const Page& page, const RankLook::OfLine& of) {
  const Line& line = of.after;
  if (line.state != 0) return StateId{true, line.state, line.id.time};
  if (page.states != 0) return std::nullopt;
  return StateId{of.files.contains(state_file), line.id.sequence, line.id.time};
}

Names names_written(const std::map<StateId, Parts>& common) {
  Names names;
  for (const auto& [id, parts] : common)
    for (const auto& [rank, time] : parts) names.insert(time->own.begin(), time->own.end());
  return names;
}

Names own_on_all_ranks(const Parts& parts) {
  Names names = parts.begin()->second->own;
  for (const auto& [rank, time] : parts) names = intersection(names, time->own);
  return names;
}

// The names that a state must have. With a start time they are those of its names that the run has itself written, or
// all of its names while the run has written none. Without a start time they are the names that the two richest states
// share, or those of the only one.
Names required_names(const std::map<StateId, Parts>& common, Names written, const Settings& settings) {
  if (settings.start) {
    const Names here = names_written(common);
    written.insert(here.begin(), here.end());
    const bool has_state = !settings.tells_states || !written.contains(state_file) || written.contains(properties_file);
    Names needed = intersection(*settings.start, written);
    return without_clouds(needed.empty() || !has_state ? *settings.start : std::move(needed));
  }
  std::vector<Names> each;
  for (const auto& [id, parts] : common) each.push_back(own_on_all_ranks(parts));
  if (each.empty()) return {};
  std::ranges::stable_sort(each, {}, &Names::size);
  const Names& richest = each.back();
  return without_clouds(each.size() == 1 ? richest : intersection(richest, each[each.size() - 2]));
}

// Names of the start time, or that the run writes, stand in the time from before it was begun.
bool holds_older(const Time& time, const Names& judged) {
  return std::ranges::any_of(
      time.names, [&](const std::string& name) { return !time.own.contains(name) && judged.contains(name); });
}

std::map<StateId, Parts> common_states(const Times& times) {
  std::map<StateId, Parts> parts;
  for (const auto& [rank, mine] : times)
    for (const Time& time : mine)
      if (time.whole && time.id) parts[*time.id][rank] = &time;
  std::erase_if(parts, [&](const auto& each) { return each.second.size() < times.size(); });
  return parts;
}

std::vector<StateId> restartable_states(std::map<StateId, Parts> common, const Names& written,
                                        const Settings& settings) {
  const std::optional<Names>& start = settings.start;
  if (!common.empty() && common.rbegin()->first.has_state)
    std::erase_if(common, [](const auto& each) { return !each.first.has_state; });
  const Names needed = required_names(common, written, settings);
  if (needed.empty()) return {};
  const Names& judged = start && !start->empty() ? *start : written;
  std::vector<StateId> good;
  for (auto each = common.rbegin(); each != common.rend(); ++each) {
    const Parts& parts = each->second;
    const bool starts = std::ranges::all_of(parts, [&](const auto& of) {
      const Time& time = *of.second;
      return contains_all(time.own, needed) && !holds_older(time, judged) && time.mesh_is_whole;
    });
    if (starts) good.push_back(each->first);
  }
  return good;
}

// The states to carry next, newest last. A node that is alone carries the newest restartable state, once per interval.
// Several nodes carry the first restartable state of each window. Windows double in size, so the first state of a
// larger window is also the first one of a smaller window, and nodes with either carry it.
std::vector<StateId> wanted_states(const std::vector<StateId>& good, const Ledger& ledger, bool several, Ticks now,
                                   Ticks interval) {
  const StateId last = ledger.carried.empty() ? StateId{} : *ledger.carried.rbegin();
  if (!several) {
    if (good.empty() || good.front() <= last || now - ledger.carried_at < interval) return {};
    return {good.front()};
  }
  const auto window_of = [&](const StateId& id) { return std::pair{id.has_state, id.number / ledger.window}; };
  std::map<std::pair<bool, std::uint64_t>, StateId> first;
  for (auto each = good.rbegin(); each != good.rend(); ++each) first.try_emplace(window_of(*each), *each);
  std::vector<StateId> wanted;
  for (const auto& [window, id] : first)
    if (window > window_of(last)) wanted.push_back(id);
  return wanted;
}

// Whether a newer restartable state has all names of this time on this rank. Particles may have gone to other ranks.
bool is_superseded(const Time& time, const std::vector<const Time*>& newer) {
  const Names names = without_clouds(time.names);
  return std::ranges::any_of(newer, [&](const Time* other) {
    return other->line.sequence > time.line.sequence && contains_all(other->own, names);
  });
}

// The newest state that all ranks have left.
StateId left_by_all(const Times& times) {
  std::optional<StateId> oldest;
  for (const auto& [rank, mine] : times) {
    StateId newest;
    for (const Time& time : mine)
      if (time.left && time.id) newest = std::max(newest, *time.id);
    oldest = oldest ? std::min(*oldest, newest) : newest;
  }
  return oldest.value_or(StateId{});
}

// The lines in keep/ of one rank that may go: what a newer restartable state supersedes, and the poorest beyond a few.
std::vector<LineId> lines_to_free(const std::vector<Time>& mine, const std::vector<const Time*>& newer,
                                  const std::set<LineId>& stay, const StateId& left) {
  const std::uint64_t newest = newer.empty() ? 0 : newer.front()->line.sequence;
  std::vector<LineId> free;
  std::vector<const Time*> rest;
  for (const Time& time : mine) {
    if (!time.kept || stay.contains(time.line)) continue;
    if (is_superseded(time, newer)) {
      free.push_back(time.line);
    } else if (time.left && (!time.id || *time.id <= left)) {
      rest.push_back(&time);
    }
  }
  // Times older than the newest restartable state are freed first, the oldest of them first. Newer times follow, the
  // one with the fewest names first.
  std::ranges::stable_sort(rest, {}, [&](const Time* time) {
    const bool later = time->line.sequence > newest;
    return std::tuple{later, later ? time->own.size() : 0, time->line.sequence};
  });
  for (std::size_t i = 0; i + contract::most_restart_points < rest.size(); ++i) free.push_back(rest[i]->line);
  return free;
}

std::vector<Action> frees(const States& states, const std::vector<StateId>& hold) {
  const StateId left = left_by_all(states.times);
  std::vector<Action> actions;
  for (const auto& [rank, mine] : states.times) {
    std::set<LineId> stay;
    for (const StateId& id : hold) {
      const auto found = states.common.find(id);
      if (found == states.common.end()) continue;
      const Time& part = *found->second.at(rank);
      stay.insert(part.line);
      if (part.mesh) stay.insert(*part.mesh);
    }
    std::vector<const Time*> newer;
    for (const StateId& id : states.restartable) newer.push_back(states.common.at(id).at(rank));
    for (const LineId& line : lines_to_free(mine, newer, stay, left))
      actions.push_back({.kind = Action::Kind::free, .rank = rank, .line = line});
  }
  return actions;
}

std::optional<StateId> newest_of_all(const Ledger& ledger, const Reports& reports, int nodes) {
  for (auto id = ledger.carried.rbegin(); id != ledger.carried.rend(); ++id) {
    const auto carried_by =
        std::ranges::count_if(reports, [&](const auto& each) { return each.second.carried.contains(*id); });
    if (carried_by >= nodes - 1) return *id;
  }
  return std::nullopt;
}

}  // namespace

const RankLook::OfLine* RankLook::find(const LineId& line) const {
  const auto found = std::ranges::find_if(lines, [&](const OfLine& each) { return each.after.id == line; });
  return found == lines.end() ? nullptr : &*found;
}

bool is_left(const Page& page, std::uint64_t sequence) {
  if (page.ended) return true;
  if (page.begun <= sequence) return false;
  if (page.dead) return true;
  if (page.place != 0) return page.place > sequence;
  return page.begun - sequence >= 2 || !page.collated;  // a writing thread may not have shown itself yet
}

bool is_changed(const RankLook::OfLine& of) {
  return of.before != of.after || of.was_newest != of.is_newest;
}

bool must_look_again(const RankLook& look) {
  return std::ranges::any_of(
      look.lines, [&](const auto& each) { return is_changed(each) && is_left(look.before, each.before.id.sequence); });
}

std::vector<Time> times_of(const RankLook& look) {
  std::vector<Time> times;
  for (const auto& of : look.lines) {
    if (of.files.empty()) continue;
    Time time;
    time.line = of.after.id;
    time.id = state_of(look.after, of);
    time.left = is_left(look.before, time.line.sequence);
    time.whole = time.left && is_sound(look.after, of);
    time.mesh = of.after.mesh;
    time.mesh_is_whole = has_whole_mesh(look, time.mesh);
    time.kept = of.kept;
    for (const auto& [name, facts] : of.files) {
      time.names.insert(name);
      if (facts.modified >= of.after.begun_at) time.own.insert(name);
    }
    times.push_back(std::move(time));
  }
  return times;
}

States::States(Times of, const Names& written, const Settings& settings)
    : times(std::move(of)), common(common_states(times)), restartable(restartable_states(common, written, settings)) {}

bool has_threads(const RankLook& look) {
  return look.after.place != 0 || look.after.collated;
}

// Where threads may write, a rank leaves a time when it has begun two later ones: nodes may be further apart.
std::size_t states_kept(bool threads, int nodes) {
  return nodes <= 1 ? 1 : threads ? 4 : 2;
}

std::vector<StateId> last_states(const States& states, std::size_t newest) {
  const std::vector<StateId>& good = states.restartable;
  std::vector<StateId> last(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(std::min(newest, good.size())));
  for (std::size_t i = last.size(); i < good.size(); ++i) {
    const bool stays = std::ranges::any_of(states.common.at(good[i]), [&](const auto& part) {
      std::vector<const Time*> newer;
      for (std::size_t j = 0; j < i; ++j) newer.push_back(states.common.at(good[j]).at(part.first));
      return part.second->kept && !is_superseded(*part.second, newer);
    });
    if (stays) last.push_back(good[i]);
  }
  return last;
}

std::vector<Action> decide(const Seen& seen, const Ledger& ledger, const Reports& reports, const Settings& settings) {
  using Kind = Action::Kind;
  const bool several = settings.nodes > 1;
  const std::vector<StateId>& good = seen.states.restartable;
  std::vector<Action> actions;

  const Names names = names_written(seen.states.common);
  if (!contains_all(ledger.written, names)) actions.push_back({.kind = Kind::note_written, .names = names});

  const auto wanted = wanted_states(good, ledger, several, seen.now, settings.interval);
  const std::size_t newest = states_kept(seen.threads, settings.nodes);
  std::vector<StateId> hold(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(std::min(newest, good.size())));
  if (!wanted.empty()) hold.push_back(wanted.back());
  std::ranges::move(frees(seen.states, hold), std::back_inserter(actions));

  if (wanted.size() > 1) {
    actions.push_back({.kind = Kind::set_window, .window = ledger.window * 2});
  } else if (several && ledger.window > 1 && seen.now - ledger.carried_at > 3 * settings.interval) {
    actions.push_back({.kind = Kind::set_window, .window = ledger.window / 2});
  }
  if (!wanted.empty() && !seen.ended)
    actions.push_back({.kind = seen.held.contains(wanted.back()) ? Kind::carry : Kind::take, .state = wanted.back()});

  const auto safe = newest_of_all(ledger, reports, settings.nodes);
  if (safe && (!ledger.safe || *ledger.safe < *safe)) actions.push_back({.kind = Kind::call_safe, .state = *safe});

  const auto have_drained = std::ranges::count_if(reports, [](const auto& each) { return each.second.drained; });
  if (ledger.drained && have_drained >= settings.nodes - 1) actions.push_back({.kind = Kind::end});
  return actions;
}

}  // namespace forebay::core
