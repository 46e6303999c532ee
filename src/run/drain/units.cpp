#include "run/drain/units.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "run/drain/placed.h"
#include "run/drain/walk.h"

namespace forebay::drain {
namespace {

// Files and links below `directory`, relative to it.
Status files_below(const std::string& directory, const std::string& relative, const std::string& lower,
                   std::vector<std::string>& files) {
  auto entries = list_directory(join(directory, relative));
  if (!entries) return forward(entries);
  for (const DirectoryEntry& entry : *entries) {
    if (is_copy_up(entry.name, lower)) continue;
    const std::string path = join(relative, entry.name);
    if (entry.type == DT_DIR) {
      if (auto below = files_below(directory, path, lower, files); !below) return below;
    } else if (entry.type == DT_REG || entry.type == DT_LNK) {
      files.push_back(path);
    }
  }
  return {};
}

}  // namespace

Result<std::optional<layouts::RankTime>> read_time(int rank, const std::string& directory, bool must_be_sealed,
                                                   const std::vector<std::string>& placed, const std::string& lower) {
  layouts::RankTime rank_time{rank, directory, {}};
  if (auto listed = files_below(directory, "", lower, rank_time.files); !listed) {
    if (listed.error().errno_value == ENOENT || listed.error().errno_value == ENOTDIR) return std::nullopt;
    return forward(listed);
  }
  std::ranges::sort(rank_time.files);
  for (const std::string& file : rank_time.files) {
    struct stat status {};
    if (!must_be_sealed) break;
    const std::string path = content_of(join(directory, file), placed);
    if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
    if (!S_ISREG(status.st_mode) || !is_open_for_writing(path)) continue;
    errno = EBUSY;
    return errno_error("still open for writing:", path);
  }
  return rank_time;
}

bool is_still_open(const Result<std::optional<layouts::RankTime>>& read) {
  return !read && read.error().errno_value == EBUSY;
}

Result<bool> make_where_missing(SharedFiles& files, const std::string& path, mode_t mode) {
  const auto made = files.make_directory(path, mode);
  if (made) return true;
  if (made.error().errno_value == ENOTDIR) return false;
  if (made.error().errno_value != EEXIST) return forward(made);
  const auto there = files.status(path);
  if (!there) return forward(there);
  // A unit below a link of somebody else is refused, at once and with that reason.
  return !*there || S_ISDIR((*there)->st_mode) || S_ISLNK((*there)->st_mode);
}

Result<bool> make_parents(SharedFiles& files, const std::vector<std::pair<std::string, mode_t>>& parents,
                          Prepared& prepared) {
  for (const auto& [parent, mode] : parents) {
    const auto made = make_where_missing(files, parent, mode);
    if (!made || !*made) return made;
    prepared.directories[parent] = mode;
  }
  return true;
}

Sources sources_of(const std::vector<layouts::RankTime>& ranks) {
  Sources sources;
  std::string marks;
  for (const layouts::RankTime& rank_time : ranks) {
    for (const std::string& file : rank_time.files) {
      struct stat status {};
      if (::lstat(join(rank_time.directory, file).c_str(), &status) != 0) continue;
      const LocalMark mark = mark_of(status);
      marks += fmt::format("{} {} {} {} {}\n", rank_time.rank, mark.inode, mark.size, mark.mtime_ns, file);
      ++sources.files;
      sources.newest_ns = std::max(sources.newest_ns, mark.mtime_ns);
    }
  }
  sources.marks = checksum(marks);
  return sources;
}

Status use_placed(layouts::Unit& unit, const std::string& directory, const std::vector<std::string>& placed) {
  for (layouts::OutputFile& file : unit.files) {
    if (!is_placed(file.link_target, placed)) continue;
    const std::string content = content_of(join(directory, file.path), placed);
    auto made = layouts::verbatim_file(content, unit.target, std::nullopt);
    if (!made) return forward(made);
    made->files.front().path = file.path;
    file = std::move(made->files.front());
  }
  return {};
}

layouts::Unit held_unit(const Version& version, const std::string& path, const std::optional<Identity>& replaces,
                        Prepared& prepared) {
  layouts::Unit unit = *version.unit;
  unit.replaces = replaces;
  prepared = {};
  if (const std::string& target = unit.files.front().link_target; target.empty())
    prepared.marks[path] = version.mark;
  else
    prepared.links[path] = target;
  return unit;
}

void mark_sources(const layouts::Unit& unit, const std::string& directory, const std::vector<std::string>& placed,
                  Prepared& prepared) {
  prepared = {};
  for (const layouts::OutputFile& file : unit.files) {
    const std::string path = unit.is_directory ? join(unit.target, file.path) : unit.target;
    if (!file.link_target.empty()) {
      prepared.links[path] = file.link_target;
      continue;
    }
    const std::string local = unit.is_directory ? content_of(join(directory, file.path), placed) : directory;
    if (const auto status = status_of(local)) prepared.marks[path] = mark_of(*status);
  }
  for (const layouts::OutputDirectory& made : unit.directories)
    prepared.directories[join(unit.target, made.path)] = made.mode;
}

}  // namespace forebay::drain
