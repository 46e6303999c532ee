// Calls that change a file's attributes or length: a staged link becomes a file of its own first.
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "run/redirect/errors.h"
#include "run/redirect/link.h"
#include "run/redirect/next.h"

namespace forebay::redirect {
namespace {

// The location to change, as a value: locate and make_own in one.
struct Own : Located {
  bool ready;  // otherwise errno is set

  Own(int from, const char* text, bool following, bool discard = false)
      : Located(from, text), ready(noting(*this, with_errno(make_own(*this, buffer, following, discard))) == 0) {}
};

// A descriptor of an untouched input, opened for reading: a change through it would reach the case. True when `buffer`
// holds the path of the tree's own copy, which is to be changed instead; -1 when there can be none (errno is set).
int owned_by_name(int fd, Path& buffer) {
  if (!active()) return 0;
  const long flags = system_call(SYS_fcntl, fd, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY || (flags & O_PATH) != 0) return 0;
  const DescriptorPath name(fd);
  Path text;
  const long size = sys_readlinkat(AT_FDCWD, name.text, text.text, PATH_MAX);
  if (size <= 0) return 0;
  text.size = static_cast<size_t>(size);
  text.text[size] = '\0';
  const bool lower = state.lower.rest(text.text) != nullptr ||
                     (!state.flags.beside_namespace && state.case_root.rest(text.text) != nullptr);
  if (!lower) return 0;
  to_virtual(text);
  to_kernel(text, buffer);
  Path link;
  if (link_at(AT_FDCWD, buffer.text, link) != Link::staged) return 1;
  const int failed = copy_up(AT_FDCWD, buffer.text, link.text, false);
  if (failed < 0) return with_errno_int(failed == -EACCES ? -EPERM : -EIO);
  return 1;
}

}  // namespace

ENTRY(int, chmod, (const char* path, mode_t mode)) {
  const Own own(AT_FDCWD, path, true);
  return own.ready ? NEXT(chmod)(own.path, mode) : -1;
}
ENTRY(int, fchmodat, (int directory, const char* path, mode_t mode, int flags)) {
  const Own own(directory, path, (flags & AT_SYMLINK_NOFOLLOW) == 0);
  return own.ready ? NEXT(fchmodat)(own.directory, own.path, mode, flags) : -1;
}
ENTRY(int, lchmod, (const char* path, mode_t mode)) {
  const Own own(AT_FDCWD, path, false);
  return own.ready ? NEXT(lchmod)(own.path, mode) : -1;
}
ENTRY(int, fchmod, (int fd, mode_t mode)) {
  Path path;
  const int owned = owned_by_name(fd, path);
  return owned == 0 ? NEXT(fchmod)(fd, mode) : owned < 0 ? -1 : NEXT(chmod)(path.text, mode);
}

ENTRY(int, chown, (const char* path, uid_t user, gid_t group)) {
  const Own own(AT_FDCWD, path, true);
  return own.ready ? NEXT(chown)(own.path, user, group) : -1;
}
ENTRY(int, lchown, (const char* path, uid_t user, gid_t group)) {
  const Own own(AT_FDCWD, path, false);
  return own.ready ? NEXT(lchown)(own.path, user, group) : -1;
}
ENTRY(int, fchownat, (int directory, const char* path, uid_t user, gid_t group, int flags)) {
  const Own own(directory, path, (flags & AT_SYMLINK_NOFOLLOW) == 0);
  return own.ready ? NEXT(fchownat)(own.directory, own.path, user, group, flags) : -1;
}
ENTRY(int, fchown, (int fd, uid_t user, gid_t group)) {
  Path path;
  const int owned = owned_by_name(fd, path);
  return owned == 0 ? NEXT(fchown)(fd, user, group) : owned < 0 ? -1 : NEXT(chown)(path.text, user, group);
}

ENTRY(int, utime, (const char* path, const utimbuf* times)) {
  const Own own(AT_FDCWD, path, true);
  return own.ready ? NEXT(utime)(own.path, times) : -1;
}
ENTRY(int, utimes, (const char* path, const timeval* times)) {
  const Own own(AT_FDCWD, path, true);
  return own.ready ? NEXT(utimes)(own.path, times) : -1;
}
ENTRY(int, lutimes, (const char* path, const timeval* times)) {
  const Own own(AT_FDCWD, path, false);
  return own.ready ? NEXT(lutimes)(own.path, times) : -1;
}
ENTRY(int, futimesat, (int directory, const char* path, const timeval* times)) {
  const Own own(directory, path, true);
  return own.ready ? NEXT(futimesat)(own.directory, own.path, times) : -1;
}
ENTRY(int, utimensat, (int directory, const char* path, const timespec* times, int flags)) {
  const Own own(directory, path, (flags & AT_SYMLINK_NOFOLLOW) == 0);
  return own.ready ? NEXT(utimensat)(own.directory, own.path, times, flags) : -1;
}
ENTRY(int, futimens, (int fd, const timespec* times)) {
  Path path;
  const int owned = owned_by_name(fd, path);
  return owned == 0 ? NEXT(futimens)(fd, times) : owned < 0 ? -1 : NEXT(utimensat)(AT_FDCWD, path.text, times, 0);
}
ENTRY(int, futimes, (int fd, const timeval* times)) {
  Path path;
  const int owned = owned_by_name(fd, path);
  return owned == 0 ? NEXT(futimes)(fd, times) : owned < 0 ? -1 : NEXT(utimes)(path.text, times);
}

ENTRY(int, truncate, (const char* path, off_t length)) {
  const Own own(AT_FDCWD, path, true, length == 0);
  return own.ready ? noting(own, NEXT(truncate)(own.path, length)) : -1;
}
ENTRY_ALIAS(truncate64, truncate);

ENTRY(int, setxattr, (const char* path, const char* name, const void* value, size_t size, int flags)) {
  const Own own(AT_FDCWD, path, true);
  return own.ready ? NEXT(setxattr)(own.path, name, value, size, flags) : -1;
}
ENTRY(int, lsetxattr, (const char* path, const char* name, const void* value, size_t size, int flags)) {
  const Own own(AT_FDCWD, path, false);
  return own.ready ? NEXT(lsetxattr)(own.path, name, value, size, flags) : -1;
}
ENTRY(int, fsetxattr, (int fd, const char* name, const void* value, size_t size, int flags)) {
  Path path;
  const int owned = owned_by_name(fd, path);
  if (owned != 0) return owned < 0 ? -1 : NEXT(setxattr)(path.text, name, value, size, flags);
  return NEXT(fsetxattr)(fd, name, value, size, flags);
}
ENTRY(int, removexattr, (const char* path, const char* name)) {
  const Own own(AT_FDCWD, path, true);
  return own.ready ? NEXT(removexattr)(own.path, name) : -1;
}
ENTRY(int, lremovexattr, (const char* path, const char* name)) {
  const Own own(AT_FDCWD, path, false);
  return own.ready ? NEXT(lremovexattr)(own.path, name) : -1;
}
ENTRY(int, fremovexattr, (int fd, const char* name)) {
  Path path;
  const int owned = owned_by_name(fd, path);
  return owned == 0 ? NEXT(fremovexattr)(fd, name) : owned < 0 ? -1 : NEXT(removexattr)(path.text, name);
}

ENTRY(ssize_t, getxattr, (const char* path, const char* name, void* value, size_t size)) {
  return NEXT(getxattr)(Seen(AT_FDCWD, path, true).path, name, value, size);
}
ENTRY(ssize_t, lgetxattr, (const char* path, const char* name, void* value, size_t size)) {
  const Seen seen(AT_FDCWD, path, false);
  return seen.through ? NEXT(getxattr)(seen.path, name, value, size) : NEXT(lgetxattr)(seen.path, name, value, size);
}
ENTRY(ssize_t, listxattr, (const char* path, char* names, size_t size)) {
  return NEXT(listxattr)(Seen(AT_FDCWD, path, true).path, names, size);
}
ENTRY(ssize_t, llistxattr, (const char* path, char* names, size_t size)) {
  const Seen seen(AT_FDCWD, path, false);
  return seen.through ? NEXT(listxattr)(seen.path, names, size) : NEXT(llistxattr)(seen.path, names, size);
}

ENTRY(int, statfs, (const char* path, struct statfs* status)) {
  return NEXT(statfs)(Seen(AT_FDCWD, path, true).path, status);
}
ENTRY_ALIAS(statfs64, statfs);
ENTRY(int, statvfs, (const char* path, struct statvfs* status)) {
  return NEXT(statvfs)(Seen(AT_FDCWD, path, true).path, status);
}
ENTRY_ALIAS(statvfs64, statvfs);
ENTRY(long, pathconf, (const char* path, int name)) {
  return NEXT(pathconf)(Seen(AT_FDCWD, path, true).path, name);
}

}  // namespace forebay::redirect
