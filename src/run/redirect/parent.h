// The directory that holds a path's last component.
#pragma once

#include "run/redirect/system.h"

namespace forebay::redirect {

// The offset of a path's last component.
inline size_t name_offset(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? static_cast<size_t>(slash - path) + 1 : 0;
}

inline const char* last_component(const char* path) {
  return path + name_offset(path);
}

// It, open, and that component's name.
struct Parent {
  int fd;  // a negative errno on failure
  const char* name;
  Parent(int directory, const char* path) : name(last_component(path)) {
    Path parent;
    if (name != path)
      parent.append(path, static_cast<size_t>(name - path));
    else
      parent.append(".", 1);
    fd = sys_openat(directory, parent.text, O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  ~Parent() {
    if (fd >= 0) sys_close(fd);
  }
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;
};

}  // namespace forebay::redirect
