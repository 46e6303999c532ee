#include "arrays/array_file/pieces.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>

namespace forebay::array_file {

std::uint32_t crc32(std::span<const std::byte> bytes) {
  return libdeflate_crc32(0, bytes.data(), bytes.size());  // ten times as fast as zlib's
}

std::vector<PartCheck> part_checks(std::uint64_t first, std::span<const std::byte> bytes) {
  std::vector<PartCheck> parts;
  add_checks(first, bytes, parts);
  return parts;
}

void add_checks(std::uint64_t first, std::span<const std::byte> bytes, std::vector<PartCheck>& parts) {
  while (!bytes.empty()) {
    const auto length = std::min<std::uint64_t>(bytes.size(), kPieceBytes - first % kPieceBytes);
    const bool goes_on = first % kPieceBytes != 0 && !parts.empty() && parts.back().first + parts.back().bytes == first;
    if (!goes_on) parts.push_back({first, 0, 0});
    parts.back().bytes += static_cast<std::uint32_t>(length);
    parts.back().crc = libdeflate_crc32(parts.back().crc, bytes.data(), length);
    bytes = bytes.subspan(length);
    first += length;
  }
}

Result<std::vector<std::uint32_t>> whole_checks(std::vector<PartCheck> parts, std::uint64_t array_bytes) {
  std::sort(parts.begin(), parts.end(), [](const PartCheck& a, const PartCheck& b) { return a.first < b.first; });
  std::vector<std::uint32_t> checks;
  std::uint64_t end = 0;
  for (const PartCheck& part : parts) {
    if (part.first != end) break;
    if (end % kPieceBytes == 0) {
      checks.push_back(part.crc);
    } else {
      checks.back() = static_cast<std::uint32_t>(::crc32_combine(checks.back(), part.crc, part.bytes));
    }
    end += part.bytes;
  }
  if (end != array_bytes) {
    return error(Code::failed, fmt::format("{} of an array written, not {}", plural(end, "byte"), array_bytes));
  }
  return checks;
}

}  // namespace forebay::array_file
