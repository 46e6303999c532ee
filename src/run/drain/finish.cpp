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
  state.end.begin();
  return {};
}

bool Drain::finished() {
  state_->run.uncarried.tell_alive();
  on_outcomes();
  return state_->end.finished();
}

void End::begin() {
  order_.begin(work_.waiting.end());
  work_.unreadable.forget_messages();
  (void)writers_.take_walk();  // this is one
  list_times();
  submit_outputs();
}

bool End::finished() {
  if (run_.phase == Phase::carrying && carry_more()) {
    tell_rest();
    run_.phase = Phase::removing;
  }
  if (run_.phase == Phase::removing) {
    // Nothing is removed while some name could not be looked at: it need not be absent.
    if (undrained_files_ + undrained_unreadable_ == 0 && !writers_.has_outlasted() && missing_.empty()) {
      work_.groups.remove_replaced();
      remove_deleted();
    }
    note_removed_beside();
    run_.phase = Phase::done;
  }
  return run_.phase == Phase::done;
}

// True when all that is to be carried is home, or was given up.
bool End::carry_more() {
  if (writers_.take_walk()) walk_again();
  if (!run_.journal->has_room())
    work_.eviction.evict_carried(room_for_journal, run_.request.home, points_.newest_complete());
  work_.eviction.let_go();
  if (!gave_up_) submit_more_outputs();
  if (!work_.jobs.empty()) {
    if (!worth_waiting()) {
      if (!std::exchange(gave_up_, true)) work_.mover->give_up();
      Pulse::give_up();
    }
    return false;
  }
  if (work_.eviction.is_replacing()) return false;  // what gets its name back is carried, too
  if (!gave_up_ && passes_ < most_passes) {
    submit_outputs();
    if (!work_.jobs.empty()) return false;
    if (work_.acts.make_way()) {
      passes_ = 0;
      submit_outputs();
      return false;
    }
  }
  if (!gave_up_ && writers_.wait()) return false;
  if (!gave_up_ && writers_.leave_doubts()) {
    work_.doubts.begin_anew();
    walk_again();
    submit_outputs();
    return false;
  }
  seen_.note_failed_writes();  // of who outlived the program
  return remove_stale();
}

void End::tell_rest() {
  if (gave_up_) writers_.note_left();
  count_undrained();
  if (const std::size_t conflicts = work_.not_carried.given_up.size(); conflicts > names_told)
    run_.note(Code::conflict, fmt::format("{} more changed on the case during the run, like those above",
                                          plural(conflicts - names_told, "name")));
  tell_missing_pools();
  tell_missing_files();
  bring_beside();
  work_.acts.note_written_inputs();
  if (work_.checkpoints.is_unfinished())
    run_.tell(
        "the program ended while it wrote a checkpoint, or too soon after: the case has the last one that is "
        "known to be whole");
  if (work_.links.separated() > 0)
    run_.tell(fmt::format("made files of their own on the case, whose file system makes no such links: {}",
                          plural(work_.links.separated(), "hard link")));
}

void End::walk_again() {
  work_.not_carried.still_open.clear();
  passes_ = 0;
}

bool End::worth_waiting() {
  const MoverProgress progress = work_.mover->progress();
  const std::uint64_t mark = progress.bytes_written + progress.files_written;
  const auto now = run_.clock.now();
  if (mark > work_.progress.mark) {  // failed attempts let it fall
    work_.progress.mark = mark;
    work_.progress.last_made = now;
  }
  return now - work_.progress.last_made < run_.request.settings.patience;
}

OutputWalk End::whole_walk() const {
  return {run_.roots,
          run_.request.placed,
          run_.ledger,
          run_.request.lower,
          run_.request.case_path,
          [this](const std::string& path, const std::string& local, const struct stat& status, const Known& known) {
            return work_.doubts.is_in_doubt(path, local, status, known);
          }};
}

// Begins a pass over the local trees. Only so much is submitted at once: what waits for its turn costs memory.
void End::submit_outputs() {
  ++passes_;
  if (!run_.holds_times()) points_.find_home();
  work_.groups.renew_changed();
  submit_last_complete();
  if (!run_.ended_cleanly) work_.checkpoints.submit_last();
  walk_.emplace(whole_walk());
  work_.progress.submitted_in_pass = 0;
  changed_modes_.clear();
  order_.forget_found();
  submit_more_outputs();
}

// In the order in which they were begun, as far as that is known, else in that of their values.
void End::list_times() {
  std::set<std::string> here;
  for (const int rank : run_.ranks) {
    for (const std::string& time : run_.times_here(rank))
      if (run_.is_new_time(rank, time)) here.insert(time);
  }
  const std::vector<std::string> begun = points_.last().begun();
  for (const std::string& time : begun) here.erase(time);
  std::vector<std::string> unknown(here.begin(), here.end());
  std::ranges::sort(unknown, openfoam::time_less);
  unknown.insert(unknown.end(), begun.begin(), begun.end());
  order_.set_times(unknown);
}

void End::submit_more_outputs() {
  constexpr std::size_t portion = 1000;
  while (order_.has_times() && work_.jobs.size() < Work::most_jobs) {
    const std::string time = order_.next_time();
    const std::vector<int>& ranks = run_.ranks;
    for (auto rank = ranks.rbegin(); rank != ranks.rend(); ++rank)
      if (name_exists(local_of(run_.roots, run_.time_directory(*rank, time))) && run_.is_new_time(*rank, time) &&
          !run_.ledger.collated_of(*rank, time))
        submit_time_of(*rank, time);
  }
  while (walk_ && !order_.has_times() && work_.jobs.size() < Work::most_jobs) {
    const std::vector<Output> found = walk_->next(portion);
    for (const OutputWalk::Missed& missed : walk_->take_missed()) {
      run_.figures.missed();
      if (missed.with_pool) continue;  // count_undrained tells
      work_.unreadable.note(missed.path, missed.reason, std::nullopt);
    }
    for (const OutputWalk::Renamed& renamed : walk_->take_renamed())
      work_.acts.note_renamed_input(renamed.origin, renamed.path);
    if (!found.empty()) {
      submit_found(found);
      continue;
    }
    if (const std::set<std::string> others = order_.take_other_times(); !others.empty()) {
      work_.waiting.times().submit(others);
      continue;
    }
    if (const auto path = order_.next()) {
      work_.submit_file(*path, false);
      continue;
    }
    if (passes_ == 1) run_.figures.found_read(walk_->read_back());
    Amount there = walk_->written();
    for (const CollatedTime& each : run_.ledger.collated()) {
      if (!run_.ledger.evicted_unknown(run_.time_directory(each.first, each.time))) continue;
      there.files += each.sources.files;
      run_.figures.missed();  // of these the bytes
    }
    run_.figures.found(there);
    walk_.reset();
    // In a pass of their own: a mode may forbid to put anything into the directory. So it waits where that is still to
    // come.
    if (work_.progress.submitted_in_pass > 0) return;
    for (const std::string& path : changed_modes_)
      if (!work_.unreadable.contains(path)) work_.submit_directory(path);
  }
}

void End::submit_found(const std::vector<Output>& found) {
  for (const Output& output : found) {
    if (work_.not_carried.given_up.contains(output.path) || work_.in_flight.contains(output.path) ||
        work_.not_carried.still_open.contains(output.path))
      continue;
    if (output.kind == Output::Kind::file && work_.unreadable.contains(output.path)) continue;
    if (output.is_in_doubt) {
      work_.doubts.compare(output);
      continue;
    }
    const auto time = run_.time_of(output.path, output.kind == Output::Kind::directory);
    if (time && run_.is_own_new_time(*time) && submit_time_of(time->rank, time->time)) continue;
    if (const auto other = work_.waiting.times().directory_of(output.path, output.kind == Output::Kind::directory)) {
      if (!work_.not_carried.given_up.contains(*other) && !work_.not_carried.still_open.contains(*other))
        order_.add_other_time(*other);
      continue;
    }
    Checkpoint* const checkpoint = work_.checkpoints.containing(output.path);
    const auto known = output.kind == Output::Kind::directory ? run_.ledger.find(output.path) : std::nullopt;
    if (known && known->directory) {
      changed_modes_.push_back(output.path);
    } else if (checkpoint != nullptr) {
      if (!work_.checkpoints.stays_behind(*checkpoint) && !work_.not_carried.still_open.contains(checkpoint->path()))
        work_.checkpoints.submit(*checkpoint, std::nullopt);
    } else if (output.kind == Output::Kind::directory) {
      work_.submit_directory(output.path);
    } else {
      const bool is_link = output.kind == Output::Kind::link;
      order_.add(output, is_link ? links_from(run_.roots, run_.request.case_path, output.path) : 0);
    }
  }
}

// False: its files are to be carried one by one.
bool End::submit_time_of(int rank, const std::string& time) {
  const std::string directory = run_.time_directory(rank, time);
  if (work_.groups.is_given_up(rank, time) || work_.groups.is_in_flight(rank, time) ||
      work_.not_carried.still_open.contains(directory))
    return true;
  if (run_.ledger.find(directory) || work_.unreadable.is_in_pieces(rank, time)) return false;
  const bool complete = points_.last().is_complete_but_open(time) || run_.ledger.complete_times().contains(time) ||
                        work_.groups.is_of_groups(time);
  // A rank that was killed while all purged a time has left of it what the others have not: no group any more.
  const auto has_it = [&](int each) { return name_exists(local_of(run_.roots, run_.time_directory(each, time))); };
  if (complete && run_.request.settings.collated && std::ranges::all_of(run_.ranks, has_it)) {
    work_.submit_time(time, false);
  } else {
    work_.submit_rank_time(rank, time, false);
  }
  return true;
}

// Where the program purged the newest state before it could complete a newer one, the case gets it from what is held.
// After a clean end the program's own last state is there, and what it purged stays purged.
void End::submit_last_complete() {
  if (run_.ended_cleanly) return;
  points_.take_last();  // again, where that failed
  for (const std::string& time : points_.last().last_times()) {
    if (points_.is_home(time) || points_.last().stands_in_tree(time) || work_.held.of(time) == nullptr) continue;
    run_.tell(fmt::format("time {} was the last that all ranks had completed; it was kept and is drained", time));
    work_.submit_time(time, true);
  }
}

// Everything but the newest restartable states stays in the pool. The program's own last checkpoint is no time, and is
// carried as well.
void End::carry_restartable() {
  if (std::exchange(gave_up_, true)) return;
  const std::vector<std::string> newest = points_.last().last_times();
  std::set<std::uint64_t> others;
  for (const auto& [ticket, job] : work_.jobs)
    if (job.kind != Job::Kind::checkpoint && std::ranges::find(newest, job.time) == newest.end()) others.insert(ticket);
  work_.mover->drop(others);
  work_.mover->give_up();
  submit_last_complete();
  for (const std::string& time : newest)
    if (!points_.is_home(time)) work_.submit_time(time, false);
  work_.checkpoints.submit_last();
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
  const std::vector<std::string> newest = points_.last().last_times();
  const auto stays = [&](const std::string& time) {
    if (run_.ended_cleanly) return false;
    return time == points_.newest_safe() || std::ranges::find(newest, time) != newest.end() ||
           (!run_.alone() && run_.ledger.complete_times().contains(time));
  };
  run_.ledger.each("", [&](const std::string& path, const Known& known) {
    const auto local = status_of(local_of(run_.roots, path));
    const bool is_replaced = local && !is_carried(local->st_mode);
    // Once events were lost, nobody knows whether the program removed an absent file: it is only told of.
    if (!(known.deleted || run_.ledger.lost_events() || is_replaced) || goes_with_parent(path) ||
        (local && !is_replaced))
      return true;
    // The program may have been about to replace it.
    if (!run_.ended_cleanly && work_.checkpoints.containing(path)) return true;
    const auto time = run_.time_path(path);
    // Ranks that write to directories of their own after all: nobody knows what they had left.
    const auto of_rank =
        time || run_.request.settings.written_groups.empty() ? std::nullopt : openfoam::time_path(path);
    if (!run_.ended_cleanly && of_rank && of_rank->rank >= 0) return true;
    if (!time || !stays(time->time)) deleted.insert(path);
    return true;
  });
  const std::vector<CollatedTime> collated = run_.ledger.collated();
  for (const CollatedTime& each : collated) {
    bool gone = !stays(each.time);
    for (int rank = each.first; rank <= each.last; ++rank) {
      const std::string directory = run_.time_directory(rank, each.time);
      gone = gone && run_.ledger.deleted_unknown(directory) && !name_exists(local_of(run_.roots, directory));
    }
    if (gone) deleted.insert(join(each.group, each.time));
  }
  if (deleted.empty()) return;
  if (run_.trouble == Code::conflict || run_.trouble == Code::lost || run_.ledger.lost_events()) {
    run_.note(
        Code::conflict,
        fmt::format("{} gone locally, but kept on the case, because not all is known for sure (see above): remove "
                    "what the program had removed: {}",
                    plural(deleted.size(), "name"), listed(deleted, names_told)));
    return;
  }
  // Files and links that name others go before those that they name.
  std::vector<std::string> going(deleted.begin(), deleted.end());
  std::stable_partition(going.begin(), going.end(), [&](const std::string& path) { return names_others(path); });
  std::stable_partition(going.begin(), going.end(), [&](const std::string& path) {
    const auto known = run_.ledger.find(path);
    return known && !known->link_target.empty();
  });
  for (const std::string& path : going) work_.acts.remove_from_case(path);
}

// Temporary names that could not be removed while the shared file system failed. For some seconds after an outage a
// server may say of a directory that it is not empty, and list nothing (GlusterFS), so it is tried for as long as
// patience allows. False: to be called again.
bool End::remove_stale() {
  const auto now = run_.clock.now();
  if (now < next_removal_) return false;
  next_removal_ = now + removal_interval;
  std::set<std::string> stale = work_.temporaries.names();
  stale.insert(run_.ledger.temporaries().begin(), run_.ledger.temporaries().end());
  // A directory for which the case has a file or link of this run by now was removed, with nothing in it.
  const auto went_with_directory = [&](const std::string& path) {
    for (std::string at(parent_of(path)); !at.empty(); at = parent_of(at))
      if (const auto known = run_.ledger.find(at); known && known->on_case && !known->directory) return true;
    return false;
  };
  std::vector<Error> left;
  for (const std::string& temporary : stale) {
    if (auto removed = remove_temporary(*run_.shared, temporary); !removed && !went_with_directory(temporary)) {
      left.push_back(removed.error());
    } else {
      work_.temporaries.note(temporary, false);
      run_.record(temporary_record(temporary, false));
    }
  }
  // A link that is in the way stays there.
  const bool may_go = std::ranges::any_of(left, [](const Error& each) { return each.errno_value != ELOOP; });
  if (may_go && !gave_up_ && worth_waiting()) return false;
  for (const Error& each : left)
    run_.note(Code::undrained, "a half-written file stays on the case until " + advice::resume(run_.case_now()) +
                                   " can remove it: " + each.text());
  return true;
}

void End::count_undrained() {
  work_.groups.note_changed();
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
      work_.unreadable.note(missed.path, missed.reason, Code::undrained);
      ++undrained_unreadable_;
    }
    if (found.empty()) break;
    for (const Output& output : found) {
      const auto time = run_.time_of(output.path, output.kind == Output::Kind::directory);
      const auto other = work_.waiting.times().directory_of(output.path, output.kind == Output::Kind::directory);
      const bool refused = work_.not_carried.given_up.contains(output.path) ||
                           (other && work_.not_carried.given_up.contains(*other)) ||
                           (time && work_.groups.is_given_up(time->rank, time->time));
      // Without its last passes the end has not looked at all directories.
      if (refused || (output.kind == Output::Kind::directory && !gave_up_)) continue;
      if (const Checkpoint* checkpoint = work_.checkpoints.containing(output.path);
          checkpoint && work_.checkpoints.stays_behind(*checkpoint)) {
        work_.checkpoints.note_unfinished(!run_.ended_cleanly);
        continue;
      }
      name(output.path);
      ++undrained_files_;
      undrained_bytes_ += output.mark.size;
    }
  }
  for (const std::string& time : run_.ended_cleanly ? std::vector<std::string>() : points_.last().last_times()) {
    if (points_.is_home(time)) continue;
    for (const int rank : run_.ranks)
      for (const auto& [file, what] : points_.files_of(rank, time)) {
        const std::string path = join(run_.time_directory(rank, time), file);
        const auto known = run_.ledger.find(path);
        if ((known && known->on_case) || name_exists(local_of(run_.roots, path))) continue;  // home, or counted above
        name(path);
        ++undrained_files_;
        undrained_bytes_ += what.mark.size;
      }
  }
  for (const Checkpoint& each : work_.checkpoints.all()) {
    if (run_.ended_cleanly || !each.to_carry() || work_.not_carried.given_up.contains(each.path())) continue;
    name(each.path());
    undrained_files_ += each.marks().size();
  }
  if (undrained_files_ > 0) note_undrained(first);
}

void End::note_undrained(const std::vector<std::string>& first) {
  const std::string reason =
      work_.not_carried.failures.empty() ? std::string() : "; " + work_.not_carried.failures.begin()->second;
  const std::string more =
      undrained_files_ > first.size() ? fmt::format(" and {} more", undrained_files_ - first.size()) : std::string();
  run_.note(Code::undrained, fmt::format("only local: {} ({}): {}{}{}; run {} on this node when the cause is gone",
                                         plural(undrained_files_, "file"), human_bytes(undrained_bytes_), listed(first),
                                         more, reason, advice::resume(run_.case_now())));
}

}  // namespace forebay::drain
