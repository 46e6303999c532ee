// Tells how long a solver writes at each of its times. With LD_PRELOAD, the program called $FOREBAY_CLOCK_PROGRAM
// begins to write a time when it makes a directory with a number for a name in a `processorK`, and has ended when it
// closed a file, or removed such a directory, for the last time before it begins another. At its end it leaves the
// seconds of each time but the last (behind which it may close anything) in the file
// $FOREBAY_CLOCK_DIRECTORY/<process>, a line each. For benchmarks only, and for programs that write with one thread,
// and close nothing between two times that has to do with neither.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "../preload.h"

static double* lengths;
static size_t count, capacity;
static bool begun;
static double begin, end;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool is_time(const char* path) {
  const char* slash = strrchr(path, '/');
  if (slash == NULL || slash[1] == '\0' || slash[1 + strspn(slash + 1, "0123456789.")] != '\0') return false;
  while (slash > path && slash[-1] != '/') --slash;
  return strncmp(slash, "processor", strlen("processor")) == 0;
}

static void note_begin(double when) {
  if (begun && count == capacity) {
    capacity = capacity == 0 ? 1024 : 2 * capacity;
    lengths = realloc(lengths, capacity * sizeof *lengths);
    if (lengths == NULL) abort();
  }
  if (begun) lengths[count++] = end - begin;
  begun = true;
  begin = end = when;
}

static void note_end(void) {
  if (begun) end = now();
}

EXPORT int mkdir(const char* path, mode_t mode) {
  NEXT(mkdir);
  const double when = now();
  const int result = next(path, mode);
  if (result == 0 && is_time(path)) note_begin(when);
  return result;
}

EXPORT int fclose(FILE* stream) {
  NEXT(fclose);
  const int result = next(stream);
  note_end();
  return result;
}

EXPORT int rmdir(const char* path) {
  NEXT(rmdir);
  const int result = next(path);
  if (is_time(path)) note_end();
  return result;
}

EXPORT int remove(const char* path) {
  NEXT(remove);
  const int result = next(path);
  if (is_time(path)) note_end();
  return result;
}

__attribute__((destructor)) static void leave_lengths(void) {
  const char *directory = getenv("FOREBAY_CLOCK_DIRECTORY"), *program = getenv("FOREBAY_CLOCK_PROGRAM");
  if (directory == NULL || program == NULL || strcmp(program, program_invocation_short_name) != 0) return;
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%d", directory, (int)getpid()) >= (int)sizeof path) abort();
  FILE* file = fopen(path, "w");
  if (file == NULL) abort();
  for (size_t i = 0; i < count; ++i) fprintf(file, "%.9f\n", lengths[i]);
  if (fclose(file) != 0) abort();
}
