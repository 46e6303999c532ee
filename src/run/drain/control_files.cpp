#include "run/drain/control_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "run/drain/placed.h"
#include "run/drain/state.h"

namespace forebay::drain {
namespace {

using control::Act;
using control::Here;
using control::OnCase;

// The entry that lies ready to be shown, in the terms of a look at the case.
OnCase on_case(const tree::Entry& entry) {
  const auto kind = entry.kind == tree::Kind::directory ? OnCase::Kind::directory
                    : entry.kind == tree::Kind::symlink ? OnCase::Kind::link
                                                        : OnCase::Kind::file;
  return {kind, entry.identity, entry.target, entry.mode, entry.owner};
}

// Nobody has touched the file since it was looked at, and nobody is about to.
bool is_untouched(const std::string& path, const struct stat& before) {
  const auto now = status_of(path);
  if (!now) return false;
  const Identity then = identity_of(before), identity = identity_of(*now);
  const bool same = then.inode == identity.inode && then.size == identity.size && then.mtime_ns == identity.mtime_ns;
  return same && !(S_ISREG(now->st_mode) && is_open_for_writing(path));
}

}  // namespace

bool ControlFiles::begin() {
  if (lookout_) return true;
  if (has_failed_ || run_.request.control.directories.empty() || run_.roots.empty() || !run_.witnesses.watcher)
    return false;
  has_failed_ = true;
  aside_ = join(parent_of(run_.roots.front().local), std::string(tree::beside_prefix) + "control");
  auto files = open_shared(run_.request.case_path, Resolve::by_kernel, std::nullopt, run_.request.linked);
  const auto signal = std::make_shared<Descriptor>(::fcntl(work_.outcomes.descriptor(), F_DUPFD_CLOEXEC, 0));
  const Status made = make_private_directory(aside_);
  if (!files || !*signal || !made) {
    const Error failure = !files ? files.error() : !made ? made.error() : errno_error("cannot wake", "").value();
    run_.note(std::nullopt,
              "what is changed on the case while the program works is not shown to it: " + failure.text());
    return false;
  }
  has_failed_ = false;
  lookout_ = std::make_unique<control::Lookout>(
      std::move(*files), run_.request.control, aside_, [signal] { (void)::eventfd_write(signal->get(), 1); },
      run_.clock);
  return true;
}

bool ControlFiles::take_news() {
  if (!begin()) return false;
  const bool leads = run_.serves(0) || run_.serves(-1);
  lookout_->set_pace(leads ? pace : std::max(pace, run_.request.settings.refresh));
  if (run_.touched.size() > many_touched) run_.touched.forget_before(run_.clock.now() - oldest_look);
  for (control::Ready& each : lookout_->take_ready()) ready_.push_back(std::move(each));
  if (auto found = lookout_->take_look()) look_ = std::move(found);
  remove_removed();
  return look_ || !ready_.empty();
}

void ControlFiles::act() {
  for (const control::Ready& each : std::exchange(ready_, {})) put(each);
  if (const auto found = std::exchange(look_, std::nullopt)) decide(*found);
}

void ControlFiles::finish() {
  lookout_.reset();
  has_failed_ = true;
  if (!aside_.empty()) (void)remove_tree(aside_);
}

// Removes from the case what the program was shown and has removed. The removal does not wait for the end of the
// program: whoever put the file there waits for it to go. Content that has another name now is carried first.
void ControlFiles::remove_removed() {
  for (const std::string& path : work_.waiting.take_removed_controls()) {
    const auto known = run_.ledger.find(path);
    if (known && known->deleted && !work_.acts.is_borrowed(path)) work_.submit_removal(path);
  }
}

void ControlFiles::decide(const control::Look& found) {
  if (run_.clock.now() - found.began > oldest_look) return lookout_->look_again();
  bool all = true;
  std::vector<control::Wish> wishes;
  std::string shown;  // the last directory that is to be shown, with all that is below it
  for (const auto& [path, there] : found.names) {
    if (!shown.empty() && is_below(path, shown)) continue;
    const std::size_t before = wishes.size();
    all = consider(path, there, found.began, wishes) && all;
    if (wishes.size() > before && there.kind == OnCase::Kind::directory) shown = path;
  }
  std::vector<std::string> absent;
  for (const std::string& directory : found.whole)
    run_.ledger.names_in(directory, [&](const std::string& path, const Known& known) {
      const unsigned char type = known.directory ? DT_DIR : DT_REG;
      if (path.empty() || found.names.contains(path) || control::is_left_out(run_.request.control, path, type))
        return true;
      run_.ledger.each(path, [&](const std::string& each, const Known&) {
        absent.push_back(each);
        return true;
      });
      return true;
    });
  // The names in a directory go before the directory.
  for (auto path = absent.rbegin(); path != absent.rend(); ++path)
    all = consider(*path, std::nullopt, found.began, wishes) && all;
  for (const std::string& directory : found.too_large)
    run_.tell(fmt::format("{} has more than {}: what somebody changes there while the program works is not shown to it",
                          printable(join(run_.request.case_path, directory)), plural(control::most_names, "name")));
  run_.touched.forget_before(found.began);
  if (!all) lookout_->look_again();
  for (const control::Wish& each : wishes) under_way_.insert(each.path);
  if (!wishes.empty()) lookout_->make_ready(std::move(wishes));
}

// The drain has its hands on it, or had them since.
bool ControlFiles::is_moving(const std::string& path, Clock::time_point since) const {
  if (run_.touched.since(path, since)) return true;
  for (std::string_view at = path; !at.empty(); at = parent_of(at))
    if (work_.in_flight.contains(std::string(at))) return true;
  const auto below = work_.in_flight.lower_bound(path + "/");
  return below != work_.in_flight.end() && is_below(*below, path);
}

Here ControlFiles::here(const std::string& path, const std::optional<Known>& known) const {
  const std::string local = local_of(run_.roots, path);
  const auto named = status_of(local);
  if (!named) return Here::nothing;
  if (S_ISDIR(named->st_mode)) return Here::directory;
  if (run_.is_link_to_case(path, local)) return Here::link;
  if (!known) return Here::other;
  const std::string content = content_of(local, run_.request.placed);
  const auto status = status_of(content);
  if (status && S_ISLNK(status->st_mode))
    return !known->link_target.empty() && known->link_target == read_link(local).value_or("") ? Here::same
                                                                                              : Here::other;
  if (!status || content != local || !S_ISREG(status->st_mode)) return Here::other;
  const std::int64_t changed = known->drained ? known->drained->ctime_ns : known->copy ? known->copy->ctime_ns : 0;
  const bool same = is_as_known(*known, mark_of(*status)) && identity_of(*status).ctime_ns == changed;
  return same && !work_.doubts.was_closed(path) && !is_open_for_writing(local) ? Here::same : Here::other;
}

bool ControlFiles::consider(const std::string& path, const std::optional<OnCase>& there, Clock::time_point since,
                            std::vector<control::Wish>& wishes) {
  const auto known = run_.ledger.find(path);
  if (there ? known && control::is_as_known(*there, *known) : !known || known->deleted) return true;
  if (replaced_.contains(path)) {
    run_.tell(
        fmt::format("{} has changed on the case: the program, which `forebay stop` asked to end, does not see that",
                    printable(path)));
    return true;
  }
  for (std::string_view at = path; !at.empty(); at = parent_of(at))
    if (under_way_.contains(std::string(at))) return false;
  if (work_.not_carried.given_up.contains(path)) return true;
  if (work_.checkpoints.containing(path) != nullptr) return true;
  if (there && (control::leads_out(path, *there) || run_.request.logs.contains(there->identity.inode))) return true;
  if (is_moving(path, since)) return false;
  const auto pause = not_before_.find(path);
  if (there && pause != not_before_.end() && run_.clock.now() < pause->second) return false;
  const Here now = here(path, known);
  if (there && now == Here::link) seen_through_links_[path] = there->identity;
  const auto seen_before = seen_through_links_.find(path);
  if (there && now == Here::same && seen_before != seen_through_links_.end() && seen_before->second == there->identity)
    return true;
  switch (control::act_on(there, known, now, run_.ledger.was_brought(path))) {
    case Act::none:
      break;
    case Act::show:
      if (const auto refusal = refused_.find(path); refusal != refused_.end() && refusal->second == there->identity)
        break;
      [[fallthrough]];
    case Act::take:
      wishes.push_back({path, there});
      break;
    case Act::note:
      run_.record({staged_record({path, tree::Kind::link, there->mode, there->identity, {}, there->owner}),
                   brought_record(path)});
      break;
    case Act::carry:
      work_.waiting.forget(path);
      work_.submit_file(path, true);
      break;
  }
  return true;
}

void ControlFiles::put(const control::Ready& made) {
  const std::string& path = made.wish.path;
  under_way_.erase(path);
  if (made.failure) {
    refused_[path] = made.wish.there->identity;
    run_.note(std::nullopt, fmt::format("{}, which is new on the case, cannot be shown to the program: {}",
                                        printable(path), made.failure->text()));
    return;
  }
  bool done = made.holds && !is_moving(path, made.began);
  if (done) {
    const auto known = run_.ledger.find(path);
    const Here before = here(path, known);
    const auto there = made.entries.empty() ? std::nullopt : std::optional(on_case(made.entries.front()));
    const Act act = control::act_on(there, known, before, run_.ledger.was_brought(path));
    done = act == Act::show ? show(made, before) : act == Act::take && take(made, before);
  }
  (void)remove_tree(made.aside);
  if (!done) lookout_->look_again();
}

bool ControlFiles::show(const control::Ready& made, Here before) {
  const std::string& path = made.wish.path;
  const std::string local = local_of(run_.roots, path), name(name_of(path));
  const auto parent = open_unlinked(std::string(parent_of(local)), O_PATH | O_DIRECTORY);
  const auto status = status_of(local);
  if (!parent || status.has_value() != (before != Here::nothing)) return false;
  const unsigned flags = status ? RENAME_EXCHANGE : RENAME_NOREPLACE;
  const auto rename = [&] {
    return ::renameat2(AT_FDCWD, made.aside.c_str(), parent->get(), name.c_str(), flags) == 0;
  };
  if (!rename()) return false;
  if (status) work_.eviction.note_own_move(path);
  if (status && !is_untouched(made.aside, *status)) {
    if (rename()) work_.eviction.note_own_move(path);
    return false;
  }
  work_.waiting.forget(path);  // closed, and not changed
  record(made);
  const bool has_copies =
      std::ranges::any_of(made.entries, [](const auto& each) { return each.kind == tree::Kind::copy; });
  if (has_copies) not_before_[path] = run_.clock.now() + pause_per_copy * (run_.clock.now() - made.began);
  return true;
}

void ControlFiles::record(const control::Ready& made) {
  std::vector<Record> records;
  for (tree::Entry entry : made.entries) {
    if (entry.kind == tree::Kind::copy) {
      work_.waiting.growing().note(entry.path);
      if (const auto status = status_of(local_of(run_.roots, entry.path)))
        entry.copied = {status->st_ino, identity_of(*status).ctime_ns};
    }
    records.push_back(staged_record(entry));
    records.push_back(brought_record(entry.path));
  }
  run_.record(records);
  const std::string& path = made.wish.path;
  if (made.entries.front().kind != tree::Kind::directory) return;
  if (control::is_looked_at(run_.request.control, join(path, "name"))) return;
  run_.request.control.directories.push_back(path);
  lookout_->look_also_at(path);
}

bool ControlFiles::take(const control::Ready& made, Here before) {
  const std::string& path = made.wish.path;
  const std::string local = local_of(run_.roots, path), name(name_of(path));
  const auto parent = open_unlinked(std::string(parent_of(local)), O_PATH | O_DIRECTORY);
  const auto status = status_of(local);
  if (!parent || !status) return false;
  if (before == Here::directory) {
    // One in which the program has something stays.
    if (::unlinkat(parent->get(), name.c_str(), AT_REMOVEDIR) != 0) return true;
  } else {
    if (::renameat(parent->get(), name.c_str(), AT_FDCWD, made.aside.c_str()) != 0) return false;
    if (!is_untouched(made.aside, *status)) {
      (void)::renameat2(AT_FDCWD, made.aside.c_str(), parent->get(), name.c_str(), RENAME_NOREPLACE);
      work_.eviction.note_own_move(path);
      return false;
    }
  }
  run_.record(removed_record(path));
  return true;
}

}  // namespace forebay::drain
