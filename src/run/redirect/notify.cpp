// Calls that only need their path led to the tree.
#include <sys/fanotify.h>
#include <sys/inotify.h>

#include "run/redirect/link.h"
#include "run/redirect/next.h"

namespace forebay::redirect {

ENTRY(int, inotify_add_watch, (int fd, const char* path, uint32_t mask)) {
  Path buffer;
  Location location = locate(AT_FDCWD, path, buffer);
  Path text;
  if ((mask & IN_DONT_FOLLOW) == 0)
    follow(location, buffer);
  else if (!location.outside() && link_at(location.directory, location.path, text) != Link::genuine)
    mask &= ~uint32_t{IN_DONT_FOLLOW};
  return NEXT(inotify_add_watch)(fd, location.path, mask);
}

ENTRY(int, fanotify_mark, (int fd, unsigned flags, uint64_t mask, int directory, const char* path)) {
  Path buffer;
  const Location location = locate(directory, path, buffer);
  return NEXT(fanotify_mark)(fd, flags, mask, location.directory, location.path);
}

ENTRY(int, name_to_handle_at, (int directory, const char* path, struct file_handle* handle, int* mount, int flags)) {
  Path buffer;
  const Location location = locate(directory, path, buffer);
  return NEXT(name_to_handle_at)(location.directory, location.path, handle, mount, flags);
}

}  // namespace forebay::redirect
