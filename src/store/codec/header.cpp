#include "store/codec/header.h"

#include <cmath>
#include <cstring>

#include "base/hash.h"

namespace forebay::codec {
namespace {

constexpr std::uint32_t kMagic = 0x45624646;  // "FFbE"
constexpr std::uint8_t kVersion = 1;

std::uint64_t check_of(const Header& header) {
  return checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, check)));
}

bool is_sound(const Header& header) {
  const std::uint64_t width = header.bytes_per_value;
  if (width != 4 && width != 8) return false;
  if (header.count > SIZE_MAX / 16 || header.payload_bytes > header.count * width) return false;
  if (header.codec > static_cast<std::uint8_t>(Codec::difference)) return false;
  if (header.fallback > static_cast<std::uint8_t>(Fallback::nothing)) return false;
  if (!fits({header.nx, header.ny, header.nz}, header.count)) return false;
  switch (static_cast<Codec>(header.codec)) {
    case Codec::raw:
      return header.payload_bytes == header.count * width;
    case Codec::float32:
      return width == 8 && header.payload_bytes == header.count * sizeof(float);
    case Codec::truncation:
      return true;
    case Codec::zfp:
      return header.count > 0 && std::isfinite(header.parameter) && header.parameter > 0;
    case Codec::difference:
      return std::isfinite(header.parameter) && header.parameter > 0 && header.step_bytes <= header.payload_bytes &&
             (header.before != 0) == (header.step_bytes != 0) && header.after != 0;
  }
  return false;
}

}  // namespace

bool fits(const Shape& shape, std::uint64_t count) {
  if (shape.nx == 0 && shape.ny == 0 && shape.nz == 0) return true;
  const std::uint64_t plane = std::uint64_t{shape.nx} * shape.ny;
  if (plane == 0 || shape.nz == 0) return false;
  return count % plane == 0 && count / plane == shape.nz;
}

void seal(Header header, std::span<const std::byte> payload, std::span<std::byte> record) {
  header.magic = kMagic;
  header.version = kVersion;
  header.payload_bytes = payload.size();
  header.payload_check = checksum(payload);
  header.check = check_of(header);
  std::memcpy(record.data(), &header, sizeof(header));
}

Outcome<Header> read_header(std::span<const std::byte> encoded) {
  Header header;
  if (encoded.size() < sizeof(header)) return tl::unexpected(Failure::not_encoded);
  std::memcpy(&header, encoded.data(), sizeof(header));
  if (header.magic != kMagic) return tl::unexpected(Failure::not_encoded);
  if (header.version != kVersion) return tl::unexpected(Failure::other_version);
  if (header.check != check_of(header) || !is_sound(header)) return tl::unexpected(Failure::damaged);
  return header;
}

Outcome<Record> read_record(std::span<const std::byte> encoded) {
  const Outcome<Header> header = read_header(encoded);
  if (!header) return tl::unexpected(header.error());
  const std::span<const std::byte> rest = encoded.subspan(sizeof(Header));
  if (header->payload_bytes > rest.size()) return tl::unexpected(Failure::damaged);
  const std::span<const std::byte> payload = rest.first(static_cast<std::size_t>(header->payload_bytes));
  if (header->payload_check != checksum(payload)) return tl::unexpected(Failure::damaged);
  return Record{*header, payload};
}

}  // namespace forebay::codec
