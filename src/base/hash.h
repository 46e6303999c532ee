// XXH3-64 checksums (https://xxhash.com, specification in the xxHash repository, doc/xxhash_spec.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace forebay {

std::uint64_t checksum(std::span<const std::byte> bytes);
std::uint64_t checksum(std::string_view bytes);
// 16 lower-case hexadecimal digits.
std::string hex(std::uint64_t value);

// A checksum over pieces. It cannot be copied, and one thread uses it at a time.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;
  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace forebay
