#include "store/segment/copy.h"

#include <atomic>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "store/segment/format.h"

namespace forebay::segment {
namespace {

// For headers, from their last word to their first, which is their check: a process that dies in between leaves no
// check where none was. The stores are atomic lest the compiler join the words.
void copy_line(char* to, const char* from) noexcept {
  for (std::size_t i = kLine; i > 0;) {
    i -= sizeof(std::uint64_t);
    std::uint64_t word;
    std::memcpy(&word, from + i, sizeof(word));
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(to + i)).store(word, std::memory_order_relaxed);
  }
}

}  // namespace

#if defined(__x86_64__)
namespace {

constexpr std::size_t kPage = 4096;
// Below this a plain copy is faster: the lines are often still in the cache.
constexpr std::size_t kPlain = 512;
// From here on the source does not lie in the core's own cache. The processor's fetching ahead begins anew with every
// page, so four pages are copied side by side: a tenth faster than one after the other, and a quarter where it comes
// from memory.
constexpr std::size_t kFar = std::size_t{2} << 20;

// Copies four lines that lie `apart`, goes on by `stride`, and so `times` times. All in bytes.
using FourLines = void (*)(char* to, const char* from, std::size_t times, std::size_t apart, std::size_t stride);

__attribute__((target("avx512f"))) void four_lines_avx512(char* to, const char* from, std::size_t times,
                                                          std::size_t apart, std::size_t stride) {
  for (; times > 0; --times, to += stride, from += stride) {
    const __m512i a = _mm512_loadu_si512(from);
    const __m512i b = _mm512_loadu_si512(from + apart);
    const __m512i c = _mm512_loadu_si512(from + 2 * apart);
    const __m512i d = _mm512_loadu_si512(from + 3 * apart);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), a);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + apart), b);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 2 * apart), c);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 3 * apart), d);
  }
}

void four_lines_sse2(char* to, const char* from, std::size_t times, std::size_t apart, std::size_t stride) {
  for (; times > 0; --times, to += stride, from += stride) {
    for (std::size_t line = 0; line < 4 * apart; line += apart) {
      for (std::size_t i = line; i < line + kLine; i += sizeof(__m128i)) {
        const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), part);
      }
    }
  }
}

const FourLines four_lines = __builtin_cpu_supports("avx512f") != 0 ? four_lines_avx512 : four_lines_sse2;

}  // namespace

void stream(void* to, const void* from, std::size_t bytes) noexcept {
  auto* const target = static_cast<char*>(to);
  const auto* const source = static_cast<const char*>(from);
  if (bytes == kLine) return copy_line(target, source);
  if (bytes < kPlain) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::size_t at = 0;
  if (bytes >= kFar) {
    for (; bytes - at >= 4 * kPage; at += 4 * kPage) four_lines(target + at, source + at, kPage / kLine, kPage, kLine);
  }
  const std::size_t times = (bytes - at) / (4 * kLine);
  four_lines(target + at, source + at, times, kLine, 4 * kLine);
  at += times * 4 * kLine;
  std::memcpy(target + at, source + at, bytes - at);
}

void fence_stores() noexcept {
  _mm_sfence();
}

#else
void stream(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == kLine) return copy_line(static_cast<char*>(to), static_cast<const char*>(from));
  std::memcpy(to, from, bytes);
}
void fence_stores() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
#endif

void order_stores() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace forebay::segment
