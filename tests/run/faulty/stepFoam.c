// clang-format off
/* A solver that computes nothing and writes like OpenFOAM: per rank and without a barrier it makes a time directory,
 * writes its files (open, write, close), purges older times, and writes
 * uniform/functionObjects/functionObjectProperties of a step only when the next one begins. Every file tells in its
 * content what it should be: lines "<path> <size>", cut to the size, ending in "END\n".
 *
 *   stepFoam [-steps N] [-delay MS] [-bytes B] [-purge N] [-from N] [-crash STEP] [-crash-file I] [-abort] [-hasty]
 *            [-stubborn] [-hang STEP] [-spread MS] [-record DIR] [-append NAME] [-strict] [-flood N] [-whole]
 *            [-together DIR] [-absolute] [-slow STEP]
 *
 *   -purge N      keep N times only; the older one goes as soon as the last file of the newer one is closed
 *   -whole        have it removed by Foam::rmDir, as OpenFOAM does (rmDir.c)
 *   -together DIR begin to write a step when all ranks have computed it, as solvers do that exchange messages; they meet
 *                 by a file in DIR
 *   -crash STEP   die by SIGKILL in the middle of a file of this step (rank 1, or the only one)
 *   -crash-file I in the I-th file of the step, from 0; the number of fields: in the late file
 *   -abort        by SIGABRT instead
 *   -hasty        write the late file of a step just before the next time, so that a purge removes it at once
 *   -stubborn     ignore SIGTERM;  -hang STEP: sleep for ever before this step
 *   -slow STEP    this step takes a second longer
 *   -spread MS    rank K is K times so much slower at each step
 *   -record DIR   note in DIR/rank<k> what was completed ("+ path size") and removed ("- path")
 *   -append NAME  a log of the rank that grows by a line each step, opened and closed each time
 *   -strict       a failed write ends the program (else it goes on and ends with status 0, as OpenFOAM does)
 *   -absolute     name files of times by the working directory's whole path, as OpenFOAM does
 *   -flood N      N empty files, in a directory of their own, instead of steps
 */
// clang-format on
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rmDir.h"

static int rank, record_file = -1, strict, crashing, whole_times;
static char above[PATH_MAX];  // "", or the case's path and a slash
static long crash, crash_file = 2;
static long bytes = 2000;
static const char* const fields[] = {"U", "p", "phi", "uniform/time"};
enum { FIELDS = sizeof fields / sizeof *fields };
static const char late[] = "uniform/functionObjects/functionObjectProperties";

static void pause_for(long milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  while (nanosleep(&time, &time) != 0 && errno == EINTR) continue;
}

// What each rank has computed.
static atomic_long* meet_in(const char* directory) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/computed", directory);
  const size_t length = 4096;
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0 || ftruncate(file, (off_t)length) != 0) abort();
  void* computed = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (computed == MAP_FAILED) abort();
  close(file);
  return computed;
}

static void wait_for_all(atomic_long* computed, int ranks, long step) {
  computed[rank] = step;
  for (int other = 0; other < ranks; ++other) {
    while (computed[other] < step) pause_for(1);
  }
}

static void record(char mark, const char* path, long size) {
  if (record_file < 0) return;
  char line[5000];
  const int length = snprintf(line, sizeof line, "%c %s %ld\n", mark, path + strlen(above), size);
  if (write(record_file, line, (size_t)length) != length) abort();
}

static int failed(const char* what, const char* path) {
  fprintf(stderr, "stepFoam[%d]: %s %s: %s\n", rank, what, path, strerror(errno));
  if (strict) exit(1);
  return 0;
}

static int put(int fd, const char* text, size_t length, const char* path) {
  while (length > 0) {
    const ssize_t done = write(fd, text, length);
    if (done < 0) return failed("cannot write", path);
    text += done;
    length -= (size_t)done;
  }
  return 1;
}

static char* content_of(const char* path, long size) {
  char line[5000];
  const size_t length = (size_t)snprintf(line, sizeof line, "%s %ld\n", path + strlen(above), size);
  char* text = malloc((size_t)size + length);
  for (size_t at = 0; at < (size_t)size; at += length) memcpy(text + at, line, length);
  memcpy(text + size - 4, "END\n", 4);
  return text;
}

static void write_file(const char* path, long size) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) {
    failed("cannot open", path);
    return;
  }
  char* text = content_of(path, size);
  const size_t half = (size_t)size / 2;
  int whole = put(fd, text, half, path);
  if (crashing) {
    pause_for(30);
    kill(getpid(), SIGKILL);
  }
  whole = whole && put(fd, text + half, (size_t)size - half, path);
  free(text);
  if (close(fd) != 0) whole = failed("cannot close", path);
  if (whole) record('+', path, size);
}

static void make_directory(const char* path) {
  if (mkdir(path, 0755) != 0 && errno != EEXIST) failed("cannot make", path);
}

static void path_of(char path[PATH_MAX], long step, const char* name) {
  char own[32] = "";
  if (rank >= 0) snprintf(own, sizeof own, "processor%d/", rank);
  if ((size_t)snprintf(path, PATH_MAX, "%s%s%ld/%s", above, own, step, name) >= PATH_MAX) abort();
}

// Noted first: a kill between the two must not leave a record of what is gone.
static void remove_file(const char* path) {
  record('-', path, 0);
  if (!whole_times) unlink(path);
}

static void purge(long step) {
  char path[PATH_MAX];
  for (int i = 0; i < FIELDS; ++i) {
    path_of(path, step, fields[i]);
    remove_file(path);
  }
  path_of(path, step, late);
  remove_file(path);
  if (whole_times) {
    path_of(path, step, "");
    path[strlen(path) - 1] = '\0';
    if (!remove_directory(path)) failed("cannot remove", path);
    return;
  }
  static const char* const directories[] = {"uniform/functionObjects", "uniform", ""};
  for (int i = 0; i < 3; ++i) {
    path_of(path, step, directories[i]);
    rmdir(path);
  }
}

static void write_late(long step) {
  char path[PATH_MAX];
  crashing = step == crash && crash_file == FIELDS && rank != 0 && rank < 2;
  path_of(path, step, "uniform/functionObjects");
  make_directory(path);
  path_of(path, step, late);
  write_file(path, 300);
}

static void append_line(const char* name, long step) {
  char path[PATH_MAX], line[64];
  if (rank < 0)
    snprintf(path, sizeof path, "%s", name);
  else
    snprintf(path, sizeof path, "processor%d/%s", rank, name);
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (fd < 0) {
    failed("cannot open", path);
    return;
  }
  put(fd, line, (size_t)snprintf(line, sizeof line, "step %ld\n", step), path);
  close(fd);
}

static void flood(long files) {
  char path[PATH_MAX];
  make_directory(rank < 0 ? "flood" : "processor0/flood");
  for (long i = 0; i < files; ++i) {
    snprintf(path, sizeof path, "%sflood/%ld", rank < 0 ? "" : "processor0/", i);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || close(fd) != 0) failed("cannot make", path);
  }
}

int main(int count, char** words) {
  const char* given = getenv("OMPI_COMM_WORLD_RANK");
  rank = given == NULL ? -1 : atoi(given);
  long steps = 5, delay = 50, kept = 0, from = 1, hang = 0, slow = 0, spread = 0, files = 0;
  int by_abort = 0, hasty = 0;
  const char *directory = NULL, *log = NULL;
  atomic_long* computed = NULL;
  for (int i = 1; i < count; ++i) {
    const char* option = words[i];
    if (strcmp(option, "-abort") == 0) {
      by_abort = 1;
      continue;
    }
    if (strcmp(option, "-strict") == 0) {
      strict = 1;
      continue;
    }
    if (strcmp(option, "-hasty") == 0) {
      hasty = 1;
      continue;
    }
    if (strcmp(option, "-whole") == 0) {
      whole_times = 1;
      continue;
    }
    if (strcmp(option, "-absolute") == 0) {
      if (getcwd(above, sizeof above - 1) == NULL) return 2;
      strcat(above, "/");
      continue;
    }
    if (strcmp(option, "-stubborn") == 0) {
      signal(SIGTERM, SIG_IGN);
      continue;
    }
    if (++i == count) return 2;
    const long number = atol(words[i]);
    if (strcmp(option, "-steps") == 0)
      steps = number;
    else if (strcmp(option, "-delay") == 0)
      delay = number;
    else if (strcmp(option, "-bytes") == 0)
      bytes = number;
    else if (strcmp(option, "-purge") == 0)
      kept = number;
    else if (strcmp(option, "-from") == 0)
      from = number;
    else if (strcmp(option, "-crash") == 0)
      crash = number;
    else if (strcmp(option, "-crash-file") == 0)
      crash_file = number;
    else if (strcmp(option, "-hang") == 0)
      hang = number;
    else if (strcmp(option, "-slow") == 0)
      slow = number;
    else if (strcmp(option, "-spread") == 0)
      spread = number;
    else if (strcmp(option, "-flood") == 0)
      files = number;
    else if (strcmp(option, "-record") == 0)
      directory = words[i];
    else if (strcmp(option, "-together") == 0)
      computed = meet_in(words[i]);
    else if (strcmp(option, "-append") == 0)
      log = words[i];
    else
      return 2;
  }
  if (directory != NULL) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/rank%d", directory, rank < 0 ? 0 : rank);
    record_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (record_file < 0) return 2;
  }
  if (files > 0) flood(rank <= 0 ? files : 0);
  for (long step = from; files == 0 && step < from + steps; ++step) {
    if (!hasty && step > from) write_late(step - 1);
    pause_for(delay + spread * (rank < 0 ? 0 : rank) + (step == slow ? 1000 : 0));
    if (computed != NULL && rank >= 0) wait_for_all(computed, atoi(getenv("OMPI_COMM_WORLD_SIZE")), step);
    while (step == hang) pause();
    if (hasty && step > from) write_late(step - 1);
    char path[PATH_MAX];
    path_of(path, step, "");
    make_directory(path);
    for (int i = 0; i < FIELDS; ++i) {
      if (strcmp(fields[i], "uniform/time") == 0) {
        path_of(path, step, "uniform");
        make_directory(path);
      }
      if (step == crash && rank != 0 && rank < 2 && i == crash_file) {
        if (by_abort) abort();
        crashing = 1;
      }
      path_of(path, step, fields[i]);
      write_file(path, i == FIELDS - 1 ? 200 : bytes);
    }
    if (kept > 0 && step - kept >= from) purge(step - kept);
    if (log != NULL) append_line(log, step);
  }
  if (files == 0) write_late(from + steps - 1);
  return 0;
}
