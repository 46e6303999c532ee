// The header of an encoded field, as it lies on media (docs/format.md, "Encoded fields").
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "store/codec/codec.h"

namespace forebay::codec {

static_assert(std::endian::native == std::endian::little, "encoded fields are little endian, and written as they lie");

struct Header {
  std::uint32_t magic = 0;
  std::uint8_t version = 0;
  std::uint8_t codec = 0;
  std::uint8_t bytes_per_value = 0;
  std::uint8_t fallback = 0;
  std::uint64_t count = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t payload_check = 0;
  double parameter = 0;  // truncation: mantissa bits kept; zfp: tolerance; difference: the grid
  double error = 0;
  // difference: labels of the values before and after (before is 0 where a chain starts), and the bytes of the payload
  // that lead from one to the other.
  std::uint64_t before = 0, after = 0;
  std::uint64_t step_bytes = 0;
  std::uint32_t nx = 0, ny = 0, nz = 0;
  std::uint32_t reserved = 0;
  std::uint64_t check = 0;  // of all before
};
static_assert(sizeof(Header) == 96);

// Fills in magic, version, sizes and checks for a payload that lies behind the header in `record`.
void seal(Header header, std::span<const std::byte> payload, std::span<std::byte> record);

struct Record {
  Header header;
  std::span<const std::byte> payload;
};
// The header alone is checked, with all that follows from its values.
Outcome<Header> read_header(std::span<const std::byte> encoded);
// The payload too.
Outcome<Record> read_record(std::span<const std::byte> encoded);

// Whether a shape is that of `count` values; all 0, a plain list, always is.
bool fits(const Shape& shape, std::uint64_t count);

}  // namespace forebay::codec
