// Checksums of the fixed pieces of an array, put together from parts that different ranks have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/base.h"

namespace forebay::array_file {

constexpr std::uint64_t kPieceBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t pieces_of(std::uint64_t bytes) {
  return bytes / kPieceBytes + (bytes % kPieceBytes != 0 ? 1 : 0);
}

// CRC-32 as in gzip, PNG and Python's zlib.crc32 (ITU-T V.42): that of a whole follows from those of its parts, so
// blocks may end anywhere in a piece.
std::uint32_t crc32(std::span<const std::byte> bytes);

struct PartCheck {
  std::uint64_t first = 0;  // byte of the array
  std::uint32_t bytes = 0;  // never across the end of a piece
  std::uint32_t crc = 0;
};

// The checks of the parts of pieces that `bytes`, which begin at byte `first` of the array, consist of.
std::vector<PartCheck> part_checks(std::uint64_t first, std::span<const std::byte> bytes);
// Adds them to others; a part that goes on where the last one ends becomes one with it.
void add_checks(std::uint64_t first, std::span<const std::byte> bytes, std::vector<PartCheck>& parts);
// One checksum for each piece of an array of so many bytes, from its parts in any order; an error where one is missing.
Result<std::vector<std::uint32_t>> whole_checks(std::vector<PartCheck> parts, std::uint64_t array_bytes);

}  // namespace forebay::array_file
