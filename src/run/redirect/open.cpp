// open, openat, creat and their checked variants.
#include "run/redirect/open.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include "run/redirect/errors.h"
#include "run/redirect/link.h"
#include "run/redirect/next.h"
#include "run/redirect/oldest.h"
#include "run/redirect/placed.h"

FROM_OLDEST_LIBC(dladdr);

namespace forebay::redirect {
namespace {

bool changes(int flags) {
  return (flags & O_PATH) == 0 && ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0);
}
HOT int kernel_open(const Location& location, int flags, mode_t mode);

void* next_open();

// An open can go to the kernel directly where nothing stands between this library and libc's open, and no other thread
// could want to cancel this one. That saves a third of the time that redirect adds to the making of a file. From 2.32
// on glibc tells in a byte whether this thread is the only one.
constexpr char several_threads = 0;
COLD const char* find_single_threaded() {
  Dl_info open_in, libc;
  if (dladdr(next_open(), &open_in) == 0 || dladdr(reinterpret_cast<void*>(&gnu_get_libc_version), &libc) == 0 ||
      open_in.dli_fbase != libc.dli_fbase)
    return &several_threads;
  const void* byte = find_symbol(RTLD_DEFAULT, "__libc_single_threaded");
  return byte != nullptr ? static_cast<const char*>(byte) : &several_threads;
}
bool may_pass_libc() {
  static constinit std::atomic<const char*> known{nullptr};
  const char* single_threaded = known.load(std::memory_order_relaxed);
  if (single_threaded == nullptr) known.store(single_threaded = find_single_threaded(), std::memory_order_relaxed);
  return *single_threaded != 0;
}

// O_PATH and O_NOFOLLOW: the kernel would hand out the link itself.
COLD int open_name(const Location& location, int flags, mode_t mode) {
  Path text;
  const Link kind = link_at(location.directory, location.path, text);
  if (kind == Link::staged) return kernel_open({AT_FDCWD, text.text, Where::inside}, flags, mode);
  return kernel_open(location, kind == Link::pool ? flags & ~O_NOFOLLOW : flags, mode);
}

// The first try met a link where none was to be followed. This function finds out what the link stands for, and tries
// again.
COLD int open_link(Location location, int flags, mode_t mode, int errno_before) {
  const int met = errno;
  Path buffer;
  for (int tries = 0; tries < 40; ++tries) {
    Path text;
    const Link kind = link_at(location.directory, location.path, text);
    switch (kind) {
      case Link::none:  // someone has just replaced it
        break;
      case Link::staged: {
        struct stat status;
        if (!changes(flags) ||
            (sys_fstatat(AT_FDCWD, text.text, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(status.st_mode))) {
          errno = errno_before;
          return kernel_open({AT_FDCWD, text.text, Where::inside}, flags, mode);
        }
        const int failed = copy_up(location.directory, location.path, text.text, (flags & O_TRUNC) != 0);
        if (failed == -EACCES &&
            (flags & (O_ACCMODE | O_TRUNC)) == O_RDONLY) {  // made, were it not there: it may be read
          errno = errno_before;
          return kernel_open({AT_FDCWD, text.text, Where::inside}, flags, mode);
        }
        if (failed < 0) return with_errno_int(failed);
        break;
      }
      case Link::pool:
        errno = errno_before;
        return kernel_open(location, flags & ~O_NOFOLLOW, mode);
      case Link::genuine:
        if ((flags & O_NOFOLLOW) != 0) {
          errno = met;
          return -1;
        }
        if (!follow(location, buffer) || location.outside()) {  // cannot be resolved, or leads out of the case
          errno = errno_before;
          return kernel_open(location, flags, mode);
        }
        break;
    }
    errno = errno_before;
    const int fd = kernel_open(location, flags | O_NOFOLLOW, mode);
    const bool link_again = errno == ELOOP || (errno == ENOTDIR && kind == Link::genuine);
    if (fd >= 0 || !link_again) return fd;
  }
  return -1;
}

int open_inside(const Location& location, int flags, mode_t mode);

}  // namespace

[[gnu::noinline]] int open_near(int directory, const char* path, int flags, mode_t mode) {
  Path buffer;
  return open_location(locate_near(directory, path, buffer), flags, mode);
}

int open_location(const Location& location, int flags, mode_t mode) {
  if (location.outside()) return kernel_open(location, flags, mode);
  const int fd = open_inside(location, flags, mode);
  if (fd < 0 && changes(flags)) [[unlikely]]
    note_failed(location, errno);
  return fd;
}

namespace {
int open_inside(const Location& location, int flags, mode_t mode) {
  if (changes(flags)) pass_gate(location);
  if ((flags & (O_PATH | O_NOFOLLOW)) == (O_PATH | O_NOFOLLOW)) return open_name(location, flags, mode);
  if (state.flags.places && (flags & O_CREAT) != 0) [[unlikely]]
    if (const int fd = open_placed(location, flags, mode); fd >= 0) return fd;
  const int errno_before = errno;
  // One system call unless the name is a link, which is looked at closer then.
  const int first_flags = flags | ((flags & O_PATH) != 0 ? 0 : O_NOFOLLOW);
  int fd;
  if ((flags & O_CREAT) != 0 && may_pass_libc())
    fd = with_errno_int(sys_openat(location.directory, location.path, first_flags, mode));
  else
    fd = kernel_open(location, first_flags, mode);
  if (fd >= 0) [[likely]]
    return fd;
  if (errno == ELOOP || (errno == ENOTDIR && (flags & O_DIRECTORY) != 0))
    return open_link(location, flags, mode, errno_before);
  return fd;
}
}  // namespace

// libc takes the mode as an unnamed argument. Here it is named, which is the same to a caller on Linux: the register
// is passed on as it came, and the kernel looks at it only where the flags ask for a new file.
ENTRY(int, open, (const char* path, int flags, mode_t mode)) {
  if (is_outside(path)) return NEXT(open)(path, flags, mode);
  return open_near(AT_FDCWD, path, flags, mode);
}
ENTRY_ALIAS(open64, open);
ENTRY_ALIAS(__open, open);
ENTRY_ALIAS(__open64, open);

ENTRY(int, openat, (int directory, const char* path, int flags, mode_t mode)) {
  if (is_outside(directory, path)) return NEXT(openat)(directory, path, flags, mode);
  return open_near(directory, path, flags, mode);
}
ENTRY_ALIAS(openat64, openat);

int open_redirected(int directory, const char* path, int flags, mode_t mode) {
  return directory == AT_FDCWD ? entry_open(path, flags, mode) : entry_openat(directory, path, flags, mode);
}

ENTRY(int, creat, (const char* path, mode_t mode)) {
  return entry_open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
ENTRY_ALIAS(creat64, creat);

// The calls that -D_FORTIFY_SOURCE puts in the place of an open without a mode.
ENTRY(int, __open_2, (const char* path, int flags)) {
  return entry_open(path, flags, 0);
}
ENTRY_ALIAS(__open64_2, __open_2);
ENTRY(int, __openat_2, (int directory, const char* path, int flags)) {
  return entry_openat(directory, path, flags, 0);
}
ENTRY_ALIAS(__openat64_2, __openat_2);

namespace {
void* next_open() {
  return reinterpret_cast<void*>(NEXT(open));
}
int kernel_open(const Location& location, int flags, mode_t mode) {
  if (location.directory == AT_FDCWD) return NEXT(open)(location.path, flags, mode);
  return NEXT(openat)(location.directory, location.path, flags, mode);
}
}  // namespace

}  // namespace forebay::redirect
