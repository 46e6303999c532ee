// The end of a run: carry what is left, then let the program's deletions follow, then say what could not be done.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "run/drain/state.h"
#include "run/drain/units.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {
namespace {

// Each pass walks the trees and submits what it finds. More than one is needed only when something failed for good (a
// file that changed while it was read); one that fails every time must not keep the run for ever.
constexpr int most_passes = 5;
// In a pool that is full: what is home makes room for the journal of the rest.
constexpr std::uint64_t room_for_journal = std::uint64_t{4} << 20;

}  // namespace

Status Drain::begin_finish(bool cleanly) {
  State& state = *state_;
  // A resumed run knows it from its journal.
  state.ended_cleanly = cleanly || state.ledger.ended_cleanly();
  if (state.watcher) {
    if (auto read = on_events(); !read) return read;
    state.look_into_passed_over(true);
    for (const int rank : state.times.ranks()) state.adopt(rank);
    state.ask_unsure(State::Ask::all);  // nobody writes any more, however the program ended
    state.new_complete_times();
    state.watcher.reset();
    if (!cleanly)
      if (auto found = state.find_last_times(false); !found) return found;
  }
  state.note_failed_writes();
  // Behind all that the program did: a journal that ends before this has not seen the end.
  if (cleanly) state.record(ended_cleanly_record());
  state.phase = State::Phase::carrying;
  // Times that somebody has open were tried again and again, since ranks go on; now they wait for who writes.
  state.ending = true;
  state.mover->retry_now();
  state.last_progress = state.last_found = Clock::now();
  state.pending.clear();
  state.unreadable.clear();  // perhaps it was only for a while
  state.catch_up.reset();
  state.waiting_times.clear();
  if (!state.pools_intact()) return {};
  state.submit_last_complete();
  state.submit_outputs();
  return {};
}

bool Drain::finished() {
  State& state = *state_;
  on_outcomes();
  if (state.phase == State::Phase::carrying) {
    if (!state.journal->has_room()) state.evict_carried(room_for_journal, state.request.home);
    if (!state.gave_up) state.submit_more_outputs();
    if (!state.jobs.empty()) {
      if (!state.gave_up && !state.worth_waiting()) {
        state.gave_up = true;
        state.mover->give_up();
      }
      return false;
    }
    if (!state.pools_intact()) {
      state.phase = State::Phase::done;
      return true;
    }
    if (!state.gave_up && state.passes < most_passes) {
      state.submit_outputs();
      if (!state.jobs.empty()) return false;
      if (state.make_way()) {
        state.passes = 0;
        state.submit_outputs();
        return false;
      }
    }
    if (!state.gave_up && state.wait_for_writers()) return false;
    state.note_failed_writes();  // of who outlived the program
    state.remove_stale();
    state.count_undrained();
    state.note_written_inputs();
    if (state.unfinished_checkpoint)
      state.note(std::nullopt,
                 "the program ended while it wrote a checkpoint, or too soon after: the case has the last one that is "
                 "known to be whole");
    if (state.separated > 0)
      state.note(std::nullopt,
                 fmt::format("{} hard links are files of their own on the case, whose file system did not "
                             "make them",
                             state.separated));
    state.phase = State::Phase::removing;
  }
  if (state.phase == State::Phase::removing) {
    // What cannot be looked at is not absent.
    if (state.undrained_files + state.undrained_unreadable == 0 && !state.outlasted) {
      state.remove_replaced_groups();
      state.remove_deleted();
    }
    state.phase = State::Phase::done;
  }
  return state.phase == State::Phase::done;
}

bool Drain::State::worth_waiting() {
  const MoverProgress progress = mover->progress();
  const std::uint64_t mark = progress.bytes_written + progress.files_written;
  const auto now = Clock::now();
  if (mark > progress_mark) {  // failed attempts let it fall
    progress_mark = mark;
    last_progress = now;
  }
  return now - last_progress < request.settings.patience;
}

// Begins a pass over the local trees. Only so much is submitted at once: what waits for its turn costs memory.
void Drain::State::submit_outputs() {
  ++passes;
  renew_changed_groups();
  if (!ended_cleanly) submit_last_checkpoints();
  walk.emplace(roots, request.placed, ledger, request.lower, request.case_path);
  submitted_in_pass = 0;
  changed_modes.clear();
  submit_more_outputs();
}

void Drain::State::submit_more_outputs() {
  constexpr std::size_t portion = 1000;
  while (walk && jobs.size() < most_jobs) {
    const std::vector<Output> found = walk->next(portion);
    for (const OutputWalk::Missed& missed : walk->take_missed())
      note_unreadable(missed.path, missed.reason, std::nullopt);
    for (const OutputWalk::Renamed& renamed : walk->take_renamed()) note_renamed_input(renamed.origin, renamed.path);
    if (!found.empty()) {
      submit_found(found);
      continue;
    }
    walk.reset();
    // In a pass of their own: a mode may forbid to put anything into the directory. So it waits where that is still to
    // come.
    if (submitted_in_pass > 0) return;
    for (const std::string& path : changed_modes)
      if (!unreadable.contains(path)) submit_directory(path);
  }
}

void Drain::State::submit_found(const std::vector<Output>& found) {
  for (const Output& output : found) {
    if (given_up.contains(output.path) || in_flight.contains(output.path) || still_open.contains(output.path)) continue;
    if (output.kind == Output::Kind::file && unreadable.contains(output.path)) continue;
    const auto time = time_of(output.path, output.kind == Output::Kind::directory);
    if (time && serves(time->rank) && is_new_time(time->rank, time->time)) {
      const std::string directory = time_directory(time->rank, time->time);
      if (is_given_up(time->rank, time->time) || in_flight.contains(directory) || still_open.contains(directory))
        continue;
      if (!ledger.find(directory) && !in_pieces.contains({time->rank, time->time})) {
        const bool complete = times.complete(time->time) || ledger.complete_times().contains(time->time) ||
                              times_of_groups.contains(time->time);
        // A rank that was killed while all purged a time has left of it what the others have not: no group any more.
        const auto has_it = [&](int rank) { return name_exists(local_of(roots, time_directory(rank, time->time))); };
        if (complete && request.settings.collated && std::all_of(times.ranks().begin(), times.ranks().end(), has_it)) {
          submit_time(time->time, false);
        } else {
          submit_rank_time(time->rank, time->time, false);
        }
        continue;
      }
    }
    Checkpoint* const checkpoint = checkpoint_of(output.path);
    const auto known = output.kind == Output::Kind::directory ? ledger.find(output.path) : std::nullopt;
    if (known && known->directory) {
      changed_modes.push_back(output.path);
    } else if (checkpoint != nullptr) {
      if (!stays_behind(*checkpoint) && !still_open.contains(checkpoint->path()))
        submit_checkpoint(*checkpoint, std::nullopt);
    } else if (output.kind == Output::Kind::directory) {
      submit_directory(output.path);
    } else {
      submit_file(output.path, false);
    }
  }
}

// Where the program removed the last complete time before it could complete a newer one, the case gets the one that
// was kept. After a clean end the program's own last state is there, and what it purged stays purged.
void Drain::State::submit_last_complete() {
  if (!alone()) {
    if (!ended_cleanly) submit_newest_candidates();
  }
  if (ended_cleanly) return;
  for (const std::string& time : restart_points()) submit_purged(time);
  for (const std::string& time : kept_by_others)
    if (core::find_time(whole_times, time) != nullptr) submit_purged(time);
}

// A restart point that the program removed, or a part of it.
void Drain::State::submit_purged(const std::string& time) {
  if (safe_times.contains(time) || is_home(time)) return;
  const auto& ranks = times.ranks();
  const bool whole_in_tree = std::all_of(ranks.begin(), ranks.end(), [&](int rank) {
    const std::string local = local_of(roots, time_directory(rank, time));
    const std::set<std::string> kept = keep.files(rank, time);
    return std::all_of(kept.begin(), kept.end(),
                       [&](const std::string& file) { return name_exists(join(local, file)); });
  });
  if (whole_in_tree) return;
  const auto beside = kept_beside();
  const auto older = beside.find(time);
  const std::string why = older != beside.end()           ? older->second
                          : kept_by_others.contains(time) ? "is kept by another node"
                                                          : "was the last that all ranks had completed";
  note(std::nullopt, fmt::format("time {} {}; it was kept and is drained", time, why));
  submit_time(time, true);
}

// Ranks that compute together are at most one time apart, so the newest time that all nodes have complete is one of the
// two newest of each node.
void Drain::State::submit_newest_candidates() {
  std::vector<std::string> newest = candidates.times();
  if (newest.size() > 2) newest.erase(newest.begin(), newest.end() - 2);
  for (const std::string& time : newest)
    if (!safe_times.contains(time)) submit_time(time, true);
}

// A pool that was wiped looks like a program that removed everything. Its sentinel tells the two apart.
bool Drain::State::pools_intact() {
  bool intact = true;
  std::vector<Root> all = roots;
  for (const std::string& directory : request.placed) all.push_back({directory, {}, std::string(parent_of(directory))});
  for (const Root& root : all) {
    if (name_exists(join(root.pool, sentinel_name)) && name_exists(root.local)) continue;
    intact = false;
    note(Code::lost, fmt::format("the pool {} was emptied while the run used it: what was not drained before is gone; "
                                 "nothing is removed from the case; go on from the time that is safe, with a pool that "
                                 "nothing empties (--pool)",
                                 printable(root.pool)));
  }
  return intact;
}

// Files that the drain knows below `path`, if they still are what it knows, then the directories that are empty.
bool Drain::State::remove_from_case(const std::string& path, std::string_view reason) {
  std::vector<std::pair<std::string, Known>> below;
  ledger.each(path, [&](const std::string& each, const Known& known) {
    below.emplace_back(each, known);
    return true;
  });
  bool all = true;
  // Children come after their parents, so backwards.
  for (auto at = below.rbegin(); at != below.rend(); ++at) {
    const auto& [each, known] = *at;
    const Status removed = known.directory ? shared->remove_directory(each)
                                           : remove_published(*shared, each, known.on_case.value_or(Identity{}));
    if (removed || removed.error().errno_value == ENOENT) {
      record(removed_record(each));
    } else if (known.directory && (removed.error().errno_value == ENOTEMPTY || removed.error().errno_value == EEXIST)) {
      all = false;
      if (known.deleted)
        note(Code::conflict,
             fmt::format("the program removed {}, but the case holds files in it that this run does not "
                         "know: they are kept",
                         printable(each)));
    } else {
      all = false;
      note(removed.error().code == Code::conflict ? Code::conflict : Code::undrained,
           fmt::format("{}: {}", reason, removed.error().text()));
    }
  }
  return all;
}

void Drain::State::remove_deleted() {
  std::set<std::string> deleted;
  const auto goes_with_parent = [&](std::string_view path) {
    for (std::string at(parent_of(path)); !at.empty(); at = parent_of(at))
      if (deleted.contains(at)) return true;
    return false;
  };
  // After a crash the restart points stay, though the program had purged them. Another node may be dead, and what it
  // brought home is not known here: then every complete time that this node brought home stays.
  const std::vector<std::string> points = restart_points();
  const auto stays = [&](const std::string& time) {
    if (ended_cleanly) return false;
    return time == newest_safe || std::find(points.begin(), points.end(), time) != points.end() ||
           (!alone() && ledger.complete_times().contains(time));
  };
  ledger.each("", [&](const std::string& path, const Known& known) {
    // What is absent since events were lost was removed by the program or not: it is only told of.
    if (!(known.deleted || ledger.lost_events()) || goes_with_parent(path) || name_exists(local_of(roots, path)))
      return true;
    // The program may have been about to replace it.
    if (!ended_cleanly && checkpoint_of(path)) return true;
    const auto time = openfoam::time_path(path);
    if (!time || !stays(time->time)) deleted.insert(path);
    return true;
  });
  const std::vector<CollatedTime> collated = ledger.collated();
  for (const CollatedTime& each : collated) {
    bool gone = !stays(each.time);
    for (int rank = each.first; rank <= each.last; ++rank) {
      const std::string directory = time_directory(rank, each.time);
      gone = gone && ledger.deleted_unknown(directory) && !name_exists(local_of(roots, directory));
    }
    if (gone) deleted.insert(join(each.group, each.time));
  }
  if (deleted.empty()) return;
  if (trouble == Code::conflict || trouble == Code::lost || ledger.lost_events()) {
    note(Code::conflict,
         fmt::format("{} files or directories that are gone locally stay on the case, because not all is "
                     "known for sure (see above): remove what the program had removed; the first is {}",
                     deleted.size(), printable(*deleted.begin())));
    return;
  }
  for (const std::string& path : deleted) remove_from_case(path);
}

// Temporary names that could not be removed while the shared file system failed.
void Drain::State::remove_stale() {
  std::set<std::string> stale = temporaries.names();
  stale.insert(ledger.temporaries().begin(), ledger.temporaries().end());
  // A directory for which the case has a file or link of this run by now was removed, with nothing in it.
  const auto went_with_directory = [&](const std::string& path) {
    for (std::string at(parent_of(path)); !at.empty(); at = parent_of(at))
      if (const auto known = ledger.find(at); known && known->on_case && !known->directory) return true;
    return false;
  };
  for (const std::string& temporary : stale) {
    if (auto removed = remove_temporary(*shared, temporary); !removed && !went_with_directory(temporary)) {
      note(Code::undrained, "a half-written file stays on the case until `forebay drain --resume` can remove it: " +
                                removed.error().text());
    } else {
      record(temporary_record(temporary, false));
    }
  }
}

void Drain::State::count_undrained() {
  tell_of_changed_groups();
  constexpr std::size_t portion = 1000;
  OutputWalk all(roots, request.placed, ledger, request.lower, request.case_path);
  std::string first;
  for (;;) {
    const std::vector<Output> found = all.next(portion);
    for (const OutputWalk::Missed& missed : all.take_missed()) {
      note_unreadable(missed.path, missed.reason, Code::undrained);
      ++undrained_unreadable;
    }
    if (found.empty()) break;
    for (const Output& output : found) {
      const auto time = time_of(output.path, output.kind == Output::Kind::directory);
      const bool refused = given_up.contains(output.path) || (time && is_given_up(time->rank, time->time));
      if (refused || output.kind == Output::Kind::directory) continue;
      if (const Checkpoint* checkpoint = checkpoint_of(output.path); checkpoint && stays_behind(*checkpoint)) {
        unfinished_checkpoint = !ended_cleanly;
        continue;
      }
      if (first.empty()) first = output.path;
      ++undrained_files;
      undrained_bytes += output.mark.size;
    }
  }
  for (const std::string& time : ended_cleanly ? std::vector<std::string>() : restart_points()) {
    if (safe_times.contains(time) || is_home(time)) continue;
    for (const int rank : times.ranks())
      for (const std::string& file : keep.files(rank, time)) {
        const std::string path = join(time_directory(rank, time), file);
        const auto known = ledger.find(path);
        if ((known && known->on_case) || name_exists(local_of(roots, path))) continue;  // home, or counted above
        if (first.empty()) first = path;
        ++undrained_files;
        undrained_bytes += keep.size(rank, time, file).value_or(0);
      }
  }
  for (const Checkpoint& each : checkpoints) {
    if (ended_cleanly || !each.to_carry() || given_up.contains(each.path())) continue;
    if (first.empty()) first = each.path();
    undrained_files += each.files(*each.to_carry()).size();
  }
  if (undrained_files == 0) return;
  const std::string reason = failures.empty() ? std::string() : "; " + failures.begin()->second;
  note(Code::undrained,
       fmt::format(
           "{} files ({}) are only local, the first is {}{}; run `forebay drain --resume --case {}` on this node "
           "when the cause is gone",
           undrained_files, human_bytes(undrained_bytes), printable(first), reason, printable(request.case_path)));
}

}  // namespace forebay::drain
