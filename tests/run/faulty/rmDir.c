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

static bool remove_all(const struct file_name* directory) {
  return nftw(directory->text, remove_entry, 8, FTW_DEPTH | FTW_PHYS) == 0;
}

bool remove_directory_1(const struct file_name* directory) {
  return remove_all(directory);
}

bool remove_directory_2(const struct file_name* directory, bool silent) {
  (void)silent;
  return remove_all(directory);
}

bool remove_directory_3(const struct file_name* directory, bool silent, bool empty_only) {
  (void)silent;
  return !empty_only && remove_all(directory);
}

bool remove_directory(const char* path) {
  static int turn;
  const struct file_name directory = {path};
  switch (turn++ % 3) {
    case 0:
      return remove_directory_2(&directory, true);
    case 1:
      return remove_directory_1(&directory);
    default:
      return remove_directory_3(&directory, true, false);
  }
}
