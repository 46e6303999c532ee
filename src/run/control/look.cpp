// One look at the case.
#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>

#include "run/control/control.h"
#include "run/openfoam/openfoam.h"
#include "run/publish/publish.h"

namespace forebay::control {
namespace {

// nullopt: there is nothing of a kind that is shown.
Result<std::optional<OnCase>> find(drain::SharedFiles& files, const std::string& path) {
  const auto status = files.status(path);
  if (!status) return forward(status);
  if (!*status) return std::nullopt;
  OnCase there{.mode = (*status)->st_mode & 07777, .owner = owner_of(**status)};
  if (S_ISDIR((*status)->st_mode)) {
    there.kind = OnCase::Kind::directory;
    there.identity.inode = (*status)->st_ino;
    return there;
  }
  there.identity = identity_of(**status);
  if (S_ISREG((*status)->st_mode)) return there;
  if (!S_ISLNK((*status)->st_mode)) return std::nullopt;
  there.kind = OnCase::Kind::link;
  auto target = files.read_link(path);
  if (!target && target.error().errno_value == ENOENT) return std::nullopt;
  if (!target) return forward(target);
  there.target = std::move(*target);
  return there;
}

// The names of one directory; false where one of them could not be looked at.
bool take_in(drain::SharedFiles& files, const Watched& watched, const std::string& directory,
             const std::vector<DirectoryEntry>& entries, Look& found, std::vector<std::string>& next) {
  bool all = true;
  for (const DirectoryEntry& entry : entries) {
    const std::string path = join(directory, entry.name);
    if (is_left_out(watched, path, entry.type)) continue;
    auto there = find(files, path);
    all = all && there.has_value();
    if (!there || !*there) continue;
    if ((*there)->kind == OnCase::Kind::directory && !directory.empty()) next.push_back(path);
    found.names.emplace(path, std::move(**there));
  }
  return all;
}

}  // namespace

bool is_left_out(const Watched& watched, const std::string& path, unsigned char type) {
  const std::string_view name = name_of(path);
  if (drain::is_name_of_forebay(name, watched.run)) return true;
  if (type != DT_REG && openfoam::is_time_name(name)) return true;
  if (parent_of(path).empty() && type != DT_REG && (openfoam::processor_of(name) || openfoam::group_of(name)))
    return true;
  return tree::matches_any(watched.left_out, path);
}

bool is_looked_at(const Watched& watched, std::string_view path) {
  return std::ranges::any_of(watched.directories, [&](const std::string& directory) {
    return directory.empty() ? parent_of(path).empty() : is_below(path, directory);
  });
}

Look look(drain::SharedFiles& files, const Watched& watched, Clock& clock) {
  Look found{clock.now()};
  std::set<std::string> listed;
  std::vector<std::string> next(watched.directories.rbegin(), watched.directories.rend());
  while (!next.empty() && listed.size() < most_directories) {
    const std::string directory = std::move(next.back());
    next.pop_back();
    if (!listed.insert(directory).second) continue;
    const auto entries = files.list(directory, most_names);
    if (!entries) {
      if (entries.error().errno_value == ENOENT && !directory.empty()) found.whole.insert(directory);
    } else if (entries->size() > most_names) {
      found.too_large.insert(directory);
    } else if (take_in(files, watched, directory, *entries, found, next)) {
      found.whole.insert(directory);
    }
  }
  return found;
}

}  // namespace forebay::control
