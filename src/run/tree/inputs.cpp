#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <map>
#include <utility>
#include <vector>

#include "run/tree/tree.h"

namespace forebay::tree {
namespace {

class Scan {
 public:
  Scan(const StageRequest& request, Inputs& inputs) : request_(request), inputs_(inputs) {}

  Status directory(int parent, const std::string& name, const std::string& path) {
    const int follow = !path.empty() && path == request_.below ? 0 : O_NOFOLLOW;
    auto opened = open_file_at(parent, name, O_RDONLY | O_DIRECTORY | follow);
    if (!opened && opened.error().errno_value == EACCES && path != request_.below)
      return unreadable(parent, name, path);
    if (!opened) return at(opened.error(), path);
    struct stat status {};
    if (fstat(opened->get(), &status) != 0) return errno_error("cannot stat", join(request_.case_path, path));
    const bool all_may_enter = (status.st_mode & 0111) == 0111;
    if (!all_may_enter && path != request_.below && ::faccessat(opened->get(), ".", X_OK, AT_EACCESS) != 0)
      return unreadable(parent, name, path);
    inputs_.entries.push_back(
        {path, Kind::directory, status.st_mode & 07777, identity_of(status), {}, owner_of(status)});
    auto entries = list_directory(opened->get(), join(request_.case_path, path));
    if (!entries) return forward(entries);
    for (const DirectoryEntry& entry : *entries) {
      const std::string below = join(path, entry.name);
      if (request_.skip && request_.skip(below)) continue;
      if (entry.type == DT_DIR) {
        if (auto scanned = directory(opened->get(), entry.name, below); !scanned) return scanned;
      } else if (auto scanned = file(opened->get(), entry, below); !scanned) {
        return scanned;
      }
    }
    return {};
  }

 private:
  // Refused to this user as it is to the program, which is to meet the same on its way through a link.
  Status unreadable(int parent, const std::string& name, const std::string& path) {
    struct stat status {};
    if (fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return errno_error("cannot stat", join(request_.case_path, path));
    inputs_.entries.push_back({path, Kind::link, status.st_mode & 07777, identity_of(status), {}, owner_of(status)});
    ++inputs_.link_files;
    return {};
  }

  Status file(int parent, const DirectoryEntry& entry, const std::string& path) {
    struct stat status {};
    if (fstatat(parent, entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return {};  // gone since it was listed: the program would not find it either
      return errno_error("cannot stat", join(request_.case_path, path));
    }
    Entry staged{path, Kind::link, status.st_mode & 07777, identity_of(status), {}, owner_of(status)};
    if (S_ISLNK(status.st_mode)) {
      char target[PATH_MAX];
      const ssize_t length = readlinkat(parent, entry.name.c_str(), target, sizeof target);
      if (length < 0) return errno_error("cannot read link", join(request_.case_path, path));
      staged.kind = Kind::symlink;
      staged.target.assign(target, static_cast<std::size_t>(length));
    } else if (!S_ISREG(status.st_mode)) {
      inputs_.left_out.push_back(path);
      return {};
    } else if (request_.copy && request_.copy(path)) {
      staged.kind = Kind::copy;
      inputs_.copy_bytes += staged.identity.size;
      ++inputs_.copy_files;
    } else {
      ++inputs_.link_files;
    }
    inputs_.entries.push_back(std::move(staged));
    return {};
  }

  Status at(Error failure, const std::string& path) const {
    failure.path = join(request_.case_path, path);
    return tl::unexpected<Error>(std::move(failure));
  }

  const StageRequest& request_;
  Inputs& inputs_;
};

// Names of one file are one file for a program that writes to it, too: a link for each would be copied up by itself.
void join_names(const StageRequest& request, Inputs& inputs) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Entry*>> files;
  for (Entry& entry : inputs.entries)
    if ((entry.kind == Kind::link || entry.kind == Kind::copy) && entry.identity.links > 1)
      files[{entry.identity.device, entry.identity.inode}].push_back(&entry);
  for (const auto& [file, names] : files) {
    const Entry& first = *names.front();
    if (names.size() < 2 || ::faccessat(AT_FDCWD, join(request.case_path, first.path).c_str(), R_OK, AT_EACCESS) != 0)
      continue;
    for (Entry* name : names) {
      const bool was_copy = std::exchange(name->kind, Kind::copy) == Kind::copy;
      if (was_copy) inputs.copy_bytes -= name->identity.size;
      if (!was_copy) --inputs.link_files, ++inputs.copy_files;
      if (name != &first) name->first = first.path;
    }
    inputs.copy_bytes += first.identity.size;
  }
}

}  // namespace

Result<Inputs> list_inputs(const StageRequest& request) {
  Inputs inputs;
  Scan scan(request, inputs);
  if (auto scanned = scan.directory(AT_FDCWD, join(request.case_path, request.below), request.below); !scanned)
    return forward(scanned);
  join_names(request, inputs);
  return inputs;
}

bool is_staged_link(std::string_view target, std::string_view lower) {
  // A planted "<lower>/../../x" leads elsewhere.
  return target.size() > lower.size() && is_below(target, lower) && !has_parent_step(target);
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& path) {
  for (const std::string& pattern : patterns) {
    if (fnmatch(pattern.c_str(), path.c_str(), 0) == 0) return true;
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
      if (fnmatch(pattern.c_str(), path.substr(0, slash).c_str(), 0) == 0) return true;
  }
  return false;
}

}  // namespace forebay::tree
