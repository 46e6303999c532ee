// A library that brings its own Foam::rmDir along, as a module of Python may, and calls it by its symbol.
#include <stdbool.h>
#include <unistd.h>

struct file_name {
  const char* text;
};
bool remove_directory(const struct file_name*, bool silent) __asm__("_ZN4Foam5rmDirERKNS_8fileNameEb");

bool remove_directory(const struct file_name* directory, bool silent) {
  (void)silent;
  return rmdir(directory->text) == 0;
}

bool remove_from_here(const char* path) {
  const struct file_name directory = {path};
  return remove_directory(&directory, true);
}
