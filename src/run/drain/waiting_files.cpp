// Waiting files: what events tell of them, those that no event told of, and whose turn it is.
#include <sys/stat.h>

#include <algorithm>

#include "run/drain/order.h"
#include "run/drain/placed.h"
#include "run/drain/state.h"
#include "run/drain/version.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {

void WaitingFiles::handle(const Event& event) {
  if (event.gone()) {
    const bool removed = event.kind == Event::Kind::deleted;
    bool counted = false;
    const bool was_known = run_.ledger.find(event.path).has_value();
    if (const auto waits = pending_.find(event.path); waits != pending_.end()) {
      counted = removed && never_shared(event.path, waits->second.file);
      drop(waits);
    }
    // The files below have another name now, or none; something else may take the directory's place.
    if (event.directory)
      for (auto at = pending_.lower_bound(event.path); at != pending_.end() && at->first.starts_with(event.path);)
        is_below(at->first, event.path) ? drop(at++) : void(++at);
    growing_.forget(event.path);
    if (removed && run_.ledger.was_brought(event.path)) removed_controls_.insert(event.path);
    const Amount carried = work_.acts.removed_by_program(event.path);
    if (removed) run_.figures.gone(carried);
    if (removed && !event.directory && !was_known && !counted && carried.files == 0) run_.figures.gone_unknown();
    return;
  }
  if (event.directory) {
    const bool is_shown = run_.ledger.was_brought(event.path);
    if (event.kind == Event::Kind::moved_in && !is_shown) run_.figures.counts_twice();
    return;
  }
  struct stat status {};
  const std::string local = local_of(run_.roots, event.path);
  if (::lstat(local.c_str(), &status) != 0) return;
  const auto target = S_ISLNK(status.st_mode) ? read_link(local) : Result<std::string>();
  if (is_as_staged(event, status, target.value_or(""))) return growing_.note(event.path);
  if (S_ISLNK(status.st_mode)) {
    if (target && *target == join(run_.request.lower, event.path)) return;  // staged, or evicted by us
    if (target && is_placed(*target, run_.request.placed)) placed_names_[*target] = event.path;
    if (target && tree::is_staged_link(*target, run_.request.lower))
      work_.acts.note_renamed_input(target->substr(run_.request.lower.size() + 1), event.path);
  }
  growing_.note(event.path);
  // A listing tells of a file that is still open, too: its closing will be told, like that of one that was just made.
  const bool is_one_file = S_ISREG(status.st_mode) && status.st_nlink == 1;
  if (event.kind == Event::Kind::found && is_one_file && is_open_for_writing(local)) return;
  const FileId file{status.st_dev, status.st_ino};
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (event.kind == Event::Kind::closed || (event.kind == Event::Kind::found && S_ISREG(status.st_mode)))
    count(event.path, file, bytes);
  if (event.kind != Event::Kind::created && S_ISREG(status.st_mode))
    run_.uncarried.closed(event.path, bytes, run_.now());
  // The content of a file with several names is not gone with one of them. A new file may have the inode number of one
  // that is gone. Where a listing has found a file, the event of its making may come afterwards.
  const auto found = pending_.find(event.path);
  const bool was_found = found != pending_.end() && found->second.file == file;
  if ((event.kind == Event::Kind::created && !was_found) || status.st_nlink > 1) counted_.erase(file);
  // Its closing will be told; but for another name of a file nothing is closed.
  if (event.kind == Event::Kind::created && is_one_file) return;
  if (event.kind == Event::Kind::moved_in) replaced(event.path, file);
  wait_for_quiet(event.path, file);
}

// True if the entry was put there to be shown to the program (control_files.h), and nobody has touched it since.
bool WaitingFiles::is_as_staged(const Event& event, const struct stat& status, const std::string& target) const {
  if (event.kind == Event::Kind::closed || !run_.ledger.was_brought(event.path)) return false;
  const auto known = run_.ledger.find(event.path);
  if (!known || known->deleted || known->drained) return false;
  if (S_ISLNK(status.st_mode)) return known->staged == tree::Kind::symlink && known->link_target == target;
  return known->copy && *known->copy == tree::Copied{status.st_ino, identity_of(status).ctime_ns};
}

// Counts a file; of one that was counted before, only the bytes that it has more.
void WaitingFiles::count(const std::string& path, const FileId& file, std::uint64_t bytes) {
  const auto known = counted_.find(file);
  const auto carried = known == counted_.end() ? run_.ledger.find(path) : std::nullopt;
  if (known != counted_.end()) {
    run_.figures.grew(bytes - std::min(bytes, known->second));
  } else if (carried && carried->drained && carried->drained->inode == file.second) {
    run_.figures.grew(bytes - std::min(bytes, carried->drained->size));
  } else if (!work_.in_flight.contains(path)) {
    run_.figures.closed(bytes);
  }
  if (counted_.size() < most_pending || counted_.contains(file)) counted_[file] = bytes;
}

// A rename gave the name to another file: the file that had it before is gone.
void WaitingFiles::replaced(const std::string& path, const FileId& by) {
  const auto known = run_.ledger.find(path);
  const bool carried = known && known->drained;
  const auto waits = pending_.find(path);
  if (carried && known->drained->inode != by.second) run_.figures.gone(known->drained->size);
  if (waits == pending_.end()) return;
  // It may be what is there now: then this is told of one that was replaced before anybody looked.
  if (!never_shared(path, waits->second.file) && !carried) run_.figures.gone_unknown();
}

// The program removed it, or put another in its place: unless what was counted under its name is the later one. An
// older version may be on the case, or on its way there. True if it was counted as gone.
bool WaitingFiles::never_shared(const std::string& path, const FileId& file) {
  const auto found = counted_.find(file);
  const auto there = status_of(local_of(run_.roots, path));
  if (found == counted_.end() || (there && FileId{there->st_dev, there->st_ino} == file)) return false;
  const bool counts = !run_.ledger.find(path);
  if (counts) run_.figures.gone(found->second);
  if (counts && !work_.in_flight.contains(path)) run_.figures.never_shared(found->second);
  counted_.erase(found);
  return counts;
}

// The directories of placed files are watched under their own paths, and their files have the tree's names by its
// links.
void WaitingFiles::handle_placed(const Event& event) {
  if (event.kind == Event::Kind::deleted) placed_names_.erase(event.path);
  struct stat status {};
  if (event.kind != Event::Kind::closed || ::lstat(event.path.c_str(), &status) != 0) return;
  run_.figures.closed(static_cast<std::uint64_t>(status.st_size));
  const auto known = placed_names_.find(event.path);
  if (known == placed_names_.end()) return;  // the event of its name is still to come
  const std::string& path = known->second;
  run_.uncarried.written(path);
  run_.uncarried.closed(path, static_cast<std::uint64_t>(status.st_size), run_.now());
  const auto time = run_.time_path(path);
  if (time && run_.is_own_new_time(*time)) return;  // carried with its time
  if (const auto target = read_link(local_of(run_.roots, path)); target && *target == event.path) wait_for_quiet(path);
}

void WaitingFiles::wait_for_quiet(const std::string& path, std::optional<FileId> file, std::uint64_t turn) {
  run_.uncarried.written(path);
  if (pending_.size() >= most_pending && !pending_.contains(path)) {
    overlooked_ = true;
    return;
  }
  const auto [found, is_new] = pending_.try_emplace(path);
  Waits& waits = found->second;
  waits.since = run_.clock.now();
  if (file) waits.file = *file;
  if (is_new) {
    const auto known = run_.ledger.find(path);
    waits.first = waits.since;
    waits.is_absent = !known || !known->on_case;
  }
  const bool keeps_turn = waits.is_absent && (turn != 0 || !is_new) && !may_name_others(path);
  if (is_new || !keeps_turn) waits.turn = ++run_.last_turn;
  if (turn != 0 && keeps_turn) waits.turn = std::min(waits.turn, turn);
}

void WaitingFiles::forget(const std::string& path) {
  if (const auto waits = pending_.find(path); waits != pending_.end()) drop(waits);
}

void WaitingFiles::forget_below(const std::string& directory) {
  // "1.5/U" stands between "1" and "1/U".
  for (auto at = pending_.lower_bound(directory); at != pending_.end() && at->first.starts_with(directory);) {
    const auto waits = at++;
    if (!is_below(waits->first, directory)) continue;
    counted_.erase(waits->second.file);
    drop(waits);
  }
}

std::map<std::string, std::uint64_t> WaitingFiles::end() {
  std::map<std::string, std::uint64_t> turns;
  for (const auto& [path, waits] : pending_) turns[path] = waits.turn;
  while (!pending_.empty()) drop(pending_.begin());
  catch_up_.reset();
  return turns;
}

std::optional<std::string> WaitingFiles::name_of_placed(const std::string& file) const {
  const auto name = placed_names_.find(file);
  return name == placed_names_.end() ? std::nullopt : std::optional(name->second);
}

void WaitingFiles::end_catch_up() {
  if (catch_up_) overlooked_ = true;
  catch_up_.reset();
}

void WaitingFiles::find_overlooked() {
  constexpr std::size_t portion = 1000;
  if (overlooked_ && !catch_up_ && pending_.size() < most_pending / 2) {
    overlooked_ = false;
    catch_up_.emplace(run_.roots, run_.request.placed, run_.ledger, run_.request.lower, run_.request.case_path);
  }
  while (catch_up_ && pending_.size() < most_pending / 2) {
    const std::vector<Output> found = catch_up_->next(portion);
    if (found.empty()) return catch_up_.reset();
    for (const Output& output : found) {
      const auto time = run_.time_of(output.path, output.kind == Output::Kind::directory);
      const bool of_new_time = time && run_.is_own_new_time(*time);
      if (output.kind == Output::Kind::directory || of_new_time || work_.in_flight.contains(output.path) ||
          work_.checkpoints.containing(output.path))
        continue;
      handle({Event::Kind::found, output.path});
    }
  }
}

// A link may be made before its target, or lead to a time. A file that is held open for the whole run is there when it
// grows, or at the end. Nobody waits for what was never there, or is out of the case.
bool WaitingFiles::waits_for_target(const std::string& path) const {
  int links = 0;
  const auto target = target_of(run_.roots, run_.request.case_path, path, links);
  if (!target || target->empty() || !name_exists(local_of(run_.roots, *target))) return false;
  const auto known = run_.ledger.find(*target);
  return !known || known->deleted || !(known->on_case || known->directory);
}

void WaitingFiles::drop(std::map<std::string, Waits>::iterator waits) {
  work_.mover->leave({Line::files, waits->second.turn});
  pending_.erase(waits);
}

void WaitingFiles::is_on_case(const std::string& path) {
  if (const auto waits = pending_.find(path); waits != pending_.end()) waits->second.is_absent = false;
}

bool WaitingFiles::is_turn_of(const std::string& path, std::uint64_t turn) const {
  const auto waits = pending_.find(path);
  return waits != pending_.end() && waits->second.turn == turn;
}

bool WaitingFiles::may_name_others(const std::string& path) const {
  const auto source = work_.source_of(path);
  return source && (read_link(*source) || is_text(*source));
}

// Files that are quiet go, but for those that were closed after a file that the case lacks and that is not quiet yet.
// The mover keeps the order of those that go. A file whose older version the case has, or that is on its way, holds
// nobody back here: its name is there, or will be in its turn.
void WaitingFiles::submit_quiet(Clock::duration settle) {
  const auto now = run_.clock.now();
  std::uint64_t first_absent = UINT64_MAX, held = 0;
  for (const auto& [ticket, job] : work_.jobs) {
    held += job.version_bytes;
    if (job.kind != Job::Kind::growth) continue;
    const auto waits = pending_.find(job.key);
    if (waits != pending_.end() && waits->second.is_absent) first_absent = std::min(first_absent, waits->second.turn);
  }
  times_.submit_quiet(settle);
  std::vector<std::pair<std::uint64_t, std::string>> quiet;
  for (const auto& [path, waits] : pending_) {
    if (work_.in_flight.contains(path) || times_.directory_of(path, false)) continue;
    if (now - waits.since >= settle || now - waits.first >= most_settles * settle)
      quiet.emplace_back(waits.turn, path);
    else if (waits.is_absent)
      first_absent = std::min(first_absent, waits.turn);
  }
  std::ranges::sort(quiet);
  for (const auto& [turn, path] : quiet) {
    if (turn > first_absent || work_.jobs.size() >= Work::most_jobs || held > most_held) return;
    if (waits_for_target(path)) continue;  // it holds nobody back: that may last until the end
    const auto source = work_.source_of(path);
    auto version = source ? version_of(*source, path) : std::nullopt;
    if (version && changes(path)) {  // its turn is another one
      if (pending_.at(path).is_absent) return;
      continue;
    }
    if (version) held += version->bytes();
    const auto waits = pending_.extract(path);
    counted_.erase(waits.mapped().file);
    work_.submit_file(path, true, nullptr, turn, version ? std::make_shared<Version>(std::move(*version)) : nullptr);
    if (!work_.in_flight.contains(path)) work_.mover->leave({Line::files, turn});
  }
}

// By an event that was not handled yet.
bool WaitingFiles::changes(const std::string& path) {
  return run_.witnesses.watcher && run_.witnesses.watcher->waits_for(path, run_.now(), Watcher::Change::any);
}

bool WaitingFiles::is_next(const std::string& path) {
  const auto found = pending_.find(path);
  if (changes(path)) return false;
  if (found == pending_.end()) return true;
  const std::uint64_t turn = found->second.turn;
  const auto holds = [&](const auto& each) { return each.second.is_absent && each.second.turn < turn; };
  if (std::ranges::any_of(pending_, holds)) return false;
  return std::ranges::none_of(work_.jobs, [&](const auto& each) {
    const Job& job = each.second;
    return job.place.line == Line::files && job.place.turn < turn && !run_.ledger.find(job.key);
  });
}

void WaitingFiles::order_found(std::vector<Event>& events, std::size_t first) const {
  std::vector<std::size_t> places;
  std::vector<std::pair<FinalOrder::Rank, Event>> files;
  for (std::size_t at = first; at < events.size(); ++at) {
    const Event& event = events[at];
    if (event.kind != Event::Kind::found || event.directory) continue;
    const auto status = status_of(local_of(run_.roots, event.path));
    if (!status) continue;
    const LocalMark mark = mark_of(*status);
    places.push_back(at);
    files.emplace_back(FinalOrder::Rank{event.link || names_others(event.path) ? 1 : 0, 0, mark.ctime_ns, mark.inode},
                       event);
  }
  std::ranges::stable_sort(files, {}, [](const auto& each) { return each.first; });
  for (std::size_t i = 0; i < places.size(); ++i) events[places[i]] = std::move(files[i].second);
}

}  // namespace forebay::drain
