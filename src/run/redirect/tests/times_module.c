// A library that brings its own Foam::rmDir along, as a module of Python may, and calls it by its symbol: those of all
// versions.
#include <stdbool.h>
#include <unistd.h>

struct file_name {
  const char* text;
};
bool remove_1(const struct file_name*) __asm__("_ZN4Foam5rmDirERKNS_8fileNameE");
bool remove_2(const struct file_name*, bool silent) __asm__("_ZN4Foam5rmDirERKNS_8fileNameEb");
bool remove_3(const struct file_name*, bool silent, bool empty_only) __asm__("_ZN4Foam5rmDirERKNS_8fileNameEbb");

bool remove_1(const struct file_name* directory) {
  return rmdir(directory->text) == 0;
}
bool remove_2(const struct file_name* directory, bool silent) {
  return !silent || remove_1(directory);
}
bool remove_3(const struct file_name* directory, bool silent, bool empty_only) {
  return !silent || empty_only || remove_1(directory);
}

bool remove_from_here(const char* path, int arguments) {
  const struct file_name directory = {path};
  if (arguments == 1) return remove_1(&directory);
  if (arguments == 2) return remove_2(&directory, true);
  return remove_3(&directory, true, false);
}
