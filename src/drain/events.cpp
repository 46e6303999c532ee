// What the watcher tells, turned into bookkeeping.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "drain/placed.h"
#include "drain/state.h"
#include "openfoam/openfoam.h"

namespace forebay::drain {

void Drain::State::handle(const Event& event) {
  if (event.kind == Event::Kind::overflow) return events_lost();
  if (event.path.starts_with('/')) return handle_placed(event);
  if (is_temporary(name_of(event.path))) return;
  if (Checkpoint* checkpoint = checkpoint_of(event.path)) return handle_checkpoint(*checkpoint, event);
  const auto time = openfoam::time_path(event.path);
  if (time && serves(time->rank) && is_new_time(time->rank, time->time)) {
    handle_time(event, time->rank, time->time, time->rest);
  } else {
    handle_other(event);
  }
}

void Drain::State::handle_time(const Event& event, int rank, const std::string& time, const std::string& rest) {
  const bool gone = event.kind == Event::Kind::deleted || event.kind == Event::Kind::moved_out;
  if (gone) {
    if (ledger.evicted_unknown(time_directory(rank, time))) return;
    if (!event.directory && !is_drained(rank, time) && !ledger.find(event.path)) ++kept_from_shared;
    if (!event.directory && keep.contains(rank, time, rest)) {
      times.file_purged(rank, time, rest);
    } else if (!event.directory) {
      // Removed while it was open: no part of the time. Not so where nothing told of its making, which was unwatched.
      if (times.is_open(rank, time, rest)) keep.discard({rank, time, rest});
      times.file_deleted(rank, time, rest);
    }
    if (rest.empty() && !keep.files(rank, time).empty()) purged_kept[time].insert(rank);
    return removed_by_program(event.path);
  }
  if (rest.empty() || event.directory) {
    if (!times.is_current(rank, time)) adopt(rank);
    times.directory_made(rank, time);
    beginning.erase(event.path);
    // Now, not after the batch: the next events may tell that the older time was purged.
    if (!unsure.empty()) ask_unsure();
    timeline.begun(time, now());
    return;
  }
  if (event.link) return;                     // a link of the program's own: the walk carries it
  if (pool_is_full) times.spoil(rank, time);  // its files may be cut
  if (event.kind == Event::Kind::created) {
    if (times.purged_file_made(rank, time, rest)) keep.remove(rank, time, rest);
    return times.file_made(rank, time, rest);
  }
  const std::string local = local_of(roots, event.path);
  if (event.kind == Event::Kind::moved_in) {
    struct stat status {};
    if (::lstat(local.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) return;  // evicted by us
  }
  const auto kept = keep.add(rank, time, rest, local);
  if (!kept) note(std::nullopt, "a time cannot be kept aside: " + kept.error().text());
  // Closed and deleted before it could be kept: this time cannot be vouched for.
  if (!kept || !*kept) return times.spoil(rank, time);
  if (event.kind == Event::Kind::found) {
    times.file_made(rank, time, rest);
    unsure.try_emplace(event.path, Unsure{rank, time, rest, Clock::now()});
    return;
  }
  if (!unsure.empty()) unsure.erase(event.path);
  file_is_closed(event.path, rank, time, rest);
}

// What the rank made, closed and removed before its directory could be watched: no event tells of it. It is looked for
// when the rank begins another time, since all that it did to the last one came before, and at the end. A time whose
// own beginning is not handled yet waits: its directory is watched already, and the events of its files would come
// after.
void Drain::State::adopt(int rank) {
  std::vector<Keep::HandedOver> taken;
  for (Keep::HandedOver& each : keep.handed_over(rank)) {
    if (beginning.contains(time_directory(rank, each.time))) continue;
    if (!is_new_time(rank, each.time) || keep.contains(rank, each.time, each.file)) {
      keep.discard(each);
    } else if (keep.take(each)) {
      times.file_made(rank, each.time, each.file);  // all of them first: a time is whole when none is open
      taken.push_back(std::move(each));
    }
  }
  for (const auto& [of_rank, time, file] : taken) {
    const std::string directory = time_directory(rank, time);
    if (pool_is_full) times.spoil(rank, time);
    times.file_purged(rank, time, file);
    file_is_closed(join(directory, file), rank, time, file);
    struct stat status {};
    if (::lstat(local_of(roots, directory).c_str(), &status) != 0) purged_kept[time].insert(rank);
  }
}

// A rank that has begun a later time has closed the files of the last: streams live no longer than the writing of one
// time. Before that, or at the end, the kernel is asked for a lease, which is too dear for every file of every step. A
// program that keeps files open for longer is found out when the time is carried: then every file needs its lease.
void Drain::State::ask_unsure(bool all) {
  constexpr std::chrono::milliseconds quiet{100};
  const auto now = Clock::now();
  std::vector<std::pair<std::string, Unsure>> due;
  for (const auto& [path, entry] : unsure) {
    const bool current = times.is_current(entry.rank, entry.time);
    if (current && !all && now - entry.found <= quiet) continue;
    // Asked of the kept link: the program may have purged its own name since.
    if (!current || is_sealed(keep.path(entry.rank, entry.time, entry.file))) due.emplace_back(path, entry);
  }
  for (const auto& [path, entry] : due) {
    unsure.erase(path);
    file_is_closed(path, entry.rank, entry.time, entry.file);
  }
}

void Drain::State::file_is_closed(const std::string& path, int rank, const std::string& time, const std::string& file) {
  ++local_files;
  local_bytes += keep.size(rank, time, file).value_or(0);
  times.file_closed(rank, time, file);
  doubtful[rank] = Clock::now();
  // Written again after the time was carried, or a late function object: carried as a file of its own. What belongs to
  // a group is found at the end (renew_changed_groups): alone it would hide the group.
  if (is_drained(rank, time) && !ledger.collated_of(rank, time)) pending[path] = Clock::now();
}

void Drain::State::handle_other(const Event& event) {
  if (event.kind == Event::Kind::deleted || event.kind == Event::Kind::moved_out) {
    if (pending.erase(event.path) != 0) ++kept_from_shared;
    // What is below has another name now, or none; something else may take the directory's place.
    if (event.directory) std::erase_if(pending, [&](const auto& each) { return is_below(each.first, event.path); });
    return removed_by_program(event.path);
  }
  if (event.directory) return;
  struct stat status {};
  const std::string local = local_of(roots, event.path);
  if (::lstat(local.c_str(), &status) != 0) return;
  if (S_ISLNK(status.st_mode)) {
    const auto target = read_link(local);
    if (target && *target == join(request.lower, event.path)) return;  // staged, or evicted by us
    if (target && is_placed(*target, request.placed)) placed_names[*target] = event.path;
    if (target && tree::is_staged_link(*target, request.lower))
      note_renamed_input(target->substr(request.lower.size() + 1), event.path);
  }
  // Its closing will be told; but for another name of a file nothing is closed.
  if (event.kind == Event::Kind::created && S_ISREG(status.st_mode) && status.st_nlink == 1) return;
  if (event.kind == Event::Kind::closed) {
    ++local_files;
    local_bytes += static_cast<std::uint64_t>(status.st_size);
  }
  wait_for_quiet(event.path);
}

// The directories of placed files are watched under their own paths, and their files have the tree's names by its
// links.
void Drain::State::handle_placed(const Event& event) {
  if (event.kind == Event::Kind::deleted) placed_names.erase(event.path);
  struct stat status {};
  if (event.kind != Event::Kind::closed || ::lstat(event.path.c_str(), &status) != 0) return;
  ++local_files;
  local_bytes += static_cast<std::uint64_t>(status.st_size);
  const auto known = placed_names.find(event.path);
  if (known == placed_names.end()) return;  // the event of its name is still to come
  const std::string& path = known->second;
  const auto time = openfoam::time_path(path);
  if (time && serves(time->rank) && is_new_time(time->rank, time->time)) return;  // carried with its time
  if (const auto target = read_link(local_of(roots, path)); target && *target == event.path) wait_for_quiet(path);
}

void Drain::State::wait_for_quiet(const std::string& path) {
  if (pending.size() >= most_pending && !pending.contains(path)) {
    overlooked = true;
  } else {
    pending[path] = Clock::now();
  }
}

void Drain::State::find_overlooked() {
  constexpr std::size_t portion = 1000;
  if (overlooked && !catch_up && pending.size() < most_pending / 2) {
    overlooked = false;
    catch_up.emplace(roots, request.placed, ledger, request.lower, request.case_path);
  }
  while (catch_up && pending.size() < most_pending / 2) {
    const auto found = catch_up->next(portion);
    if (!found) note(std::nullopt, found.error().text());
    if (!found || found->empty()) return catch_up.reset();
    for (const Output& output : *found) {
      const auto time = openfoam::time_path(output.path);
      const bool of_new_time = time && serves(time->rank) && is_new_time(time->rank, time->time);
      if (output.kind == Output::Kind::directory || of_new_time || in_flight.contains(output.path) ||
          checkpoint_of(output.path))
        continue;
      handle_other({Event::Kind::found, output.path});
    }
  }
}

// The program's own act, journalled when the case has (or had) something under this name.
void Drain::State::removed_by_program(const std::string& path) {
  const auto time = openfoam::time_path(path);
  const bool collated = time && time->rest.empty() && ledger.collated_of(time->rank, time->time);
  note_removal_in_flight(path);
  std::vector<std::string> affected;
  if (collated) affected.push_back(path);
  // A directory that was renamed away takes everything below it along.
  ledger.each(path, [&](const std::string& each, const Known& known) {
    if (!known.deleted) affected.push_back(each);
    return true;
  });
  for (const std::string& each : affected) record(deleted_record(each));
}

void Drain::State::events_lost() {
  if (!ledger.lost_events()) {
    record(lost_events_record());
    note(std::nullopt,
         "the kernel's queue of file events overflowed (fs.inotify.max_queued_events): files were found again by "
         "looking, but deletions since are not carried to the case");
  }
  for (Checkpoint& each : checkpoints) each.lose_track();
  // Not two walks at once.
  if (catch_up) overlooked = true;
  catch_up.reset();
  constexpr std::size_t portion = 1000;
  OutputWalk all(roots, request.placed, ledger, request.lower, request.case_path);
  for (;;) {
    const auto found = all.next(portion);
    if (!found) return note(std::nullopt, found.error().text());
    if (found->empty()) return;
    for (const Output& output : *found)
      handle({Event::Kind::found, output.path, output.kind == Output::Kind::directory});
  }
}

void Drain::State::new_complete_times() {
  if (!unsure.empty()) ask_unsure();
  const std::vector<std::string> complete = times.take_newly_complete();
  for (const std::string& time : complete) {
    record(complete_record(time));
    candidates.add(time);
    if (!newest_complete || times.before(*newest_complete, time)) newest_complete = time;
    timeline.complete(time, now());
    // What the program purged already, it may purge altogether; until then it is safe only from what is kept.
    if (request.settings.live && !request.settings.hold_times && !times.purged(time)) waiting_times.push_back(time);
  }
  if (complete.empty()) return;
  submit_waiting();
  release_kept();
}

// Only so many at once: where the shared file system falls behind, what waits for its turn costs memory.
void Drain::State::submit_waiting() {
  while (!waiting_times.empty() && jobs.size() < most_jobs) {
    const std::string time = std::move(waiting_times.front());
    waiting_times.pop_front();
    submit_time(time, false);
  }
}

// Kept times older than the newest complete one are let go. With several nodes only what they will not agree on: the
// candidates, the pinned and the agreed time stay.
void Drain::State::release_kept() {
  if (!newest_complete) return;
  const auto wanted = [&](const std::string& time) {
    return !alone() && !safe_times.contains(time) && (candidates.contains(time) || time == pinned || time == agreed);
  };
  for (const std::string& time : keep.times()) {
    if (keep.in_use(time) || time == *newest_complete || !times.before(time, *newest_complete) || wanted(time))
      continue;
    if (auto dropped = keep.drop(time); !dropped) note(std::nullopt, dropped.error().text());
    purged_kept.erase(time);
    if (request.settings.hold_times && !safe_times.contains(time)) {
      times.forget(time);
    } else {
      times.compact(time);
    }
  }
  times.forget_spoiled_before(*newest_complete);
}

}  // namespace forebay::drain
