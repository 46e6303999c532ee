// Changes that a program makes to names that the case already has: it removes them while they are carried, gives an
// input another name, or puts a directory where a file was.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/page_buffer.h"
#include "run/drain/state.h"

namespace forebay::drain {
namespace {

constexpr std::size_t chunk = std::size_t{256} << 10;

// The content, mode and time of `from` under the name of the link `to`, in one step, by way of `temporary`.
Status replace_link_by_copy(const std::string& from, const std::string& to, const std::string& temporary) {
  auto source = open_file(from, O_RDONLY | O_NOFOLLOW);
  if (!source) return forward(source);
  struct stat status {};
  if (::fstat(source->get(), &status) != 0) return errno_error("cannot stat", from);
  ::unlink(temporary.c_str());
  auto target = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!target) return forward(target);
  const PageBuffer buffer(chunk);
  for (;;) {
    const ssize_t got = ::read(source->get(), buffer.bytes().data(), chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read", from);
    if (got == 0) break;
    if (auto put = write_all(target->get(), buffer.bytes().first(static_cast<std::size_t>(got)), temporary); !put) {
      ::unlink(temporary.c_str());
      return put;
    }
  }
  const std::array times{status.st_atim, status.st_mtim};
  if (!set_rights(target->get(), owner_of(status), status.st_mode & 07777) ||
      ::futimens(target->get(), times.data()) != 0 || ::rename(temporary.c_str(), to.c_str()) != 0)
    return errno_error("cannot copy an input to", to);
  return {};
}

}  // namespace

// A removal that comes while the name is on its way to the case: the ledger does not know the name yet.
void Acts::note_removal_in_flight(const std::string& path) {
  const auto below = work_.in_flight.lower_bound(path);
  bool concerned = below != work_.in_flight.end() && is_below(*below, path);
  if (!concerned) {
    const auto inside = work_.in_flight.lower_bound(path + "/");
    concerned = inside != work_.in_flight.end() && is_below(*inside, path);
  }
  for (std::string at(path); !concerned && !at.empty(); at = parent_of(at)) concerned = work_.in_flight.contains(at);
  if (concerned) removed_in_flight_.insert(path);
}

// To be called when `path` was recorded as drained.
void Acts::catch_up_removal(const std::string& path) {
  if (removed_in_flight_.empty()) return;
  bool removed = false;
  for (std::string at(path); !removed && !at.empty(); at = parent_of(at)) removed = removed_in_flight_.contains(at);
  if (!removed) return;
  // A directory that took the place of a file while that was on its way is another thing, too.
  const auto known = run_.ledger.find(path);
  const auto status = status_of(local_of(run_.roots, path));
  if (!status || (known && S_ISDIR(status->st_mode) != known->directory)) run_.record(deleted_record(path));
}

// The program gave the input `origin` the name `path`: a link whose content is the case's own file.
void Acts::note_renamed_input(const std::string& origin, const std::string& path) {
  if (origin != path) borrowed_[origin].insert(path);
}

// Before the case's `origin` is replaced, every other name that still stands for its old content gets a copy. False:
// not now, since one of them is being read.
bool Acts::free_borrowers(const std::string& origin) {
  const auto found = borrowed_.find(origin);
  if (found == borrowed_.end()) return true;
  for (const std::string& path : found->second) {
    const std::string local = local_of(run_.roots, path);
    const auto target = read_link(local);
    if (!target || *target != join(run_.request.lower, origin)) continue;
    if (work_.in_flight.contains(path)) return false;
    if (auto copied = replace_link_by_copy(join(run_.request.case_path, origin), local, name_aside(run_.roots, path));
        !copied) {
      work_.not_carried.failures[origin] = copied.error().text();
      return false;
    }
  }
  borrowed_.erase(found);
  return true;
}

// The name at or above `path` under which the case still holds what the program removed, and which is now of the other
// kind (a directory for a file, or the reverse); empty: none.
std::string Acts::in_the_way(const std::string& path) const {
  for (std::string at(path); !at.empty(); at = parent_of(at)) {
    const auto known = run_.ledger.find(at);
    if (!known || !known->deleted) continue;
    const auto status = status_of(local_of(run_.roots, at));
    if (status && S_ISDIR(status->st_mode) != known->directory) return at;
  }
  return {};
}

// A write through a link reached the shared file itself: correct, but slow, and the user should know. (Or she edited it
// there; the two look alike.)
void Acts::note_written_inputs() {
  std::string first;
  std::size_t count = 0;
  run_.ledger.each("", [&](const std::string& path, const Known& known) {
    if (known.staged != tree::Kind::link || known.deleted || known.drained || !known.on_case) return true;
    if (run_.ledger.was_brought(path)) return true;
    const auto target = read_link(local_of(run_.roots, path));
    if (!target || *target != join(run_.request.lower, path)) return true;
    const auto now = run_.shared->status(path);
    if (!now || !*now) return true;
    const Identity identity = identity_of(**now);
    if (identity.size == known.on_case->size && identity.mtime_ns == known.on_case->mtime_ns) return true;
    if (run_.request.logs.contains(identity.inode)) return true;
    if (count++ == 0) first = path;
    return true;
  });
  if (count == 0) return;
  run_.note(std::nullopt,
            fmt::format("{} changed on the shared file system during the run, the first is {}: edited "
                        "there, or written through a link at that file system's speed (--copy PATTERN keeps "
                        "such inputs local)",
                        plural(count, "input"), printable(first)));
}

std::vector<tree::WarmFile> Drain::carried_files(const std::function<bool(const std::string& path)>& wanted) const {
  std::vector<tree::WarmFile> files;
  state_->run.ledger.each("", [&](const std::string& path, const Known& known) {
    if (known.directory || known.deleted || !known.drained || !known.on_case || !wanted(path)) return true;
    const std::string local = local_of(state_->run.roots, path);
    const auto status = status_of(local);
    if (status && S_ISREG(status->st_mode) && mark_of(*status) == *known.drained)
      files.push_back({path, local, *known.on_case});
    return true;
  });
  return files;
}

// The one removal that cannot come last. Everything else must be on the case by then, and the new content whole in the
// pool: what stands for content of the case's own under that name, as of a file and a directory that swap names, gets a
// copy. In what cannot be looked at there may be such names, too.
bool Acts::make_way() {
  if (ways_.empty() || run_.ledger.lost_events() || run_.trouble == Code::conflict || run_.trouble == Code::lost)
    return false;
  if (!work_.not_carried.failures.empty() || work_.unreadable.is_any()) return false;
  bool made = false;
  for (const std::string& path : std::exchange(ways_, {})) {
    std::vector<std::string> origins;
    for (const auto& [origin, names] : borrowed_)
      if (is_below(origin, path)) origins.push_back(origin);
    const bool free = std::ranges::all_of(origins, [&](const auto& each) { return free_borrowers(each); });
    made = (free && remove_from_case(path)) || made;
  }
  return made;
}

// The program's own act, journalled when the case has (or had) something under this name.
Amount Acts::removed_by_program(const std::string& path) {
  const auto time = run_.time_path(path);
  const bool collated = time && time->rest.empty() && run_.ledger.collated_of(time->rank, time->time);
  note_removal_in_flight(path);
  std::vector<std::string> affected;
  if (collated) affected.push_back(path);
  // A directory that was renamed away takes everything below it along.
  Amount carried;
  run_.ledger.each(path, [&](const std::string& each, const Known& known) {
    if (known.deleted) return true;
    affected.push_back(each);
    if (known.drained && !known.directory) carried += {1, known.drained->size};
    return true;
  });
  for (const std::string& each : affected) run_.record(deleted_record(each));
  return carried;
}

bool Acts::remove_from_case(const std::string& path, std::string_view reason) {
  std::vector<std::pair<std::string, Known>> below;
  run_.ledger.each(path, [&](const std::string& each, const Known& known) {
    below.emplace_back(each, known);
    return true;
  });
  bool all = true;
  // Children come after their parents, so backwards.
  for (auto at = below.rbegin(); at != below.rend(); ++at) {
    const auto& [each, known] = *at;
    const Status removed = known.directory
                               ? run_.shared->remove_directory(each)
                               : remove_published(*run_.shared, each, known.on_case.value_or(Identity{}), run_.clock);
    if (removed || removed.error().errno_value == ENOENT) {
      run_.record(removed_record(each));
    } else if (known.directory && (removed.error().errno_value == ENOTEMPTY || removed.error().errno_value == EEXIST)) {
      all = false;
      if (known.deleted)
        run_.note(Code::conflict,
                  fmt::format("the program removed {}, but the case holds files in it that this run does not "
                              "know: they are kept",
                              printable(each)));
    } else {
      all = false;
      run_.note(removed.error().code == Code::conflict ? Code::conflict : Code::undrained,
                fmt::format("{}: {}", reason, removed.error().text()));
    }
  }
  return all;
}

}  // namespace forebay::drain
