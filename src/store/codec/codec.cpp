#include "store/codec/codec.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "store/codec/header.h"
#include "store/codec/methods.h"

namespace forebay::codec {
namespace {

template <class Real>
Made attempt(const Job<Real>& job, Header& header, Reference* reference) {
  switch (job.settings.codec) {
    case Codec::raw:
      return tl::unexpected(Fallback::none);
    case Codec::float32:
      if constexpr (sizeof(Real) == sizeof(double)) return encode_float32(job, header);
      return tl::unexpected(Fallback::no_gain);
    case Codec::truncation:
      return encode_truncation(job, header);
    case Codec::zfp:
      return encode_zfp(job, header);
    case Codec::difference:
      return encode_difference(job, header, *reference);
  }
  return tl::unexpected(Fallback::none);
}

Outcome<void> check(const Settings& settings, std::size_t count, const Reference* reference) {
  // This is written so that NaN fails.
  if (!(settings.accepted >= 0 && settings.accepted < 1)) return tl::unexpected(Failure::bad_tolerance);
  if (settings.codec > Codec::difference) return tl::unexpected(Failure::bad_codec);
  if (!fits(settings.shape, count)) return tl::unexpected(Failure::bad_shape);
  if (settings.codec == Codec::difference && (!reference || reference->values.size() != count)) {
    return tl::unexpected(Failure::needs_reference);
  }
  return {};
}

}  // namespace

std::size_t bound(std::size_t count, std::size_t bytes_per_value) {
  return sizeof(Header) + count * bytes_per_value;
}

template <class Real>
Outcome<Encoded> encode(std::span<const Real> field, const Settings& settings, Workspace& workspace,
                        std::span<std::byte> out, Reference* reference) {
  if (const Outcome<void> sound = check(settings, field.size(), reference); !sound) {
    return tl::unexpected(sound.error());
  }
  if (out.size() < bound(field.size(), sizeof(Real))) return tl::unexpected(Failure::small_buffer);
  Workspace::Parts* const parts = workspace.parts();
  if (!parts) return tl::unexpected(Failure::no_memory);

  Header header;
  header.count = field.size();
  header.bytes_per_value = sizeof(Real);
  header.codec = static_cast<std::uint8_t>(settings.codec);
  if (settings.codec == Codec::zfp) {
    header.nx = settings.shape.nx;
    header.ny = settings.shape.ny;
    header.nz = settings.shape.nz;
  }
  const std::span<std::byte> payload = out.subspan(sizeof(Header), field.size_bytes());

  Made made = tl::unexpected(Fallback::none);
  if (settings.codec != Codec::raw && !field.empty()) {
    if (settings.accepted == 0) {
      made = tl::unexpected(Fallback::nothing);
    } else if (const Norm norm = norm_of(field); !norm.finite) {
      made = tl::unexpected(Fallback::not_finite);
    } else {
      made = attempt(Job<Real>{field, settings, norm, *parts, payload}, header, reference);
      if (made && !(header.error <= settings.accepted)) made = tl::unexpected(Fallback::error);
      if (made && *made >= payload.size()) made = tl::unexpected(Fallback::no_gain);
    }
  }
  if (!made) {
    if (settings.codec == Codec::difference) reference->forget();
    header = Header{.bytes_per_value = sizeof(Real), .count = field.size()};
    header.fallback = static_cast<std::uint8_t>(made.error());
    if (!field.empty()) std::memcpy(payload.data(), field.data(), field.size_bytes());
    made = field.size_bytes();
  }
  seal(header, payload.first(*made), out);
  return Encoded{.bytes = sizeof(Header) + *made,
                 .codec = static_cast<Codec>(header.codec),
                 .fallback = static_cast<Fallback>(header.fallback),
                 .error = header.error,
                 .is_key = header.step_bytes == 0 || header.step_bytes < *made};
}

Outcome<About> inspect(std::span<const std::byte> encoded) {
  const Outcome<Header> header = read_header(encoded);
  if (!header) return tl::unexpected(header.error());
  return About{.codec = static_cast<Codec>(header->codec),
               .fallback = static_cast<Fallback>(header->fallback),
               .bytes_per_value = header->bytes_per_value,
               .is_key = header->step_bytes == 0 || header->step_bytes < header->payload_bytes,
               .can_undo = header->step_bytes != 0,
               .count = header->count,
               .bytes = sizeof(Header) + header->payload_bytes,
               .error = header->error};
}

namespace {

template <class Real>
Outcome<Record> open_record(std::span<const std::byte> encoded, std::span<Real> field) {
  Outcome<Record> record = read_record(encoded);
  if (!record) return record;
  if (record->header.bytes_per_value != sizeof(Real)) return tl::unexpected(Failure::other_type);
  if (record->header.count != field.size()) return tl::unexpected(Failure::other_count);
  return record;
}

}  // namespace

template <class Real>
Outcome<void> decode(std::span<const std::byte> encoded, Workspace& workspace, std::span<Real> field,
                     Reference* reference) {
  const Outcome<Record> record = open_record(encoded, field);
  if (!record) return tl::unexpected(record.error());
  Workspace::Parts* const parts = workspace.parts();
  if (!parts) return tl::unexpected(Failure::no_memory);
  switch (static_cast<Codec>(record->header.codec)) {
    case Codec::raw:
      if (!field.empty()) std::memcpy(field.data(), record->payload.data(), field.size_bytes());
      return {};
    case Codec::float32:
      if constexpr (sizeof(Real) == sizeof(double)) decode_float32(*record, field);
      return {};
    case Codec::truncation:
      return decode_truncation(*record, *parts, field);
    case Codec::zfp:
      return decode_zfp(*record, *parts, field);
    case Codec::difference:
      if (!reference || reference->values.size() != field.size()) return tl::unexpected(Failure::needs_reference);
      return decode_difference(*record, *parts, field, *reference);
  }
  return tl::unexpected(Failure::damaged);
}

template <class Real>
Outcome<void> undo(std::span<const std::byte> encoded, Workspace& workspace, std::span<Real> field,
                   Reference& reference) {
  const Outcome<Record> record = open_record(encoded, field);
  if (!record) return tl::unexpected(record.error());
  Workspace::Parts* const parts = workspace.parts();
  if (!parts) return tl::unexpected(Failure::no_memory);
  if (static_cast<Codec>(record->header.codec) != Codec::difference) return tl::unexpected(Failure::chain_starts_here);
  if (reference.values.size() != field.size()) return tl::unexpected(Failure::needs_reference);
  return undo_difference(*record, *parts, field, reference);
}

template Outcome<Encoded> encode(std::span<const double>, const Settings&, Workspace&, std::span<std::byte>,
                                 Reference*);
template Outcome<Encoded> encode(std::span<const float>, const Settings&, Workspace&, std::span<std::byte>, Reference*);
template Outcome<void> decode(std::span<const std::byte>, Workspace&, std::span<double>, Reference*);
template Outcome<void> decode(std::span<const std::byte>, Workspace&, std::span<float>, Reference*);
template Outcome<void> undo(std::span<const std::byte>, Workspace&, std::span<double>, Reference&);
template Outcome<void> undo(std::span<const std::byte>, Workspace&, std::span<float>, Reference&);

}  // namespace forebay::codec
