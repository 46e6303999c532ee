// In a library of its own, so that others may stand before it.
#define _GNU_SOURCE
#include "rmDir.h"

#include <ftw.h>
#include <stdio.h>

static int remove_entry(const char* path, const struct stat* status, int kind, struct FTW* at) {
  (void)status;
  (void)kind;
  (void)at;
  return remove(path);
}

bool remove_directory(const struct file_name* directory, bool silent) {
  (void)silent;
  return nftw(directory->text, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0;
}
