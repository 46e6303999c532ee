#include "run/drain/keep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <set>
#include <utility>

#include "run/contract/contract.h"
#include "run/contract/text.h"
#include "run/drain/drain.h"
#include "run/drain/walk.h"

namespace forebay::drain {
namespace {

using contract::flat_name;
using contract::handed_over_name;
using contract::parts_of_flat;

// The directory `path` below `directory`, if no link leads there.
Result<Descriptor> open_below(int directory, std::string_view path) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  Descriptor above;
  for (;;) {
    const std::size_t slash = path.find('/');
    auto opened = open_file_at(above ? above.get() : directory, std::string(path.substr(0, slash)), flags);
    if (!opened || slash == std::string_view::npos) return opened;
    above = std::move(*opened);
    path.remove_prefix(slash + 1);
  }
}

// All files below the directory `name`, as `path` with their names; directories without any go. False where it cannot
// be known; what its rank frees meanwhile is no more.
bool list_files(int parent, const std::string& name, const std::string& path, std::string_view lower,
                std::vector<std::string>& files) {
  const auto directory = open_file_at(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const auto entries = directory ? list_directory(directory->get(), path) : forward(directory);
  if (!entries) return entries.error().errno_value == ENOENT;
  const std::size_t before = files.size();
  bool all = true;
  for (const DirectoryEntry& entry : *entries) {
    if (entry.type == DT_DIR) {
      all = list_files(directory->get(), entry.name, join(path, entry.name), lower, files) && all;
    } else if (is_copy_up(entry.name, lower)) {
      ::unlinkat(directory->get(), entry.name.c_str(), 0);
    } else {
      files.push_back(join(path, entry.name));
    }
  }
  if (files.size() == before) ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
  return all;
}

}  // namespace

std::string keep_directory(int rank, const std::string& pool_directory) {
  return fmt::format("{}/keep/{}", pool_directory, contract::name_of_kept(rank));
}

Status Keep::add_rank(int rank, const std::string& pool_directory) {
  Place place;
  place.path = keep_directory(rank, pool_directory);
  place.directories = fmt::format("{}/kept-times/{}", pool_directory, contract::name_of_kept(rank));
  const std::string handed = join(place.path, handed_over_name);
  if (auto made = make_private_directory(place.path); !made) return made;
  if (auto made = make_private_directory(handed); !made) return made;
  auto links = open_file(place.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!links) return forward(links);
  auto handed_over = open_file(handed, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!handed_over) return forward(handed_over);
  auto entries = list_directory(links->get(), place.path);
  if (!entries) return forward(entries);
  for (const DirectoryEntry& entry : *entries)
    if (const auto parts = parts_of_flat(entry.name)) times_[parts->first][rank].insert(parts->second);
  place.links = std::move(*links);
  place.handed_over = std::move(*handed_over);
  places_[rank] = std::move(place);
  return {};
}

Result<bool> Keep::add(int rank, const std::string& time, const std::string& file, const std::string& local) {
  const std::string kept = flat_name(time, file);
  if (kept.size() > NAME_MAX) return false;
  const Place& place = places_[rank];
  const int links = place.links.get();
  if (::linkat(AT_FDCWD, local.c_str(), links, kept.c_str(), 0) != 0) {
    if (errno == ENOENT) {
      // Closed more than once, the first closing told what became of it.
      const auto handed = latest_in_hands(place, time, file);
      if (!handed || !move_to_links(place, *handed, kept)) return contains(rank, time, file);
      times_[time][rank].insert(file);
      return true;
    }
    if (errno == EXDEV)
      return errno_error("cannot keep files of a directory that was made anew on another mount in", place.path);
    if (errno != EEXIST) return errno_error("cannot keep a link to", local);
    // Closed before: the same file again needs nothing, another one under this name replaces it.
    struct stat now {
    }, before{};
    if (::lstat(local.c_str(), &now) != 0) return false;
    if (::fstatat(links, kept.c_str(), &before, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == before.st_ino) return true;
    ::unlinkat(links, kept.c_str(), 0);
    if (::linkat(AT_FDCWD, local.c_str(), links, kept.c_str(), 0) != 0) {
      if (errno == ENOENT) return false;
      return errno_error("cannot keep a link to", local);
    }
  }
  times_[time][rank].insert(file);
  return true;
}

Result<std::vector<Keep::HandedOver>> Keep::handed_over(int rank, std::string_view lower) const {
  std::vector<HandedOver> found;
  const auto place = places_.find(rank);
  if (place == places_.end()) return found;
  const int directory = place->second.handed_over.get();
  const auto entries = list_directory(directory, join(place->second.path, handed_over_name));
  if (!entries) return forward(entries);
  std::set<std::pair<std::string, std::string>> known;  // a file may be there by itself and with its time
  for (const DirectoryEntry& entry : *entries) {
    if (auto parts = parts_of_flat(entry.name)) {
      known.insert(std::move(*parts));
    } else if (entry.type == DT_DIR) {
      std::vector<std::string> files;
      if (!list_files(directory, entry.name, "", lower, files)) files.emplace_back();
      for (std::string& file : files) known.emplace(entry.name, std::move(file));
    }
  }
  for (const auto& [time, file] : known) found.push_back({rank, time, file});
  return found;
}

bool Keep::fits(const HandedOver& handed) {
  return !handed.file.empty() && flat_name(handed.time, handed.file).size() <= NAME_MAX;
}

bool Keep::take(const HandedOver& handed) {
  const Place& place = places_[handed.rank];
  const auto found = fits(handed) ? latest_in_hands(place, handed.time, handed.file) : std::nullopt;
  const bool taken = found && S_ISREG(found->status.st_mode) &&
                     is_sealed(join(join(place.path, handed_over_name), found->path)) &&
                     move_to_links(place, *found, flat_name(handed.time, handed.file));
  if (!taken || found->is_one_of_two) discard(handed);
  if (taken) times_[handed.time][handed.rank].insert(handed.file);
  return taken;
}

// The one that was written later is what the time held at last. (Changes of status would tell of links, too.)
std::optional<Keep::InHands> Keep::latest_in_hands(const Place& place, const std::string& time,
                                                   const std::string& file) {
  auto alone = in_hands(place, flat_name(time, file)), with_time = in_hands(place, join(time, file));
  if (!alone || !with_time) return alone ? std::move(alone) : std::move(with_time);
  alone->is_one_of_two = with_time->is_one_of_two = true;
  const bool alone_is_later = identity_of(with_time->status).mtime_ns < identity_of(alone->status).mtime_ns;
  return alone_is_later ? std::move(alone) : std::move(with_time);
}

std::optional<Keep::InHands> Keep::in_hands(const Place& place, std::string path) {
  InHands found{{}, place.handed_over.get(), std::string(name_of(path)), {}, {}, false};
  if (const std::string_view above = parent_of(path); !above.empty()) {
    auto opened = open_below(found.parent, above);
    if (!opened) return std::nullopt;
    found.opened = std::move(*opened);
    found.parent = found.opened.get();
  }
  found.path = std::move(path);
  if (::fstatat(found.parent, found.name.c_str(), &found.status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return found;
}

bool Keep::move_to_links(const Place& place, const InHands& found, const std::string& kept) {
  if (::renameat(found.parent, found.name.c_str(), place.links.get(), kept.c_str()) != 0) return false;
  // Renaming one link of a file to another does nothing.
  if (found.status.st_nlink > 1) ::unlinkat(found.parent, found.name.c_str(), 0);
  return true;
}

void Keep::discard(const HandedOver& handed) {
  discard_alone(handed);
  if (const auto found = in_hands(places_[handed.rank], join(handed.time, handed.file)))
    ::unlinkat(found->parent, found->name.c_str(), 0);
}

void Keep::discard_alone(const HandedOver& handed) {
  ::unlinkat(places_[handed.rank].handed_over.get(), flat_name(handed.time, handed.file).c_str(), 0);
}

void Keep::remove(int rank, const std::string& time, const std::string& file) {
  ::unlinkat(places_[rank].links.get(), flat_name(time, file).c_str(), 0);
  if (const auto found = times_.find(time); found != times_.end()) found->second[rank].erase(file);
}

bool Keep::contains(int rank, const std::string& time, const std::string& file) const {
  const auto found = times_.find(time);
  if (found == times_.end()) return false;
  const auto of_rank = found->second.find(rank);
  return of_rank != found->second.end() && of_rank->second.contains(file);
}

std::vector<std::string> Keep::times() const {
  std::vector<std::string> names;
  for (const auto& [time, ranks] : times_) names.push_back(time);
  return names;
}

std::string Keep::path(int rank, const std::string& time, const std::string& file) const {
  const auto place = places_.find(rank);
  return place == places_.end() ? std::string() : join(place->second.path, flat_name(time, file));
}

std::optional<struct stat> Keep::status(int rank, const std::string& time, const std::string& file) const {
  const auto place = places_.find(rank);
  struct stat found {};
  if (place == places_.end() ||
      ::fstatat(place->second.links.get(), flat_name(time, file).c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  return found;
}

std::optional<std::uint64_t> Keep::size(int rank, const std::string& time, const std::string& file) const {
  const auto found = status(rank, time, file);
  return found ? std::optional(static_cast<std::uint64_t>(found->st_size)) : std::nullopt;
}

std::optional<std::uint64_t> Keep::size_of_names(nlink_t most, int rank, const std::string& time,
                                                 const std::string& file) const {
  const auto place = places_.find(rank);
  if (place == places_.end()) return std::nullopt;
  const auto handed = latest_in_hands(place->second, time, file);  // first: the rank may free it meanwhile
  const auto kept = status(rank, time, file);
  if (handed && kept && handed->status.st_ino == kept->st_ino) ++most;
  return kept && kept->st_nlink <= most ? std::optional(static_cast<std::uint64_t>(kept->st_size)) : std::nullopt;
}

std::set<std::string> Keep::files(int rank, const std::string& time) const {
  const auto found = times_.find(time);
  if (found == times_.end()) return {};
  const auto of_rank = found->second.find(rank);
  return of_rank == found->second.end() ? std::set<std::string>{} : of_rank->second;
}

Result<std::string> Keep::as_directory(int rank, const std::string& time) {
  const Place& place = places_[rank];
  const std::string directory = join(place.directories, time);
  if (auto removed = remove_tree(directory); !removed) return forward(removed);
  if (auto made = make_private_directory(place.directories); !made) return forward(made);
  for (const std::string& file : files(rank, time)) {
    const std::string path = join(directory, file);
    // What is below is private by its parent; these modes are those that the case will get.
    for (std::size_t slash = place.directories.size(); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const std::string each = path.substr(0, slash);
      if (slash > place.directories.size() && ::mkdir(each.c_str(), (0777 & ~umask_) | S_IRWXU) != 0 && errno != EEXIST)
        return errno_error("cannot make directory", each);
    }
    if (::linkat(place.links.get(), flat_name(time, file).c_str(), AT_FDCWD, path.c_str(), 0) != 0)
      return errno_error("cannot link", path);
  }
  return directory;
}

void Keep::use(const std::string& time, bool begin) {
  if (begin) {
    ++uses_[time];
  } else if (--uses_[time] <= 0) {
    uses_.erase(time);
  }
}

Status Keep::drop(const std::string& time) {
  const auto found = times_.find(time);
  if (found == times_.end()) return {};
  for (const auto& [rank, files] : found->second) {
    const Place& place = places_[rank];
    for (const std::string& file : files)
      if (::unlinkat(place.links.get(), flat_name(time, file).c_str(), 0) != 0 && errno != ENOENT)
        return errno_error("cannot remove a kept file of time " + time + " in", place.path);
    if (auto removed = remove_tree(join(place.directories, time)); !removed) return removed;
  }
  times_.erase(found);
  return {};
}

}  // namespace forebay::drain
