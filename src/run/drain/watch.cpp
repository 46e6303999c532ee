#include "run/drain/watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <memory>
#include <utility>

namespace forebay::drain {
namespace {

constexpr std::uint32_t interest =
    IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;

// Some thousand events with short names, and room for what one call to the kernel gives.
constexpr std::size_t many = std::size_t{128} << 10, at_once = std::size_t{64} << 10;
constexpr std::size_t longest_event = sizeof(inotify_event) + NAME_MAX + 1;

}  // namespace

Watcher::Watcher(Descriptor inotify)
    : inotify_(std::move(inotify)), events_(std::make_unique_for_overwrite<char[]>(many + at_once)) {}

Result<Watcher> Watcher::open() {
  Descriptor inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify)
    return errno_error("cannot watch files by inotify", "",
                       "close programs that watch many files, or ask for a larger fs.inotify.max_user_instances");
  return Watcher(std::move(inotify));
}

Status Watcher::add_tree(const std::string& local_root, const std::string& prefix) {
  roots_.push_back({local_root, prefix});
  return add_directory(local_root, prefix);
}

Status Watcher::add_directory(const std::string& local, const std::string& path) {
  if (!watch(local, path, Follow::watch, nullptr))
    return errno_error("cannot watch", local,
                       "the system's limit fs.inotify.max_user_watches may be too small for this case");
  return {};
}

void Watcher::forget_tree(const std::string& local_root) {
  std::erase_if(roots_, [&](const Directory& root) {
    if (root.local != local_root) return false;
    forget_below(root.path);
    return true;
  });
}

void Watcher::descend(const std::string& path, Follow follow, std::vector<Event>& found) {
  const auto parent = watches_.find(std::string(parent_of(path)));
  if (parent == watches_.end()) return;  // moved away since
  const auto directory = directories_.find(parent->second);
  if (directory == directories_.end()) return;
  const std::string local = join(directory->second.local, name_of(path));
  if (!watch(local, path, follow, &found)) found.push_back({Event::Kind::overflow, {}, false});
}

// `found` null: the content is staged, only directories matter. False when a watch could not be set.
bool Watcher::watch(const std::string& local, const std::string& path, Follow follow, std::vector<Event>* found) {
  if (follow == Follow::watch) {
    const int descriptor = ::inotify_add_watch(inotify_.get(), local.c_str(), interest);
    // Gone again already: its deletion is told by the parent's watch. Or the program keeps this user out (EACCES), or
    // has made too long a path: nothing in it was staged or can be carried now, so no event is missed, and the walk at
    // the end finds what there is then.
    if (descriptor < 0) return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ENAMETOOLONG;
    directories_[descriptor] = {local, path};
    watches_[path] = descriptor;
  }
  // Listed after the watch is set: what is made from now on is told by inotify.
  const auto entries = list_directory(local);
  if (!entries) return true;
  bool all = true;
  for (const DirectoryEntry& entry : *entries) {
    const std::string below = join(path, entry.name);
    if (found != nullptr) found->push_back({Event::Kind::found, below, entry.type == DT_DIR, entry.type == DT_LNK});
    if (entry.type == DT_DIR) all = watch(join(local, entry.name), below, follow, found) && all;
  }
  return all;
}

void Watcher::forget_below(const std::string& path) {
  for (auto at = watches_.lower_bound(path); at != watches_.end() && at->first.starts_with(path);) {
    if (!is_below(at->first, path)) {
      ++at;
      continue;
    }
    ::inotify_rm_watch(inotify_.get(), at->second);
    directories_.erase(at->second);
    at = watches_.erase(at);
  }
}

void Watcher::translate(std::uint32_t mask, int descriptor, const char* name, std::vector<Event>& events) {
  if ((mask & IN_Q_OVERFLOW) != 0) {
    // Directories may have been made unseen. Directories that are watched already stay as they are.
    for (const Directory& root : std::vector(roots_)) watch(root.local, root.path, Follow::watch, nullptr);
    events.push_back({Event::Kind::overflow, {}, false});
    return;
  }
  const auto at = directories_.find(descriptor);
  if (at == directories_.end()) return;
  if ((mask & IN_IGNORED) != 0) {
    const auto by_path = watches_.find(at->second.path);
    if (by_path != watches_.end() && by_path->second == descriptor) watches_.erase(by_path);
    directories_.erase(at);
    return;
  }
  const bool is_directory = (mask & IN_ISDIR) != 0;
  const std::string path = join(at->second.path, name);
  if ((mask & IN_MOVED_FROM) != 0) {
    if (is_directory) forget_below(path);
    events.push_back({Event::Kind::moved_out, path, is_directory});
  } else if ((mask & IN_DELETE) != 0) {
    events.push_back({Event::Kind::deleted, path, is_directory});
  } else if ((mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
    events.push_back({(mask & IN_CREATE) != 0 ? Event::Kind::created : Event::Kind::moved_in, path, is_directory});
  } else if ((mask & IN_CLOSE_WRITE) != 0) {
    events.push_back({Event::Kind::closed, path, is_directory});
  }
}

Status Watcher::take_in(double now) {
  while (!crowded()) {
    const ssize_t got = ::read(inotify_.get(), events_.get() + taken_in_, at_once);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got < 0) return errno_error("cannot read inotify events", "");
    taken_in_ += static_cast<std::size_t>(got);
    taken_until_.emplace_back(taken_in_, now);
    if (static_cast<std::size_t>(got) + longest_event <= at_once) break;  // another event would have had room
  }
  return {};
}

bool Watcher::waits_for(std::string_view path, double now, Change change) {
  const std::uint32_t told_by =
      change == Change::any ? IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE : std::uint32_t{IN_CLOSE_WRITE};
  if (!take_in(now) || crowded()) return true;
  for (std::size_t at = 0; at < taken_in_;) {
    const auto* event = reinterpret_cast<const inotify_event*>(events_.get() + at);
    at += sizeof(inotify_event) + event->len;
    if ((event->mask & IN_Q_OVERFLOW) != 0) return true;
    const auto directory = directories_.find(event->wd);
    if ((event->mask & told_by) == 0 || event->len == 0 || directory == directories_.end()) continue;
    const std::string& above = directory->second.path;
    if (is_below(above, path) || (above == parent_of(path) && name_of(path) == event->name)) return true;
  }
  return false;
}

bool Watcher::crowded() const {
  return taken_in_ >= many;
}

Result<std::vector<Event>> Watcher::read(double now) {
  std::vector<Event> events;
  do {
    if (auto taken = take_in(now); !taken) return forward(taken);
    auto part = taken_until_.begin();
    for (std::size_t at = 0; at < taken_in_;) {
      while (at >= part->first) ++part;
      const std::size_t before = events.size();
      // The kernel pads names so that every event is aligned like the first.
      const auto* event = reinterpret_cast<const inotify_event*>(events_.get() + at);
      translate(event->mask, event->wd, event->len > 0 ? event->name : "", events);
      for (std::size_t i = before; i < events.size(); ++i) events[i].when = part->second;
      at += sizeof(inotify_event) + event->len;
    }
    taken_until_.clear();
  } while (std::exchange(taken_in_, 0) >= many);
  return events;
}

}  // namespace forebay::drain
