// Foam::rmDir by OpenFOAM's symbols: true when nothing of the directory is left. The Foundation's takes the directory
// alone, those of OpenCFD more.
#pragma once

#include <stdbool.h>

struct file_name {
  const char* text;
};
bool remove_directory_1(const struct file_name* directory) __asm__("_ZN4Foam5rmDirERKNS_8fileNameE");
bool remove_directory_2(const struct file_name* directory, bool silent) __asm__("_ZN4Foam5rmDirERKNS_8fileNameEb");
bool remove_directory_3(const struct file_name* directory, bool silent,
                        bool empty_only) __asm__("_ZN4Foam5rmDirERKNS_8fileNameEbb");
// By each of them in turn.
bool remove_directory(const char* path);
