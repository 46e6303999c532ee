// What the watcher tells, turned into bookkeeping.
#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "run/drain/state.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {

// What the watcher tells, and what is in the directories that were made. Read again after the last of them was listed:
// so a time whose rank had begun another before that stands beside it (leave_current).
Result<std::vector<Event>> Observation::read_events() {
  std::vector<Event> events;
  std::set<std::string> passed;
  for (bool listed = true; listed;) {
    auto read = watcher->read(run.now());
    if (!read) return forward(read);
    if (!being_put.empty()) std::erase_if(*read, [&](const Event& event) { return event.path == being_put; });
    listed = false;
    // Where ranks free what they purge, by what was told first: from then on they free nothing.
    if (!hold || events.empty()) passed = late.times_to_pass_over(*read);
    for (Event& event : *read) {
      const bool made = event.directory && (event.kind == Event::Kind::created || event.kind == Event::Kind::moved_in);
      const std::string path = made ? event.path : std::string();
      events.push_back(std::move(event));
      if (!made) continue;
      const auto time = openfoam::time_path(path);
      if (time && time->rest.empty() && serves(time->rank) && passed.contains(time->time)) {
        late.passed_over.try_emplace({time->rank, time->time});
      } else {
        listed = true;
        const std::size_t first = events.size();
        watcher->descend(path, Watcher::Follow::watch, events);
        others.order_found(events, first);
        if (!(time && time->rest.empty()) && !name_exists(local_of(run.roots, path))) ++run.numbers.gone_unknown;
      }
    }
  }
  bool lost = false;  // one look at everything finds all that was
  std::erase_if(events,
                [&](const Event& each) { return each.kind == Event::Kind::overflow && std::exchange(lost, true); });
  return events;
}

// A rank's directory in a pool of its own is where the tree's link to it is. The link of this name is gone: it may have
// another one, or have come back, or else the program has removed the directory.
void Observation::follow_rank_link(const std::string& name) {
  const auto root =
      std::find_if(run.roots.begin() + 1, run.roots.end(), [&](const Root& each) { return each.prefix == name; });
  if (root == run.roots.end()) return;
  const std::string local = root->local, tree = run.roots.front().local;
  const auto leads_there = [&](const std::string& each) {
    const auto link = read_link(join(tree, each));
    return link && *link == local;
  };
  const auto entries = list_directory(tree);
  if (!entries || leads_there(name)) return;
  watcher->forget_tree(local);
  const auto found = std::ranges::find_if(
      *entries, [&](const DirectoryEntry& entry) { return entry.type == DT_LNK && leads_there(entry.name); });
  if (found == entries->end()) {
    run.roots.erase(root);
    return;
  }
  root->prefix = found->name;
  if (auto watched = watcher->add_tree(local, found->name); !watched) run.note(std::nullopt, watched.error().text());
}

void Observation::handle(const Event& event) {
  if (event.kind == Event::Kind::moved_out && work.eviction.takes_own_move(event.path)) return;
  if (event.gone() && run.roots.size() > 1) follow_rank_link(event.path);
  if (event.gone() && !event.path.starts_with('/')) run.uncarried.gone(event.path);
  if (event.kind == Event::Kind::overflow) return events_lost();
  if (event.kind == Event::Kind::closed) work.doubts.note_closing(event.path);
  if (event.path.starts_with('/')) return others.handle_placed(event);
  if (is_copy_up(name_of(event.path), run.request.lower)) return;
  if (work.checkpoints.containing(event.path) != nullptr) return work.checkpoints.handle(event);
  const auto time = time_of(event.path, event.directory);
  if (time && serves(time->rank) && run.is_new_time(time->rank, time->time)) {
    handle_time(event, time->rank, time->time, time->rest);
  } else {
    // New or begun again: a script may be run once more on a case that has its times.
    if (time && time->rank >= 0 && !event.gone() && !serves(time->rank)) note_time_of_script(event, *time);
    others.handle(event);
  }
}

void Observation::handle_time(const Event& event, int rank, const std::string& time, const std::string& rest) {
  if (event.gone()) return part_of_time_gone(event, rank, time, rest);
  if (rest.empty() || event.directory) return directory_of_time_made(event, rank, time, rest);
  file_of_time_written(event, rank, time, rest);
}

void Observation::part_of_time_gone(const Event& event, int rank, const std::string& time, const std::string& rest) {
  if (run.ledger.evicted_unknown(time_directory(rank, time))) return;
  const bool by_itself = event.kind == Event::Kind::deleted && !event.directory;
  const std::uint64_t gone_before = run.numbers.gone.files;
  if (by_itself) never_shared(rank, time, rest);
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
    late.files_forgotten.erase({rank, time});
    late.count_if_unseen(rank, time, removed);
    for (Suspect& each : late.suspects)
      if (each.rank == rank && each.time == time) each.removed = true;
    if (const auto passed = late.passed_over.find({rank, time}); passed != late.passed_over.end()) {
      if (removed) run.numbers.never_shared += passed->second;
      if (removed) run.numbers.gone += passed->second;
      late.passed_over.erase(passed);
    }
  }
  if (rest.empty() && !keep.files(rank, time).empty()) purged_kept[time].insert(rank);
  run.numbers.gone += work.acts.removed_by_program(event.path);
  if (by_itself && run.numbers.gone.files == gone_before) ++run.numbers.gone_unknown;
}

void Observation::directory_of_time_made(const Event& event, int rank, const std::string& time,
                                         const std::string& rest) {
  // A walk tells of all times that there are, also of such as the rank left behind long ago.
  const std::string& current = times.current(rank);
  if (rest.empty() && current != time &&
      (event.kind != Event::Kind::found || current.empty() || openfoam::time_less(current, time))) {
    leave_current(rank, time);
    times.directory_made(rank, time);
  }
  if (event.directory) batch.made.emplace(rank, time);
  if (event.directory && rest.empty()) {
    late.unseen.emplace(rank, time);
    if (late.passed_over.contains({rank, time})) {
      times.pass_over(rank, time);
      if (room.pool_is_full) times.spoil(rank, time);
    }
    if (event.kind != Event::Kind::found) timeline.begun_anew(time);  // a listing tells of old ones, too
  }
  batch.beginning.erase(event.path);
  // Now, not after the batch: the next events may tell that the older time was purged.
  if (!late.unsure.empty()) late.ask_unsure(SeenLate::Ask::left);
  return begin_time(time, event.when);
}

void Observation::file_of_time_written(const Event& event, int rank, const std::string& time, const std::string& rest) {
  late.unseen.erase({rank, time});
  if (event.link) return;  // a link of the program's own: the walk carries it
  const auto passed = late.passed_over.find({rank, time});
  if (passed != late.passed_over.end() && event.kind != Event::Kind::created) {
    const std::uint64_t before = run.numbers.local_bytes;
    count_late(event.path);
    passed->second.add(run.numbers.local_bytes - before);
    if (times.whole(rank, time)) return;
    times.file_made(rank, time, rest);
    return times.file_closed(rank, time, rest);
  }
  if (room.pool_is_full) times.spoil(rank, time);  // its files may be cut
  if (event.kind == Event::Kind::created) {
    if (times.purged_file_made(rank, time, rest)) keep.remove(rank, time, rest);
    return times.file_made(rank, time, rest);
  }
  const std::string local = local_of(run.roots, event.path);
  if (event.kind == Event::Kind::moved_in)
    if (const auto status = status_of(local); status && S_ISLNK(status->st_mode)) return;  // evicted by us
  run.uncarried.written(event.path);
  const bool again = is_kept(rank, time, rest, local);
  const auto kept = keep.add(rank, time, rest, local);
  if (!kept) run.note(std::nullopt, "a time cannot be kept aside: " + kept.error().text());
  if (kept && !*kept && !Keep::fits({rank, time, rest})) names_too_long = true;
  // Closed and deleted before it could be kept: this time cannot be vouched for.
  if (!kept || !*kept) return times.spoil(rank, time);
  if (event.kind == Event::Kind::found) {
    times.file_made(rank, time, rest);
    late.unsure.try_emplace(event.path, Unsure{rank, time, rest, run.clock.now()});
    return;
  }
  if (!late.unsure.empty()) late.unsure.erase(event.path);
  file_is_closed(event.path, rank, time, rest, again);
}

// It is closed again.
bool Observation::is_kept(int rank, const std::string& time, const std::string& file, const std::string& local) const {
  if (!keep.contains(rank, time, file)) return false;
  const auto before = keep.status(rank, time, file), now = status_of(local);
  return before && now && before->st_ino == now->st_ino;
}

// Nothing tells of its files one by one. Those that no event had told of are adopted later, and what was passed over is
// counted by itself.
void Observation::purged_at_once(int rank, const std::string& time) {
  const bool counts = !work.drained.contains(rank, time) && !late.passed_over.contains({rank, time}) &&
                      !work.groups.is_in_flight(rank, time);
  for (const std::string& file : times.files(rank, time)) {
    const std::uint64_t before = run.numbers.gone.files;
    never_shared(rank, time, file);
    if (run.numbers.gone.files == before && !work.drained.contains(rank, time)) ++run.numbers.gone_unknown;
    if (keep.contains(rank, time, file)) times.file_purged(rank, time, file);
  }
  const auto forgotten = late.files_forgotten.find({rank, time});
  if (counts && forgotten != late.files_forgotten.end()) run.numbers.never_shared += forgotten->second;
  if (forgotten != late.files_forgotten.end()) run.numbers.gone += forgotten->second;
}

// What was counted as written, and nothing but what is kept holds it. Once.
void Observation::never_shared(int rank, const std::string& time, const std::string& file) {
  const auto bytes = times.is_closed(rank, time, file) ? keep.size_of_names(1, rank, time, file) : std::nullopt;
  if (!bytes || work.drained.contains(rank, time) || run.ledger.find(join(time_directory(rank, time), file)) ||
      work.groups.is_in_flight(rank, time))
    return;
  if (!purged[{rank, time}].emplace(file, *bytes).second) return;
  run.numbers.never_shared.add(*bytes);
  run.numbers.gone.add(*bytes);
}

// From what was kept, after all.
void Observation::is_shared(int rank, const std::string& time) {
  const auto counted = purged.extract({rank, time});
  if (counted.empty()) return;
  for (const auto& [file, bytes] : counted.mapped()) run.numbers.never_shared.take(bytes);
}

// A program purges an older time at the end of writing a new one. So of a time of which a directory was listed when its
// rank had begun another, some may have been gone already, and nothing told of it.
void Observation::leave_current(int rank, const std::string& next) {
  const std::string& last = times.current(rank);
  if (hold && !hold->may_be_freed(last)) late.adopt(rank);
  if (batch.left.insert(rank).second) late.decide_suspects(rank);
  if (times.whole(rank, last)) return;
  if (hold && hold->may_lack(last)) return times.spoil(rank, last);
  if ((hold && hold->keeps(rank, last)) || !batch.made.contains({rank, last})) return;
  times.suspect(rank, last);
  late.suspects.push_back({rank, last, next, false});
}

void Observation::events_lost() {
  if (!run.ledger.lost_events()) {
    run.record(lost_events_record());
    run.note(
        std::nullopt,
        "events of files were lost (the kernel's queue of them overflowed, or there are more directories than may be "
        "watched: fs.inotify.max_queued_events, fs.inotify.max_user_watches): files were found again by looking, but "
        "deletions since are not carried to the case");
  }
  run.uncarried.clear();
  run.uncarried.open(join(run.request.home, uncarried_name));
  // What came after their last event may be gone again.
  for (const int rank : times.ranks())
    if (!times.current(rank).empty()) batch.made.emplace(rank, times.current(rank));
  // Not two walks at once.
  if (others.catch_up) others.overlooked = true;
  others.catch_up.reset();
  find_times();
  constexpr std::size_t portion = 1000;
  OutputWalk all(run.roots, run.request.placed, run.ledger, run.request.lower, run.request.case_path);
  for (;;) {
    const std::vector<Output> found = all.next(portion);
    if (found.empty()) return;
    for (const Output& output : found)
      handle({Event::Kind::found, output.path, output.kind == Output::Kind::directory});
  }
}

// In the order in which they were begun, which is not that of their names.
void Observation::find_times() {
  for (const int rank : times.ranks()) {
    std::vector<std::string> found = run.times_here(rank);
    std::ranges::sort(found, openfoam::time_less);
    for (const std::string& time : found)
      if (run.is_new_time(rank, time)) handle({Event::Kind::found, time_directory(rank, time), true});
  }
}

}  // namespace forebay::drain
