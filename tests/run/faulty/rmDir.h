// Foam::rmDir(const fileName& directory, bool silent), by OpenFOAM's symbol: true when nothing of it is left.
#pragma once

#include <stdbool.h>

struct file_name {
  const char* text;
};
bool remove_directory(const struct file_name* directory, bool silent) __asm__("_ZN4Foam5rmDirERKNS_8fileNameEb");
