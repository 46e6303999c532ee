// Taking a store away.
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "store/kept/files.h"

namespace forebay::kept {
namespace {

// In the order in which they go: without the head nothing that lies there counts.
constexpr const char* kFiles[] = {"store", "store.new", "segments"};

// The files of a part that may be removed, whose lock is locked as long as they are open.
Result<Files> lock(const Part& part) {
  if (!part.marked) {
    return error(Code::bad_input, "nothing tells beyond doubt that this is a store:", part.path,
                 "look at it, and remove the directory by hand");
  }
  std::string path = part.path;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode))
    return error(Code::bad_input, "this is a link to a store:", part.path, "name the store itself");
  auto files = open_part(part);
  if (!files) return files;
  const auto entries = list_directory(files->directory.get(), part.path);
  if (!entries) return forward(entries);
  for (const DirectoryEntry& entry : *entries) {
    const auto* const ours = std::find(std::begin(kFiles), std::end(kFiles), entry.name);
    if (ours != std::end(kFiles) && entry.type != DT_DIR) continue;
    return error(Code::bad_input,
                 "this is no part of a store, which can therefore not be removed:", join(part.path, entry.name),
                 "move it away, or remove the directory by hand");
  }
  if (!files->segments) return files;
  // Some shared file systems give a lock that keeps others out to those alone who may write.
  if (auto writable = open_file_at(files->directory.get(), "segments", O_RDWR | O_NOFOLLOW | O_NONBLOCK))
    files->segments = std::move(*writable);
  const auto locked = take_own_lock(files->segments.get(), part.path);
  if (!locked) return forward(locked);
  if (*locked) return files;
  return error(Code::busy, "the store is in use by a process:", part.path, "wait until that has closed it");
}

}  // namespace

Status removable(const Part& part) {
  const auto files = lock(part);
  return files ? Status{} : forward(files);
}

Status remove(const Part& part) {
  const auto files = lock(part);
  if (!files) return forward(files);
  for (const char* const name : kFiles) {
    if (::unlinkat(files->directory.get(), name, 0) != 0 && errno != ENOENT)
      return errno_error("cannot remove", join(part.path, name));
  }
  // Where it is not empty, a process has begun a store of this name just now.
  if (::unlinkat(files->pool.get(), part.name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT && errno != ENOTEMPTY)
    return errno_error("cannot remove", part.path);
  return {};
}

}  // namespace forebay::kept
