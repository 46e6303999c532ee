// Files outside new times: what events tell of them, and those that no event told of.
#include <sys/stat.h>

#include <algorithm>

#include "run/drain/placed.h"
#include "run/drain/state.h"
#include "run/openfoam/openfoam.h"

namespace forebay::drain {

void OtherFiles::handle(const Event& event) {
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
bool OtherFiles::is_as_staged(const Event& event, const struct stat& status, const std::string& target) const {
  if (event.kind == Event::Kind::closed || !run_.ledger.was_brought(event.path)) return false;
  const auto known = run_.ledger.find(event.path);
  if (!known || known->deleted || known->drained) return false;
  if (S_ISLNK(status.st_mode)) return known->staged == tree::Kind::symlink && known->link_target == target;
  return known->copy && *known->copy == tree::Copied{status.st_ino, identity_of(status).ctime_ns};
}

// Counts a file; of one that was counted before, only the bytes that it has more.
void OtherFiles::count(const std::string& path, const FileId& file, std::uint64_t bytes) {
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
void OtherFiles::replaced(const std::string& path, const FileId& by) {
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
bool OtherFiles::never_shared(const std::string& path, const FileId& file) {
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
void OtherFiles::handle_placed(const Event& event) {
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

void OtherFiles::wait_for_quiet(const std::string& path, std::optional<FileId> file, std::uint64_t turn) {
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

void OtherFiles::forget(const std::string& path) {
  if (const auto waits = pending_.find(path); waits != pending_.end()) drop(waits);
}

void OtherFiles::forget_below(const std::string& directory) {
  // "1.5/U" stands between "1" and "1/U".
  for (auto at = pending_.lower_bound(directory); at != pending_.end() && at->first.starts_with(directory);) {
    const auto waits = at++;
    if (!is_below(waits->first, directory)) continue;
    counted_.erase(waits->second.file);
    drop(waits);
  }
}

std::map<std::string, std::uint64_t> OtherFiles::end() {
  std::map<std::string, std::uint64_t> turns;
  for (const auto& [path, waits] : pending_) turns[path] = waits.turn;
  while (!pending_.empty()) drop(pending_.begin());
  catch_up_.reset();
  return turns;
}

std::optional<std::string> OtherFiles::name_of_placed(const std::string& file) const {
  const auto name = placed_names_.find(file);
  return name == placed_names_.end() ? std::nullopt : std::optional(name->second);
}

void OtherFiles::end_catch_up() {
  if (catch_up_) overlooked_ = true;
  catch_up_.reset();
}

void OtherFiles::find_overlooked() {
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

}  // namespace forebay::drain
