// Whether a thread waits for something.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace forebay {

// A thread of this process.
inline bool is_asleep(pid_t thread) {
  char line[256] = {};
  std::FILE* stat = std::fopen(("/proc/self/task/" + std::to_string(thread) + "/stat").c_str(), "r");
  if (stat == nullptr) return false;
  const char* name = std::fgets(line, sizeof line, stat) != nullptr ? std::strrchr(line, ')') : nullptr;
  std::fclose(stat);
  return name != nullptr && name[2] == 'S';
}

}  // namespace forebay
