#include "run/layouts/local_files.h"

#include <sys/stat.h>

namespace forebay::layouts {
namespace {

Status add_directories(const std::string& directory, const std::string& path, std::vector<OutputDirectory>& found) {
  const std::string local_path = join(directory, path);
  struct stat status {};
  if (::lstat(local_path.c_str(), &status) != 0) return errno_error("cannot stat", local_path);
  if (!S_ISDIR(status.st_mode)) return error(Code::failed, "not a directory:", local_path);
  found.push_back({path, status.st_mode & 07777, owner_of(status)});
  const auto entries = list_directory(local_path);
  if (!entries) return forward(entries);
  for (const DirectoryEntry& entry : *entries) {
    if (entry.type != DT_DIR) continue;
    if (auto added = add_directories(directory, join(path, entry.name), found); !added) return added;
  }
  return {};
}

}  // namespace

std::int64_t modification_time(const struct stat& status) {
  return identity_of(status).mtime_ns;
}

Result<OutputFile> whole_file(const std::string& local_path, const std::string& path) {
  struct stat status {};
  if (::lstat(local_path.c_str(), &status) != 0) return errno_error("cannot stat", local_path);
  OutputFile file{path, status.st_mode & 07777, modification_time(status), {}, {}};
  file.owner = owner_of(status);
  if (S_ISLNK(status.st_mode)) {
    auto target = read_link(local_path);
    if (!target) return forward(target);
    file.link_target = std::move(*target);
  } else if (!S_ISREG(status.st_mode)) {
    return error(Code::failed, "neither a file nor a link:", local_path,
                 "forebay carries files, directories and links only");
  } else if (status.st_size > 0) {
    file.pieces.push_back({{}, local_path, 0, static_cast<std::uint64_t>(status.st_size)});
  }
  return file;
}

Result<std::vector<OutputDirectory>> directories_below(const std::string& directory) {
  std::vector<OutputDirectory> found;
  if (auto added = add_directories(directory, "", found); !added) return forward(added);
  return found;
}

}  // namespace forebay::layouts
