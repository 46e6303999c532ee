// Turns the watcher's events into bookkeeping.
#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "run/drain/state.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {

// The watcher's events, and what is in the directories that were made. Looks find the times that are carried as a whole
// (restart_points.h).
Result<std::vector<Event>> Observation::read_events() {
  std::vector<Event> events;
  if (run_.witnesses.lost_events) events.push_back({Event::Kind::overflow, "", false});
  for (bool listed = true; listed;) {
    auto read = run_.witnesses.watcher->read(run_.now());
    if (!read) return forward(read);
    if (!being_put_.empty()) std::erase_if(*read, [&](const Event& event) { return event.path == being_put_; });
    listed = false;
    for (Event& event : *read) {
      const bool made = event.directory && (event.kind == Event::Kind::created || event.kind == Event::Kind::moved_in);
      const std::string path = made ? event.path : std::string();
      events.push_back(std::move(event));
      if (!made) continue;
      const auto time = run_.time_path(path);
      if (time && is_carried_whole(*time)) continue;
      listed = true;
      const std::size_t first = events.size();
      run_.witnesses.watcher->descend(path, Watcher::Follow::watch, events);
      work_.waiting.order_found(events, first);
      const bool is_kept = time && time->rest.empty() && points_.is_told_of(time->rank);
      if (!is_kept && !name_exists(local_of(run_.roots, path))) run_.figures.gone_unknown();
    }
  }
  run_.witnesses.lost_events = false;
  bool lost = false;  // one look at everything finds all that was
  std::erase_if(events,
                [&](const Event& each) { return each.kind == Event::Kind::overflow && std::exchange(lost, true); });
  return events;
}

// A rank's directory in a pool of its own is where the tree's link to it is. The link of this name is gone: it may have
// another one, or have come back, or else the program has removed the directory.
void Observation::follow_rank_link(const std::string& name) {
  const auto root =
      std::find_if(run_.roots.begin() + 1, run_.roots.end(), [&](const Root& each) { return each.prefix == name; });
  if (root == run_.roots.end()) return;
  const std::string local = root->local, tree = run_.roots.front().local;
  const auto leads_there = [&](const std::string& each) {
    const auto link = read_link(join(tree, each));
    return link && *link == local;
  };
  const auto entries = list_directory(tree);
  if (!entries || leads_there(name)) return;
  run_.witnesses.watcher->forget_tree(local);
  const auto found = std::ranges::find_if(
      *entries, [&](const DirectoryEntry& entry) { return entry.type == DT_LNK && leads_there(entry.name); });
  if (found == entries->end()) {
    run_.roots.erase(root);
    return;
  }
  root->prefix = found->name;
  if (auto watched = run_.witnesses.watcher->add_tree(local, found->name); !watched)
    run_.note(std::nullopt, watched.error().text());
}

void Observation::handle(const Event& event) {
  if (event.kind == Event::Kind::moved_out && work_.eviction.takes_own_move(event.path)) return;
  if (event.gone() && run_.roots.size() > 1) follow_rank_link(event.path);
  if (event.gone() && !event.path.starts_with('/')) run_.uncarried.gone(event.path);
  if (event.kind == Event::Kind::overflow) return events_lost();
  if (event.kind == Event::Kind::closed) work_.doubts.note_closing(event.path);
  if (event.path.starts_with('/')) return work_.waiting.handle_placed(event);
  if (is_copy_up(name_of(event.path), run_.request.lower)) return;
  if (work_.checkpoints.containing(event.path) != nullptr) return work_.checkpoints.handle(event);
  const auto time = run_.time_of(event.path, event.directory);
  if (time && is_carried_whole(*time)) return handle_time(event, *time);
  // New or begun again: a script may be run once more on a case that has its times.
  const bool has_groups = !run_.request.settings.written_groups.empty();
  if (time && time->rank >= 0 && !event.gone() && !run_.serves(time->rank) && !has_groups)
    note_time_of_script(event, *time);
  const bool is_new = has_groups && !time && !event.gone();
  if (const auto of = is_new ? openfoam::time_path(event.path) : std::nullopt; of && of->rank >= 0 && !of->rest.empty())
    run_.tell(
        "ranks write times into directories of their own, though OpenFOAM's collated file handler was asked for: "
        "nobody "
        "knows which of these are whole before the program ends");
  work_.waiting.handle(event);
}

bool Observation::is_carried_whole(const openfoam::TimePath& time) const {
  return run_.carries_times_whole() && run_.is_own_new_time(time);
}

// A purge is a rename where the library is loaded. A late file of a time that the case has is carried as a file of its
// own. A late file of a time in a group is found at the end (Groups::renew_changed): alone it would hide the group.
void Observation::handle_time(const Event& event, const openfoam::TimePath& time) {
  if (run_.ledger.evicted_unknown(run_.time_directory(time.rank, time.time))) return;
  if (event.gone()) {
    const Amount carried = work_.acts.removed_by_program(event.path);
    if (points_.is_told_of(time.rank)) return;  // a look counts what is kept
    run_.figures.gone(carried);
    if (carried.files == 0) run_.figures.gone_unknown();
    return;
  }
  if (event.directory || !work_.drained.contains(time.rank, time.time)) return;
  if (event.kind != Event::Kind::closed && event.kind != Event::Kind::moved_in) return;
  const auto status = status_of(local_of(run_.roots, event.path));
  if (!status || S_ISLNK(status->st_mode)) return;  // the program's own, or evicted by us
  if (!run_.ledger.collated_of(time.rank, time.time)) work_.waiting.wait_for_quiet(event.path);
}

void Observation::events_lost() {
  if (!run_.ledger.lost_events()) {
    run_.figures.missed();
    run_.record(lost_events_record());
    run_.note(
        std::nullopt,
        "events of files were lost (the kernel's queue of them overflowed, or there are more directories than may be "
        "watched: fs.inotify.max_queued_events, fs.inotify.max_user_watches): files were found again by looking, but "
        "deletions since are not carried to the case");
  }
  run_.uncarried.clear();
  run_.uncarried.open(join(run_.request.home, uncarried_name));
  work_.waiting.end_catch_up();  // two walks must not run at once
  constexpr std::size_t portion = 1000;
  OutputWalk all(run_.roots, run_.request.placed, run_.ledger, run_.request.lower, run_.request.case_path);
  for (;;) {
    const std::vector<Output> found = all.next(portion);
    if (found.empty()) return;
    for (const Output& output : found)
      handle({Event::Kind::found, output.path, output.kind == Output::Kind::directory});
  }
}

}  // namespace forebay::drain
