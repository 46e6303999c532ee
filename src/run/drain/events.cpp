// What the watcher tells, turned into bookkeeping.
#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "run/drain/placed.h"
#include "run/drain/state.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {

// What the watcher tells, and what is in the directories that were made. Read again after the last of them was listed:
// so a time whose rank had begun another before that stands beside it (leave_current).
Result<std::vector<Event>> Drain::State::read_events() {
  std::vector<Event> events;
  std::set<std::string> passed;
  for (bool listed = true; listed;) {
    auto told = watcher->read();
    if (!told) return forward(told);
    if (!being_put.empty()) std::erase_if(*told, [&](const Event& event) { return event.path == being_put; });
    listed = false;
    // Where ranks free what they purge, by what was told first: from then on they free nothing.
    if (!hold || events.empty()) passed = times_to_pass_over(*told);
    for (Event& event : *told) {
      const bool made = event.directory && (event.kind == Event::Kind::created || event.kind == Event::Kind::moved_in);
      const std::string path = made ? event.path : std::string();
      events.push_back(std::move(event));
      if (!made) continue;
      const auto time = openfoam::time_path(path);
      if (time && time->rest.empty() && serves(time->rank) && passed.contains(time->time)) {
        passed_over.try_emplace({time->rank, time->time});
      } else {
        listed = true;
        watcher->descend(path, Watcher::Follow::watch, events);
      }
    }
  }
  bool lost = false;  // one look at everything finds all that was
  std::erase_if(events,
                [&](const Event& each) { return each.kind == Event::Kind::overflow && std::exchange(lost, true); });
  return events;
}

// What all ranks have begun, and left behind by two times, when it is first seen. All ranks have written the next one,
// too, so this one is not the newest complete time, for which alone files are kept aside. And where nothing of it is on
// the case before the end (or before submit_time() has it watched), it does not matter what happens in it meanwhile.
// Like any that was first seen late it is complete when it still is there after its ranks have begun another time
// (settle_suspects). Looking into, watching and keeping times is most of what a step costs here. Not so where times
// differ in their names: what is older may be the last that a run can restart from.
std::set<std::string> Drain::State::times_to_pass_over(const std::vector<Event>& told) {
  if (!holds_times() || !alone() || (hold && !hold->let()) || !times_are_alike) return {};
  const RankTimes superseded = superseded_by(told);
  std::set<std::string> told_of, passed, made_anew;
  for (const Event& event : told) {
    if (!event.directory || (event.kind != Event::Kind::created && !event.gone())) continue;
    const auto time = openfoam::time_path(event.path);
    if (!time || !time->rest.empty()) continue;
    const bool by_all = std::all_of(times.ranks().begin(), times.ranks().end(), [&](int rank) {
      return superseded.contains({rank, time->time});
    });
    const bool first = told_of.insert(event.path).second;
    if (event.gone()) continue;
    if (!first) made_anew.insert(time->time);
    if (by_all && !timeline.was_begun(time->time)) passed.insert(time->time);
  }
  std::erase_if(passed, [&](const std::string& time) { return made_anew.contains(time); });
  return passed;
}

// What ranks had begun before the newest time that all of them have left by what is told.
Drain::State::RankTimes Drain::State::superseded_by(const std::vector<Event>& told) const {
  std::map<int, std::vector<std::string>> begun;
  for (const int rank : times.ranks())
    if (!times.current(rank).empty()) begun[rank].push_back(times.current(rank));
  for (const Event& event : told) {
    if (!event.directory || event.kind != Event::Kind::created) continue;
    auto time = openfoam::time_path(event.path);
    if (time && time->rest.empty() && serves(time->rank) && is_new_time(time->rank, time->time))
      begun[time->rank].push_back(std::move(time->time));
  }
  if (begun.size() < times.ranks().size()) return {};
  std::map<std::string, std::set<int>> left;
  for (const auto& [rank, names] : begun)
    for (auto time = names.begin(); time + 1 != names.end(); ++time) left[*time].insert(rank);
  const std::vector<std::string>& any = begun.begin()->second;
  const auto newest = std::find_if(any.rbegin() + 1, any.rend(), [&](const std::string& time) {
    return left[time].size() == begun.size() && !(hold && hold->may_lack(time));
  });
  if (newest == any.rend()) return {};
  RankTimes superseded;
  for (const auto& [rank, names] : begun)
    for (auto time = names.begin(); time != names.end() && *time != *newest; ++time) superseded.emplace(rank, *time);
  return superseded;
}

// Where it must be known now what they hold. What is known to be whole submit_time() looks into.
void Drain::State::look_into_passed_over(bool all) {
  if (!watcher) return;
  std::vector<Event> found;
  for (const auto& rank_time : unseen)
    if (passed_over.contains(rank_time) && (all || !times.whole(rank_time.first, rank_time.second)))
      watcher->descend(time_directory(rank_time.first, rank_time.second), Watcher::Follow::list, found);
  for (const Event& event : found)
    if (!event.directory) handle(event);
  trust_like_others();
}

// A rank's directory in a pool of its own is where the tree's link to it is. The link of this name is gone: it may have
// another one, or have come back, or else the program has removed the directory.
void Drain::State::follow_rank_link(const std::string& name) {
  const auto root = std::find_if(roots.begin() + 1, roots.end(), [&](const Root& each) { return each.prefix == name; });
  if (root == roots.end()) return;
  const std::string local = root->local, tree = roots.front().local;
  const auto leads_there = [&](const std::string& each) {
    const auto link = read_link(join(tree, each));
    return link && *link == local;
  };
  const auto entries = list_directory(tree);
  if (!entries || leads_there(name)) return;
  watcher->forget_tree(local);
  const auto found = std::find_if(entries->begin(), entries->end(), [&](const DirectoryEntry& entry) {
    return entry.type == DT_LNK && leads_there(entry.name);
  });
  if (found == entries->end()) {
    roots.erase(root);
    return;
  }
  root->prefix = found->name;
  if (auto watched = watcher->add_tree(local, found->name); !watched) note(std::nullopt, watched.error().text());
}

// The time that a path is of. A file whose own name is a number is none.
std::optional<openfoam::TimePath> Drain::State::time_of(const std::string& path, bool is_directory) {
  auto time = openfoam::time_path(path);
  if (time && time->rest.empty() && !is_directory) time.reset();
  return time;
}

void Drain::State::handle(const Event& event) {
  if (event.gone() && roots.size() > 1) follow_rank_link(event.path);
  if (event.kind == Event::Kind::overflow) return events_lost();
  if (event.path.starts_with('/')) return handle_placed(event);
  if (is_copy_up(name_of(event.path), request.lower)) return;
  if (Checkpoint* checkpoint = checkpoint_of(event.path)) return handle_checkpoint(*checkpoint, event);
  const auto time = time_of(event.path, event.directory);
  if (time && serves(time->rank) && is_new_time(time->rank, time->time)) {
    handle_time(event, time->rank, time->time, time->rest);
  } else {
    handle_other(event);
  }
}

void Drain::State::handle_time(const Event& event, int rank, const std::string& time, const std::string& rest) {
  if (event.gone()) {
    if (ledger.evicted_unknown(time_directory(rank, time))) return;
    if (!event.directory && !is_drained(rank, time) && !ledger.find(event.path)) ++kept_from_shared;
    if (!event.directory && keep.contains(rank, time, rest)) {
      times.file_purged(rank, time, rest);
    } else if (!event.directory) {
      // Removed while it was open: no part of the time. Not so where nothing told of its making, which was unwatched.
      if (times.is_open(rank, time, rest)) keep.discard_alone({rank, time, rest});
      times.file_deleted(rank, time, rest);
    }
    if (event.directory && rest.empty()) {
      times_go = true;
      // Ranks that may free times move what is removed as a whole.
      const bool removed = event.kind == Event::Kind::deleted || (hold && hold->let());
      if (event.kind == Event::Kind::moved_out && removed) purged_at_once(rank, time);
      files_forgotten.erase({rank, time});
      count_if_unseen(rank, time, removed);
      for (Suspect& each : suspects)
        if (each.rank == rank && each.time == time) each.removed = true;
      if (const auto passed = passed_over.find({rank, time}); passed != passed_over.end()) {
        if (removed) kept_from_shared += passed->second;
        passed_over.erase(passed);
      }
    }
    if (rest.empty() && !keep.files(rank, time).empty()) purged_kept[time].insert(rank);
    return removed_by_program(event.path);
  }
  if (rest.empty() || event.directory) {
    // A walk tells of all times that there are, also of such as the rank left behind long ago.
    const std::string& current = times.current(rank);
    if (rest.empty() && current != time &&
        (event.kind != Event::Kind::found || current.empty() || openfoam::time_less(current, time))) {
      leave_current(rank, time);
      times.directory_made(rank, time);
    }
    if (event.directory) made_in_batch.emplace(rank, time);
    if (event.directory && rest.empty()) {
      unseen.emplace(rank, time);
      if (passed_over.contains({rank, time})) {
        times.pass_over(rank, time);
        if (pool_is_full) times.spoil(rank, time);
      }
      if (event.kind != Event::Kind::found) timeline.begun_anew(time);  // a listing tells of old ones, too
    }
    beginning.erase(event.path);
    // Now, not after the batch: the next events may tell that the older time was purged.
    if (!unsure.empty()) ask_unsure(Ask::left);
    return begin_time(time);
  }
  unseen.erase({rank, time});
  if (event.link) return;  // a link of the program's own: the walk carries it
  const auto passed = passed_over.find({rank, time});
  if (passed != passed_over.end() && event.kind != Event::Kind::created) {
    ++passed->second;
    count_late(event.path);
    if (times.whole(rank, time)) return;
    times.file_made(rank, time, rest);
    return times.file_closed(rank, time, rest);
  }
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
  if (kept && !*kept && !Keep::fits({rank, time, rest})) names_too_long = true;
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

// Nothing tells of its files one by one. Those that no event had told of are adopted later, and what was passed over is
// counted by itself.
void Drain::State::purged_at_once(int rank, const std::string& time) {
  const bool counts = !is_drained(rank, time) && !passed_over.contains({rank, time});
  for (const std::string& file : times.files(rank, time)) {
    if (counts && !ledger.find(join(time_directory(rank, time), file))) ++kept_from_shared;
    if (keep.contains(rank, time, file)) times.file_purged(rank, time, file);
  }
  if (const auto forgotten = files_forgotten.find({rank, time}); counts && forgotten != files_forgotten.end())
    kept_from_shared += forgotten->second;
}

// By any of its ranks.
void Drain::State::begin_time(const std::string& time) {
  const std::size_t before = timeline.steps();
  timeline.begun(time, now());
  if (timeline.steps() == before) return;
  largest_step = std::max(largest_step, local_bytes - step_began_at);
  step_began_at = local_bytes;
}

// A program purges an older time at the end of writing a new one. So of a time of which a directory was listed when its
// rank had begun another, some may have been gone already, and nothing told of it.
void Drain::State::leave_current(int rank, const std::string& next) {
  const std::string& last = times.current(rank);
  if (hold && !hold->may_be_freed(last)) adopt(rank);
  if (left_in_batch.insert(rank).second) settle_suspects(rank);
  if (times.whole(rank, last)) return;
  if (hold && hold->may_lack(last)) return times.spoil(rank, last);
  if ((hold && hold->keeps(rank, last)) || !made_in_batch.contains({rank, last})) return;
  times.suspect(rank, last);
  suspects.push_back({rank, last, next, false});
}

// A purge begins when the next time is written, so all of that was there when it was listed, later; unless it was being
// purged in its turn, but that the rank's current time never is. So beginning at that, a suspect that lacks no file of
// the next lacks none. But a file that comes late (functionObjectProperties) the next may not have yet: it is one that
// the last whole time has, if there was one.
void Drain::State::trust_like_others() {
  RankTimes sound;
  for (auto each = suspects.rbegin(); each != suspects.rend(); ++each)
    if ((times.current(each->rank) == each->next || sound.contains({each->rank, each->next}) ||
         times.whole(each->rank, each->next)) &&
        times.has_files_of_others(each->rank, each->time, each->next))
      sound.emplace(each->rank, each->time);
  std::erase_if(suspects, [&](const Suspect& each) {
    if (!sound.contains({each.rank, each.time})) return false;
    times.trust(each.rank, each.time);
    return true;
  });
}

// Where a program writes other files than before: a purge takes the whole time, and has ended when the rank begins
// another (or has ended by itself). What still is there then was not being purged when it was listed.
void Drain::State::settle_suspects(int rank) {
  std::erase_if(suspects, [&](const Suspect& each) {
    if (each.rank != rank || made_in_batch.contains({rank, each.time})) return false;  // the purge may be under way
    // Of what was passed over the removal is told, since its parent is watched.
    const bool told = !ledger.lost_events() && passed_over.contains({rank, each.time});
    if (!each.removed && (told || name_exists(local_of(roots, time_directory(rank, each.time))))) {
      times.trust(rank, each.time);
    } else {
      times.spoil(rank, each.time);
    }
    return true;
  });
}

// What the rank made, closed and removed before its directory could be watched: no event tells of it, but the
// redirection library where it is loaded. It is looked for when the rank begins another time, since all that it did to
// the last one came before, and at the end. A time whose own beginning is not handled yet waits: its directory is
// watched already, and the events of its files would come after.
void Drain::State::adopt(int rank) {
  if (!hold) return;
  auto handed = keep.handed_over(rank, request.lower);
  if (!handed) {  // something of any time that is not whole yet may be there
    note(std::nullopt, "a time cannot be vouched for: " + handed.error().text());
    return times.spoil_open();
  }
  std::map<std::string, core::Names> names;
  for (const Keep::HandedOver& each : *handed) names[each.time].insert(core::plain_name(each.file));
  std::set<std::string> needed;  // the run may still have to restart from them
  for (const auto& [time, files] : names)
    if (hold->may_be_freed(time) && !timeline.was_let_go(time) && !is_superseded(rank, time, files))
      needed.insert(time);
  std::vector<Keep::HandedOver> taken;
  for (Keep::HandedOver& each : *handed) {
    if (beginning.contains(time_directory(rank, each.time))) continue;
    const bool hopeless = timeline.was_begun(each.time) && times.is_hopeless(rank, each.time);
    const bool let_go = hopeless || hold->may_be_freed(each.time);
    if (!let_go && !Keep::fits(each)) names_too_long = true;
    if (!hopeless && needed.contains(each.time)) continue;
    // They do where they remove times, but nothing where one of them does not tell what it leaves.
    if (let_go && times_go && hold->ranks_keep()) continue;
    if (let_go || !is_new_time(rank, each.time) || keep.contains(rank, each.time, each.file) ||
        timeline.was_let_go(each.time)) {
      keep.discard(each);
    } else if (keep.take(each)) {
      unseen.erase({rank, each.time});
      times.file_made(rank, each.time, each.file);  // all of them first: a time is whole when none is open
      taken.push_back(std::move(each));
    } else if (Keep::fits(each)) {
      times.file_deleted(rank, each.time, each.file);  // while it was open: no part of the time
    } else {
      times.spoil(rank, each.time);
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

// Made, filled and removed between two looks at the events. (What the redirection library handed over is adopted
// later.)
void Drain::State::count_if_unseen(int rank, const std::string& time, bool removed) {
  if (unseen.erase({rank, time}) == 0 || !removed) return;
  if (request.settings.handed_over && !passed_over.contains({rank, time})) {
    const auto handed = keep.handed_over(rank, request.lower);
    if (handed && std::any_of(handed->begin(), handed->end(), [&](const auto& each) { return each.time == time; }))
      return;
  }
  ++unseen_times;
}

// A rank that has begun a later time has closed the files of the last: streams live no longer than the writing of one
// time. Before that, or at the end, the kernel is asked for a lease, which is too dear for every file of every step. A
// program that keeps files open for longer is found out when the time is carried: then every file needs its lease.
void Drain::State::ask_unsure(Ask ask) {
  constexpr std::chrono::milliseconds quiet{250};  // most solvers have begun another step by then
  const auto now = Clock::now();
  std::vector<std::pair<std::string, Unsure>> due;
  for (const auto& [path, entry] : unsure) {
    const bool current = times.current(entry.rank) == entry.time;
    if (current && (ask == Ask::left || (ask == Ask::quiet && now - entry.found <= quiet))) continue;
    // Asked of the kept link: the program may have purged its own name since.
    if (!current || is_sealed(keep.path(entry.rank, entry.time, entry.file))) due.emplace_back(path, entry);
  }
  for (const auto& [path, entry] : due) {
    unsure.erase(path);
    file_is_closed(path, entry.rank, entry.time, entry.file);
  }
}

void Drain::State::file_is_closed(const std::string& path, int rank, const std::string& time, const std::string& file) {
  if (keep.contains(rank, time, file)) {
    ++local_files;
    local_bytes += keep.size(rank, time, file).value_or(0);
  } else {
    count_local(path);
  }
  times.file_closed(rank, time, file);
  late_files_of.insert(time);
  doubtful[rank] = Clock::now();
  // Written again after the time was carried, or a late function object: carried as a file of its own. What belongs to
  // a group is found at the end (renew_changed_groups): alone it would hide the group.
  if (is_drained(rank, time) && !ledger.collated_of(rank, time)) pending[path] = Clock::now();
}

void Drain::State::count_local(const std::string& path) {
  ++local_files;
  struct stat status {};
  if (::lstat(local_of(roots, path).c_str(), &status) == 0) local_bytes += static_cast<std::uint64_t>(status.st_size);
}

// What was written in an earlier step.
void Drain::State::count_late(const std::string& path) {
  const std::uint64_t before = local_bytes;
  count_local(path);
  step_began_at += local_bytes - before;
}

void Drain::State::handle_other(const Event& event) {
  if (event.gone()) {
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
    const std::vector<Output> found = catch_up->next(portion);
    if (found.empty()) return catch_up.reset();
    for (const Output& output : found) {
      const auto time = time_of(output.path, output.kind == Output::Kind::directory);
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
         "events of files were lost (the kernel's queue of them overflowed, or there are more directories than may be "
         "watched: fs.inotify.max_queued_events, fs.inotify.max_user_watches): files were found again by looking, but "
         "deletions since are not carried to the case");
  }
  for (Checkpoint& each : checkpoints) each.lose_track();
  // What came after their last event may be gone again.
  for (const int rank : times.ranks())
    if (!times.current(rank).empty()) made_in_batch.emplace(rank, times.current(rank));
  // Not two walks at once.
  if (catch_up) overlooked = true;
  catch_up.reset();
  find_times();
  constexpr std::size_t portion = 1000;
  OutputWalk all(roots, request.placed, ledger, request.lower, request.case_path);
  for (;;) {
    const std::vector<Output> found = all.next(portion);
    if (found.empty()) return;
    for (const Output& output : found)
      handle({Event::Kind::found, output.path, output.kind == Output::Kind::directory});
  }
}

// In the order in which they were begun, which is not that of their names.
void Drain::State::find_times() {
  for (const int rank : times.ranks()) {
    std::vector<std::string> found = times_here(rank);
    std::sort(found.begin(), found.end(), openfoam::time_less);
    for (const std::string& time : found)
      if (is_new_time(rank, time)) handle({Event::Kind::found, time_directory(rank, time), true});
  }
}

void Drain::State::new_complete_times() {
  // Events that wait tell for nothing that the rank has gone on.
  if (!unsure.empty() && !(watcher && watcher->has_taken_in())) ask_unsure(Ask::quiet);
  std::vector<std::string> complete = times.take_newly_complete();
  std::erase_if(complete, [&](const std::string& time) {
    if (!hold || !hold->may_lack(time)) return false;
    for (const int rank : times.ranks()) times.spoil(rank, time);
    return true;
  });
  const auto is_kept = [&](const std::string& time) {
    return std::all_of(times.ranks().begin(), times.ranks().end(),
                       [&](int rank) { return !keep.files(rank, time).empty(); });
  };
  std::vector<Record> records;
  for (const std::string& time : complete) records.push_back(complete_record(time));
  record(records);
  const std::set<std::string> late = std::exchange(late_files_of, {});
  for (const std::string& time : late) renew_names(time);
  for (const std::string& time : complete) {
    // Not what was passed over: only what is kept aside may stand for the last.
    if (is_kept(time)) note_whole(time);
    timeline.complete(time, now());
    // What the program purged already, it may purge altogether; until then it is safe only from what is kept.
    if (request.settings.live && !request.settings.hold_times && !times.purged(time)) waiting_times.push_back(time);
  }
  if (!complete.empty() || !late.empty()) choose_restart_points();
  if (complete.empty()) return;
  // The journal's last is the newest.
  if (newest_complete && ledger.newest_complete() != newest_complete) record(complete_record(*newest_complete));
  submit_waiting();
  release_kept();
  for (const std::string& time : complete)
    if (!is_kept(time) && newest_complete && times.before(time, *newest_complete)) let_go(time);
}

// Only so many at once: where the shared file system falls behind, what waits for its turn costs memory.
void Drain::State::submit_waiting() {
  while (!waiting_times.empty() && jobs.size() < most_jobs) {
    const std::string time = std::move(waiting_times.front());
    waiting_times.pop_front();
    submit_time(time, false);
  }
}

// Kept times that are no restart points any more are let go, and those that never became complete. With several nodes
// only what they will not agree on: the candidates, the pinned and the agreed time stay.
void Drain::State::release_kept() {
  if (whole_times.empty()) return;
  const std::string newest_whole = whole_times.back().time;
  const std::vector<std::string> superfluous = core::superfluous(whole_times, required());
  const auto wanted = [&](const std::string& time) {
    return !alone() && !safe_times.contains(time) &&
           (candidates.contains(time) || time == pinned || time == agreed || kept_by_others.contains(time));
  };
  // Where the program purges nothing it will be known for whole when the rank goes on; so it will where nothing can be
  // compared with the next time, which was passed over.
  const auto is_suspect = [&](const std::string& time) {
    return std::any_of(suspects.begin(), suspects.end(), [&](const Suspect& each) {
      return each.time == time && (!request.settings.hold_times || passed_over.contains({each.rank, each.next}));
    });
  };
  for (const std::string& time : keep.times()) {
    if (keep.in_use(time) || wanted(time) || is_suspect(time)) continue;
    const bool whole = core::find_time(whole_times, time) != nullptr;
    const bool may_go = whole ? std::find(superfluous.begin(), superfluous.end(), time) != superfluous.end()
                              : times.before(time, newest_whole);
    if (may_go) let_go(time);
  }
  times.forget_spoiled_before(newest_whole);
}

void Drain::State::let_go(const std::string& time) {
  if (auto dropped = keep.drop(time); !dropped) note(std::nullopt, dropped.error().text());
  purged_kept.erase(time);
  core::forget_time(whole_times, time);
  timeline.let_go(time);
  std::erase_if(suspects, [&](const Suspect& each) { return each.time == time; });
  // What was passed over may still be carried, and then its order counts.
  const auto& ranks = times.ranks();
  const bool passed = std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
    return passed_over.contains({rank, time});
  });
  if (request.settings.hold_times && !safe_times.contains(time) && !passed) {
    for (const int rank : ranks)
      if (hold && name_exists(local_of(roots, time_directory(rank, time))))
        files_forgotten[{rank, time}] += times.files(rank, time).size();
    times.forget(time);
  } else {
    times.compact(time);
  }
}

}  // namespace forebay::drain
