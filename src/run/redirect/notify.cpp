// Calls that only need their path led to the tree.
#include <sys/fanotify.h>
#include <sys/inotify.h>

#include "run/redirect/link.h"
#include "run/redirect/next.h"

namespace forebay::redirect {

ENTRY(int, inotify_add_watch, (int fd, const char* path, uint32_t mask)) {
  const Seen seen(AT_FDCWD, path, (mask & IN_DONT_FOLLOW) == 0);
  if (seen.through) mask &= ~uint32_t{IN_DONT_FOLLOW};
  return NEXT(inotify_add_watch)(fd, seen.path, mask);
}

ENTRY(int, fanotify_mark, (int fd, unsigned flags, uint64_t mask, int directory, const char* path)) {
  const Located location(directory, path);
  return NEXT(fanotify_mark)(fd, flags, mask, location.directory, location.path);
}

ENTRY(int, name_to_handle_at, (int directory, const char* path, struct file_handle* handle, int* mount, int flags)) {
  const Located location(directory, path);
  return NEXT(name_to_handle_at)(location.directory, location.path, handle, mount, flags);
}

}  // namespace forebay::redirect
