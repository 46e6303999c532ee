#include "segment/copy.h"

#include <atomic>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace forebay::segment {

#if defined(__x86_64__)
namespace {

constexpr std::size_t kLine = 64;
// Below this a plain copy is faster: the lines are often still in the cache.
constexpr std::size_t kPlain = 512;

__attribute__((target("avx512f"))) void stream_avx512(char* to, const char* from, std::size_t lines) {
  for (; lines >= 4; lines -= 4, to += 4 * kLine, from += 4 * kLine) {
    const __m512i a = _mm512_loadu_si512(from);
    const __m512i b = _mm512_loadu_si512(from + kLine);
    const __m512i c = _mm512_loadu_si512(from + 2 * kLine);
    const __m512i d = _mm512_loadu_si512(from + 3 * kLine);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), a);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + kLine), b);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 2 * kLine), c);
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 3 * kLine), d);
  }
  for (; lines > 0; --lines, to += kLine, from += kLine) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
  }
}

void stream_sse2(char* to, const char* from, std::size_t lines) {
  for (; lines > 0; --lines, to += kLine, from += kLine) {
    for (std::size_t i = 0; i < kLine; i += sizeof(__m128i)) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    }
  }
}

const bool has_avx512 = __builtin_cpu_supports("avx512f") != 0;

}  // namespace

void stream(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes < kPlain) {
    std::memcpy(to, from, bytes);
    return;
  }
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  const std::size_t lines = bytes / kLine;
  if (has_avx512) {
    stream_avx512(target, source, lines);
  } else {
    stream_sse2(target, source, lines);
  }
  std::memcpy(target + lines * kLine, source + lines * kLine, bytes % kLine);
}

void fence_stores() noexcept {
  _mm_sfence();
}

#else
void stream(void* to, const void* from, std::size_t bytes) noexcept {
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
