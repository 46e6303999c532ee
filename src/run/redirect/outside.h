// Tells that a path surely does not lead into the tree: most calls of a program end with this answer. In a header, so
// that it costs such a call one look over the path's text, and neither a frame nor a call of its own.
#pragma once

#include "run/redirect/state.h"

namespace forebay::redirect {

// An absolute path with "//" or a component that begins with a dot.
HOT inline bool is_untidy(const char* path) {
  char before = '\0';
  for (char now; (now = *path) != '\0'; before = now, ++path)
    if (before == '/' && (now == '/' || now == '.')) return true;
  return false;
}

// An absolute path that surely begins with none of our prefixes.
HOT inline bool is_elsewhere(const char* path) {
  const Marks& marks = state.marks;
  // The bytes behind a short path may not be there to be read.
  if ((reinterpret_cast<uintptr_t>(path) & 4095) + marks.offset > 4096 - 8) return false;
  uint64_t bytes;
  memcpy(&bytes, path + marks.offset, 8);
  bytes &= marks.mask;
  for (int i = 0; i < marks.count; ++i)
    if (bytes == marks.bytes[i]) return false;
  return true;
}

// The answer where the path is not absolute, and where the library may not have begun.
HOT bool is_outside_relative(const char* path);
COLD bool is_outside_early(const char* path);

// True where there surely is nothing to map, so that a call may go on as it is.
inline bool is_outside(const char* path) {
  if (state.phase.load(std::memory_order_acquire) != active_phase) [[unlikely]]
    return is_outside_early(path);
  if (path == nullptr || path[0] != '/') return is_outside_relative(path);
  return is_elsewhere(path) && !is_untidy(path);
}
inline bool is_outside(int directory, const char* path) {
  // The directory that a descriptor stands for is not known.
  if (directory != AT_FDCWD && path != nullptr && path[0] != '/' && path[0] != '\0' && active()) return false;
  return is_outside(path);
}

}  // namespace forebay::redirect
