// The working directory, and listings.
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/redirect/link.h"
#include "run/redirect/next.h"
#include "run/redirect/open.h"

namespace forebay::redirect {
namespace {

// Whether an open DIR lies in the tree, found once per DIR: bit 0 "yes", bit 1 "no". A slot is forgotten when a new DIR
// has its address.
constexpr size_t stream_slots = 64;
constinit std::atomic<uintptr_t> streams[stream_slots]{};

std::atomic<uintptr_t>& stream_slot(DIR* stream) {
  return streams[(reinterpret_cast<uintptr_t>(stream) >> 4) % stream_slots];
}

DIR* new_stream(DIR* stream) {
  if (stream != nullptr) stream_slot(stream).store(0, std::memory_order_relaxed);
  return stream;
}

bool stream_is_inside(DIR* stream) {
  const auto address = reinterpret_cast<uintptr_t>(stream);
  std::atomic<uintptr_t>& slot = stream_slot(stream);
  const uintptr_t known = slot.load(std::memory_order_relaxed);
  if ((known & ~uintptr_t{3}) == address) return (known & 1) != 0;
  const bool inside = really_inside({dirfd(stream), ".", Where::perhaps});
  slot.store(address | (inside ? 1 : 2), std::memory_order_relaxed);
  return inside;
}

bool is_hidden(const char* name) {
  return name[0] == '.' && strncmp(name, state.temporary.text, state.temporary.size) == 0;
}

// The type to show for a link in the tree.
unsigned char shown_type(int directory, const char* name) {
  Path text;
  struct stat status;
  switch (link_at(directory, name, text)) {
    case Link::staged:
      return DT_REG;
    case Link::pool:
      return sys_fstatat(directory, name, &status, 0) == 0 && S_ISREG(status.st_mode) ? DT_REG : DT_DIR;
    default:
      return DT_LNK;
  }
}

}  // namespace

ENTRY(DIR*, opendir, (const char* path)) {
  const Located location(AT_FDCWD, path, Reach::whole);
  return new_stream(NEXT(opendir)(location.path));
}

ENTRY(DIR*, fdopendir, (int fd)) {
  return new_stream(NEXT(fdopendir)(fd));
}

ENTRY(dirent*, readdir, (DIR * stream)) {
  dirent* entry = NEXT(readdir)(stream);
  if (!active()) return entry;
  while (entry != nullptr && is_hidden(entry->d_name) && stream_is_inside(stream)) entry = NEXT(readdir)(stream);
  if (entry != nullptr && entry->d_type == DT_LNK && stream_is_inside(stream))
    entry->d_type = shown_type(dirfd(stream), entry->d_name);
  return entry;
}
ENTRY_ALIAS(readdir64, readdir);

ENTRY(int, readdir_r, (DIR * stream, dirent* entry, dirent** result)) {
  const int failed = NEXT(readdir_r)(stream, entry, result);
  if (failed != 0 || *result == nullptr || !active()) return failed;
  if (is_hidden(entry->d_name) && stream_is_inside(stream)) return entry_readdir_r(stream, entry, result);
  if (entry->d_type == DT_LNK && stream_is_inside(stream)) entry->d_type = shown_type(dirfd(stream), entry->d_name);
  return failed;
}
ENTRY_ALIAS(readdir64_r, readdir_r);

ENTRY(ssize_t, getdents64, (int fd, void* bytes, size_t size)) {
  const ssize_t count = NEXT(getdents64)(fd, bytes, size);
  if (count <= 0 || !active() || !really_inside({fd, ".", Where::perhaps})) return count;
  char* const begin = static_cast<char*>(bytes);
  char* kept = begin;
  for (ssize_t at = 0; at < count;) {
    auto* entry = reinterpret_cast<dirent64*>(begin + at);
    const unsigned short length = entry->d_reclen;
    at += length;
    if (is_hidden(entry->d_name)) continue;
    if (entry->d_type == DT_LNK) entry->d_type = shown_type(fd, entry->d_name);
    memmove(kept, entry, length);
    kept += length;
  }
  return kept > begin ? kept - begin : entry_getdents64(fd, bytes, size);  // nothing left does not mean the end
}

namespace {

using Select = int (*)(const dirent*);
using Compare = int (*)(const dirent**, const dirent**);

void free_list(dirent** list, size_t count) {
  while (count > 0) free(list[--count]);
  free(list);
}

// libc's scandir lists by itself, past the entries above.
int list_all(DIR* stream, dirent*** result, Select select, Compare compare) {
  dirent** list = nullptr;
  size_t count = 0, room = 0;
  const int errno_before = errno;
  errno = 0;
  while (dirent* entry = entry_readdir(stream)) {
    errno = 0;
    if (select != nullptr && select(entry) == 0) {
      errno = 0;
      continue;
    }
    if (count == room) {
      room = room == 0 ? 16 : room * 2;
      auto** grown = static_cast<dirent**>(realloc(list, room * sizeof *list));
      if (grown == nullptr) break;
      list = grown;
    }
    auto* copy = static_cast<dirent*>(malloc(entry->d_reclen));
    if (copy == nullptr) break;
    memcpy(copy, entry, entry->d_reclen);
    list[count++] = copy;
    errno = 0;
  }
  const int failed = errno;
  closedir(stream);
  if (failed != 0) {
    free_list(list, count);
    errno = failed;
    return -1;
  }
  if (compare != nullptr && count > 1)
    qsort(list, count, sizeof *list, reinterpret_cast<int (*)(const void*, const void*)>(compare));
  *result = list;
  errno = errno_before;
  return static_cast<int>(count);
}

}  // namespace

ENTRY(int, scandir, (const char* path, dirent*** result, Select select, Compare compare)) {
  if (!active()) return NEXT(scandir)(path, result, select, compare);
  DIR* stream = entry_opendir(path);
  return stream != nullptr ? list_all(stream, result, select, compare) : -1;
}
ENTRY_ALIAS(scandir64, scandir);

ENTRY(int, scandirat, (int directory, const char* path, dirent*** result, Select select, Compare compare)) {
  if (!active()) return NEXT(scandirat)(directory, path, result, select, compare);
  const int fd = open_redirected(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK, 0);
  if (fd < 0) return -1;
  DIR* stream = entry_fdopendir(fd);
  if (stream != nullptr) return list_all(stream, result, select, compare);
  sys_close(fd);
  return -1;
}
ENTRY_ALIAS(scandirat64, scandirat);

ENTRY(int, chdir, (const char* path)) {
  const Located location(AT_FDCWD, path, Reach::whole);
  const int result = NEXT(chdir)(location.path);
  if (result == 0 && active()) note_working_directory();
  return result;
}

ENTRY(int, fchdir, (int fd)) {
  const int result = NEXT(fchdir)(fd);
  if (result == 0 && active()) note_working_directory();
  return result;
}

ENTRY(char*, getcwd, (char* text, size_t size)) {
  Path here;
  if (!active() || !state.flags.maybe_inside.load(std::memory_order_relaxed) || !absolute(AT_FDCWD, "", here))
    return NEXT(getcwd)(text, size);
  const size_t needed = here.size + 1;
  if ((text != nullptr || size != 0) && size < needed) {
    errno = text != nullptr && size == 0 ? EINVAL : ERANGE;
    return nullptr;
  }
  if (text == nullptr) text = static_cast<char*>(malloc(size != 0 ? size : needed));
  if (text != nullptr) memcpy(text, here.text, needed);
  return text;
}
ENTRY(char*, __getcwd_chk, (char* text, size_t size, size_t room)) {
  return size > room ? NEXT(__getcwd_chk)(text, size, room) : entry_getcwd(text, size);
}
ENTRY(char*, getwd, (char* text)) {
  return text != nullptr ? entry_getcwd(text, PATH_MAX) : NEXT(getwd)(text);
}
ENTRY(char*, __getwd_chk, (char* text, size_t room)) {
  return room < PATH_MAX && !active() ? NEXT(__getwd_chk)(text, room) : entry_getcwd(text, room);
}

ENTRY(char*, get_current_dir_name, ()) {
  struct stat here, named;
  const char* name = getenv("PWD");
  if (name != nullptr && stat(".", &here) == 0 && stat(name, &named) == 0 && here.st_dev == named.st_dev &&
      here.st_ino == named.st_ino)
    return strdup(name);
  return entry_getcwd(nullptr, 0);
}

}  // namespace forebay::redirect
