// Throws a program's writes away: the lowest cost that any way of storing them could have. With LD_PRELOAD, a file that
// is opened for writing below $FOREBAY_DISCARD_PREFIX (an absolute path without links) is /dev/null instead, and making
// or removing entries there succeeds without doing anything. Reading is left alone. For benchmarks only: a program that
// reads back what it wrote finds nothing, and paths are compared by text.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "../preload.h"

static char prefix[PATH_MAX];
static size_t prefix_length;

__attribute__((constructor)) static void read_prefix(void) {
  const char* value = getenv("FOREBAY_DISCARD_PREFIX");
  if (value == NULL || value[0] != '/' || strlen(value) >= sizeof prefix) return;
  strcpy(prefix, value);
  prefix_length = strlen(prefix);
  while (prefix_length > 1 && prefix[prefix_length - 1] == '/') prefix[--prefix_length] = '\0';
}

static bool below(const char* path) {
  char absolute[2 * PATH_MAX];
  if (prefix_length == 0 || path == NULL) return false;
  if (path[0] != '/') {
    if (getcwd(absolute, PATH_MAX) == NULL || strlen(path) >= PATH_MAX) return false;
    strcat(strcat(absolute, "/"), path);
    path = absolute;
  }
  return strncmp(path, prefix, prefix_length) == 0 && path[prefix_length] == '/';
}

static bool below_at(int directory, const char* path) {
  return (directory == AT_FDCWD || (path != NULL && path[0] == '/')) && below(path);
}

static bool writes(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
}

#define OPEN(name)                                                         \
  EXPORT int name(const char* path, int flags, ...) {                      \
    NEXT(name);                                                            \
    va_list arguments;                                                     \
    va_start(arguments, flags);                                            \
    const mode_t mode = (flags & O_CREAT) ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments);                                                     \
    if (!writes(flags) || !below(path)) return next(path, flags, mode);    \
    return next("/dev/null", flags & ~(O_CREAT | O_EXCL | O_TRUNC));       \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                             \
  EXPORT int name(int directory, const char* path, int flags, ...) {                             \
    NEXT(name);                                                                                  \
    va_list arguments;                                                                           \
    va_start(arguments, flags);                                                                  \
    const mode_t mode = (flags & O_CREAT) ? va_arg(arguments, mode_t) : 0;                       \
    va_end(arguments);                                                                           \
    if (!writes(flags) || !below_at(directory, path)) return next(directory, path, flags, mode); \
    return next(directory, "/dev/null", flags & ~(O_CREAT | O_EXCL | O_TRUNC));                  \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                            \
  EXPORT FILE* name(const char* path, const char* mode) {                      \
    NEXT(name);                                                                \
    if (strpbrk(mode, "wa+") == NULL || !below(path)) return next(path, mode); \
    return next("/dev/null", strchr(mode, '+') != NULL ? "r+" : "w");          \
  }
FOPEN(fopen)
FOPEN(fopen64)

// Entries that are made or removed below the prefix: nothing happens, and it succeeds.
#define ENTRY(name, parameters, path, arguments) \
  EXPORT int name parameters {                   \
    NEXT(name);                                  \
    return below(path) ? 0 : next arguments;     \
  }
ENTRY(mkdir, (const char* path, mode_t mode), path, (path, mode))
ENTRY(rmdir, (const char* path), path, (path))
ENTRY(unlink, (const char* path), path, (path))
ENTRY(remove, (const char* path), path, (path))
ENTRY(chmod, (const char* path, mode_t mode), path, (path, mode))
ENTRY(rename, (const char* from, const char* to), to, (from, to))
ENTRY(symlink, (const char* text, const char* path), path, (text, path))
