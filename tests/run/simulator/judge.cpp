#include "judge.h"

#include <algorithm>

namespace forebay::simulator {
namespace {

struct PartFiles {
  LineId line;
  CaseFiles files;
};

std::string text(const LineId& line) {
  return line.time + " (line " + std::to_string(line.sequence) + ")";
}
std::string text(const StateId& state) {
  return "state " + std::to_string(state.number) + " at " + state.time;
}

bool is_full(const Run& run, int output) {
  const Output& of = run.plan[static_cast<std::size_t>(output)];
  return of.full && std::ranges::all_of(
                        run.needed, [&](const std::string& name) { return std::ranges::count(of.names, name) > 0; });
}

bool is_finished(const Run& run, Rank rank, int output) {
  const auto pending = run.pending.find({rank, output});
  return pending != run.pending.end() && pending->second == 0 && !run.cut.contains({rank, output});
}

// The newest output up to this one that wrote a mesh.
std::optional<int> output_of_mesh(const Run& run, int output) {
  for (int each = output; each >= 0; --each)
    if (run.plan[static_cast<std::size_t>(each)].has_mesh) return each;
  return std::nullopt;
}

// The mesh that this rank wrote with that output may be torn, or something may have been removed of it unseen. That a
// forked writer of another file died alone does not matter.
bool is_spoilt_mesh(const Run& run, Rank rank, int output) {
  const auto line = run.line_of.find({rank, output});
  const auto truth = run.truth.find({rank, output});
  return line == run.line_of.end() || run.page(rank).lines.at(line->second).cut || truth == run.truth.end() ||
         !truth->second.contains(mesh_file) || run.tampered.contains({rank, output});
}

// A failed write, or something removed unseen: here, or in its mesh.
bool is_spoilt(const Run& run, int output) {
  const auto mesh = output_of_mesh(run, output);
  for (Rank rank = 0; rank < run.habits.ranks; ++rank) {
    if (run.cut.contains({rank, output}) || run.tampered.contains({rank, output})) return true;
    if (mesh && is_spoilt_mesh(run, rank, *mesh)) return true;
  }
  return false;
}

void judge_parts(const Run& run, const StateId& state, const std::map<Rank, PartFiles>& parts, bool must_be_full,
                 const std::string& what) {
  if (!run.habits.start && (run.habits.writes_again || run.habits.forks)) return;  // without a start time it is a guess
  if (run.habits.makes_state_files && !state.has_state)
    return;  // before its first state a program has nothing to start from
  std::set<int> outputs;
  for (const auto& [rank, part] : parts) outputs.insert(run.output_of.at({rank, part.line}));
  if (outputs.size() != 1) throw Broken("c: " + text(state) + " " + what + ", but of different outputs");
  const int output = *outputs.begin();
  const auto is_of_output = [&](const auto& each) { return each.second == output; };
  const bool is_whole =
      std::ranges::none_of(run.tampered, is_of_output) && std::ranges::none_of(run.freed, is_of_output);
  if (!must_be_full && !(is_full(run, output) && is_whole))
    return;  // before a full state was seen a poor time may be called so
  Names must_have;
  if (must_be_full) must_have = run.needed;
  if (must_be_full && state.has_state) must_have.insert(mark);
  if (is_whole && !run.habits.writes_again)  // what is begun again in place takes names from an older one
    for (const std::string& name : run.plan[static_cast<std::size_t>(output)].names)
      if (state_names.contains(name)) must_have.insert(name);
  for (const auto& [rank, part] : parts) {
    const std::string which = "c: rank " + std::to_string(rank) + " " + text(part.line) + " " + what;
    // Names are not counted: a child may have removed just the file that was cut. What is there must be right.
    if (!is_finished(run, rank, output) && !run.tampered.contains({rank, output}))
      throw Broken(which + ", is cut or unfinished");
    const auto truth = run.truth.find({rank, output});
    for (const auto& [name, bytes] : part.files) {
      if (!state_names.contains(name) || !run.written.contains(name)) continue;
      const bool same = truth != run.truth.end() && truth->second.contains(name) && truth->second.at(name) == bytes;
      if (!same) throw Broken(which + ", is a mixture: " + name);
    }
    for (const std::string& name : must_have)
      if (!part.files.contains(name)) throw Broken(which + ", lacks " + name);
  }
}

}  // namespace

int output_of_state(const Run& run, const std::optional<StateId>& state) {
  const auto found = state ? run.output_of_state.find(*state) : run.output_of_state.end();
  return found == run.output_of_state.end() ? -1 : found->second;
}

// Somebody writes to it, maybe once more.
bool is_open(const Run& run, Rank rank, const LineId& line) {
  const RankDirectory& mine = run.directory(rank);
  const auto has_writers = [](const auto& directories, const auto& key) {
    const auto found = directories.find(key);
    return found != directories.end() &&
           std::ranges::any_of(*found->second, [](const auto& each) { return each.second->writers > 0; });
  };
  return has_writers(mine.tree, line.time) || has_writers(mine.kept, line) ||
         run.written_late.contains({rank, run.output_of.at({rank, line})});
}

bool may_be_too_far(const Run& run) {
  return run.habits.nodes > 1 && ((run.habits.threads && run.habits.most_behind > 2) || run.habits.forks);
}

std::optional<int> promised_output(const Run& run) {
  return run.habits.start ? newest_full_output(run) : std::nullopt;
}

std::optional<int> newest_full_output(const Run& run) {
  const Habits& habits = run.habits;
  if (habits.writes_again && (!habits.makes_state_files || habits.threads)) return std::nullopt;
  if (!run.cut.empty() && habits.nodes > 1) return std::nullopt;  // a full pool on one node: the others go on
  for (auto output = run.plan.rbegin(); output != run.plan.rend(); ++output) {
    const int index = output->index;
    if (!is_full(run, index) || is_spoilt(run, index)) continue;
    const bool written_over = std::any_of(run.plan.begin() + index + 1, run.plan.end(), [&](const Output& later) {
      if (later.time != output->time) return false;
      for (Rank rank = 0; rank < habits.ranks; ++rank)
        if (run.begun.contains({rank, later.index})) return true;
      return false;
    });
    if (written_over || (habits.writes_again && (output->time == "0" || run.needed.contains("vort")))) continue;
    // What the program had purged may have been given up for a time that it then began again.
    if (habits.writes_again && !run.direct.contains({0, output->time})) continue;
    bool all_left = true;
    for (Rank rank = 0; rank < habits.ranks && all_left; ++rank) {
      const auto line = run.line_of.find({rank, index});
      const RankPage& page = run.page(rank);
      all_left = line != run.line_of.end() && !page.lines.at(line->second).cut && is_finished(run, rank, index) &&
                 !is_open(run, rank, line->second) && core::is_left(page.words, line->second.sequence);
    }
    if (all_left) return index;
  }
  return std::nullopt;
}

bool is_drained(const Run& run, int output) {
  const auto stands = [&](Rank rank, int which) {
    const Output& of = run.plan[static_cast<std::size_t>(which)];
    const auto found = run.direct.find({rank, of.time});
    const auto line = run.line_of.find({rank, which});
    return found != run.direct.end() && line != run.line_of.end() && !run.freed.contains({rank, which}) &&
           !run.directory(rank).kept.contains(line->second) &&
           std::ranges::all_of(of.names, [&](const std::string& name) { return found->second.contains(name); });
  };
  for (Rank rank = 0; rank < run.habits.ranks; ++rank)
    if (!stands(rank, output) || !stands(rank, output_of_mesh(run, output).value_or(output))) return false;
  return std::ranges::all_of(run.nodes, [](const auto& each) { return each->ledger.drained; });
}

void judge_restartable(Run& run, const core::States& states, bool known, bool had_states) {
  const std::vector<StateId>& good = states.restartable;
  for (const StateId& state : good) {
    if (had_states && !state.has_state)
      throw Broken("c: " + text(state) + " is called restartable, but holds no state");
    std::map<Rank, PartFiles> parts;
    for (const auto& [rank, time] : states.common.at(state)) {
      parts[rank].line = time->line;
      for (const auto& [name, file] : run.looked_at.at({rank, time->line})) parts[rank].files[name] = file.bytes;
    }
    judge_parts(run, state, parts, known && state == good.front(), "is called restartable");
  }
}

void judge_on_case(Run& run, const StateId& state) {
  const auto found = run.the_case.records.find({run.number, state});
  if (found == run.the_case.records.end() || static_cast<int>(found->second.size()) < run.habits.ranks)
    throw Broken("b: " + text(state) + " is not recorded for all ranks");
  std::map<Rank, PartFiles> parts;
  for (const auto& [rank, record] : found->second) {
    std::map<PathInRank, Bytes> files;
    for (const auto& [path, visit] : record.paths) {
      const CaseFiles* const have = run.the_case.find(rank, path.first, visit);
      if (!have || !have->contains(path.second))
        throw Broken("b: " + text(state) + ": " + path.first + "/" + path.second + " of rank " + std::to_string(rank) +
                     " is not on the case");
      files[path] = have->at(path.second);
    }
    PartFiles& part = parts[rank];
    part.line = record.line;
    for (const auto& [path, bytes] : files)
      if (path.first == record.line.time) part.files[path.second] = bytes;
    const auto mesh = output_of_mesh(run, run.output_of.at({rank, record.line}));
    if (!mesh) continue;
    const auto truth = run.truth.find({rank, *mesh});
    const auto have = files.find({run.plan[static_cast<std::size_t>(*mesh)].time, mesh_file});
    const Bytes wanted =
        truth != run.truth.end() && truth->second.contains(mesh_file) ? truth->second.at(mesh_file) : Bytes{};
    if (wanted != (have == files.end() ? Bytes{} : have->second))
      throw Broken("c: rank " + std::to_string(rank) + " " + text(record.line) + ": not its mesh");
  }
  judge_parts(run, state, parts, false, "is on the case");
}

void judge_named(const Run& run, const StateId& state) {
  for (const auto& [rank, record] : run.the_case.records.at({run.number, state})) {
    const auto found = run.the_case.directories.find({rank, record.line.time});
    if (found == run.the_case.directories.end() || found->second.visit != Visit{run.number, record.line.sequence})
      throw Broken("b: rank " + std::to_string(rank) + " " + text(record.line) + " is found, another one has its name");
  }
}

void judge_record(const Run& run, Rank rank, const StateId& state, const Record& record) {
  const auto of_state = run.the_case.records.find({run.number, state});
  if (of_state == run.the_case.records.end()) return;
  const auto had = of_state->second.find(rank);
  if (had == of_state->second.end() || run.tampered.contains({rank, run.output_of.at({rank, record.line})})) return;
  if (!std::ranges::includes(record.own, had->second.own))
    throw Broken("b: rank " + std::to_string(rank) + ": " + text(state) + " was on the case with more files");
}

void judge_told_safe(Run& run, const StateId& state) {
  const int output = output_of_state(run, state);
  const bool all_drained = std::ranges::all_of(run.nodes, [](const auto& each) { return each->ledger.drained; });
  if (output < 0 || !is_full(run, output) || !run.habits.start || all_drained) return;
  const auto best = run.best_on_case();  // what is told is there, or something newer is
  if (!best || *best < state) throw Broken("b: " + text(state) + " is told as safe, the case has an older one or none");
  judge_on_case(run, *best);
  run.told_safe.push_back(state);
}

// How many full states that all ranks have left are newer than the one that is safe.
int states_behind(const Run& run, const core::Ledger& ledger) {
  const int newest = promised_output(run).value_or(-1), safe = output_of_state(run, ledger.safe);
  int behind = 0;
  for (int each = safe + 1; each <= newest; ++each) behind += is_full(run, each);
  return behind;
}

void judge_fresh(Run& run, const core::Ledger& ledger) {
  constexpr int most_behind = 45;  // 36 were the most in 2,500 long runs
  const int behind = run.habits.is_long ? states_behind(run, ledger) : 0;
  if (behind > most_behind)
    throw Broken("b: " + std::to_string(behind) + " states are newer than the one that is safe");
  auto want = promised_output(run);
  if (want && run.habits.nodes > 1) {
    const auto number = [&](int index) -> std::uint64_t {
      if (!run.habits.makes_state_files) return static_cast<std::uint64_t>(index) + 1;
      return static_cast<std::uint64_t>(
          std::count_if(run.plan.begin(), run.plan.begin() + index + 1,
                        [](const Output& each) { return std::ranges::count(each.names, mark) > 0; }));
    };
    std::uint64_t window = 1;
    for (const auto& node : run.nodes) window = std::max(window, node->ledger.window);
    std::optional<int> first;
    for (int each = *want; each >= 0; --each)
      if (is_full(run, each) && number(each) / window == number(*want) / window) first = each;
    want = run.cut.empty() && run.tampered.empty() ? first : std::nullopt;
  }
  const bool late = want && run.now - ledger.carried_at >= run.habits.interval &&
                    (!ledger.safe || *want > output_of_state(run, ledger.safe));
  const bool all_live = std::ranges::all_of(run.nodes, [](const auto& each) { return each->has_agent; });
  run.overdue = late ? run.overdue + all_live : 0;
  if (run.overdue > 250) throw Broken("b: nothing newer is safe after 250 looks");
}

void judge_kept(const Run& run, const core::States& states, const std::vector<core::Action>& actions) {
  const core::Times& times = states.times;
  std::optional<StateId> left;
  for (const auto& [rank, mine] : times) {
    StateId newest;
    for (const core::Time& time : mine)
      if (time.left && time.id) newest = std::max(newest, *time.id);
    left = left ? std::min(*left, newest) : newest;
  }
  const bool is_kept = !run.habits.writes_again && run.written_late.empty() &&
                       (run.habits.nodes == 1 || (run.habits.start && !may_be_too_far(run)));
  const auto newest = is_kept ? newest_full_output(run) : std::nullopt;
  for (const core::Action& each : actions) {
    if (each.kind != core::Action::Kind::free || newest != run.output_of.at({each.rank, each.line})) continue;
    if (std::ranges::count_if(times.at(each.rank), &core::Time::kept) <= 4)
      throw Broken("a: rank " + std::to_string(each.rank) + " frees " + text(each.line) + ", the newest full state");
  }
  const int several = run.habits.nodes > 1 ? (run.habits.threads ? 5 : 3) : 2;
  for (const auto& [rank, mine] : times) {
    auto kept = std::ranges::count_if(
        mine, [&](const core::Time& time) { return time.kept && time.left && (!time.id || *time.id <= *left); });
    kept -= std::ranges::count_if(actions, [&, rank = rank](const core::Action& each) {
      return each.kind == core::Action::Kind::free && each.rank == rank;
    });
    if (kept > 4 + 2 * several)
      throw Broken("e: rank " + std::to_string(rank) + " keeps " + std::to_string(kept) + " purged times");
    // Of times newer than the newest restartable state the poorest are given up.
    const auto& good = states.restartable;
    const std::uint64_t newest_good = good.empty() ? 0 : states.common.at(good.front()).at(rank)->line.sequence;
    std::size_t richest_freed = 0, poorest_kept = SIZE_MAX;
    for (const core::Time& time : mine) {
      if (!time.kept || !time.left || time.line.sequence <= newest_good || (time.id && *time.id > *left)) continue;
      const bool is_freed = std::ranges::any_of(actions, [&, rank = rank](const core::Action& each) {
        return each.kind == core::Action::Kind::free && each.rank == rank && each.line == time.line;
      });
      if (is_freed)
        richest_freed = std::max(richest_freed, time.own.size());
      else
        poorest_kept = std::min(poorest_kept, time.own.size());
    }
    if (richest_freed > poorest_kept)
      throw Broken("e: rank " + std::to_string(rank) + " gives up a time that has more than one that stays");
  }
}

void judge_carried(const Run& run, const Node& node) {
  for (const auto& [key, known] : node.carried) {
    const auto& [rank, path, visit] = key;
    const CaseFiles* const have = run.the_case.find(rank, path.first, visit);
    if (known.file->writers > 0 || known.file->modified != known.modified || !have) continue;
    const auto found = have->find(path.second);
    if (found != have->end() && found->second != known.file->bytes)
      throw Broken("g: rank " + std::to_string(rank) + " " + path.first + "/" + path.second +
                   " is not what the case has, and looks like it");
  }
}

void judge_clean_end(Run& run) {
  while (!run.late.empty()) run.finish_late_rename();
  const bool events_missed =
      std::ranges::any_of(run.nodes, [](const auto& each) { return each->events_lost || each->agents > 1; });
  if (!run.cut.empty() || (run.habits.purge == Habits::Purge::child && events_missed))
    return;  // exit 6; what was missed stays, and is told
  std::set<std::pair<Rank, std::string>> all;
  for (const auto& [key, files] : run.direct) all.insert(key);
  for (const auto& [key, files] : run.the_case.directories) all.insert(key);
  for (const auto& key : all) {
    CaseFiles want, have;
    if (const auto direct = run.direct.find(key); direct != run.direct.end())
      for (const auto& [name, file] : direct->second) want[name] = file->bytes;
    if (const auto found = run.the_case.directories.find(key); found != run.the_case.directories.end())
      have = found->second.files;
    have.erase("notes");
    if (want == have) continue;
    std::string names;
    for (const auto& [name, bytes] : have) names += " " + name;
    names += "; a direct run leaves";
    for (const auto& [name, bytes] : want) names += " " + name;
    throw Broken("g: rank " + std::to_string(key.first) + " time " + key.second + ": the case has" + names);
  }
}

}  // namespace forebay::simulator
