// The end of a run: carry what is left, then let the program's deletions follow, then say what could not be done.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/pulse.h"
#include "run/advice/commands.h"
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
// Outputs that are looked at in one go.
constexpr std::size_t found_at_once = 1000;
// The time between two attempts to remove temporary names from the case.
constexpr std::chrono::seconds removal_interval{1};

// Pipes, sockets and devices live only as long as the run.
bool is_carried(mode_t mode) {
  return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode);
}

}  // namespace

Status Drain::begin_finish(bool cleanly) {
  State& state = *state_;
  // A resumed run knows it from its journal.
  state.run.ended_cleanly = cleanly || state.run.ledger.ended_cleanly();
  state.controls.finish();
  if (state.run.witnesses.watcher) {
    if (auto read = on_events(); !read) return read;
    state.run.witnesses.watcher.reset();
  }
  state.run.phase = Phase::carrying;
  // The last look passes over no time: after a bad end, an older state may be needed that the program has purged.
  state.points.look(true);
  if (!state.run.ended_cleanly) {
    state.points.take_last();
    for (const std::string& time : state.points.last().last_times()) state.run.record(complete_record(time));
  }
  if (cleanly)
    state.points.note_end();
  else
    state.run.figures.missed();  // of what is kept some goes home
  state.seen.note_failed_writes();
  // Behind all that the program did: a journal that ends before this has not seen the end.
  if (cleanly) state.run.record(ended_cleanly_record());
  // Times that somebody has open were tried again and again, since ranks go on; now they wait for who writes.
  state.run.is_ending = true;
  state.work.mover->retry_now();
  state.work.progress.last_made = state.work.progress.last_submitted = state.run.clock.now();
  state.end.order.begin(state.work.others.end());
  state.work.unreadable.forget_messages();
  state.end.list_times();
  state.end.submit_outputs();
  return {};
}

bool Drain::finished() {
  State& state = *state_;
  state.run.uncarried.tell_alive();
  on_outcomes();
  if (state.run.phase == Phase::carrying) {
    if (!state.run.journal->has_room())
      state.work.eviction.evict_carried(room_for_journal, state.run.request.home, state.points.newest_complete());
    state.work.eviction.let_go();
    if (!state.end.gave_up) state.end.submit_more_outputs();
    if (!state.work.jobs.empty()) {
      if (!state.end.worth_waiting()) {
        if (!std::exchange(state.end.gave_up, true)) state.work.mover->give_up();
        Pulse::give_up();
      }
      return false;
    }
    if (state.work.eviction.is_replacing()) return false;  // what gets its name back is carried, too
    if (!state.end.gave_up && state.end.passes < most_passes) {
      state.end.submit_outputs();
      if (!state.work.jobs.empty()) return false;
      if (state.work.acts.make_way()) {
        state.end.passes = 0;
        state.end.submit_outputs();
        return false;
      }
    }
    if (!state.end.gave_up && state.end.writers.wait()) return false;
    if (!state.end.gave_up && state.end.writers.leave_doubts()) return false;
    state.seen.note_failed_writes();  // of who outlived the program
    if (!state.end.remove_stale()) return false;
    if (state.end.gave_up) state.end.writers.note_left();
    state.end.count_undrained();
    if (const std::size_t conflicts = state.work.not_carried.given_up.size(); conflicts > names_told)
      state.run.note(Code::conflict, fmt::format("{} more changed on the case during the run, like those above",
                                                 plural(conflicts - names_told, "name")));
    state.end.note_missing_pools();
    state.end.note_missing_files();
    state.end.bring_beside();
    state.work.acts.note_written_inputs();
    if (state.work.checkpoints.is_unfinished())
      state.run.tell(
          "the program ended while it wrote a checkpoint, or too soon after: the case has the last one that is "
          "known to be whole");
    if (state.work.links.separated() > 0)
      state.run.tell(fmt::format("made files of their own on the case, whose file system makes no such links: {}",
                                 plural(state.work.links.separated(), "hard link")));
    state.run.phase = Phase::removing;
  }
  if (state.run.phase == Phase::removing) {
    // Nothing is removed while some name could not be looked at: it need not be absent.
    if (state.end.undrained_files + state.end.undrained_unreadable == 0 && !state.end.writers.has_outlasted() &&
        state.end.missing.empty()) {
      state.work.groups.remove_replaced();
      state.end.remove_deleted();
    }
    state.end.note_removed_beside();
    state.run.phase = Phase::done;
  }
  return state.run.phase == Phase::done;
}

bool End::worth_waiting() {
  const MoverProgress progress = work.mover->progress();
  const std::uint64_t mark = progress.bytes_written + progress.files_written;
  const auto now = run.clock.now();
  if (mark > work.progress.mark) {  // failed attempts let it fall
    work.progress.mark = mark;
    work.progress.last_made = now;
  }
  return now - work.progress.last_made < run.request.settings.patience;
}

OutputWalk End::whole_walk() const {
  return {run.roots,
          run.request.placed,
          run.ledger,
          run.request.lower,
          run.request.case_path,
          [this](const std::string& path, const std::string& local, const struct stat& status, const Known& known) {
            return work.doubts.is_in_doubt(path, local, status, known);
          }};
}

// Begins a pass over the local trees. Only so much is submitted at once: what waits for its turn costs memory.
void End::submit_outputs() {
  ++passes;
  if (!run.holds_times()) points.find_home();
  work.groups.renew_changed();
  submit_last_complete();
  if (!run.ended_cleanly) work.checkpoints.submit_last();
  walk.emplace(whole_walk());
  work.progress.submitted_in_pass = 0;
  changed_modes.clear();
  order.forget_found();
  submit_more_outputs();
}

// In the order in which they were begun, as far as that is known, else in that of their values.
void End::list_times() {
  std::set<std::string> here;
  for (const int rank : run.ranks) {
    for (const std::string& time : run.times_here(rank))
      if (run.is_new_time(rank, time)) here.insert(time);
  }
  const std::vector<std::string> begun = points.last().begun();
  for (const std::string& time : begun) here.erase(time);
  std::vector<std::string> unknown(here.begin(), here.end());
  std::ranges::sort(unknown, openfoam::time_less);
  unknown.insert(unknown.end(), begun.begin(), begun.end());
  order.set_times(unknown);
}

void End::submit_more_outputs() {
  constexpr std::size_t portion = 1000;
  while (order.has_times() && work.jobs.size() < Work::most_jobs) {
    const std::string time = order.next_time();
    const std::vector<int>& ranks = run.ranks;
    for (auto rank = ranks.rbegin(); rank != ranks.rend(); ++rank)
      if (name_exists(local_of(run.roots, run.time_directory(*rank, time))) && run.is_new_time(*rank, time) &&
          !run.ledger.collated_of(*rank, time))
        submit_time_of(*rank, time);
  }
  while (walk && !order.has_times() && work.jobs.size() < Work::most_jobs) {
    const std::vector<Output> found = walk->next(portion);
    for (const OutputWalk::Missed& missed : walk->take_missed()) {
      run.figures.missed();
      if (missed.with_pool) continue;  // count_undrained tells
      work.unreadable.note(missed.path, missed.reason, std::nullopt);
    }
    for (const OutputWalk::Renamed& renamed : walk->take_renamed())
      work.acts.note_renamed_input(renamed.origin, renamed.path);
    if (!found.empty()) {
      submit_found(found);
      continue;
    }
    if (const std::set<std::string> others = order.take_other_times(); !others.empty()) {
      work.others.times().submit(others);
      continue;
    }
    if (const auto path = order.next()) {
      work.submit_file(*path, false);
      continue;
    }
    if (passes == 1) run.figures.found_read(walk->read_back());
    Amount there = walk->written();
    for (const CollatedTime& each : run.ledger.collated()) {
      if (!run.ledger.evicted_unknown(run.time_directory(each.first, each.time))) continue;
      there.files += each.sources.files;
      run.figures.missed();  // of these the bytes
    }
    run.figures.found(there);
    walk.reset();
    // In a pass of their own: a mode may forbid to put anything into the directory. So it waits where that is still to
    // come.
    if (work.progress.submitted_in_pass > 0) return;
    for (const std::string& path : changed_modes)
      if (!work.unreadable.contains(path)) work.submit_directory(path);
  }
}

void End::submit_found(const std::vector<Output>& found) {
  for (const Output& output : found) {
    if (work.not_carried.given_up.contains(output.path) || work.in_flight.contains(output.path) ||
        work.not_carried.still_open.contains(output.path))
      continue;
    if (output.kind == Output::Kind::file && work.unreadable.contains(output.path)) continue;
    if (output.is_in_doubt) {
      work.doubts.compare(output);
      continue;
    }
    const auto time = run.time_of(output.path, output.kind == Output::Kind::directory);
    if (time && run.is_own_new_time(*time) && submit_time_of(time->rank, time->time)) continue;
    if (const auto other = work.others.times().directory_of(output.path, output.kind == Output::Kind::directory)) {
      if (!work.not_carried.given_up.contains(*other) && !work.not_carried.still_open.contains(*other))
        order.add_other_time(*other);
      continue;
    }
    Checkpoint* const checkpoint = work.checkpoints.containing(output.path);
    const auto known = output.kind == Output::Kind::directory ? run.ledger.find(output.path) : std::nullopt;
    if (known && known->directory) {
      changed_modes.push_back(output.path);
    } else if (checkpoint != nullptr) {
      if (!work.checkpoints.stays_behind(*checkpoint) && !work.not_carried.still_open.contains(checkpoint->path()))
        work.checkpoints.submit(*checkpoint, std::nullopt);
    } else if (output.kind == Output::Kind::directory) {
      work.submit_directory(output.path);
    } else {
      const bool is_link = output.kind == Output::Kind::link;
      order.add(output, is_link ? links_from(run.roots, run.request.case_path, output.path) : 0);
    }
  }
}

// False: its files are to be carried one by one.
bool End::submit_time_of(int rank, const std::string& time) {
  const std::string directory = run.time_directory(rank, time);
  if (work.groups.is_given_up(rank, time) || work.groups.is_in_flight(rank, time) ||
      work.not_carried.still_open.contains(directory))
    return true;
  if (run.ledger.find(directory) || work.unreadable.is_in_pieces(rank, time)) return false;
  const bool complete = points.last().is_complete_but_open(time) || run.ledger.complete_times().contains(time) ||
                        work.groups.is_of_groups(time);
  // A rank that was killed while all purged a time has left of it what the others have not: no group any more.
  const auto has_it = [&](int each) { return name_exists(local_of(run.roots, run.time_directory(each, time))); };
  if (complete && run.request.settings.collated && std::ranges::all_of(run.ranks, has_it)) {
    work.submit_time(time, false);
  } else {
    work.submit_rank_time(rank, time, false);
  }
  return true;
}

// Where the program purged the newest state before it could complete a newer one, the case gets it from what is held.
// After a clean end the program's own last state is there, and what it purged stays purged.
void End::submit_last_complete() {
  if (run.ended_cleanly) return;
  points.take_last();  // again, where that failed
  for (const std::string& time : points.last().last_times()) {
    if (points.is_home(time) || points.last().stands_in_tree(time) || work.held.of(time) == nullptr) continue;
    run.tell(fmt::format("time {} was the last that all ranks had completed; it was kept and is drained", time));
    work.submit_time(time, true);
  }
}

// Everything but the newest restartable states stays in the pool. The program's own last checkpoint is no time, and is
// carried as well.
void End::carry_restartable() {
  const std::vector<std::string> newest = points.last().last_times();
  std::set<std::uint64_t> others;
  for (const auto& [ticket, job] : work.jobs)
    if (job.kind != Job::Kind::checkpoint && std::ranges::find(newest, job.time) == newest.end()) others.insert(ticket);
  work.mover->drop(others);
  work.mover->give_up();
  submit_last_complete();
  for (const std::string& time : newest)
    if (!points.is_home(time)) work.submit_time(time, false);
  work.checkpoints.submit_last();
}

void End::remove_deleted() {
  std::set<std::string> deleted;
  const auto goes_with_parent = [&](std::string_view path) {
    for (std::string at(parent_of(path)); !at.empty(); at = parent_of(at))
      if (deleted.contains(at)) return true;
    return false;
  };
  // After a crash the newest state stays, though the program had purged it. Another node may be dead, and what it
  // brought home is not known here: then every state that this node brought home stays.
  const std::vector<std::string> newest = points.last().last_times();
  const auto stays = [&](const std::string& time) {
    if (run.ended_cleanly) return false;
    return time == points.newest_safe() || std::ranges::find(newest, time) != newest.end() ||
           (!run.alone() && run.ledger.complete_times().contains(time));
  };
  run.ledger.each("", [&](const std::string& path, const Known& known) {
    const auto local = status_of(local_of(run.roots, path));
    const bool is_replaced = local && !is_carried(local->st_mode);
    // Once events were lost, nobody knows whether the program removed an absent file: it is only told of.
    if (!(known.deleted || run.ledger.lost_events() || is_replaced) || goes_with_parent(path) ||
        (local && !is_replaced))
      return true;
    // The program may have been about to replace it.
    if (!run.ended_cleanly && work.checkpoints.containing(path)) return true;
    const auto time = run.time_path(path);
    // Ranks that write to directories of their own after all: nobody knows what they had left.
    const auto of_rank = time || run.request.settings.written_groups.empty() ? std::nullopt : openfoam::time_path(path);
    if (!run.ended_cleanly && of_rank && of_rank->rank >= 0) return true;
    if (!time || !stays(time->time)) deleted.insert(path);
    return true;
  });
  const std::vector<CollatedTime> collated = run.ledger.collated();
  for (const CollatedTime& each : collated) {
    bool gone = !stays(each.time);
    for (int rank = each.first; rank <= each.last; ++rank) {
      const std::string directory = run.time_directory(rank, each.time);
      gone = gone && run.ledger.deleted_unknown(directory) && !name_exists(local_of(run.roots, directory));
    }
    if (gone) deleted.insert(join(each.group, each.time));
  }
  if (deleted.empty()) return;
  if (run.trouble == Code::conflict || run.trouble == Code::lost || run.ledger.lost_events()) {
    run.note(Code::conflict,
             fmt::format("{} gone locally, but kept on the case, because not all is known for sure (see above): remove "
                         "what the program had removed: {}",
                         plural(deleted.size(), "name"), listed(deleted, names_told)));
    return;
  }
  // Files and links that name others go before those that they name.
  std::vector<std::string> going(deleted.begin(), deleted.end());
  std::stable_partition(going.begin(), going.end(), [&](const std::string& path) { return names_others(path); });
  std::stable_partition(going.begin(), going.end(), [&](const std::string& path) {
    const auto known = run.ledger.find(path);
    return known && !known->link_target.empty();
  });
  for (const std::string& path : going) work.acts.remove_from_case(path);
}

// Temporary names that could not be removed while the shared file system failed. For some seconds after an outage a
// server may say of a directory that it is not empty, and list nothing (GlusterFS), so it is tried for as long as
// patience allows. False: to be called again.
bool End::remove_stale() {
  const auto now = run.clock.now();
  if (now < next_removal) return false;
  next_removal = now + removal_interval;
  std::set<std::string> stale = work.temporaries.names();
  stale.insert(run.ledger.temporaries().begin(), run.ledger.temporaries().end());
  // A directory for which the case has a file or link of this run by now was removed, with nothing in it.
  const auto went_with_directory = [&](const std::string& path) {
    for (std::string at(parent_of(path)); !at.empty(); at = parent_of(at))
      if (const auto known = run.ledger.find(at); known && known->on_case && !known->directory) return true;
    return false;
  };
  std::vector<Error> left;
  for (const std::string& temporary : stale) {
    if (auto removed = remove_temporary(*run.shared, temporary); !removed && !went_with_directory(temporary)) {
      left.push_back(removed.error());
    } else {
      work.temporaries.note(temporary, false);
      run.record(temporary_record(temporary, false));
    }
  }
  // A link that is in the way stays there.
  const bool may_go = std::ranges::any_of(left, [](const Error& each) { return each.errno_value != ELOOP; });
  if (may_go && !gave_up && worth_waiting()) return false;
  for (const Error& each : left)
    run.note(Code::undrained, "a half-written file stays on the case until " + advice::resume(run.case_now()) +
                                  " can remove it: " + each.text());
  return true;
}

void End::count_undrained() {
  work.groups.note_changed();
  OutputWalk all = whole_walk();
  std::vector<std::string> first;
  const auto name = [&](const std::string& path) {
    if (first.size() < names_told) first.push_back(path);
  };
  for (;;) {
    const std::vector<Output> found = all.next(found_at_once);
    for (const OutputWalk::Missed& missed : all.take_missed()) {
      if (missed.with_pool) note_missing(missed.path, missed.reason.path);
      if (missed.with_pool) continue;
      work.unreadable.note(missed.path, missed.reason, Code::undrained);
      ++undrained_unreadable;
    }
    if (found.empty()) break;
    for (const Output& output : found) {
      const auto time = run.time_of(output.path, output.kind == Output::Kind::directory);
      const auto other = work.others.times().directory_of(output.path, output.kind == Output::Kind::directory);
      const bool refused = work.not_carried.given_up.contains(output.path) ||
                           (other && work.not_carried.given_up.contains(*other)) ||
                           (time && work.groups.is_given_up(time->rank, time->time));
      // Without its last passes the end has not looked at all directories.
      if (refused || (output.kind == Output::Kind::directory && !gave_up)) continue;
      if (const Checkpoint* checkpoint = work.checkpoints.containing(output.path);
          checkpoint && work.checkpoints.stays_behind(*checkpoint)) {
        work.checkpoints.note_unfinished(!run.ended_cleanly);
        continue;
      }
      name(output.path);
      ++undrained_files;
      undrained_bytes += output.mark.size;
    }
  }
  for (const std::string& time : run.ended_cleanly ? std::vector<std::string>() : points.last().last_times()) {
    if (points.is_home(time)) continue;
    for (const int rank : run.ranks)
      for (const auto& [file, what] : points.files_of(rank, time)) {
        const std::string path = join(run.time_directory(rank, time), file);
        const auto known = run.ledger.find(path);
        if ((known && known->on_case) || name_exists(local_of(run.roots, path))) continue;  // home, or counted above
        name(path);
        ++undrained_files;
        undrained_bytes += what.mark.size;
      }
  }
  for (const Checkpoint& each : work.checkpoints.all()) {
    if (run.ended_cleanly || !each.to_carry() || work.not_carried.given_up.contains(each.path())) continue;
    name(each.path());
    undrained_files += each.marks().size();
  }
  if (undrained_files > 0) note_undrained(first);
}

void End::note_undrained(const std::vector<std::string>& first) {
  const std::string reason =
      work.not_carried.failures.empty() ? std::string() : "; " + work.not_carried.failures.begin()->second;
  const std::string more =
      undrained_files > first.size() ? fmt::format(" and {} more", undrained_files - first.size()) : std::string();
  run.note(Code::undrained, fmt::format("only local: {} ({}): {}{}{}; run {} on this node when the cause is gone",
                                        plural(undrained_files, "file"), human_bytes(undrained_bytes), listed(first),
                                        more, reason, advice::resume(run.case_now())));
}

}  // namespace forebay::drain
