// Values are rounded to whole multiples of a grid that stays the same from step to step, and the multiples are
// subtracted from those of the step before. Whole numbers can be added and taken back exactly, so no step inherits an
// error from another, and a chain can be walked both ways. A new grid starts a new chain: when the field has become so
// much smaller that the old grid is too coarse, or, at a key, so much larger that it is needlessly fine.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "store/codec/methods.h"
#include "store/codec/planes.h"

namespace forebay::codec {
namespace {

constexpr double kLargest = 1 << 30;  // so that differences fit into 32 bits too
// Finer than the error asks for, so that a field may lose this much of its norm before its chain ends.
constexpr double kMargin = 0.85;

std::uint32_t folded(std::int32_t difference) {
  return (static_cast<std::uint32_t>(difference) << 1) ^ static_cast<std::uint32_t>(difference >> 31);
}
std::int32_t unfolded(std::uint32_t word) {
  return static_cast<std::int32_t>((word >> 1) ^ (0U - (word & 1)));
}
// With wrapping, which hostile input may bring about.
std::int32_t sum(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
std::int32_t less(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

// To the nearest, for magnitudes below 2^31: the sum leaves the whole number in the low bits of the mantissa.
std::int32_t nearest(double value) {
  return static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(value + 6755399441055744.0));
}

std::uint64_t label_of(std::span<const std::int32_t> values) {
  const std::uint64_t label = checksum(std::as_bytes(values));
  return label == 0 ? 1 : label;
}

std::span<std::uint32_t> words_of(Workspace::Parts& parts) {
  return {reinterpret_cast<std::uint32_t*>(parts.words.all().data()), kBlockWords};
}

// Rounds the field into `values`; with `payload`, packs the differences to what was there. The result is the error and
// the bytes written, 0 where they have no room.
template <class Real>
std::pair<double, std::size_t> round_to(double grid, const Job<Real>& job, std::span<std::int32_t> values,
                                        std::span<std::byte> payload) {
  const double inverse = 1 / grid;
  const std::span<std::uint32_t> words = words_of(job.parts);
  Squares errors(job.norm.scale);
  std::size_t written = 0;
  bool has_room = !payload.empty();
  for (std::size_t from = 0; from < job.field.size(); from += kBlockWords) {
    const std::size_t count = std::min(kBlockWords, job.field.size() - from);
    const std::span<const Real> block = job.field.subspan(from, count);
    const std::span<std::int32_t> held = values.subspan(from, count);
    errors.add(count, [&](std::size_t i) {
      const std::int32_t value = nearest(static_cast<double>(block[i]) * inverse);
      words[i] = folded(less(value, held[i]));
      held[i] = value;
      return static_cast<double>(block[i]) - static_cast<double>(static_cast<Real>(value * grid));
    });
    if (!has_room) continue;
    const std::span<const std::uint32_t> filled = words.first(count);
    const std::size_t packed = pack(Packing::bytes_zstd, filled, job.parts, payload.subspan(written));
    has_room = packed != 0;
    written += packed;
  }
  return {relative(errors, job.norm), has_room ? written : 0};
}

// The values themselves, as differences from neighbour to neighbour. The result is 0 where they have no room.
std::size_t pack_key(std::span<const std::int32_t> values, Workspace::Parts& parts, std::span<std::byte> payload) {
  const std::span<std::uint32_t> words = words_of(parts);
  std::size_t written = 0;
  for (std::size_t from = 0; from < values.size(); from += kBlockWords) {
    const std::size_t count = std::min(kBlockWords, values.size() - from);
    const std::int32_t* block = values.data() + from;
    words[0] = folded(less(block[0], from == 0 ? 0 : block[-1]));
    for (std::size_t i = 1; i < count; ++i) words[i] = folded(less(block[i], block[i - 1]));
    const std::span<const std::uint32_t> filled = words.first(count);
    const std::size_t packed = pack(Packing::bytes_zstd, filled, parts, payload.subspan(written));
    if (packed == 0) return 0;
    written += packed;
  }
  return written;
}

bool unpack_key(std::span<const std::byte> in, Workspace::Parts& parts, std::span<std::int32_t> values) {
  const std::span<std::uint32_t> words = words_of(parts);
  std::int32_t last = 0;
  for (std::size_t from = 0; from < values.size(); from += kBlockWords) {
    const std::size_t count = std::min(kBlockWords, values.size() - from);
    if (!unpack(Packing::bytes_zstd, in, parts, words.first(count))) return false;
    for (std::size_t i = 0; i < count; ++i) values[from + i] = last = sum(last, unfolded(words[i]));
  }
  return in.empty();
}

enum class Way { forward, backward };

bool unpack_step(std::span<const std::byte> in, Way way, Workspace::Parts& parts, std::span<std::int32_t> values) {
  const std::span<std::uint32_t> words = words_of(parts);
  for (std::size_t from = 0; from < values.size(); from += kBlockWords) {
    const std::size_t count = std::min(kBlockWords, values.size() - from);
    if (!unpack(Packing::bytes_zstd, in, parts, words.first(count))) return false;
    std::int32_t* held = values.data() + from;
    if (way == Way::forward) {
      for (std::size_t i = 0; i < count; ++i) held[i] = sum(held[i], unfolded(words[i]));
    } else {
      for (std::size_t i = 0; i < count; ++i) held[i] = less(held[i], unfolded(words[i]));
    }
  }
  return in.empty();
}

template <class Real>
void spread(const Reference& reference, std::span<Real> field) {
  const double grid = reference.grid;
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = static_cast<Real>(reference.values[i] * grid);
}

bool usable(double grid, const Norm& norm) {
  return grid > 1e-290 && std::isfinite(grid) && norm.largest / grid < kLargest;
}

}  // namespace

template <class Real>
Made encode_difference(const Job<Real>& job, Header& header, Reference& reference) {
  const double accepted = job.settings.accepted;
  // Rounding errors that are spread evenly over a cell of the grid have the root mean square grid / sqrt(12).
  const double coarsest = job.norm.rms * accepted * std::sqrt(12.0);
  const bool is_due = reference.since_key + 1 >= job.settings.key_interval;
  double grid = reference.grid;
  const bool goes_on = grid > 0 && usable(grid, job.norm) && (job.norm.largest == 0 || grid <= coarsest) &&
                       !(is_due && grid < coarsest * kMargin / 2);

  std::size_t step_bytes = 0;
  if (goes_on) {
    std::tie(header.error, step_bytes) = round_to(grid, job, reference.values, job.payload);
    header.before = reference.label;
  }
  const bool starts = step_bytes == 0 || !(header.error <= accepted);
  if (starts) {
    header.before = 0;
    step_bytes = 0;
    // The second grid is fine enough however the errors are spread.
    for (const double wanted : {coarsest * kMargin, job.norm.rms * accepted * 1.9}) {
      grid = job.norm.largest == 0 ? 1.0 : wanted;
      if (!usable(grid, job.norm)) return tl::unexpected(Fallback::error);
      header.error = round_to(grid, job, reference.values, {}).first;
      if (header.error <= accepted) break;
    }
  }
  if (!(header.error <= accepted)) return tl::unexpected(Fallback::error);

  std::size_t key_bytes = 0;
  if (starts || is_due) {
    key_bytes = pack_key(reference.values, job.parts, job.payload.subspan(step_bytes));
    if (key_bytes == 0) return tl::unexpected(Fallback::no_gain);
  }
  reference.grid = header.parameter = grid;
  reference.label = header.after = label_of(reference.values);
  reference.since_key = key_bytes > 0 ? 0 : reference.since_key + 1;
  header.step_bytes = step_bytes;
  return step_bytes + key_bytes;
}

template <class Real>
Outcome<void> decode_difference(const Record& record, Workspace::Parts& parts, std::span<Real> field,
                                Reference& reference) {
  const Header& header = record.header;
  const auto step_bytes = static_cast<std::size_t>(header.step_bytes);
  const bool same_grid = reference.grid == header.parameter;
  if (!same_grid || reference.label != header.after) {
    const bool follows = same_grid && step_bytes > 0 && reference.label == header.before;
    if (!follows && step_bytes == record.payload.size()) return tl::unexpected(Failure::reference_unfit);
    reference.forget();
    const bool whole = follows ? unpack_step(record.payload.first(step_bytes), Way::forward, parts, reference.values)
                               : unpack_key(record.payload.subspan(step_bytes), parts, reference.values);
    if (!whole) return tl::unexpected(Failure::damaged);
    reference.grid = header.parameter;
    reference.label = header.after;
  }
  spread(reference, field);
  return {};
}

template <class Real>
Outcome<void> undo_difference(const Record& record, Workspace::Parts& parts, std::span<Real> field,
                              Reference& reference) {
  const Header& header = record.header;
  if (reference.grid != header.parameter || reference.label != header.after) {
    return tl::unexpected(Failure::reference_unfit);
  }
  if (header.before == 0) return tl::unexpected(Failure::chain_starts_here);
  reference.forget();
  const std::span<const std::byte> step = record.payload.first(static_cast<std::size_t>(header.step_bytes));
  if (!unpack_step(step, Way::backward, parts, reference.values)) return tl::unexpected(Failure::damaged);
  reference.grid = header.parameter;
  reference.label = header.before;
  spread(reference, field);
  return {};
}

template Made encode_difference(const Job<double>&, Header&, Reference&);
template Made encode_difference(const Job<float>&, Header&, Reference&);
template Outcome<void> decode_difference(const Record&, Workspace::Parts&, std::span<double>, Reference&);
template Outcome<void> decode_difference(const Record&, Workspace::Parts&, std::span<float>, Reference&);
template Outcome<void> undo_difference(const Record&, Workspace::Parts&, std::span<double>, Reference&);
template Outcome<void> undo_difference(const Record&, Workspace::Parts&, std::span<float>, Reference&);

}  // namespace forebay::codec
