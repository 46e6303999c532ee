// The library's one mutable state: what the environment said, and hints that spare system calls.
#pragma once

#include <atomic>

#include "redirect/system.h"

namespace forebay::redirect {

struct Prefix {
  const char* text;
  size_t size;

  // The text behind the prefix ("" or "/..."), or nullptr where `path` does not lie in it.
  const char* rest(const char* path) const {
    if (size == 0 || !begins(path)) return nullptr;
    const char* behind = path + size;
    return *behind == '/' || *behind == '\0' ? behind : nullptr;
  }

 private:
  // Eight bytes at a time, which may be bytes behind the end of `path`, but on the same page: most calls of a program
  // cost this comparison and no more.
  bool begins(const char* path) const {
    size_t at = 0;
    for (; at + 8 <= size; at += 8) {
      if ((reinterpret_cast<uintptr_t>(path + at) & 4095) > 4088) return strncmp(path + at, text + at, size - at) == 0;
      uint64_t ours, theirs;
      memcpy(&ours, text + at, 8);
      memcpy(&theirs, path + at, 8);
      if (ours != theirs) return false;
    }
    for (; at < size; ++at)
      if (path[at] != text[at]) return false;
    return true;
  }
};

// How an absolute path is told apart from ours: the last eight bytes of a prefix (fewer where it is shorter) say more
// than its first, which it shares with its neighbours.
struct Mark {
  uint64_t bytes, mask;
  uint32_t offset, size;
};

enum Phase : int { unknown, starting, active_phase, inactive_phase };

struct State {
  static constexpr int max_aliases = 16, max_pools = 64, max_names = 128, max_variables = 8;

  // First what every call looks at, side by side: after a system call each line of it comes from afar.
  std::atomic<int> phase;
  int alias_count, pool_count;  // these and all that is not atomic are set once by start(), and read-only from then on
  // A hint that errs on the side of true: the working directory may lie in the tree.
  std::atomic<bool> maybe_inside;
  bool beside_namespace;          // the tree is bound over the case: no text is to be mapped
  std::atomic<uint32_t> changes;  // counts what can make a known directory name lead elsewhere; `plain` then forgets
  std::atomic<uint32_t>* gate;
  Prefix case_root, tree;
  dev_t lower_device;  // st_dev of what staged links lead to
  // Of the case, its aliases, the tree and the pools.
  int mark_count;
  Mark marks[2 + max_aliases + max_pools];
  // Hashes of names of directories that are known to be free of links which the kernel would follow astray.
  static constexpr size_t plain_slots = 512;
  std::atomic<uint64_t> plain[plain_slots];

  Prefix lower;
  Prefix aliases[max_aliases];
  Prefix pools[max_pools];
  Prefix names[max_names];               // the components of the case's path and its aliases
  const char* variables[max_variables];  // "FOREBAY_...=...", for children whose environment lost them
  int name_count, variable_count;
  pid_t pid;  // of the process that started the library

  size_t stored;
  char storage[64 * 1024];  // the texts above
};

extern State state;

// Reads the environment; idempotent, thread-safe, async-signal-safe. True when there is a case to redirect.
bool start();

inline bool active() {
  const int phase = state.phase.load(std::memory_order_acquire);
  if (phase == active_phase) [[likely]]
    return true;
  return phase != inactive_phase && start();
}

// Looks where the kernel's working directory is now and keeps the hint.
void note_working_directory();
// To be called when a link was made, a directory removed or something renamed.
inline void forget_plain_directories() {
  state.changes.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace forebay::redirect
