// clang-format off
/* A program that a plan tells what to do (plan.py), so that it can be known afterwards what it left.
 *
 *   player launch N WORDS...      starts the words N times, as mpirun does: each with its rank, and when one fails
 *                                 all are killed; ends with the status of the first that failed
 *   player play DIRECTORY ...     does what DIRECTORY/plan.RANK says, line by line
 *   player one LINE               does one line: a child, in which nothing is preloaded
 *   player do LINE...             does the lines and keeps no record; which of them failed, and how, it prints
 *
 * A line of a plan: KIND CHILD PATH TO SIZE VERSION, with "-" for no path; CHILD is 1 where a child of this process is
 * to do it. Paths are relative to the case.
 *
 *   mkdir PATH         which may be there already
 *   write PATH         a new content, in two pieces
 *   open PATH          its first piece; close PATH: its second, and closed then
 *   append PATH        a line with the version
 *   remove PATH        a file
 *   purge PATH         a directory, entry by entry;  rmDir PATH: as OpenFOAM does (../faulty/rmDir.h)
 *   rename PATH TO
 *   cut PATH           the first piece, and then this process kills itself
 *   pause SIZE         so many milliseconds
 *   meet SIZE          waits until all ranks have come to their meeting of this number
 *   halt               makes DIRECTORY/halted and waits for DIRECTORY/go
 *
 * DIRECTORY/record.RANK gets a line "NANOSECONDS MARK NUMBER ERROR" before each line of the plan is done (b), when it is
 * done (e), or has failed (f), with its number from 0 on; "p" with the process in the beginning, "d" at the end. A failed
 * call does not end the program. More kinds: verbs.c.
 */
// clang-format on
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../faulty/rmDir.h"
#include "verbs.h"

enum { MOST_RANKS = 16, MOST_OPEN = 32, LINE = 3 * PATH_MAX, WAIT_SECONDS = 60 };

static int rank, ranks, record;
static const char* directory;  // of plans and records
static struct {
  char path[PATH_MAX];
  int file;
} opened[MOST_OPEN];

static void note(char mark, long number, int error) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  char line[96];
  const int length = snprintf(line, sizeof line, "%lld %c %ld %d\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec,
                              mark, number, error);
  if (write(record, line, (size_t)length) != length) abort();
}

static void pause_for(long microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  while (nanosleep(&time, &time) != 0 && errno == EINTR) continue;
}

// As Content in plan.py.
static char* content_of(const struct operation* what) {
  char head[PATH_MAX + 128], line[PATH_MAX + 64];
  const size_t head_size = (size_t)snprintf(
      head, sizeof head, "FoamFile\n{\n    class volScalarField;\n    object %s;\n    version %ld;\n}\n", what->path,
      what->version);
  const size_t line_size = (size_t)snprintf(line, sizeof line, "%s %ld\n", what->path, what->version);
  static const char tail[] = "\n// ************* //\n";
  const size_t size = (size_t)what->size, tail_size = sizeof tail - 1;
  if (size < head_size + tail_size) abort();
  char* text = malloc(size + line_size);
  memcpy(text, head, head_size);
  for (size_t at = head_size; at < size; at += line_size) memcpy(text + at, line, line_size);
  memcpy(text + size - tail_size, tail, tail_size);
  return text;
}

// Each returns 0 or an errno.

static int put_first(const struct operation* what, int file) {
  char* text = content_of(what);
  const int failed = put(file, text, (size_t)what->size / 2);
  free(text);
  return failed;
}

static int put_second(const struct operation* what, int file) {
  char* text = content_of(what);
  const size_t half = (size_t)what->size / 2;
  int failed = put(file, text + half, (size_t)what->size - half);
  free(text);
  if (close(file) != 0 && failed == 0) failed = errno;
  return failed;
}

static int begin_file(const struct operation* what, int* file) {
  *file = open(what->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  return *file < 0 ? errno : put_first(what, *file);
}

static int write_file(const struct operation* what) {
  int file;
  const int failed = begin_file(what, &file);
  if (file < 0) return failed;
  const int then = put_second(what, file);
  return failed != 0 ? failed : then;
}

static int open_file(const struct operation* what) {
  int slot = 0;
  while (opened[slot].path[0] != '\0') ++slot;
  if (slot == MOST_OPEN) abort();
  const int failed = begin_file(what, &opened[slot].file);
  if (opened[slot].file >= 0) strcpy(opened[slot].path, what->path);
  return failed;
}

static int close_file(const struct operation* what) {
  for (int slot = 0; slot < MOST_OPEN; ++slot) {
    if (strcmp(opened[slot].path, what->path) != 0) continue;
    opened[slot].path[0] = '\0';
    return put_second(what, opened[slot].file);
  }
  return EBADF;
}

static int append_line(const struct operation* what) {
  const int file = open(what->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  char line[64];
  int failed = put(file, line, (size_t)snprintf(line, sizeof line, "version %ld\n", what->version));
  if (close(file) != 0 && failed == 0) failed = errno;
  return failed;
}

static int purge(const char* path) {
  DIR* entries = opendir(path);
  if (entries == NULL) return errno;
  int failed = 0;
  for (struct dirent* entry; (entry = readdir(entries)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    char below[2 * PATH_MAX];
    snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
    int of_entry = unlink(below) == 0 ? 0 : errno;
    if (of_entry == EISDIR) of_entry = purge(below);
    if (failed == 0) failed = of_entry;
  }
  closedir(entries);
  if (rmdir(path) != 0 && failed == 0) failed = errno;
  return failed;
}

// What each rank has come to.
static int meet(long number) {
  static atomic_long* come;
  if (come == NULL) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/meetings", directory);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0 || ftruncate(file, 4096) != 0) return errno;
    come = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (come == MAP_FAILED) return errno;
    close(file);
  }
  come[rank] = number;
  for (int other = 0; other < ranks; ++other) {
    for (long waited = 0; come[other] < number; ++waited) {
      if (waited > WAIT_SECONDS * 5000L) exit(9);
      pause_for(200);
    }
  }
  return 0;
}

static int halt(void) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/halted", directory);
  const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  close(file);
  snprintf(path, sizeof path, "%s/go", directory);
  for (long waited = 0; access(path, F_OK) != 0 && waited < WAIT_SECONDS * 1000L; ++waited) pause_for(1000);
  return 0;
}

static int perform(const struct operation* what) {
  const char* kind = what->kind;
  if (strcmp(kind, "mkdir") == 0) return mkdir(what->path, 0755) == 0 || errno == EEXIST ? 0 : errno;
  if (strcmp(kind, "write") == 0) return write_file(what);
  if (strcmp(kind, "open") == 0) return open_file(what);
  if (strcmp(kind, "close") == 0) return close_file(what);
  if (strcmp(kind, "append") == 0) return append_line(what);
  if (strcmp(kind, "remove") == 0) return unlink(what->path) == 0 ? 0 : errno;
  if (strcmp(kind, "purge") == 0) return purge(what->path);
  if (strcmp(kind, "rmDir") == 0) return remove_directory(what->path) ? 0 : ENOTEMPTY;
  if (strcmp(kind, "rename") == 0) return rename(what->path, what->to) == 0 ? 0 : errno;
  if (strcmp(kind, "meet") == 0) return meet(what->size);
  if (strcmp(kind, "halt") == 0) return halt();
  if (strcmp(kind, "pause") == 0) {
    pause_for(what->size * 1000);
    return 0;
  }
  if (strcmp(kind, "cut") == 0) {
    int file;
    begin_file(what, &file);
    kill(getpid(), SIGKILL);
  }
  const int failed = perform_verb(what);
  if (failed >= 0) return failed;
  fprintf(stderr, "player: unknown operation %s\n", kind);
  exit(2);
}

static int perform_in_child(char* line) {
  const pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    unsetenv("LD_PRELOAD");
    execl("/proc/self/exe", "player", "one", line, NULL);
    _exit(errno);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static struct operation parsed(const char* line) {
  struct operation what;
  if (sscanf(line, "%15s %d %4095s %4095s %ld %ld", what.kind, &what.child, what.path, what.to, &what.size,
             &what.version) != 6) {
    fprintf(stderr, "player: cannot understand %s\n", line);
    exit(2);
  }
  return what;
}

static int number_in(const char* variable, int otherwise) {
  const char* text = getenv(variable);
  return text == NULL ? otherwise : atoi(text);
}

static int play(void) {
  rank = number_in("OMPI_COMM_WORLD_RANK", 0);
  ranks = number_in("OMPI_COMM_WORLD_SIZE", 1);
  char path[PATH_MAX], line[LINE];
  snprintf(path, sizeof path, "%s/record.%d", directory, rank);
  record = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  snprintf(path, sizeof path, "%s/plan.%d", directory, rank);
  FILE* plan = fopen(path, "re");
  if (record < 0 || plan == NULL) return 2;
  note('p', getpid(), 0);
  for (long number = 0; fgets(line, sizeof line, plan) != NULL; ++number) {
    const struct operation what = parsed(line);
    note('b', number, 0);
    const int failed = what.child ? perform_in_child(line) : perform(&what);
    note(failed == 0 ? 'e' : 'f', number, failed);
  }
  fclose(plan);
  note('d', 0, 0);
  return 0;
}

static int perform_lines(int count, char** lines) {
  for (int number = 0; number < count; ++number) {
    const struct operation what = parsed(lines[number]);
    fflush(stdout);
    int failed = ENXIO;
    if (!would_wait(&what)) failed = what.child ? perform_in_child(lines[number]) : perform(&what);
    if (failed != 0) printf("%s: failed with %d\n", lines[number], failed);
  }
  return 0;
}

static int launch(int count, char** words) {
  prctl(PR_SET_NAME, "launcher");
  pid_t started[MOST_RANKS];
  char number[16];
  snprintf(number, sizeof number, "%d", count);
  setenv("OMPI_COMM_WORLD_SIZE", number, 1);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", number, 1);
  for (int i = 0; i < count; ++i) {
    snprintf(number, sizeof number, "%d", i);
    setenv("OMPI_COMM_WORLD_RANK", number, 1);
    started[i] = fork();
    if (started[i] < 0) return 2;
    if (started[i] == 0) {
      setpgid(0, 0);
      execvp(words[0], words);
      _exit(127);
    }
  }
  int first = 0;
  for (int left = count; left > 0; --left) {
    int status = 0;
    while (wait(&status) < 0 && errno == EINTR) continue;
    if (status == 0 || first != 0) continue;
    first = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    for (int i = 0; i < count; ++i) kill(-started[i], SIGKILL);
  }
  return first;
}

int main(int count, char** words) {
  if (count > 3 && strcmp(words[1], "launch") == 0) {
    const int wanted = atoi(words[2]);
    if (wanted > 0 && wanted <= MOST_RANKS) return launch(wanted, words + 3);
  }
  if (count > 2 && strcmp(words[1], "play") == 0) {
    directory = words[2];
    return play();
  }
  if (count > 1 && strcmp(words[1], "do") == 0) return perform_lines(count - 2, words + 2);
  if (count > 2 && strcmp(words[1], "one") == 0) {
    const struct operation what = parsed(words[2]);
    return perform(&what);
  }
  fprintf(stderr, "usage: player launch N WORDS... | play DIRECTORY | one LINE | do LINE...\n");
  return 2;
}
