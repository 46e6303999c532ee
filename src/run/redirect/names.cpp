// Making, moving and removing names.
#include <stdio.h>
#include <unistd.h>

#include "run/redirect/errors.h"
#include "run/redirect/link.h"
#include "run/redirect/next.h"
#include "run/redirect/parent.h"
#include "run/redirect/placed.h"
#include "run/redirect/times.h"

namespace forebay::redirect {
namespace {

// Only ranks' directories are links into a pool: other names are not worth a look.
bool may_be_pool_link(const Location& location) {
  return !location.outside() && state.pool_count != 0 &&
         strncmp(last_component(location.path), contract::rank_prefix, contract::rank_prefix_size) == 0;
}

// From now on no process of the node goes to ranks' directories at once.
void note_no_longer_mapped() {
  if (state.times.node != nullptr) state.times.node->renamed.store(1, std::memory_order_release);
}

// To be called before the name of what may be a link to a rank's directory changes. (A directory that lies in the tree
// itself is found there by its name.)
void note_rank_directory_renamed() {
  if (state.rank.local_tree.size == 0) note_no_longer_mapped();
}

// A new link by whose text the kernel leaves the case from where the case is mounted, and comes elsewhere from where
// the tree lies.
void note_link_out(const char* target, const Location& location) {
  Path text;
  if (state.rank.directory.size == 0 || state.rank.local_tree.size == 0 || target[0] == '/') return;
  if (!absolute(location.directory, location.path, text)) return;
  const char* rest = state.case_root.rest(text.text);
  if (rest == nullptr) return;
  int depth = -1;
  for (const char* at = rest; (at = strchr(at, '/')) != nullptr; ++at) ++depth;
  for (const char* at = target; *at != '\0' && depth >= 0;) {
    const auto size = static_cast<size_t>(strchrnul(at, '/') - at);
    if (size == 2 && memcmp(at, "..", 2) == 0) {
      --depth;
    } else if (size > 0 && !(size == 1 && *at == '.')) {
      ++depth;
    }
    at += size + (at[size] == '/');
  }
  if (depth < 0) note_no_longer_mapped();
}

bool names_a_rank(const Location& location) {
  if (location.outside()) return false;
  const char* name = last_component(location.path);
  if (strncmp(name, contract::rank_prefix, contract::rank_prefix_size) != 0) return false;
  const char* number = name + contract::rank_prefix_size;
  if (*number == '\0') return false;
  const char* behind = number + strspn(number, "0123456789");
  return behind[strspn(behind, "/")] == '\0';
}

bool is_pool_link(const Location& location, Path& text) {
  return may_be_pool_link(location) && link_at(location.directory, location.path, text) == Link::pool;
}

int kernel_unlink(const Location& location, int flags);

int unlink_redirected(int directory, const char* path, const Location& location) {
  Path text;
  if (state.flags.meets_placed && leads_to_placed(location, text)) [[unlikely]]
    return with_errno_int(unlink_placed(location));
  if (is_pool_link(location, text)) return with_errno_int(-EISDIR);
  const int errno_before = errno;
  if (purge_file(directory, path, location)) {
    errno = errno_before;
    return 0;
  }
  errno = errno_before;
  return kernel_unlink(location, 0);
}

int rmdir_redirected(const Location& location) {
  const int errno_before = errno;
  const int result = kernel_unlink(location, AT_REMOVEDIR);
  if (location.outside()) return result;
  if (result == 0) {
    forget_plain_directories();
    note_directory_removed(location);
  }
  if (result == 0 || errno != ENOTDIR) return result;
  Path text;
  if (link_at(location.directory, location.path, text) != Link::pool) return result;
  note_rank_directory_renamed();
  if (const int failed = sys_unlinkat(AT_FDCWD, text.text, AT_REMOVEDIR); failed < 0) return with_errno_int(failed);
  errno = errno_before;
  const int unlinked = kernel_unlink(location, 0);
  if (unlinked == 0) forget_plain_directories();
  return unlinked;
}

}  // namespace

ENTRY(int, unlinkat, (int directory, const char* path, int flags)) {
  const Located location(directory, path);
  return (flags & AT_REMOVEDIR) != 0 ? rmdir_redirected(location) : unlink_redirected(directory, path, location);
}
ENTRY(int, unlink, (const char* path)) {
  if (is_outside(path)) return NEXT(unlink)(path);
  Path buffer;
  return unlink_redirected(AT_FDCWD, path, locate_near(AT_FDCWD, path, buffer));
}
ENTRY(int, rmdir, (const char* path)) {
  return rmdir_redirected(Located(AT_FDCWD, path));
}
ENTRY(int, remove, (const char* path)) {
  const Located location(AT_FDCWD, path);
  if (location.outside()) return NEXT(remove)(location.path);
  const int errno_before = errno;
  if (unlink_redirected(AT_FDCWD, path, location) == 0) return 0;
  if (errno != EISDIR && errno != EPERM) return -1;
  errno = errno_before;
  return rmdir_redirected(location);
}

namespace {
int kernel_unlink(const Location& location, int flags) {
  if (location.directory != AT_FDCWD) return NEXT(unlinkat)(location.directory, location.path, flags);
  return flags == 0 ? NEXT(unlink)(location.path) : NEXT(rmdir)(location.path);
}
}  // namespace

ENTRY(int, mkdir, (const char* path, mode_t mode)) {
  const Located location(AT_FDCWD, path);
  const int result = noting(location, NEXT(mkdir)(location.path, mode));
  if (result == 0) note_time_made(AT_FDCWD, path, location);
  return result;
}
ENTRY(int, mkdirat, (int directory, const char* path, mode_t mode)) {
  const Located location(directory, path);
  const int result = noting(location, NEXT(mkdirat)(location.directory, location.path, mode));
  if (result == 0) note_time_made(directory, path, location);
  return result;
}
ENTRY(int, mkfifo, (const char* path, mode_t mode)) {
  const Located location(AT_FDCWD, path);
  return noting(location, NEXT(mkfifo)(location.path, mode));
}
ENTRY(int, mkfifoat, (int directory, const char* path, mode_t mode)) {
  const Located location(directory, path);
  return noting(location, NEXT(mkfifoat)(location.directory, location.path, mode));
}
ENTRY(int, mknodat, (int directory, const char* path, mode_t mode, dev_t device)) {
  const Located location(directory, path);
  return noting(location, with_errno_int(system_call(SYS_mknodat, location.directory, word(location.path), word(mode),
                                                     word(static_cast<unsigned>(device)))));
}
ENTRY(int, mknod, (const char* path, mode_t mode, dev_t device)) {
  return entry_mknodat(AT_FDCWD, path, mode, device);
}
ENTRY(int, __xmknod, (int, const char* path, mode_t mode, dev_t* device)) {
  return entry_mknodat(AT_FDCWD, path, mode, *device);
}
ENTRY(int, __xmknodat, (int, int directory, const char* path, mode_t mode, dev_t* device)) {
  return entry_mknodat(directory, path, mode, *device);
}

ENTRY(int, symlinkat, (const char* target, int directory, const char* path)) {
  const Located location(directory, path);
  const int result = noting(location, NEXT(symlinkat)(target, location.directory, location.path));
  if (result == 0 && !location.outside()) {
    forget_plain_directories();
    note_link_out(target, location);
  }
  return result;
}
ENTRY(int, symlink, (const char* target, const char* path)) {
  const Located location(AT_FDCWD, path);
  if (location.outside()) return NEXT(symlink)(target, location.path);
  return entry_symlinkat(target, location.directory, location.path);
}

namespace {

// An untouched input that gets a second name in a directory which stays on the shared file system (--direct): the input
// itself is linked, as without us; from the tree no link leads there. Answers -EXDEV where that is not so.
int link_on_shared(const Location& source, const Location& target) {
  Path lower;
  struct stat tree {
  }, directory{};
  if (source.outside() || link_at(source.directory, source.path, lower) != Link::staged) return -EXDEV;
  if (sys_fstatat(source.directory, source.path, &tree, AT_SYMLINK_NOFOLLOW) < 0) return -EXDEV;
  const Parent parent(target.directory, target.path);
  if (parent.fd < 0 || sys_fstat(parent.fd, &directory) < 0) return -EXDEV;
  if (directory.st_dev != state.lower_device || directory.st_dev == tree.st_dev) return -EXDEV;
  return static_cast<int>(system_call(SYS_linkat, AT_FDCWD, word(lower.text), parent.fd, word(parent.name), 0));
}

}  // namespace

// A hard link to a staged link would be a second link: it has to be a file of its own first.
ENTRY(int, linkat, (int from_directory, const char* from, int to_directory, const char* to, int flags)) {
  Located source(from_directory, from), target(to_directory, to);
  if (Path text; state.flags.meets_placed && leads_to_placed(source, text) && really_inside(target)) [[unlikely]]
    return noting(target, with_errno_int(link_placed(text, target)));
  if (const int linked = link_on_shared(source, target); linked != -EXDEV) return with_errno_int(linked);
  if (const int failed = make_own(source, source.buffer, (flags & AT_SYMLINK_FOLLOW) != 0); failed < 0)
    return noting(source, with_errno_int(failed));
  const int errno_before = errno;
  const int linked = noting(target, NEXT(linkat)(source.directory, source.path, target.directory, target.path, flags));
  if (linked == 0 || errno != EXDEV || source.outside() || target.outside()) return linked;
  Location below = target;
  if (!below_mount(source, source.buffer) || !below_mount(below, target.buffer)) return linked;
  errno = errno_before;
  return noting(target, NEXT(linkat)(source.directory, source.path, below.directory, below.path, flags));
}
ENTRY(int, link, (const char* from, const char* to)) {
  return entry_linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

namespace {

// In the case's own directory a rename never crosses file systems; between pools it does. Files and links are carried
// over; directories answer EXDEV, which mv and its like know how to handle.
int rename_across(const Location& source, const Location& target, unsigned flags, int errno_before) {
  if (source.outside() || target.outside() || (flags & ~unsigned{RENAME_NOREPLACE}) != 0 || !really_inside(source) ||
      !really_inside(target))
    return with_errno_int(-EXDEV);
  if (Path text; is_pool_link(source, text)) return with_errno_int(-EXDEV);  // to the program it is a directory
  const int failed = move_across(source, target, flags);
  if (failed < 0) return with_errno_int(failed);
  errno = errno_before;
  return 0;
}

int rename_redirected(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) {
  const Located source(from_directory, from), target(to_directory, to);
  const int errno_before = errno;
  if (state.flags.meets_placed) [[unlikely]] {
    Path text;
    // The link alone would leave the case.
    if (leads_to_placed(source, text) && !really_inside(target)) return with_errno_int(-EXDEV);
    if (flags == 0 && leads_to_placed(target, text)) return with_errno_int(rename_over_placed(source, target));
  }
  if (names_a_rank(source) || names_a_rank(target)) [[unlikely]]
    note_rank_directory_renamed();
  int result = static_cast<int>(
      system_call(SYS_renameat2, source.directory, word(source.path), target.directory, word(target.path), flags));
  if (source.outside() && target.outside()) return with_errno_int(result);
  if (result == -EXDEV) {
    Path from_below, to_below;
    Location below = source, to_location = target;
    if (!source.outside() && !target.outside() && below_mount(below, from_below) && below_mount(to_location, to_below))
      result = static_cast<int>(
          system_call(SYS_renameat2, AT_FDCWD, word(below.path), AT_FDCWD, word(to_location.path), flags));
  }
  if (result == -EXDEV) return noting(target, rename_across(source, target, flags, errno_before));
  if (result == 0) forget_plain_directories();
  return noting(target, with_errno_int(result));
}

}  // namespace

ENTRY(int, rename, (const char* from, const char* to)) {
  if (!active()) return NEXT(rename)(from, to);
  return rename_redirected(AT_FDCWD, from, AT_FDCWD, to, 0);
}
ENTRY(int, renameat, (int from_directory, const char* from, int to_directory, const char* to)) {
  if (!active()) return NEXT(renameat)(from_directory, from, to_directory, to);
  return rename_redirected(from_directory, from, to_directory, to, 0);
}
ENTRY(int, renameat2, (int from_directory, const char* from, int to_directory, const char* to, unsigned flags)) {
  if (!active()) return NEXT(renameat2)(from_directory, from, to_directory, to, flags);
  return rename_redirected(from_directory, from, to_directory, to, flags);
}

}  // namespace forebay::redirect
