/* The verbs that a plan of player.c can have beside those of a solver: what programs do with files that have a name
 * already. stress.py draws them. */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct operation {
  char kind[16], path[PATH_MAX], to[PATH_MAX];
  int child;
  long size, version;
};

/* Writes all of it; 0 or an errno. */
int put(int file, const char* text, size_t size);

/* It opens what is there, so that it would wait where that is a pipe. */
bool would_wait(const struct operation* what);

/* Does it; 0 or an errno, of a program that was started its exit status, or -1: there is no such verb. */
int perform_verb(const struct operation* what);
