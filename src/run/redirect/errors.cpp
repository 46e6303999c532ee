#include "run/redirect/errors.h"

#include "run/redirect/times.h"

namespace forebay::redirect {
namespace {

// Takes the path that the kernel tells. A file on the shared file system is not in the tree: its errors are the
// program's own business, as without us.
bool is_in_tree(const char* path) {
  if (state.lower.rest(path) != nullptr) return false;
  if (state.tree.rest(path) != nullptr || state.rank.keep.rest(path) != nullptr) return true;
  for (int i = 0; i < state.pool_count; ++i)
    if (state.beside.pools[i].rest(path) != nullptr) return true;
  return false;
}

void copy_end(const char* path, char* to, size_t capacity) {
  constexpr size_t dots = 3;
  const size_t size = strlen(path);
  if (size < capacity) {
    memcpy(to, path, size + 1);
    return;
  }
  memcpy(to, "...", dots);
  memcpy(to + dots, path + size - (capacity - 1 - dots), capacity - dots);
}

// First the time, then the count: who has read the one knows of the other.
void note(Path& path, int error) {
  if (!name_before_purge(path)) to_virtual(path);
  const char* rest = state.case_root.rest(path.text);
  const bool in_case = rest != nullptr && *rest == '/';
  note_cut(in_case ? rest : "/");
  const uint64_t number = state.errors.page->count.fetch_add(1, std::memory_order_acq_rel);
  if (number >= static_cast<uint64_t>(contract::WriteErrors::slots)) return;
  contract::WriteErrors::Slot& slot = state.errors.page->slot[number];
  slot.error = error;
  copy_end(in_case ? rest + 1 : path.text, slot.path, sizeof slot.path);
  slot.written.store(1, std::memory_order_release);
}

bool notes(int error) {
  return is_noted(error) && active() && state.errors.page != nullptr;
}

bool read_name(const char* link, Path& path) {
  const long size = sys_readlinkat(AT_FDCWD, link, path.text, PATH_MAX);
  if (size <= 0 || path.text[0] != '/') return false;
  path.size = static_cast<size_t>(size);
  path.text[size] = '\0';
  return true;
}

// The path in a line of /proc/self/maps, "begin-end rights offset device inode path", if the line is of this address.
const char* path_of_mapping(const char* line, uintptr_t address) {
  uintptr_t bounds[2] = {0, 0};
  for (uintptr_t& bound : bounds) {
    for (; *line != '-' && *line != ' ' && *line != '\0'; ++line)
      bound = bound * 16 + static_cast<uintptr_t>(*line <= '9' ? *line - '0' : *line - 'a' + 10);
    if (*line == '-') ++line;
  }
  return bounds[0] <= address && address < bounds[1] ? strchr(line, '/') : nullptr;
}

bool name_of_mapping(const void* address, Path& path) {
  const int maps = sys_openat(AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0) return false;
  const char* found = nullptr;
  char bytes[1024];
  path.clear();
  for (long count; found == nullptr && (count = system_call(SYS_read, maps, word(bytes), sizeof bytes)) > 0;)
    for (long i = 0; found == nullptr && i < count; ++i) {
      if (bytes[i] != '\n') {
        path.append(bytes + i, 1);
      } else if ((found = path_of_mapping(path.text, reinterpret_cast<uintptr_t>(address))) == nullptr) {
        path.clear();
      }
    }
  sys_close(maps);
  if (found == nullptr) return false;
  path.replace_front(static_cast<size_t>(found - path.text), "", 0);
  return true;
}

}  // namespace

bool name_in_tree(int fd, Path& path) {
  return active() && read_name(DescriptorPath(fd).text, path) && is_in_tree(path.text);
}

void note_failed_at(Path& path, int error) {
  if (notes(error) && is_in_tree(path.text)) note(path, error);
}

void note_failed(int fd, int error) {
  Path path;
  if (notes(error) && name_in_tree(fd, path)) note(path, error);
}

void note_failed(const Location& location, int error) {
  Path path;
  if (location.outside() || !notes(error)) return;
  if (location.path[0] != '/') {
    const DescriptorPath directory(location.directory);
    if (!read_name(location.directory == AT_FDCWD ? "/proc/self/cwd" : directory.text, path)) return;
    if (location.path[0] != '\0') path.append("/", 1);
  }
  path.append(location.path);
  if (is_in_tree(path.text)) note(path, error);
}

void note_failed(const void* address, int error) {
  Path path;
  if (notes(error) && name_of_mapping(address, path) && is_in_tree(path.text)) note(path, error);
}

void note_failed_for_some_reason(int fd) {
  Path path;
  if (!notes(EIO) || !name_in_tree(fd, path)) return;
  // A full file system is the usual cause; others are rare. So it is taken for the cause if there is no room now.
  struct statfs status;
  const bool full =
      system_call(SYS_fstatfs, fd, word(&status)) == 0 &&
      (static_cast<uint64_t>(status.f_bavail) * static_cast<uint64_t>(status.f_frsize) < contract::as_good_as_full ||
       (status.f_files > 0 && status.f_ffree == 0));
  note(path, full ? ENOSPC : 0);
}

}  // namespace forebay::redirect
