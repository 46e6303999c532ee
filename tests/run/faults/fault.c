/* libforebay_fault.so: lets the file system below one directory fail for a program that is started with it in
 * LD_PRELOAD. For tests only; never installed.
 *
 *   FOREBAY_FAULT_PREFIX=/path    only this directory and what lies below it is affected
 *   FOREBAY_FAULT_PROGRAM=name    only in this program, not in those that it starts; default: in all
 *   FOREBAY_FAULT=RULE,RULE,...   what goes wrong
 *   FOREBAY_FAULT_FILE=/path      a file whose content takes the place of FOREBAY_FAULT whenever it exists; read again
 *                                 when its time or size changes, so that a test turns faults on and off in mid-run
 *
 *   RULE: CALL:WHAT[:after=N][:count=N]
 *   CALL: open write writeback (sync_file_range) fsync msync (of any file) truncate allocate rename mkdir link symlink
 *         unlink rmdir read copy (copy_file_range, sendfile, splice) close lock, or all
 *   WHAT: the name of an errno (EIO, ENOSPC, ...), short (half of the bytes), delay=MILLISECONDSms,
 *         or kill (the process ends before the call, as by SIGKILL)
 *   after: so many calls pass first; count: so many go wrong, then no more. Counted from when the rules
 *         were read, in each process on its own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RULES = 32, RULE_TEXT = 4096 };

typedef struct {
  char call[16];
  int error; /* 0: none */
  int is_short, is_kill;
  long delay_ms;
  long after, count;
} Rule;

/* The one global state: what goes wrong now. */
static struct {
  pthread_mutex_t mutex;
  int started;
  char prefix[2][PATH_MAX]; /* as given, and with links resolved */
  const char* file;
  struct timespec file_time;
  off_t file_size;
  int rule_count;
  Rule rules[MOST_RULES];
} faults = {.mutex = PTHREAD_MUTEX_INITIALIZER};

#define REAL(name)               \
  static __typeof__(name)* real; \
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, #name)

static const struct {
  const char* name;
  int value;
} errors[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC},       {"EDQUOT", EDQUOT}, {"EROFS", EROFS},
              {"EACCES", EACCES}, {"EPERM", EPERM},         {"ENOENT", ENOENT}, {"ENOTCONN", ENOTCONN},
              {"ESTALE", ESTALE}, {"EINTR", EINTR},         {"EINVAL", EINVAL}, {"ENOSYS", ENOSYS},
              {"EMFILE", EMFILE}, {"ETIMEDOUT", ETIMEDOUT}, {"EXDEV", EXDEV},   {"EOPNOTSUPP", EOPNOTSUPP},
              {"ENOLCK", ENOLCK}, {"ENOTEMPTY", ENOTEMPTY}};

static void complain(const char* rule) {
  fprintf(stderr, "libforebay_fault: cannot understand rule '%s'\n", rule);
  abort(); /* a test with a fault that never happens would pass for the wrong reason */
}

static Rule parse_rule(char* text) {
  char whole[RULE_TEXT], *rest = NULL;
  snprintf(whole, sizeof whole, "%s", text);
  Rule rule = {.count = LONG_MAX};
  char* word = strtok_r(text, ":", &rest);
  snprintf(rule.call, sizeof rule.call, "%s", word);
  int known = 0;
  while ((word = strtok_r(NULL, ":", &rest)) != NULL) {
    if (strncmp(word, "after=", 6) == 0) {
      rule.after = atol(word + 6);
    } else if (strncmp(word, "count=", 6) == 0) {
      rule.count = atol(word + 6);
    } else if (strncmp(word, "delay=", 6) == 0) {
      rule.delay_ms = atol(word + 6);
      known = 1;
    } else if (strcmp(word, "short") == 0) {
      rule.is_short = known = 1;
    } else if (strcmp(word, "kill") == 0) {
      rule.is_kill = known = 1;
    } else {
      for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
        if (strcmp(word, errors[i].name) == 0) rule.error = errors[i].value;
      if (rule.error == 0) complain(whole);
      known = 1;
    }
  }
  if (!known) complain(whole);
  return rule;
}

static void parse_rules(char* text) {
  faults.rule_count = 0;
  char* rest = NULL;
  for (char* word = strtok_r(text, ", \n", &rest); word != NULL; word = strtok_r(NULL, ", \n", &rest)) {
    if (faults.rule_count == MOST_RULES) complain(word);
    faults.rules[faults.rule_count++] = parse_rule(word);
  }
}

/* Reads the control file when it changed. Its calls go to the kernel directly, never through this library. */
static void read_control_file(void) {
  struct stat status;
  if (syscall(SYS_newfstatat, AT_FDCWD, faults.file, &status, 0) != 0) return;
  if (status.st_mtim.tv_sec == faults.file_time.tv_sec && status.st_mtim.tv_nsec == faults.file_time.tv_nsec &&
      status.st_size == faults.file_size)
    return;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, faults.file, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return;
  char text[RULE_TEXT];
  const long length = syscall(SYS_read, fd, text, sizeof text - 1);
  syscall(SYS_close, fd);
  if (length < 0) return;
  text[length] = '\0';
  faults.file_time = status.st_mtim;
  faults.file_size = status.st_size;
  parse_rules(text);
}

static void unlock_in_child(void) {
  pthread_mutex_init(&faults.mutex, NULL);
}

static void start(void) {
  faults.started = 1;
  pthread_atfork(NULL, NULL, unlock_in_child);
  const char* program = getenv("FOREBAY_FAULT_PROGRAM");
  if (program != NULL && strcmp(program, program_invocation_short_name) != 0) return;
  const char* prefix = getenv("FOREBAY_FAULT_PREFIX");
  if (prefix == NULL || *prefix == '\0') return;
  snprintf(faults.prefix[0], PATH_MAX, "%s", prefix);
  if (realpath(prefix, faults.prefix[1]) == NULL) snprintf(faults.prefix[1], PATH_MAX, "%s", prefix);
  faults.file = getenv("FOREBAY_FAULT_FILE");
  const char* given = getenv("FOREBAY_FAULT");
  if (given != NULL) {
    char text[RULE_TEXT];
    snprintf(text, sizeof text, "%s", given);
    parse_rules(text);
  }
}

static int is_below(const char* path) {
  for (int i = 0; i < 2; ++i) {
    const size_t length = strlen(faults.prefix[i]);
    if (length != 0 && strncmp(path, faults.prefix[i], length) == 0 && (path[length] == '/' || path[length] == '\0'))
      return 1;
  }
  return 0;
}

/* The path of an open descriptor (AT_FDCWD: the working directory); empty when it has none. */
static void path_of(int fd, char path[PATH_MAX]) {
  char link[64];
  if (fd == AT_FDCWD)
    snprintf(link, sizeof link, "/proc/self/cwd");
  else
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, PATH_MAX - 1);
  path[length < 0 ? 0 : length] = '\0';
}

static int affects(int directory, const char* name) {
  int fd;
  if (name != NULL && sscanf(name, "/proc/self/fd/%d", &fd) == 1) { /* HDF5 opens what is open by that */
    directory = fd;
    name = NULL;
  }
  if (name != NULL && name[0] == '/') return is_below(name);
  char path[2 * PATH_MAX];
  path_of(directory, path);
  if (name != NULL) {
    const size_t length = strlen(path);
    snprintf(path + length, sizeof path - length, "/%s", name);
  }
  return is_below(path);
}

/* What shall happen to this call: its errno or 0; `bytes` may get smaller. Sleeps where a rule says so. */
static int fault(const char* call, int directory, const char* name, size_t* bytes) {
  const int saved = errno;
  int error = 0;
  long delay = 0;
  pthread_mutex_lock(&faults.mutex);
  if (!faults.started) start();
  if (faults.prefix[0][0] != '\0') {
    if (faults.file != NULL) read_control_file();
    if (faults.rule_count > 0 && affects(directory, name)) {
      for (int i = 0; i < faults.rule_count && error == 0; ++i) {
        Rule* rule = &faults.rules[i];
        if (strcmp(rule->call, call) != 0 && strcmp(rule->call, "all") != 0) continue;
        if (rule->after > 0) {
          --rule->after;
          continue;
        }
        if (rule->count <= 0) continue;
        --rule->count;
        if (rule->is_kill) kill(getpid(), SIGKILL);
        error = rule->error;
        delay += rule->delay_ms;
        if (rule->is_short && bytes != NULL && *bytes > 1) *bytes /= 2;
      }
    }
  }
  pthread_mutex_unlock(&faults.mutex);
  if (delay > 0) {
    struct timespec time = {delay / 1000, delay % 1000 * 1000000};
    nanosleep(&time, NULL);
  }
  errno = error != 0 ? error : saved;
  return error;
}

/* Opening. */

static mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

#define DEFINE_OPEN(name)                               \
  int name(const char* path, int flags, ...) {          \
    REAL(name);                                         \
    va_list arguments;                                  \
    va_start(arguments, flags);                         \
    const mode_t mode = mode_of(flags, arguments);      \
    va_end(arguments);                                  \
    if (fault("open", AT_FDCWD, path, NULL)) return -1; \
    return real(path, flags, mode);                     \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

#define DEFINE_OPENAT(name)                                   \
  int name(int directory, const char* path, int flags, ...) { \
    REAL(name);                                               \
    va_list arguments;                                        \
    va_start(arguments, flags);                               \
    const mode_t mode = mode_of(flags, arguments);            \
    va_end(arguments);                                        \
    if (fault("open", directory, path, NULL)) return -1;      \
    return real(directory, path, flags, mode);                \
  }
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

/* openat2 has no wrapper in the C library. A directory opened on the way to a name (O_PATH) is not an open of a file.
 */
long syscall(long number, ...) {
  static long (*real)(long, ...);
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "syscall");
  va_list arguments;
  va_start(arguments, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_openat2) {
    const struct open_how* how = (const struct open_how*)a[2];
    if ((how->flags & O_PATH) == 0 && fault("open", (int)a[0], (const char*)a[1], NULL)) return -1;
  }
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int close(int fd) {
  REAL(close);
  const int error = fault("close", fd, NULL, NULL);
  const int result = real(fd); /* the descriptor is gone in any case, as on Linux */
  if (error == 0) return result;
  errno = error;
  return -1;
}

/* Reading and writing. */

#define DEFINE_TRANSFER(name, call, buffer_type)           \
  ssize_t name(int fd, buffer_type buffer, size_t bytes) { \
    REAL(name);                                            \
    if (fault(call, fd, NULL, &bytes)) return -1;          \
    return real(fd, buffer, bytes);                        \
  }
DEFINE_TRANSFER(read, "read", void*)
DEFINE_TRANSFER(write, "write", const void*)

#define DEFINE_TRANSFER_AT(name, call, buffer_type, offset_type)               \
  ssize_t name(int fd, buffer_type buffer, size_t bytes, offset_type offset) { \
    REAL(name);                                                                \
    if (fault(call, fd, NULL, &bytes)) return -1;                              \
    return real(fd, buffer, bytes, offset);                                    \
  }
DEFINE_TRANSFER_AT(pread, "read", void*, off_t)
DEFINE_TRANSFER_AT(pread64, "read", void*, off64_t)
DEFINE_TRANSFER_AT(pwrite, "write", const void*, off_t)
DEFINE_TRANSFER_AT(pwrite64, "write", const void*, off64_t)

ssize_t writev(int fd, const struct iovec* parts, int count) {
  REAL(writev);
  size_t all = 0;
  for (int i = 0; i < count; ++i) all += parts[i].iov_len;
  size_t bytes = all;
  if (fault("write", fd, NULL, &bytes)) return -1;
  if (bytes == all) return real(fd, parts, count);
  /* Short: the first part that has bytes, at most so many. */
  int first = 0;
  while (first + 1 < count && parts[first].iov_len == 0) ++first;
  const struct iovec part = {parts[first].iov_base, parts[first].iov_len < bytes ? parts[first].iov_len : bytes};
  return real(fd, &part, 1);
}

int sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags) {
  REAL(sync_file_range);
  return fault("writeback", fd, NULL, NULL) ? -1 : real(fd, offset, bytes, flags);
}

ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t bytes, unsigned flags) {
  REAL(copy_file_range);
  if (fault("copy", to, NULL, &bytes)) return -1;
  return real(from, from_offset, to, to_offset, bytes, flags);
}

#define DEFINE_SENDFILE(name, offset_type)                            \
  ssize_t name(int to, int from, offset_type* offset, size_t bytes) { \
    REAL(name);                                                       \
    if (fault("copy", to, NULL, &bytes)) return -1;                   \
    return real(to, from, offset, bytes);                             \
  }
DEFINE_SENDFILE(sendfile, off_t)
DEFINE_SENDFILE(sendfile64, off64_t)

ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t bytes, unsigned flags) {
  REAL(splice);
  if (fault("copy", to, NULL, &bytes)) return -1;
  return real(from, from_offset, to, to_offset, bytes, flags);
}

#define DEFINE_PWRITEV(name, offset_type)                                          \
  ssize_t name(int fd, const struct iovec* parts, int count, offset_type offset) { \
    REAL(name);                                                                    \
    return fault("write", fd, NULL, NULL) ? -1 : real(fd, parts, count, offset);   \
  }
DEFINE_PWRITEV(pwritev, off_t)
DEFINE_PWRITEV(pwritev64, off64_t)

#define DEFINE_TRUNCATE(name, offset_type)                          \
  int name(int fd, offset_type size) {                              \
    REAL(name);                                                     \
    return fault("truncate", fd, NULL, NULL) ? -1 : real(fd, size); \
  }
DEFINE_TRUNCATE(ftruncate, off_t)
DEFINE_TRUNCATE(ftruncate64, off64_t)

#define DEFINE_ALLOCATE(name, offset_type)                                        \
  int name(int fd, int mode, offset_type offset, offset_type size) {              \
    REAL(name);                                                                   \
    return fault("allocate", fd, NULL, NULL) ? -1 : real(fd, mode, offset, size); \
  }
DEFINE_ALLOCATE(fallocate, off_t)
DEFINE_ALLOCATE(fallocate64, off64_t)

#define DEFINE_POSIX_ALLOCATE(name, offset_type)           \
  int name(int fd, offset_type offset, offset_type size) { \
    REAL(name);                                            \
    const int error = fault("allocate", fd, NULL, NULL);   \
    return error != 0 ? error : real(fd, offset, size);    \
  }
DEFINE_POSIX_ALLOCATE(posix_fallocate, off_t)
DEFINE_POSIX_ALLOCATE(posix_fallocate64, off64_t)

int msync(void* address, size_t bytes, int flags) {
  REAL(msync);
  return fault("msync", AT_FDCWD, faults.prefix[0], NULL) ? -1 : real(address, bytes, flags);
}

int fsync(int fd) {
  REAL(fsync);
  return fault("fsync", fd, NULL, NULL) ? -1 : real(fd);
}

int fdatasync(int fd) {
  REAL(fdatasync);
  return fault("fsync", fd, NULL, NULL) ? -1 : real(fd);
}

int flock(int fd, int operation) {
  REAL(flock);
  return fault("lock", fd, NULL, NULL) ? -1 : real(fd, operation);
}

/* Names. */

int rename(const char* from, const char* to) {
  REAL(rename);
  return fault("rename", AT_FDCWD, to, NULL) ? -1 : real(from, to);
}

int renameat(int from_directory, const char* from, int to_directory, const char* to) {
  REAL(renameat);
  return fault("rename", to_directory, to, NULL) ? -1 : real(from_directory, from, to_directory, to);
}

int renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) {
  REAL(renameat2);
  return fault("rename", to_directory, to, NULL) ? -1 : real(from_directory, from, to_directory, to, flags);
}

int mkdir(const char* path, mode_t mode) {
  REAL(mkdir);
  return fault("mkdir", AT_FDCWD, path, NULL) ? -1 : real(path, mode);
}

int mkdirat(int directory, const char* path, mode_t mode) {
  REAL(mkdirat);
  return fault("mkdir", directory, path, NULL) ? -1 : real(directory, path, mode);
}

int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  REAL(linkat);
  return fault("link", to_directory, to, NULL) ? -1 : real(from_directory, from, to_directory, to, flags);
}

int symlinkat(const char* text, int directory, const char* path) {
  REAL(symlinkat);
  return fault("symlink", directory, path, NULL) ? -1 : real(text, directory, path);
}

int unlink(const char* path) {
  REAL(unlink);
  return fault("unlink", AT_FDCWD, path, NULL) ? -1 : real(path);
}

int rmdir(const char* path) {
  REAL(rmdir);
  return fault("rmdir", AT_FDCWD, path, NULL) ? -1 : real(path);
}

int unlinkat(int directory, const char* path, int flags) {
  REAL(unlinkat);
  return fault("unlink", directory, path, NULL) ? -1 : real(directory, path, flags);
}
