// The directory of the case that was mapped last: programs make and look for many files in one directory, and nearly
// all that is to be found out about a path is found out about its directory.
#pragma once

#include <emmintrin.h>

#include "run/redirect/state.h"

namespace forebay::redirect {

// Shared by all threads and signal handlers, without a lock: `version_` is odd while someone writes, and who reads
// looks whether it is still the same afterwards; whoever meets a writer does without.
class RecentDirectory {
 public:
  // The kernel path of an absolute one whose directory is the one that was noted. Looks through `path` as far as its
  // page only.
  bool map(const char* path, Path& out) const {
    const uint32_t seen = version_.load(std::memory_order_acquire);
    const size_t size = from_size_, to_size = to_size_;
    if ((seen & 1) != 0 || size == 0 || changes_ != state.changes.load(std::memory_order_relaxed)) return false;
    if ((reinterpret_cast<uintptr_t>(path) & 4095) + size > 4096 || !same(path, size)) return false;
    const char* name = path + size;
    const size_t length = name_length(name);
    if (length == 0 || name[0] == '.') return false;
    for (size_t at = 0; at < to_size; at += 16)
      _mm_storeu_si128(bytes_at(out.text + at), _mm_load_si128(bytes_at(to_ + at)));
    copy_text(out.text + to_size, name, length + 1);
    out.size = to_size + length;
    std::atomic_thread_fence(std::memory_order_acquire);
    return version_.load(std::memory_order_relaxed) == seen;
  }

  // Both texts end with a slash. `changes`: the state's, from before it was looked where the directory leads.
  void note(const char* from, size_t from_size, const char* to, size_t to_size, uint32_t changes) {
    if (from_size < 16 || from_size > capacity || to_size > capacity) return;
    uint32_t seen = version_.load(std::memory_order_relaxed);
    if ((seen & 1) != 0 || !version_.compare_exchange_strong(seen, seen + 1, std::memory_order_acquire)) return;
    std::atomic_thread_fence(std::memory_order_release);
    changes_ = changes;
    from_size_ = from_size;
    to_size_ = to_size;
    memcpy(from_, from, from_size);
    memcpy(to_, to, to_size);
    version_.store(seen + 2, std::memory_order_release);
  }

 private:
  static constexpr size_t capacity = 256;

  static __m128i* bytes_at(char* text) { return reinterpret_cast<__m128i*>(text); }
  static const __m128i* bytes_at(const char* text) { return reinterpret_cast<const __m128i*>(text); }

  bool same(const char* path, size_t size) const {
    const auto same_at = [&](size_t at) {
      return _mm_movemask_epi8(
                 _mm_cmpeq_epi8(_mm_loadu_si128(bytes_at(path + at)), _mm_loadu_si128(bytes_at(from_ + at)))) == 0xffff;
    };
    for (size_t at = 0; at + 16 <= size; at += 16)
      if (!same_at(at)) return false;
    return same_at(size - 16);
  }

  // Up to the end of the text; 0 where a slash comes first, or where it is long.
  static size_t name_length(const char* name) {
    const auto begin = reinterpret_cast<uintptr_t>(name);
    const auto* piece = reinterpret_cast<const __m128i*>(begin & ~uintptr_t{15});
    unsigned mask = ~0U << (begin & 15);
    for (int pieces = 0; pieces < 8; ++pieces, ++piece, mask = ~0U) {
      const __m128i bytes = _mm_load_si128(piece);
      const __m128i ends =
          _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('/')));
      const unsigned found = static_cast<unsigned>(_mm_movemask_epi8(ends)) & mask;
      if (found == 0) continue;
      const char* end = reinterpret_cast<const char*>(piece) + __builtin_ctz(found);
      return *end == '\0' ? static_cast<size_t>(end - name) : 0;
    }
    return 0;
  }

  std::atomic<uint32_t> version_{0};
  uint32_t changes_ = 0;
  size_t from_size_ = 0, to_size_ = 0;
  alignas(16) char from_[capacity] = {}, to_[capacity] = {};
};

}  // namespace forebay::redirect
