// fopen and freopen.
#include <stdio.h>
#include <stdio_ext.h>
#include <unistd.h>

#include "run/redirect/errors.h"
#include "run/redirect/link.h"
#include "run/redirect/next.h"
#include "run/redirect/open.h"
#include "run/redirect/streams.h"

namespace forebay::redirect {

ENTRY_DECLARATION(FILE*, fopen, (const char*, const char*));

namespace {

// The open flags of a mode string, or -1 where libc knows better (an unknown mode, or ",ccs=").
int flags_of(const char* mode) {
  int flags;
  switch (mode[0]) {
    case 'r':
      flags = O_RDONLY;
      break;
    case 'w':
      flags = O_WRONLY | O_CREAT | O_TRUNC;
      break;
    case 'a':
      flags = O_WRONLY | O_CREAT | O_APPEND;
      break;
    default:
      return -1;
  }
  for (const char* at = mode + 1; *at != '\0'; ++at) {
    if (*at == ',') return -1;
    if (*at == '+') flags = (flags & ~O_ACCMODE) | O_RDWR;
    if (*at == 'x') flags |= O_EXCL;
    if (*at == 'e') flags |= O_CLOEXEC;
  }
  return flags;
}

// For calls of libc that open by themselves: what they would open is made ready.
int prepare(Location& location, Path& buffer, int flags) {
  if (location.outside()) return 0;
  if ((flags & (O_ACCMODE | O_CREAT)) == O_RDONLY) {
    follow(location, buffer);
    return 0;
  }
  pass_gate(location);
  const int failed = make_own(location, buffer, true, (flags & O_TRUNC) != 0);
  if (failed < 0) note_failed(location, -failed);
  return failed;
}

}  // namespace

namespace {
HOT [[gnu::noinline]] FILE* fopen_near(const char* path, const char* mode) {
  Path buffer;
  Location location = locate_near(AT_FDCWD, path, buffer);
  if (location.outside()) return NEXT(fopen)(location.path, mode);
  const int flags = flags_of(mode);
  if (flags < 0) {
    if (with_errno(prepare(location, buffer, O_RDWR)) < 0) return nullptr;
    return NEXT(fopen)(location.path, mode);
  }
  if ((flags & (O_CREAT | O_EXCL)) == O_CREAT && !state.flags.places) {
    // Nearly always a new file, which libc can make by itself: an exclusive open follows no link.
    char exclusive[16] = {mode[0], 'x'};
    const int errno_before = errno;
    strncat(exclusive, mode + 1, sizeof exclusive - 3);
    pass_gate(location);
    if (FILE* stream = NEXT(fopen)(location.path, exclusive)) return stream;
    if (errno != EEXIST) {
      note_failed(location, errno);
      return nullptr;
    }
    errno = errno_before;
  }
  // Not libc's own open, which would follow a staged link.
  const int fd = open_location(location, flags, 0666);
  if (fd < 0) return nullptr;
  if ((flags & (O_APPEND | O_ACCMODE)) == (O_APPEND | O_WRONLY)) system_call(SYS_lseek, fd, 0, SEEK_END);  // as fopen
  FILE* stream = fdopen(fd, mode);
  if (stream == nullptr) sys_close(fd);
  return stream;
}
}  // namespace

ENTRY(FILE*, fopen, (const char* path, const char* mode)) {
  return is_outside(path) ? NEXT(fopen)(path, mode) : fopen_near(path, mode);
}
ENTRY_ALIAS(fopen64, fopen);

ENTRY(FILE*, freopen, (const char* path, const char* mode, FILE* stream)) {
  if (__fpending(stream) > 0) fflush(stream);
  note_end_of_stream(stream);
  Located location(AT_FDCWD, path);
  const int flags = flags_of(mode);
  if (with_errno(prepare(location, location.buffer, flags < 0 ? O_RDWR : flags)) < 0) {
    const int failed = errno;
    fclose(stream);
    errno = failed;
    return nullptr;
  }
  FILE* const opened = NEXT(freopen)(location.path, mode, stream);
  if (opened == nullptr && (flags < 0 || (flags & O_CREAT) != 0)) note_failed(location, errno);
  return opened;
}
ENTRY_ALIAS(freopen64, freopen);

}  // namespace forebay::redirect
