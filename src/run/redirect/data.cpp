// Calls that write to a descriptor, or make what was written last: data goes to the kernel as it is, and the result is
// looked at. A program that ignores an error, or takes a part for the whole, would end as if all were well.
//
// A regular file of which the kernel wrote a part is written on here: a program may take that part for the whole, and
// only the next call tells why there was no more.
#include <aio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "run/redirect/errors.h"
#include "run/redirect/next.h"

namespace forebay::redirect {

ENTRY_DECLARATION(ssize_t, write, (int, const void*, size_t));
ENTRY_DECLARATION(ssize_t, pwrite, (int, const void*, size_t, off_t));
ENTRY_DECLARATION(ssize_t, writev, (int, const iovec*, int));
ENTRY_DECLARATION(ssize_t, pwritev, (int, const iovec*, int, off_t));
ENTRY_DECLARATION(int, close, (int));

namespace {

// The next definitions are looked for when the library starts: the first call may come from a handler of a signal.
auto next_write() {
  return NEXT(write);
}
auto next_pwrite() {
  return NEXT(pwrite);
}
auto next_writev() {
  return NEXT(writev);
}
auto next_pwritev() {
  return NEXT(pwritev);
}
auto next_close() {
  return NEXT(close);
}
__attribute__((constructor)) void find_next() {
  next_write();
  next_pwrite();
  next_writev();
  next_pwritev();
  next_close();
}

constexpr off_t at_position = -1;             // of the descriptor
constexpr ssize_t most_at_once = 0x7ffff000;  // of the kernel (MAX_RW_COUNT): less than asked for then means nothing

size_t size_of(const iovec* parts, int count) {
  size_t size = 0;
  for (int i = 0; i < count; ++i) size += parts[i].iov_len;
  return size;
}

// The program's limit of a file's size, which has a signal of its own, lies in what is still to be written.
bool is_limited(int fd, off_t offset, size_t rest) {
  rlimit64 limit{};
  if (system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, word(&limit)) < 0 || limit.rlim_cur == RLIM64_INFINITY)
    return false;
  const long at = offset != at_position ? offset : system_call(SYS_lseek, fd, 0, SEEK_CUR);
  return at < 0 || static_cast<uint64_t>(at) + rest > limit.rlim_cur;
}

bool is_file_of_tree(int fd) {
  struct stat status;
  Path path;
  return sys_fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && name_in_tree(fd, path);
}

// The kernel has written `done` bytes, fewer than there are, or failed. Writes on where it can; the result is the
// program's.
COLD ssize_t write_on(ssize_t done, int fd, const iovec* parts, int count, off_t offset) {
  if (done < 0) {
    note_failed(fd, errno);
    return done;
  }
  const auto end = [&](ssize_t size) { return offset == at_position ? at_position : offset + size; };
  if (done == most_at_once || !active() || state.errors.page == nullptr || !is_file_of_tree(fd) ||
      is_limited(fd, end(done), size_of(parts, count) - static_cast<size_t>(done)))
    return done;
  const int errno_before = errno;
  auto skipped = static_cast<size_t>(done);
  for (; count > 0; --count, ++parts) {
    const auto* bytes = static_cast<const char*>(parts->iov_base);
    while (skipped < parts->iov_len) {
      const size_t rest = parts->iov_len - skipped;
      const ssize_t more = offset == at_position ? next_write()(fd, bytes + skipped, rest)
                                                 : next_pwrite()(fd, bytes + skipped, rest, end(done));
      if (more <= 0) {
        if (more < 0) note_failed(fd, errno);
        errno = errno_before;
        return done;
      }
      done += more;
      skipped += static_cast<size_t>(more);
    }
    skipped -= parts->iov_len;
  }
  return done;
}
COLD ssize_t write_on(ssize_t done, int fd, const void* bytes, size_t size, off_t offset) {
  const iovec part{const_cast<void*>(bytes), size};
  return write_on(done, fd, &part, 1, offset);
}

// `result`, negative with errno when the call failed.
template <class Result>
Result noting_for(int fd, Result result) {
  if (result < 0) [[unlikely]]
    note_failed(fd, errno);
  return result;
}

COLD int close_noting(int fd) {
  Path path;
  const bool in_tree = name_in_tree(fd, path);
  const int result = next_close()(fd);
  if (result < 0 && in_tree) note_failed_at(path, errno);
  return result;
}

}  // namespace

ENTRY(ssize_t, write, (int fd, const void* bytes, size_t size)) {
  const ssize_t written = next_write()(fd, bytes, size);
  if (written == static_cast<ssize_t>(size)) [[likely]]
    return written;
  return write_on(written, fd, bytes, size, at_position);
}
ENTRY_ALIAS(__write, write);

ENTRY(ssize_t, pwrite, (int fd, const void* bytes, size_t size, off_t offset)) {
  const ssize_t written = next_pwrite()(fd, bytes, size, offset);
  if (written == static_cast<ssize_t>(size)) [[likely]]
    return written;
  return write_on(written, fd, bytes, size, offset);
}
ENTRY_ALIAS(pwrite64, pwrite);
ENTRY_ALIAS(__pwrite64, pwrite);

ENTRY(ssize_t, writev, (int fd, const iovec* parts, int count)) {
  const ssize_t written = next_writev()(fd, parts, count);
  if (written >= 0 && static_cast<size_t>(written) == size_of(parts, count)) [[likely]]
    return written;
  return write_on(written, fd, parts, count, at_position);
}

ENTRY(ssize_t, pwritev, (int fd, const iovec* parts, int count, off_t offset)) {
  const ssize_t written = next_pwritev()(fd, parts, count, offset);
  if (written >= 0 && static_cast<size_t>(written) == size_of(parts, count)) [[likely]]
    return written;
  return write_on(written, fd, parts, count, offset);
}
ENTRY_ALIAS(pwritev64, pwritev);

ENTRY(ssize_t, pwritev2, (int fd, const iovec* parts, int count, off_t offset, int flags)) {
  const ssize_t written = NEXT(pwritev2)(fd, parts, count, offset, flags);
  if (written >= 0 && static_cast<size_t>(written) == size_of(parts, count)) [[likely]]
    return written;
  // With flags a part may be what was asked for.
  return written >= 0 && flags != 0 ? written : write_on(written, fd, parts, count, offset);
}
ENTRY_ALIAS(pwritev64v2, pwritev2);

ENTRY(ssize_t, sendfile, (int to, int from, off_t* offset, size_t size)) {
  return noting_for(to, NEXT(sendfile)(to, from, offset, size));
}
ENTRY_ALIAS(sendfile64, sendfile);
ENTRY(ssize_t, copy_file_range, (int from, off_t* from_offset, int to, off_t* to_offset, size_t size, unsigned flags)) {
  return noting_for(to, NEXT(copy_file_range)(from, from_offset, to, to_offset, size, flags));
}
ENTRY(ssize_t, splice, (int from, off_t* from_offset, int to, off_t* to_offset, size_t size, unsigned flags)) {
  return noting_for(to, NEXT(splice)(from, from_offset, to, to_offset, size, flags));
}
ENTRY(int, aio_error, (const aiocb* request)) {
  const int error = NEXT(aio_error)(request);
  if (is_noted(error) && request->aio_lio_opcode == LIO_WRITE) [[unlikely]]
    note_failed(request->aio_fildes, error);
  return error;
}
ENTRY_ALIAS(aio_error64, aio_error);

ENTRY(int, ftruncate, (int fd, off_t size)) {
  return noting_for(fd, NEXT(ftruncate)(fd, size));
}
ENTRY_ALIAS(ftruncate64, ftruncate);
ENTRY(int, fallocate, (int fd, int mode, off_t offset, off_t size)) {
  return noting_for(fd, NEXT(fallocate)(fd, mode, offset, size));
}
ENTRY_ALIAS(fallocate64, fallocate);
ENTRY(int, posix_fallocate, (int fd, off_t offset, off_t size)) {
  const int error = NEXT(posix_fallocate)(fd, offset, size);
  if (error != 0) [[unlikely]]
    note_failed(fd, error);
  return error;
}
ENTRY_ALIAS(posix_fallocate64, posix_fallocate);

ENTRY(int, fsync, (int fd)) {
  return noting_for(fd, NEXT(fsync)(fd));
}
ENTRY(int, fdatasync, (int fd)) {
  return noting_for(fd, NEXT(fdatasync)(fd));
}
ENTRY(int, msync, (void* address, size_t size, int flags)) {
  const int result = NEXT(msync)(address, size, flags);
  if (result < 0) [[unlikely]]
    note_failed(address, errno);
  return result;
}

// An error is told once the descriptor is gone: which file it was has to be known before, where that can be at all.
ENTRY(int, close, (int fd)) {
  if (state.flags.closing_fails) [[unlikely]]
    return close_noting(fd);
  return next_close()(fd);
}
ENTRY_ALIAS(__close, close);

}  // namespace forebay::redirect
