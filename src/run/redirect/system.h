// System calls without errno and without libc's symbols, which are interposed, and text of at most a path's length on
// the stack. Every function returns the kernel's result: a negative errno on failure.
#pragma once

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include <cerrno>
#include <cstddef>

// A function that is rarely run has a frame of its own. So its buffers do not spread the usual way's stack over pages
// that the kernel has pushed out of the caches.
#define COLD [[gnu::noinline, gnu::cold]]
// Functions that every call runs lie side by side.
#define HOT [[gnu::hot]]

namespace forebay::redirect {

template <class T>
long word(T value) {
  if constexpr (sizeof(T) < sizeof(long))
    return static_cast<long>(value);
  else
    return (long)value;  // pointers and unsigned words alike
}

// Sixteen hexadecimal ones.
inline void put_digits(char* to, uint64_t value) {
  for (int i = 0; i < 16; ++i) to[i] = "0123456789abcdef"[(value >> (60 - 4 * i)) & 15];
}

inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
#else
#error "How does this processor make a system call?"
#endif
}

// Sets errno for a negative result, as libc does.
inline long with_errno(long result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}
inline int with_errno_int(long result) {
  return static_cast<int>(with_errno(result));
}

inline int sys_openat(int directory, const char* path, int flags, mode_t mode = 0) {
  return static_cast<int>(system_call(SYS_openat, directory, word(path), flags, word(mode)));
}
inline void sys_close(int fd) {
  system_call(SYS_close, fd);
}
inline long sys_readlinkat(int directory, const char* path, char* text, size_t size) {
  return system_call(SYS_readlinkat, directory, word(path), word(text), word(size));
}
inline int sys_fstatat(int directory, const char* path, struct stat* status, int flags) {
  return static_cast<int>(system_call(SYS_newfstatat, directory, word(path), word(status), flags));
}
inline int sys_fstat(int fd, struct stat* status) {
  return static_cast<int>(system_call(SYS_fstat, fd, word(status)));
}
inline int sys_statfs(const char* path, struct statfs* status) {
  return static_cast<int>(system_call(SYS_statfs, word(path), word(status)));
}
inline int sys_unlinkat(int directory, const char* path, int flags) {
  return static_cast<int>(system_call(SYS_unlinkat, directory, word(path), flags));
}
inline long sys_getcwd(char* text, size_t size) {
  return system_call(SYS_getcwd, word(text), word(size));
}

// memcpy for the few dozen bytes of a path: the compiler's own choice for unknown small sizes, a string instruction,
// costs more than all the rest of a mapping.
inline void copy_text(char* to, const char* from, size_t count) {
  if (count >= 16) {
    for (size_t at = 0; at + 16 <= count; at += 16) memcpy(to + at, from + at, 16);
    memcpy(to + count - 16, from + count - 16, 16);
  } else if (count >= 8) {
    uint64_t first, last;
    memcpy(&first, from, 8);
    memcpy(&last, from + count - 8, 8);
    memcpy(to, &first, 8);
    memcpy(to + count - 8, &last, 8);
  } else if (count >= 4) {
    uint32_t first, last;
    memcpy(&first, from, 4);
    memcpy(&last, from + count - 4, 4);
    memcpy(to, &first, 4);
    memcpy(to + count - 4, &last, 4);
  } else {
    for (size_t at = 0; at < count; ++at) {
      to[at] = from[at];
      __asm__ volatile("" ::: "memory");  // not to be made a string instruction again
    }
  }
}

// The text of a path on the stack. Longer than PATH_MAX, so that what the kernel must refuse as too long can be said.
struct Path {
  static constexpr size_t capacity = PATH_MAX + 256;
  size_t size;
  char text[capacity + 1];

  // The text behind its end is left as it is: a page of zeros would cost more than the calls that need a path.
  Path() : size(0) { text[0] = '\0'; }
  void clear() {
    size = 0;
    text[0] = '\0';
  }
  void append(const char* bytes, size_t count) {
    if (count > capacity - size) count = capacity - size;
    copy_text(text + size, bytes, count);
    size += count;
    text[size] = '\0';
  }
  void append(const char* string) { append(string, strlen(string)); }
  void assign(const char* bytes, size_t count) {
    size = 0;
    append(bytes, count);
  }
  // The first `count` bytes become `bytes`.
  void replace_front(size_t count, const char* bytes, size_t length) {
    size_t tail = size - count;
    if (tail > capacity - length) tail = capacity - length;
    memmove(text + length, text + count, tail);
    memcpy(text, bytes, length);
    size = length + tail;
    text[size] = '\0';
  }
  // "/a/b" -> "/a"; "/a" -> "".
  void pop() {
    while (size > 0 && text[size - 1] != '/') --size;
    if (size > 0) --size;
    text[size] = '\0';
  }
  bool too_long() const { return size >= PATH_MAX; }
};

// "/proc/self/fd/<fd>".
struct DescriptorPath {
  char text[40];
  explicit DescriptorPath(int fd) {
    static const char prefix[] = "/proc/self/fd/";
    memcpy(text, prefix, sizeof prefix);
    char digits[16];
    int count = 0;
    unsigned value = static_cast<unsigned>(fd);
    do {
      digits[count++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    char* end = text + sizeof prefix - 1;
    while (count > 0) *end++ = digits[--count];
    *end = '\0';
  }
};

// Holds all signals back for its life: a handler must not find this thread holding a file lock.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    uint64_t all = ~uint64_t{0};
    system_call(SYS_rt_sigprocmask, SIG_BLOCK, word(&all), word(&before_), sizeof all);
  }
  ~SignalsBlocked() { system_call(SYS_rt_sigprocmask, SIG_SETMASK, word(&before_), 0, sizeof before_); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  uint64_t before_ = 0;
};

}  // namespace forebay::redirect
