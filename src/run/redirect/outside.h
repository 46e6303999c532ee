// Tells that a path surely does not lead into the tree: most calls of a program end with this answer. In a header, so
// that it costs such a call one look over the path's text, and neither a frame nor a call of its own.
#pragma once

#include <emmintrin.h>

#include "run/redirect/state.h"

namespace forebay::redirect {

// An absolute path with "//" or a component that begins with a dot.
HOT inline bool is_untidy(const char* path) {
  const auto is = [](__m128i bytes, char wanted) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted)); };
  // Bit i: byte i ends the text, or is a dot or a slash behind a slash.
  const auto ends = [&](__m128i bytes, __m128i before) {
    const __m128i bad = _mm_and_si128(is(before, '/'), _mm_or_si128(is(bytes, '/'), is(bytes, '.')));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(bad, is(bytes, '\0'))));
  };
  // Aligned pieces never reach into a page that is not there, and nor does the byte before any but the first.
  const auto begin = reinterpret_cast<uintptr_t>(path);
  const auto* piece = reinterpret_cast<const __m128i*>(begin & ~uintptr_t{15});
  const __m128i first = _mm_load_si128(piece);
  unsigned found = ends(first, _mm_slli_si128(first, 1)) & (~1U << (begin & 15));
  while (found == 0) {
    ++piece;
    found = ends(_mm_load_si128(piece),
                 _mm_loadu_si128(reinterpret_cast<const __m128i*>(reinterpret_cast<const char*>(piece) - 1)));
  }
  return reinterpret_cast<const char*>(piece)[__builtin_ctz(found)] != '\0';
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
