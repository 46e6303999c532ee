#include "run/redirect/link.h"

#include <sys/file.h>
#include <sys/xattr.h>

#include "run/redirect/pages.h"
#include "run/redirect/parent.h"

namespace forebay::redirect {
namespace {

// A short name that belongs to `name` alone (but for a collision, which only makes two copies wait for each other).
struct TemporaryName {
  char text[64];
  explicit TemporaryName(const char* name) {
    memcpy(text, state.temporary.text, state.temporary.size);
    put_digits(text + state.temporary.size, contract::hash_of(name, strlen(name)));
    text[state.temporary.size + 16] = '\0';
  }
};

int write_all(int fd, const char* bytes, size_t count) {
  while (count > 0) {
    const long written = system_call(SYS_write, fd, word(bytes), word(count));
    if (written < 0) return static_cast<int>(written);
    bytes += written;
    count -= static_cast<size_t>(written);
  }
  return 0;
}

int copy_by_hand(int from, int to) {
  const Pages pages;
  if (const int failed = pages.failed(); failed < 0) return failed;
  for (;;) {
    const long count = system_call(SYS_read, from, word(pages.bytes()), Pages::size);
    if (count <= 0) return static_cast<int>(count);
    if (const int failed = write_all(to, pages.bytes(), static_cast<size_t>(count)); failed < 0) return failed;
  }
}

int copy_content(int from, int to) {
  constexpr long piece = 1L << 30;
  for (bool first = true;; first = false) {
    const long count = system_call(SYS_copy_file_range, from, 0, to, 0, piece);
    if (count > 0) continue;
    // Some file systems answer 0 at once for files that they cannot copy so: reading tells the truth.
    if (count == 0 && !first) return 0;
    if (count == 0 || count == -EXDEV || count == -EINVAL || count == -ENOSYS || count == -EOPNOTSUPP)
      return copy_by_hand(from, to);
    return static_cast<int>(count);
  }
}

// The attributes users set, and the access list; a file system without them has none to copy.
void copy_attributes(int from, int to) {
  if (system_call(SYS_flistxattr, from, 0, 0) <= 0) return;
  const Pages pages;
  if (pages.failed() < 0) return;
  constexpr long half = Pages::size / 2;  // the kernel's own limit of the names, and of a value
  char* const names = pages.bytes();
  char* const value = names + half;
  const long size = system_call(SYS_flistxattr, from, word(names), half);
  for (long at = 0; at < size; at += static_cast<long>(strlen(names + at)) + 1) {
    if (strncmp(names + at, "user.", 5) != 0 && strcmp(names + at, "system.posix_acl_access") != 0) continue;
    const long length = system_call(SYS_fgetxattr, from, word(names + at), word(value), half);
    if (length >= 0) system_call(SYS_fsetxattr, to, word(names + at), word(value), length, 0);
  }
}

int fill_copy(int to, int directory, const char* original, bool discard) {
  const int from = sys_openat(directory, original, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  if (from < 0) return from;
  struct stat status, made;
  int result = sys_fstat(from, &status);
  if (result == 0) result = static_cast<int>(system_call(SYS_ftruncate, to, 0));  // what a killed copy left
  if (result == 0 && !discard) result = copy_content(from, to);
  if (result == 0) result = sys_fstat(to, &made);
  if (result == 0) {
    if (made.st_uid != status.st_uid || made.st_gid != status.st_gid)
      system_call(SYS_fchown, to, word(status.st_uid), word(status.st_gid));  // as far as this user may
    copy_attributes(from, to);
    mode_t mode = status.st_mode & 07777;
    if (sys_fstat(to, &made) != 0 || made.st_uid != status.st_uid) mode &= ~mode_t{S_ISUID};
    if (made.st_gid != status.st_gid) mode &= ~mode_t{S_ISGID};
    result = static_cast<int>(system_call(SYS_fchmod, to, word(mode)));
    // truncate() to nothing finds nothing left to cut, and so would not change the time itself.
    const bool emptied = discard && status.st_size > 0;
    const timespec times[2] = {status.st_atim, emptied ? timespec{0, UTIME_NOW} : status.st_mtim};
    if (result == 0) result = static_cast<int>(system_call(SYS_utimensat, to, 0, word(times), 0));
  }
  sys_close(from);
  return result;
}

bool same_file(int directory, const char* name, int fd) {
  struct stat by_name, by_fd;
  return sys_fstatat(directory, name, &by_name, AT_SYMLINK_NOFOLLOW) == 0 && sys_fstat(fd, &by_fd) == 0 &&
         by_name.st_ino == by_fd.st_ino && by_name.st_dev == by_fd.st_dev;
}

bool still_leads_to(int directory, const char* name, const char* lower) {
  Path text;
  const long size = sys_readlinkat(directory, name, text.text, PATH_MAX);
  return size >= 0 && static_cast<size_t>(size) == strlen(lower) &&
         memcmp(text.text, lower, static_cast<size_t>(size)) == 0;
}

// The temporary file is the lock: whoever holds it, under its name, is the one who copies. Renaming it into place takes
// the name away, so that all who waited see the finished copy. A killed copier leaves a file that the next one empties.
int copy_under_lock(int directory, const char* name, const char* lower, bool discard) {
  const TemporaryName temporary(name);
  for (;;) {
    if (!still_leads_to(directory, name, lower)) return 0;
    const int fd = sys_openat(directory, temporary.text, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fd;
    int result = static_cast<int>(system_call(SYS_flock, fd, LOCK_EX));
    if (result == 0 && !same_file(directory, temporary.text, fd)) {
      sys_close(fd);
      continue;
    }
    bool finished = false;
    if (result == 0 && still_leads_to(directory, name, lower)) {
      result = fill_copy(fd, AT_FDCWD, lower, discard);
      if (result == 0)
        result =
            static_cast<int>(system_call(SYS_renameat2, directory, word(temporary.text), directory, word(name), 0));
      finished = result == 0;
    }
    if (!finished) sys_unlinkat(directory, temporary.text, 0);
    system_call(SYS_flock, fd, LOCK_UN);  // a child forked meanwhile holds the same lock
    sys_close(fd);
    return result;
  }
}

// A copy of `source` under the temporary name in `parent`.
int make_copy(const Location& source, const struct stat& status, const Parent& parent, const char* temporary) {
  if (S_ISLNK(status.st_mode)) {
    Path text;
    const long size = sys_readlinkat(source.directory, source.path, text.text, PATH_MAX);
    if (size < 0) return static_cast<int>(size);
    text.text[size] = '\0';
    return static_cast<int>(system_call(SYS_symlinkat, word(text.text), parent.fd, word(temporary)));
  }
  const int fd = sys_openat(parent.fd, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return fd;
  const int result = fill_copy(fd, source.directory, source.path, false);
  sys_close(fd);
  return result;
}

bool may_write(const char* path) {
#ifdef SYS_faccessat2
  const long answer = system_call(SYS_faccessat2, AT_FDCWD, word(path), 2 /* W_OK */, AT_EACCESS);
  if (answer != -ENOSYS) return answer == 0;
#endif
  return system_call(SYS_faccessat, AT_FDCWD, word(path), 2 /* W_OK */) == 0;
}

}  // namespace

Link classify(const char* text) {
  if (const char* rest = state.lower.rest(text); rest != nullptr && *rest == '/') return Link::staged;
  for (int i = 0; i < state.pool_count; ++i)
    if (const char* rest = state.beside.pools[i].rest(text); rest != nullptr && *rest == '/') return Link::pool;
  return Link::genuine;
}

Link link_at(int directory, const char* path, Path& text) {
  const long size = sys_readlinkat(directory, path, text.text, PATH_MAX);
  if (size < 0) return Link::none;
  text.size = static_cast<size_t>(size);
  text.text[size] = '\0';
  return classify(text.text);
}

bool follow(Location& location, Path& buffer) {
  if (location.outside()) return false;
  Path text;
  if (link_at(location.directory, location.path, text) != Link::genuine || !really_inside(location)) return false;
  Path resolved;
  if (!absolute(location.directory, location.path, text) || resolve(text.text, resolved, true, true) != 0) return false;
  const bool inside = to_kernel(resolved, buffer);
  location = {AT_FDCWD, buffer.text, inside ? Where::inside : Where::outside};
  return true;
}

Seen::Seen(int from, const char* text, bool following) : Located(from, text), through(following) {
  if (following) {
    follow(*this);
  } else if (!outside()) {
    Path target;
    const Link kind = link_at(directory, path, target);
    through = kind == Link::staged || kind == Link::pool;
  }
}

int make_own(Location& location, Path& buffer, bool following, bool discard) {
  if (location.outside()) return 0;
  Path text;
  Link kind = link_at(location.directory, location.path, text);
  if (kind == Link::genuine && following) {
    follow(location, buffer);
    if (location.outside()) return 0;
    kind = link_at(location.directory, location.path, text);
  }
  if (kind == Link::pool && !following) {  // what it leads to is meant, not the link
    buffer.assign(text.text, text.size);
    location = {AT_FDCWD, buffer.text, Where::inside};
  }
  if (kind != Link::staged) return 0;
  return copy_up(location.directory, location.path, text.text, discard);
}

int copy_up(int directory, const char* path, const char* lower, bool discard) {
  struct stat status;
  if (const int failed = sys_fstatat(AT_FDCWD, lower, &status, AT_SYMLINK_NOFOLLOW); failed < 0) return failed;
  if (!S_ISREG(status.st_mode)) return 0;  // what is not a regular file is used where it is
  // This user would own the copy, so another owner's file that the user may not write is refused. And nothing must be
  // emptied where the open that asks for it is refused.
  const bool writable = may_write(lower);
  if (!writable && status.st_uid != static_cast<uid_t>(system_call(SYS_geteuid))) return -EACCES;
  const SignalsBlocked blocked;
  const Parent parent(directory, path);
  if (parent.fd < 0) return parent.fd;
  struct stat before;
  const int seen = sys_fstat(parent.fd, &before);
  const int result = copy_under_lock(parent.fd, parent.name, lower, discard && writable);
  // Opening an input for writing does not change its directory.
  const timespec times[2] = {{0, UTIME_OMIT}, before.st_mtim};
  if (seen == 0) system_call(SYS_utimensat, parent.fd, word("."), word(times), 0);
  return result;
}

int move_across(const Location& source, const Location& target, unsigned flags) {
  struct stat status;
  if (const int failed = sys_fstatat(source.directory, source.path, &status, AT_SYMLINK_NOFOLLOW); failed < 0)
    return failed;
  if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) return -EXDEV;
  const SignalsBlocked blocked;
  const Parent parent(target.directory, target.path);
  if (parent.fd < 0) return parent.fd;
  const TemporaryName temporary(parent.name);
  int result = make_copy(source, status, parent, temporary.text);
  if (result == -EEXIST) return -EXDEV;
  if (result == 0)
    result = static_cast<int>(
        system_call(SYS_renameat2, parent.fd, word(temporary.text), parent.fd, word(parent.name), flags));
  if (result < 0) {
    sys_unlinkat(parent.fd, temporary.text, 0);
    return result;
  }
  return sys_unlinkat(source.directory, source.path, 0);
}

void wait_at_gate(const Location& location) {
  if (location.outside() || !really_inside(location)) return;
  const timespec second{1, 0};
  while (const uint32_t closed = state.gate->load(std::memory_order_acquire))
    system_call(SYS_futex, word(state.gate), FUTEX_WAIT, word(closed), word(&second));
}

}  // namespace forebay::redirect
