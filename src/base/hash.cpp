#include "base/hash.h"

#include <fmt/format.h>

// The library's own choice by processor (AVX2, AVX-512) is four times faster than what the compiler's baseline gives,
// and the drain hashes every byte. Some builds of the library lack it: cmake/needed.cmake tries.
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#ifdef FOREBAY_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>
#endif

namespace forebay {

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}
std::uint64_t checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}
std::string hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

struct Checksum::State {
  XXH3_state_t xxh3;
};

Checksum::Checksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh3);
}
Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum& Checksum::operator=(Checksum&&) noexcept = default;
void Checksum::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}
std::uint64_t Checksum::value() const {
  return XXH3_64bits_digest(&state_->xxh3);
}

}  // namespace forebay
