// For programs that are run in a plain directory and again through redirect: what they print must be the same.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

// The result of a call and, where it failed, why.
inline void say(const std::string& what, long result) {
  const int failed = errno;
  if (result < 0)
    std::printf("%s: %ld %s\n", what.c_str(), result, std::strerror(failed));
  else
    std::printf("%s: %ld\n", what.c_str(), result);
  errno = 0;
}
inline void say(const std::string& what, const std::string& text) {
  std::printf("%s: [%s]\n", what.c_str(), text.c_str());
  errno = 0;
}
inline void say_pointer(const std::string& what, const char* text) {
  const int failed = errno;
  std::printf("%s: %s %s\n", what.c_str(), text != nullptr ? text : "null",
              text != nullptr ? "" : std::strerror(failed));
  errno = 0;
}
// A descriptor is said to be one, not which.
inline int say_open(const std::string& what, int fd) {
  say(what, fd < 0 ? -1 : 0);
  return fd;
}

// Everything of a status that does not depend on which file system holds the file. Times only where `times`.
inline std::string text_of(const struct stat& status, bool times) {
  char text[200];
  std::snprintf(text, sizeof text, "mode %o links %ld size %ld uid %d", status.st_mode,
                S_ISDIR(status.st_mode) ? 0L : static_cast<long>(status.st_nlink),
                S_ISDIR(status.st_mode) ? 0L : static_cast<long>(status.st_size), static_cast<int>(status.st_uid));
  std::string result = text;
  if (times && status.st_mtim.tv_sec > 1'500'000'000) {
    result += " mtime now";
  } else if (times) {
    std::snprintf(text, sizeof text, " mtime %ld.%09ld", static_cast<long>(status.st_mtim.tv_sec),
                  static_cast<long>(status.st_mtim.tv_nsec));
    result += text;
  }
  return result;
}

inline std::string content(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY);
  if (fd < 0) return std::string("cannot open: ") + std::strerror(errno);
  std::string result;
  char bytes[4096];
  for (ssize_t count; (count = read(fd, bytes, sizeof bytes)) > 0;) result.append(bytes, static_cast<size_t>(count));
  close(fd);
  return result.size() < 200 ? result : std::to_string(result.size()) + " bytes";
}

inline std::string joined(std::vector<std::string> words) {
  std::ranges::sort(words);
  std::string result;
  for (const std::string& word : words) result += "\n    " + word;
  return result;
}
