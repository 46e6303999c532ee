// A root directory within the case: what the tree's links lead to lies outside of it.
#include <dirent.h>
#include <unistd.h>

#include "run/redirect/link.h"
#include "run/redirect/next.h"
#include "run/redirect/pages.h"

namespace forebay::redirect {
namespace {

// Copies up all inputs below `directory`; none of directories that links stand for.
void copy_up_below(int directory) {
  const Pages pages;
  if (pages.failed() < 0) return;
  for (;;) {
    const long count = system_call(SYS_getdents64, directory, word(pages.bytes()), Pages::size);
    if (count <= 0) return;
    for (long at = 0; at < count;) {
      const auto* entry = reinterpret_cast<const dirent64*>(pages.bytes() + at);
      at += entry->d_reclen;
      const char* name = entry->d_name;
      if (entry->d_type == DT_DIR && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
        const int below = sys_openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (below < 0) continue;
        copy_up_below(below);
        sys_close(below);
      } else if (entry->d_type == DT_LNK) {
        Path text;
        if (link_at(directory, name, text) == Link::staged) copy_up(directory, name, text.text, false);
      }
    }
  }
}

}  // namespace

ENTRY(int, chroot, (const char* path)) {
  const Located location(AT_FDCWD, path, Reach::whole);
  if (!location.outside() && system_call(SYS_geteuid) == 0) {
    const int root = sys_openat(location.directory, location.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root >= 0 && really_inside(location)) copy_up_below(root);
    if (root >= 0) sys_close(root);
  }
  return NEXT(chroot)(location.path);
}

}  // namespace forebay::redirect
