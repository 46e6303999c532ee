// stat, lstat, statx, access, readlink and their kin: staged links look like the files they stand for.
#include <dlfcn.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "run/redirect/link.h"
#include "run/redirect/next.h"

namespace forebay::redirect {

ENTRY_DECLARATION(int, fstatat, (int, const char*, struct stat*, int));
ENTRY_DECLARATION(int, stat, (const char*, struct stat*));
ENTRY_DECLARATION(int, lstat, (const char*, struct stat*));
ENTRY_DECLARATION(int, statx, (int, const char*, int, unsigned, struct statx*));

namespace {

// Before 2.33 libc had none of these three, which its header made of __fxstatat: then the kernel is asked.
bool libc_has_stat() {
  static constinit std::atomic<int> known{0};
  int answer = known.load(std::memory_order_relaxed);
  if (answer == 0)
    known.store(answer = find_symbol(RTLD_NEXT, "fstatat") != nullptr ? 1 : -1, std::memory_order_relaxed);
  return answer > 0;
}

HOT int next_stat(int directory, const char* path, struct stat* status, int flags) {
  if (!libc_has_stat()) [[unlikely]]
    return with_errno_int(sys_fstatat(directory, path, status, flags));
  if (directory == AT_FDCWD && flags == 0) return NEXT(stat)(path, status);
  if (directory == AT_FDCWD && flags == AT_SYMLINK_NOFOLLOW) return NEXT(lstat)(path, status);
  return NEXT(fstatat)(directory, path, status, flags);
}

HOT int kernel_stat(const Location& location, struct stat* status, int flags) {
  return next_stat(location.directory, location.path, status, flags);
}

COLD bool is_genuine_link(const Location& location) {
  Path text;
  return link_at(location.directory, location.path, text) == Link::genuine;
}

// True if a followed path that ended on the shared file system was no untouched input: a genuine link led out of the
// tree, and has to be followed in the case instead.
bool leads_astray(const Location& location, dev_t device) {
  return !state.flags.beside_namespace && device == state.lower_device && is_genuine_link(location);
}

// lstat met a link.
COLD int stat_link(const Location& location, struct stat* status, int flags) {
  Path text;
  switch (link_at(location.directory, location.path, text)) {
    case Link::staged:
      return with_errno_int(sys_fstatat(AT_FDCWD, text.text, status, AT_SYMLINK_NOFOLLOW));
    case Link::pool:
      return kernel_stat(location, status, flags & ~AT_SYMLINK_NOFOLLOW);
    default:
      return 0;
  }
}

HOT [[gnu::noinline]] int stat_near(int directory, const char* path, struct stat* status, int flags) {
  Path buffer;
  Location location = locate_near(directory, path, buffer);
  const int result = kernel_stat(location, status, flags);
  if (location.outside()) return result;
  if ((flags & AT_SYMLINK_NOFOLLOW) == 0) {
    if (result == 0 ? !leads_astray(location, status->st_dev) : errno != ENOENT) return result;
    // A link whose target exists in the tree only is followed, too.
    return follow(location, buffer) ? kernel_stat(location, status, flags) : result;
  }
  return result == 0 && S_ISLNK(status->st_mode) ? stat_link(location, status, flags) : result;
}

}  // namespace

ENTRY(int, stat, (const char* path, struct stat* status)) {
  if (is_outside(path)) return next_stat(AT_FDCWD, path, status, 0);
  return stat_near(AT_FDCWD, path, status, 0);
}
ENTRY_ALIAS(stat64, stat);

ENTRY(int, lstat, (const char* path, struct stat* status)) {
  if (is_outside(path)) return next_stat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
  return stat_near(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
ENTRY_ALIAS(lstat64, lstat);

ENTRY(int, fstatat, (int directory, const char* path, struct stat* status, int flags)) {
  if (is_outside(directory, path)) return next_stat(directory, path, status, flags);
  return stat_near(directory, path, status, flags);
}
ENTRY_ALIAS(fstatat64, fstatat);

// The names that programs built before glibc 2.33 call; with 64 bits versions 0 and 1 are the same structure.
ENTRY(int, __fxstatat, (int version, int directory, const char* path, struct stat* status, int flags)) {
  if (version != 0 && version != 1) return with_errno_int(-EINVAL);
  return entry_fstatat(directory, path, status, flags);
}
ENTRY_ALIAS(__fxstatat64, __fxstatat);
ENTRY(int, __xstat, (int version, const char* path, struct stat* status)) {
  return entry___fxstatat(version, AT_FDCWD, path, status, 0);
}
ENTRY_ALIAS(__xstat64, __xstat);
ENTRY(int, __lxstat, (int version, const char* path, struct stat* status)) {
  return entry___fxstatat(version, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
ENTRY_ALIAS(__lxstat64, __lxstat);

namespace {
HOT [[gnu::noinline]] int statx_near(int directory, const char* path, int flags, unsigned mask, struct statx* status) {
  Path buffer;
  Location location = locate_near(directory, path, buffer);
  const int result = NEXT(statx)(location.directory, location.path, flags, mask, status);
  if (location.outside()) return result;
  if ((flags & AT_SYMLINK_NOFOLLOW) == 0) {
    const dev_t device = result == 0 ? makedev(status->stx_dev_major, status->stx_dev_minor) : 0;
    if (result == 0 ? !leads_astray(location, device) : errno != ENOENT) return result;
    if (!follow(location, buffer)) return result;
    return NEXT(statx)(location.directory, location.path, flags, mask, status);
  }
  if (result != 0 || !S_ISLNK(status->stx_mode)) return result;
  Path text;
  switch (link_at(location.directory, location.path, text)) {
    case Link::staged:
      return NEXT(statx)(AT_FDCWD, text.text, flags, mask, status);
    case Link::pool:
      return NEXT(statx)(location.directory, location.path, flags & ~AT_SYMLINK_NOFOLLOW, mask, status);
    default:
      return result;
  }
}

}  // namespace

ENTRY(int, statx, (int directory, const char* path, int flags, unsigned mask, struct statx* status)) {
  if (is_outside(directory, path)) return NEXT(statx)(directory, path, flags, mask, status);
  return statx_near(directory, path, flags, mask, status);
}

ENTRY(int, access, (const char* path, int mode)) {
  return NEXT(access)(Seen(AT_FDCWD, path, true).path, mode);
}

ENTRY(int, faccessat, (int directory, const char* path, int mode, int flags)) {
  const Seen seen(directory, path, (flags & AT_SYMLINK_NOFOLLOW) == 0);
  if (seen.through) flags &= ~AT_SYMLINK_NOFOLLOW;
  return NEXT(faccessat)(seen.directory, seen.path, mode, flags);
}

ENTRY(int, euidaccess, (const char* path, int mode)) {
  return NEXT(euidaccess)(Seen(AT_FDCWD, path, true).path, mode);
}
ENTRY_ALIAS(eaccess, euidaccess);

ENTRY(ssize_t, readlinkat, (int directory, const char* path, char* text, size_t size)) {
  const Located location(directory, path);
  // Links of /proc tell kernel paths: the program's working directory, descriptors, executable.
  const bool in_proc = path != nullptr && strncmp(path, "/proc/", 6) == 0 && active();
  if (location.outside() && !in_proc) return NEXT(readlinkat)(location.directory, location.path, text, size);
  Path target;
  const Link kind = link_at(location.directory, location.path, target);
  if (kind == Link::pool && !in_proc) return with_errno(-EINVAL);
  if (kind == Link::staged && !in_proc)  // which is a regular file, or a link that stands behind it
    return with_errno(sys_readlinkat(AT_FDCWD, target.text, text, size));
  if (kind == Link::none) return NEXT(readlinkat)(location.directory, location.path, text, size);
  if (in_proc) to_virtual(target);
  if (static_cast<ssize_t>(size) <= 0) return with_errno(-EINVAL);
  const size_t count = target.size < size ? target.size : size;
  memcpy(text, target.text, count);
  return static_cast<ssize_t>(count);
}

ENTRY(ssize_t, readlink, (const char* path, char* text, size_t size)) {
  return entry_readlinkat(AT_FDCWD, path, text, size);
}
ENTRY(ssize_t, __readlink_chk, (const char* path, char* text, size_t size, size_t room)) {
  if (size > room) return NEXT(__readlink_chk)(path, text, size, room);
  return entry_readlinkat(AT_FDCWD, path, text, size);
}
ENTRY(ssize_t, __readlinkat_chk, (int directory, const char* path, char* text, size_t size, size_t room)) {
  if (size > room) return NEXT(__readlinkat_chk)(directory, path, text, size, room);
  return entry_readlinkat(directory, path, text, size);
}

}  // namespace forebay::redirect
