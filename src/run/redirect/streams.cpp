// Streams of C: libc writes their buffers by itself. A failure then shows in the call that emptied the buffer, or in
// the stream's mark of an error. At the end of a program that does not close the stream it shows nowhere. So the
// library flushes a stream when it is closed or the program ends, while it is known which file it is, and looks at its
// mark before it goes.
#include <stdio.h>
#include <stdio_ext.h>

#include "run/redirect/errors.h"
#include "run/redirect/next.h"
#include "run/redirect/streams.h"

extern "C" {
// The iterator of libc over all open streams, for which it has no header.
using StreamIterator = struct _IO_FILE*;
__attribute__((weak)) StreamIterator _IO_iter_begin();
__attribute__((weak)) StreamIterator _IO_iter_end();
__attribute__((weak)) StreamIterator _IO_iter_next(StreamIterator at);
__attribute__((weak)) FILE* _IO_iter_file(StreamIterator at);
}

namespace forebay::redirect {

ENTRY_DECLARATION(int, fflush, (FILE*));
ENTRY_DECLARATION(int, fflush_unlocked, (FILE*));

namespace {

auto next_fflush() {
  return NEXT(fflush);
}
auto next_fflush_unlocked() {
  return NEXT(fflush_unlocked);
}

int descriptor_of(FILE* stream) {
  const int errno_before = errno;
  const int fd = fileno_unlocked(stream);
  errno = errno_before;
  return fd;
}

COLD void note_failed_stream(FILE* stream, int error) {
  const int fd = descriptor_of(stream);
  if (fd < 0) return;
  note_failed(fd, error);
  if (is_noted(error)) state.errors.noted.store(stream, std::memory_order_relaxed);
}

// A regular file of the tree that the program may write to: little else than a write can have failed.
COLD void note_mark(FILE* stream) {
  const int fd = descriptor_of(stream);
  struct stat status;
  if (fd < 0 || __fwritable(stream) == 0 || sys_fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) return;
  if (state.errors.noted.exchange(stream, std::memory_order_relaxed) != stream) note_failed_for_some_reason(fd);
}

int flush_noting(FILE* stream, int (*flush)(FILE*)) {
  const int result = flush(stream);
  if (result != 0) [[unlikely]]
    note_failed_stream(stream, errno);
  return result;
}

template <class Visit>
void each_stream(const Visit& visit) {
  if (&_IO_iter_begin == nullptr || &_IO_iter_end == nullptr || &_IO_iter_next == nullptr || &_IO_iter_file == nullptr)
    return;
  for (StreamIterator at = _IO_iter_begin(); at != _IO_iter_end(); at = _IO_iter_next(at)) visit(_IO_iter_file(at));
}

// Which of all streams failed is told by their marks.
COLD int flush_all(int (*flush)(FILE*)) {
  const int result = flush(nullptr);
  const int errno_after = errno;
  if (result != 0 && is_noted(errno))
    each_stream([](FILE* stream) {
      if (ferror_unlocked(stream) != 0) note_mark(stream);
    });
  errno = errno_after;
  return result;
}

// As libc does it in the end, without a lock: a thread may hold one for ever. Only files of the tree are written here.
__attribute__((destructor)) void end_streams() {
  if (state.phase.load(std::memory_order_acquire) != active_phase || state.errors.page == nullptr) return;
  each_stream([](FILE* stream) {
    Path path;
    const bool pending = __fpending(stream) > 0;
    if (!pending && ferror_unlocked(stream) == 0) return;
    const int fd = descriptor_of(stream);
    if (fd < 0 || !name_in_tree(fd, path)) return;
    if (!pending || flush_noting(stream, next_fflush_unlocked()) == 0) note_end_of_stream(stream);
  });
}

COLD int fclose_noting(FILE* stream, int (*next)(FILE*)) {
  Path path;
  const int fd = descriptor_of(stream);
  const bool in_tree = fd >= 0 && name_in_tree(fd, path);
  const int result = next(stream);
  if (result != 0 && in_tree) note_failed_at(path, errno);
  return result;
}

}  // namespace

void note_end_of_stream(FILE* stream) {
  if (ferror_unlocked(stream) != 0) [[unlikely]]
    note_mark(stream);
  FILE* noted = stream;  // its place in memory may become another one's
  state.errors.noted.compare_exchange_strong(noted, nullptr, std::memory_order_relaxed);
}

ENTRY(int, fflush, (FILE * stream)) {
  return stream == nullptr ? flush_all(next_fflush()) : flush_noting(stream, next_fflush());
}
ENTRY(int, fflush_unlocked, (FILE * stream)) {
  return stream == nullptr ? flush_all(next_fflush_unlocked()) : flush_noting(stream, next_fflush_unlocked());
}

ENTRY(int, fclose, (FILE * stream)) {
  int failed = 0;
  if (__fpending(stream) > 0 && flush_noting(stream, next_fflush()) != 0) failed = errno;
  note_end_of_stream(stream);
  const auto next = NEXT(fclose);
  const int result = state.flags.closing_fails ? fclose_noting(stream, next) : next(stream);
  if (failed == 0 || result != 0) return result;
  errno = failed;
  return EOF;
}

ENTRY(void, clearerr, (FILE * stream)) {
  note_end_of_stream(stream);
  NEXT(clearerr)(stream);
}
ENTRY(void, clearerr_unlocked, (FILE * stream)) {
  note_end_of_stream(stream);
  NEXT(clearerr_unlocked)(stream);
}
ENTRY(void, rewind, (FILE * stream)) {
  if (__fpending(stream) > 0) flush_noting(stream, next_fflush());
  note_end_of_stream(stream);
  NEXT(rewind)(stream);
}

}  // namespace forebay::redirect
