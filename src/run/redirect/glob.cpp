// glob: libc's own, made to look through this library's eyes.
#include <dirent.h>
#include <glob.h>

#include "run/redirect/link.h"
#include "run/redirect/next.h"

namespace forebay::redirect {

ENTRY(int, glob, (const char* pattern, int flags, int (*failed)(const char*, int), glob_t* result)) {
  if (!active() || (flags & GLOB_ALTDIRFUNC) != 0) return NEXT(glob)(pattern, flags, failed, result);
  const glob_t before = *result;
  result->gl_opendir = [](const char* path) -> void* { return opendir(path); };
  result->gl_readdir = [](void* stream) { return readdir(static_cast<DIR*>(stream)); };
  result->gl_closedir = [](void* stream) { closedir(static_cast<DIR*>(stream)); };
  result->gl_stat = [](const char* path, struct stat* status) { return stat(path, status); };
  result->gl_lstat = [](const char* path, struct stat* status) { return lstat(path, status); };
  const int outcome = NEXT(glob)(pattern, flags | GLOB_ALTDIRFUNC, failed, result);
  result->gl_flags &= ~GLOB_ALTDIRFUNC;
  result->gl_opendir = before.gl_opendir;
  result->gl_readdir = before.gl_readdir;
  result->gl_closedir = before.gl_closedir;
  result->gl_stat = before.gl_stat;
  result->gl_lstat = before.gl_lstat;
  return outcome;
}
ENTRY_ALIAS(glob64, glob);

}  // namespace forebay::redirect
