// clang-format off
/* Lines of a plan, as in player.c: KIND CHILD PATH TO SIZE VERSION.
 *
 *   create PATH          SIZE bytes that VERSION decides; fill PATH: the same, opened without cutting it
 *   empty PATH           opened with O_TRUNC, and closed
 *   exclusive PATH       as create, but of a file that may not be there
 *   replace PATH         as create, under another name that is then renamed over it
 *   nameless PATH        as create, in a file without a name (O_TMPFILE) that gets one by linkat
 *   truncate PATH        to SIZE, be it longer
 *   hole PATH            SIZE bytes from page VERSION on;  allocate PATH: room for SIZE bytes, which may make it longer
 *   append2 PATH         SIZE bytes at its end
 *   inplace PATH         SIZE bytes in its middle, its times put back as they were (rsync --inplace -t)
 *   rewrite PATH         all its bytes through a shared mapping
 *   increment PATH       its first byte, through a shared mapping that has read it first (numpy.memmap("r+"), m[0] += 1)
 *   map PATH             maps it and reads it; store PATH: increments its first byte by that mapping; unmap PATH
 *   journal PATH         as sqlite: a page is kept in PATH-journal, rewritten in place, the journal removed
 *   pages PATH           as LMDB: a page is added, then the first one rewritten, both through a mapping, with msync
 *   range PATH TO        copy_file_range, or read and write where that is refused, as cp does
 *   exchange, noreplace  renameat2 of PATH and TO
 *   link, symlink        of PATH, named TO;  lnf: as `ln -f`
 *   chmod PATH, utime PATH   SIZE is the mode, the second; like PATH TO: TO gets the times of PATH (touch -r)
 *   rmdir, fifo PATH
 *   copy, tree, tar, move PATH TO    `cp -p`, `cp -a`, `tar c PATH | tar x` in TO, `mv`;  delete PATH: `rm -r`
 *   read, look, list PATH            prints a sum of the bytes; type, mode and size; the names in it
 */
// clang-format on
#define _GNU_SOURCE
#include "verbs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_MAPPED = 8 };

struct mapping {
  char path[PATH_MAX];
  unsigned char* bytes;
  size_t size;
};

static struct mapping mapped[MOST_MAPPED];

int put(int file, const char* text, size_t size) {
  while (size > 0) {
    const ssize_t done = write(file, text, size);
    if (done < 0) return errno;
    text += done;
    size -= (size_t)done;
  }
  return 0;
}

static int closed(int file, int failed) {
  return close(file) != 0 && failed == 0 ? errno : failed;
}

static unsigned char byte_of(long version, size_t at) {
  return (unsigned char)(version * 31 + (long)(at / 7) + 1);
}

static int put_bytes(int file, size_t size, long version) {
  char* bytes = malloc(size + 1);
  for (size_t at = 0; at < size; ++at) bytes[at] = (char)byte_of(version, at);
  const int failed = put(file, bytes, size);
  free(bytes);
  return failed;
}

static int write_with(const char* path, int flags, const struct operation* what) {
  const int file = open(path, flags | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  return closed(file, put_bytes(file, (size_t)what->size, what->version));
}

static int create(const struct operation* what) {
  return write_with(what->path, O_CREAT | O_TRUNC, what);
}
static int fill(const struct operation* what) {
  return write_with(what->path, O_CREAT, what);
}
static int exclusive(const struct operation* what) {
  return write_with(what->path, O_CREAT | O_EXCL, what);
}
static int append2(const struct operation* what) {
  return write_with(what->path, O_CREAT | O_APPEND, what);
}

static int empty(const struct operation* what) {
  const int file = open(what->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
  return file < 0 ? errno : closed(file, 0);
}

static int replace(const struct operation* what) {
  char other[PATH_MAX + 8];
  snprintf(other, sizeof other, "%s.new", what->path);
  const int failed = write_with(other, O_CREAT | O_TRUNC, what);
  if (failed != 0) return failed;
  return rename(other, what->path) == 0 ? 0 : errno;
}

static int nameless(const struct operation* what) {
  char directory[PATH_MAX], own[64];
  strcpy(directory, what->path);
  char* const slash = strrchr(directory, '/');
  if (slash != NULL) *slash = '\0';
  const int file = open(slash != NULL ? directory : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0640);
  if (file < 0) return errno;
  int failed = put_bytes(file, (size_t)what->size, what->version);
  snprintf(own, sizeof own, "/proc/self/fd/%d", file);
  if (failed == 0 && linkat(AT_FDCWD, own, AT_FDCWD, what->path, AT_SYMLINK_FOLLOW) != 0) failed = errno;
  return closed(file, failed);
}

static int truncate_file(const struct operation* what) {
  return truncate(what->path, what->size) == 0 ? 0 : errno;
}

static int allocate_with(const struct operation* what, int mode, long from) {
  const int file = open(what->path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  return closed(file, fallocate(file, mode, from, what->size) == 0 ? 0 : errno);
}

static int hole(const struct operation* what) {
  return allocate_with(what, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, what->version * PAGE);
}

static int allocate(const struct operation* what) {
  return allocate_with(what, 0, 0);
}

static int in_place(const struct operation* what) {
  struct stat before;
  const int file = open(what->path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  int failed = fstat(file, &before) == 0 ? 0 : errno;
  if (failed == 0 && before.st_size > 0) {
    const size_t size = (size_t)(what->size < before.st_size ? what->size : before.st_size);
    if (lseek(file, (before.st_size - (long)size) / 2, SEEK_SET) < 0) failed = errno;
    if (failed == 0) failed = put_bytes(file, size, what->version);
  }
  if (failed == 0 && futimens(file, (struct timespec[]){before.st_atim, before.st_mtim}) != 0) failed = errno;
  return closed(file, failed);
}

// An empty file has no mapping: `bytes` is null.
static int map(const char* path, struct mapping* made) {
  struct stat status;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return errno;
  int failed = fstat(file, &status) == 0 ? 0 : errno;
  *made = (struct mapping){.size = (size_t)status.st_size};
  if (failed == 0 && S_ISREG(status.st_mode) && made->size > 0) {
    made->bytes = mmap(NULL, made->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (made->bytes == MAP_FAILED) failed = errno;
  }
  return closed(file, failed);
}

static int rewrite(const struct operation* what) {
  struct mapping all;
  const int failed = map(what->path, &all);
  if (failed != 0 || all.bytes == NULL) return failed;
  for (size_t at = 0; at < all.size; ++at) all.bytes[at] = byte_of(what->version, at);
  return munmap(all.bytes, all.size) == 0 ? 0 : errno;
}

static sigjmp_buf beyond_the_end;

static void leave_mapping(int number) {
  (void)number;
  siglongjmp(beyond_the_end, 1);
}

// The file may have become empty since it was mapped.
static int read_and_add(struct mapping* each) {
  signal(SIGBUS, leave_mapping);
  if (sigsetjmp(beyond_the_end, 1) != 0) return EFAULT;
  const unsigned char before = *(volatile unsigned char*)each->bytes;
  *(volatile unsigned char*)each->bytes = (unsigned char)(before + 1);
  return 0;
}

static int increment(const struct operation* what) {
  struct mapping all;
  int failed = map(what->path, &all);
  if (failed != 0 || all.bytes == NULL) return failed;
  failed = read_and_add(&all);
  return munmap(all.bytes, all.size) == 0 ? failed : errno;
}

static struct mapping* find_mapped(const char* path) {
  for (int each = 0; each < MOST_MAPPED; ++each) {
    if (strcmp(mapped[each].path, path) == 0) return &mapped[each];
  }
  return NULL;
}

static int map_and_hold(const struct operation* what) {
  struct mapping* const slot = find_mapped("");
  if (slot == NULL) return EMFILE;
  struct mapping made;
  const int failed = map(what->path, &made);
  if (failed != 0 || made.bytes == NULL) return failed;
  for (size_t at = 0; at < made.size; at += PAGE) (void)((volatile unsigned char*)made.bytes)[at];
  *slot = made;
  strcpy(slot->path, what->path);
  return 0;
}

static int store(const struct operation* what) {
  struct mapping* const slot = find_mapped(what->path);
  return slot == NULL ? ENOENT : read_and_add(slot);
}

static int unmap(const struct operation* what) {
  struct mapping* const slot = find_mapped(what->path);
  if (slot == NULL) return ENOENT;
  slot->path[0] = '\0';
  return munmap(slot->bytes, slot->size) == 0 ? 0 : errno;
}

static int keep_in_journal(const char* path, const char page[PAGE], size_t size) {
  const int journal = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (journal < 0) return errno;
  int failed = put(journal, page, size);
  if (failed == 0 && fsync(journal) != 0) failed = errno;
  return closed(journal, failed);
}

static int journal(const struct operation* what) {
  char page[PAGE], path[PATH_MAX + 16];
  const int file = open(what->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  const ssize_t size = pread(file, page, PAGE, 0);
  snprintf(path, sizeof path, "%s-journal", what->path);
  int failed = size < 0 ? errno : keep_in_journal(path, page, (size_t)size);
  if (failed == 0) failed = put_bytes(file, PAGE, what->version);
  if (failed == 0 && fsync(file) != 0) failed = errno;
  if (failed == 0 && unlink(path) != 0) failed = errno;
  return closed(file, failed);
}

static int pages(const struct operation* what) {
  struct stat status;
  const int file = open(what->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  int failed = fstat(file, &status) == 0 ? 0 : errno;
  const size_t old = failed == 0 ? ((size_t)status.st_size + PAGE - 1) / PAGE * PAGE : 0, size = old + PAGE;
  if (failed == 0 && ftruncate(file, (off_t)size) != 0) failed = errno;
  failed = closed(file, failed);
  struct mapping all = {.bytes = NULL};
  if (failed == 0) failed = map(what->path, &all);
  if (failed != 0 || all.bytes == NULL) return failed;
  for (size_t at = 0; at < PAGE; ++at) all.bytes[old + at] = byte_of(what->version, at);
  if (msync(all.bytes + old, PAGE, MS_SYNC) != 0) failed = errno;
  if (failed == 0) failed = read_and_add(&all);
  if (msync(all.bytes, PAGE, MS_SYNC) != 0) failed = errno;
  return munmap(all.bytes, all.size) != 0 ? errno : failed;
}

static int copy_bytes(int from, int to) {
  char bytes[PAGE];
  for (ssize_t done; (done = copy_file_range(from, NULL, to, NULL, 1 << 20, 0)) != 0;) {
    if (done < 0 && errno != EXDEV) return errno;
    if (done < 0) break;
  }
  for (ssize_t done; (done = read(from, bytes, PAGE)) != 0;) {
    const int failed = done < 0 ? errno : put(to, bytes, (size_t)done);
    if (failed != 0) return failed;
  }
  return 0;
}

static bool same_file(const char* path, const char* other) {
  struct stat one, two;
  return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_ino == two.st_ino && one.st_dev == two.st_dev;
}

static int range(const struct operation* what) {
  if (same_file(what->path, what->to)) return EINVAL;
  const int from = open(what->path, O_RDONLY | O_CLOEXEC);
  if (from < 0) return errno;
  const int to = open(what->to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  int failed = to < 0 ? errno : copy_bytes(from, to);
  if (to >= 0) failed = closed(to, failed);
  close(from);
  return failed;
}

static int rename_with(const struct operation* what, unsigned flags) {
  return renameat2(AT_FDCWD, what->path, AT_FDCWD, what->to, flags) == 0 ? 0 : errno;
}

static int exchange(const struct operation* what) {
  return rename_with(what, RENAME_EXCHANGE);
}
static int no_replace(const struct operation* what) {
  return rename_with(what, RENAME_NOREPLACE);
}
static int link_file(const struct operation* what) {
  return link(what->path, what->to) == 0 ? 0 : errno;
}
static int link_to(const struct operation* what) {
  return symlink(what->path, what->to) == 0 ? 0 : errno;
}
static int remove_empty(const struct operation* what) {
  return rmdir(what->path) == 0 ? 0 : errno;
}
static int make_pipe(const struct operation* what) {
  return mkfifo(what->path, 0644) == 0 ? 0 : errno;
}

// A directory that its user may not list and enter stays in the pool (docs/run/limits.md).
static int set_mode(const struct operation* what) {
  struct stat status;
  const mode_t more = stat(what->path, &status) == 0 && S_ISDIR(status.st_mode) ? S_IRWXU : 0;
  return chmod(what->path, (mode_t)what->size | more) == 0 ? 0 : errno;
}

static int set_time(const struct operation* what) {
  const struct timespec time = {.tv_sec = what->size, .tv_nsec = what->version};
  return utimensat(AT_FDCWD, what->path, (struct timespec[]){time, time}, 0) == 0 ? 0 : errno;
}

static int like(const struct operation* what) {
  struct stat model;
  if (stat(what->path, &model) != 0) return errno;
  return utimensat(AT_FDCWD, what->to, (struct timespec[]){model.st_atim, model.st_mtim}, 0) == 0 ? 0 : errno;
}

// What it says of its failures is not the same by every way in.
static int start(const char* const* words) {
  const pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    const int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(none, STDERR_FILENO);
    execvp(words[0], (char**)words);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define START(...) start((const char*[]){__VA_ARGS__, NULL})
static int copy(const struct operation* what) {
  return START("cp", "-p", what->path, what->to);
}
static int copy_tree(const struct operation* what) {
  return START("cp", "-a", what->path, what->to);
}
static int move(const struct operation* what) {
  return START("mv", "-f", what->path, what->to);
}
static int link_over(const struct operation* what) {
  return START("ln", "-f", what->path, what->to);
}
static int remove_all(const struct operation* what) {
  return START("rm", "-r", what->path);
}
static int tar(const struct operation* what) {
  return START("sh", "-c", "tar -c --sort=name --format=posix \"$0\" | tar -x -C \"$1\"", what->path, what->to);
}

static int read_file(const struct operation* what) {
  unsigned char bytes[PAGE];
  unsigned long long sum = 0, size = 0;
  const int file = open(what->path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  ssize_t done;
  while ((done = read(file, bytes, PAGE)) > 0) {
    for (ssize_t at = 0; at < done; ++at) sum = sum * 1099511628211ULL + bytes[at];
    size += (unsigned long long)done;
  }
  const int failed = done < 0 ? errno : 0;
  if (failed == 0) printf("%s: %llu bytes, %016llx\n", what->path, size, sum);
  return closed(file, failed);
}

static int look(const struct operation* what) {
  struct stat status;
  if (lstat(what->path, &status) != 0) return errno;
  printf("%s: %o", what->path, status.st_mode);
  if (!S_ISDIR(status.st_mode)) printf(", %lld bytes", (long long)status.st_size);
  printf("\n");
  return 0;
}

static int list(const struct operation* what) {
  struct dirent** names;
  const int count = scandir(what->path, &names, NULL, alphasort);
  if (count < 0) return errno;
  printf("%s:", what->path);
  for (int each = 0; each < count; ++each) {
    printf(" %s", names[each]->d_name);
    free(names[each]);
  }
  free(names);
  printf("\n");
  return 0;
}

static bool is_pipe(const char* path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
}

bool would_wait(const struct operation* what) {
  static const char* const by_name[] = {"rename", "exchange", "noreplace", "link", "lnf",    "symlink",
                                        "chmod",  "utime",    "like",      "move", "remove", "look",
                                        "delete", "fifo",     "mkdir",     "rmdir"};
  for (size_t each = 0; each < sizeof by_name / sizeof *by_name; ++each) {
    if (strcmp(by_name[each], what->kind) == 0) return false;
  }
  return is_pipe(what->path) || is_pipe(what->to);
}

int perform_verb(const struct operation* what) {
  static const struct {
    const char* kind;
    int (*perform)(const struct operation*);
  } verbs[] = {{"create", create},
               {"fill", fill},
               {"empty", empty},
               {"exclusive", exclusive},
               {"append2", append2},
               {"replace", replace},
               {"nameless", nameless},
               {"truncate", truncate_file},
               {"hole", hole},
               {"allocate", allocate},
               {"inplace", in_place},
               {"rewrite", rewrite},
               {"increment", increment},
               {"map", map_and_hold},
               {"store", store},
               {"unmap", unmap},
               {"journal", journal},
               {"pages", pages},
               {"range", range},
               {"exchange", exchange},
               {"noreplace", no_replace},
               {"link", link_file},
               {"symlink", link_to},
               {"lnf", link_over},
               {"chmod", set_mode},
               {"utime", set_time},
               {"like", like},
               {"rmdir", remove_empty},
               {"fifo", make_pipe},
               {"copy", copy},
               {"tree", copy_tree},
               {"tar", tar},
               {"move", move},
               {"delete", remove_all},
               {"read", read_file},
               {"look", look},
               {"list", list}};
  for (size_t each = 0; each < sizeof verbs / sizeof *verbs; ++each) {
    if (strcmp(verbs[each].kind, what->kind) == 0) return verbs[each].perform(what);
  }
  return -1;
}
