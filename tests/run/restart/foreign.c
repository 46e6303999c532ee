/* A writer beside OpenFOAM's own: into each directory of a time that the solver makes it puts a file that begins as
 * OpenFOAM's do and never ends with their closing line. Loaded with LD_PRELOAD into the solver itself, so that the file
 * is there before the solver goes on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* name_of(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int is_time(const char* name) {
  return *name >= '0' && *name <= '9' && strspn(name, "0123456789.e-") == strlen(name);
}

int mkdir(const char* path, mode_t mode) {
  int (*next)(const char*, mode_t) = (int (*)(const char*, mode_t))dlsym(RTLD_NEXT, "mkdir");
  const int made = next(path, mode);
  if (made != 0 || !is_time(name_of(path))) return made;
  char file[PATH_MAX], text[512];
  snprintf(file, sizeof file, "%s/foreign", path);
  const int length = snprintf(text, sizeof text,
                              "FoamFile\n{\n    version     2.0;\n    format      ascii;\n    class       dictionary;\n"
                              "    object      foreign;\n}\n// * * * * * * * * //\n\ntime %s;\n",
                              name_of(path));
  const int fd = open(file, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (fd < 0) return made;
  (void)!write(fd, text, (size_t)length);
  close(fd);
  return made;
}
