#include "store/trajectory/encoded.h"

#include <algorithm>
#include <cstring>

namespace forebay::trajectory {

Outcome<segment::Mapping> memory_beside_tiers(std::uint64_t bytes) {
  const std::uint64_t page = segment::page_bytes();
  auto made = segment::memory_of_process()->make(0, (bytes + page - 1) / page * page);
  if (!made) return pass_on(made);
  return std::move(*made);
}

std::uint64_t largest_payload(const std::vector<Field>& fields) {
  std::uint64_t bytes = 0;
  for (const Field& field : fields) {
    bytes += segment::round_to_lines(field.encoded() ? field.bound() : field.bytes);
  }
  return bytes;
}

Outcome<EncodedRecord> EncodedRecord::at(std::span<const std::byte> segment, std::uint32_t number) {
  segment::RecordHeader header;
  const std::uint64_t place = segment::header_place(number);
  if (place + sizeof(header) <= segment.size()) {
    std::memcpy(&header, segment.data() + place, sizeof(header));
    const std::uint64_t from = segment::payload_place(header.payload);
    if (header.record == number && from <= segment.size() && header.payload_bytes <= segment.size() - from) {
      return EncodedRecord(segment.subspan(from, header.payload_bytes), header);
    }
  }
  return fail(FOREBAY_E_DAMAGED, "no record {} stands in its segment", number);
}

Outcome<std::span<const std::byte>> EncodedRecord::part(const std::vector<Field>& fields, std::size_t field) const {
  std::uint64_t at = 0;
  for (std::size_t i = 0;; ++i) {
    const std::span<const std::byte> rest = payload_.subspan(std::min<std::uint64_t>(at, payload_.size()));
    std::uint64_t bytes = fields[i].bytes;
    if (fields[i].encoded()) {
      const auto about = codec::inspect(rest);
      if (!about) return tl::unexpected(failure_of(about.error(), fields[i]));
      bytes = about->bytes;
    }
    if (bytes > rest.size()) {
      return fail(FOREBAY_E_DAMAGED, "the step ends before its field {} does", fields[i].name);
    }
    if (i == field) return rest.first(bytes);
    at += segment::round_to_lines(bytes);
  }
}

Failure failure_of(codec::Failure failure, const Field& field) {
  const auto status = [&] {
    switch (failure) {
      case codec::Failure::no_memory:
        return FOREBAY_E_NO_MEMORY;
      case codec::Failure::other_version:
      case codec::Failure::not_built:
        return FOREBAY_E_VERSION;
      default:
        return FOREBAY_E_DAMAGED;
    }
  }();
  return {status, fmt::format("field {}: {}", field.name, codec::text(failure))};
}

}  // namespace forebay::trajectory
