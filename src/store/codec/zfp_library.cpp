// zfp, fixed accuracy (Lindstrom 2014, doi:10.1109/TVCG.2014.2346458). The library checks neither the end of what it
// reads nor of what it writes, so both happen in memory that is as large as the largest stream for the field's shape.
#include <zfp.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "store/codec/methods.h"

namespace forebay::codec {

struct ZfpStream {
  zfp_stream* zfp = nullptr;
  bitstream* bits = nullptr;
  Buffer memory;

  ~ZfpStream() {
    if (bits) stream_close(bits);
    if (zfp) zfp_stream_close(zfp);
  }
};
void ZfpStreamEnd::operator()(ZfpStream* stream) const {
  delete stream;
}

namespace {

// Words that the library reads ahead.
constexpr std::size_t kReadAhead = 64;

template <class Real>
zfp_field described(const Header& header, Real* values) {
  zfp_field field{};
  field.type = sizeof(Real) == sizeof(double) ? zfp_type_double : zfp_type_float;
  field.data = values;
  field.nx = header.nx == 0 ? static_cast<std::size_t>(header.count) : header.nx;
  // An extent of 1 would be filled up to a block of 4.
  if (header.ny > 1 || header.nz > 1) field.ny = header.ny;
  if (header.nz > 1) field.nz = header.nz;
  return field;
}

// Ready to read or write a stream of the field from its beginning; nullptr: no memory.
ZfpStream* ready(Workspace::Parts& parts, const zfp_field& field, double tolerance) {
  if (!parts.zfp) {
    parts.zfp.reset(new (std::nothrow) ZfpStream);
    if (!parts.zfp) return nullptr;
    parts.zfp->zfp = zfp_stream_open(nullptr);
  }
  ZfpStream& stream = *parts.zfp;
  if (!stream.zfp) return nullptr;
  zfp_stream_set_accuracy(stream.zfp, tolerance);
  const std::size_t needed = zfp_stream_maximum_size(stream.zfp, &field) + kReadAhead;
  if (stream.memory.all().size() < needed || !stream.bits) {
    if (stream.bits) stream_close(stream.bits);
    stream.bits = nullptr;
    const std::span<std::byte> memory = stream.memory.grow(needed);
    if (memory.empty()) return nullptr;
    stream.bits = stream_open(memory.data(), memory.size());
    if (!stream.bits) return nullptr;
    zfp_stream_set_bit_stream(stream.zfp, stream.bits);
  }
  zfp_stream_rewind(stream.zfp);
  return &stream;
}

}  // namespace

template <class Real>
Made encode_zfp(const Job<Real>& job, Header& header) {
  const std::span<std::byte> memory = job.parts.field.grow(job.field.size_bytes());
  if (memory.empty()) return tl::unexpected(Fallback::no_gain);
  Real* const decoded = reinterpret_cast<Real*>(memory.data());
  // The library only reads when it compresses.
  const zfp_field field = described(header, const_cast<Real*>(job.field.data()));
  const zfp_field result = described(header, decoded);

  // The tolerance bounds the largest error; the mean is far below it. A factor that is too bold shows when the error is
  // measured.
  double tolerance = 16 * job.settings.accepted * job.norm.rms;
  constexpr int kAttempts = 6;
  for (int attempt = 0; attempt < kAttempts && tolerance > 0 && std::isfinite(tolerance); ++attempt) {
    ZfpStream* const stream = ready(job.parts, field, tolerance);
    if (!stream) return tl::unexpected(Fallback::no_gain);
    const std::size_t bytes = zfp_compress(stream->zfp, &field);
    if (bytes == 0 || bytes >= job.field.size_bytes()) return tl::unexpected(Fallback::no_gain);
    zfp_stream_rewind(stream->zfp);
    if (zfp_decompress(stream->zfp, const_cast<zfp_field*>(&result)) == 0) return tl::unexpected(Fallback::error);

    Squares errors(job.norm.scale);
    errors.add(job.field.size(),
               [&](std::size_t i) { return static_cast<double>(job.field[i]) - static_cast<double>(decoded[i]); });
    header.error = relative(errors, job.norm);
    if (header.error <= job.settings.accepted) {
      header.parameter = tolerance;
      std::memcpy(job.payload.data(), stream->memory.all().data(), bytes);
      return bytes;
    }
    // The steps are powers of two, since zfp drops whole bit planes.
    tolerance /=
        std::isfinite(header.error) ? std::exp2(std::ceil(std::log2(header.error / job.settings.accepted))) : 8;
  }
  return tl::unexpected(Fallback::error);
}

template <class Real>
Outcome<void> decode_zfp(const Record& record, Workspace::Parts& parts, std::span<Real> field) {
  zfp_field result = described(record.header, field.data());
  ZfpStream* const stream = ready(parts, result, record.header.parameter);
  if (!stream) return tl::unexpected(Failure::no_memory);
  const std::span<std::byte> memory = stream->memory.all();
  if (record.payload.size() > memory.size() - kReadAhead) return tl::unexpected(Failure::damaged);
  std::memcpy(memory.data(), record.payload.data(), record.payload.size());
  // The bytes behind are left from other streams: harmless, and never part of a sound stream.
  const std::size_t read = zfp_decompress(stream->zfp, &result);
  if (read == 0 || read > record.payload.size()) return tl::unexpected(Failure::damaged);
  return {};
}

bool has_zfp() {
  return true;
}

template Made encode_zfp(const Job<double>&, Header&);
template Made encode_zfp(const Job<float>&, Header&);
template Outcome<void> decode_zfp(const Record&, Workspace::Parts&, std::span<double>);
template Outcome<void> decode_zfp(const Record&, Workspace::Parts&, std::span<float>);

}  // namespace forebay::codec
