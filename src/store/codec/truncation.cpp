// Every value keeps the same number of mantissa bits, so small values are as exact, relative to themselves, as large
// ones. The number is the least that keeps the accepted error over this field.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "store/codec/methods.h"
#include "store/codec/planes.h"

namespace forebay::codec {
namespace {

template <class Real>
struct BitsOf;
template <>
struct BitsOf<double> {
  using Word = std::uint64_t;
};
template <>
struct BitsOf<float> {
  using Word = std::uint32_t;
};
template <class Real>
using Word = typename BitsOf<Real>::Word;

template <class Real>
constexpr int kMantissa = std::numeric_limits<Real>::digits - 1;

// To the nearest, ties to even; may carry into the exponent, which is right. `dropped` > 0.
template <class W>
W rounded(W bits, int dropped) {
  const W half = static_cast<W>((W{1} << (dropped - 1)) - 1);
  const W odd = static_cast<W>((bits >> dropped) & 1);
  return static_cast<W>((bits + half + odd) & ~((W{1} << dropped) - 1));
}

template <class Real>
double error_with(const Job<Real>& job, int kept) {
  const int dropped = kMantissa<Real> - kept;
  if (dropped == 0) return 0;
  Squares errors(job.norm.scale);
  errors.add(job.field.size(), [&](std::size_t i) {
    const Real value = std::bit_cast<Real>(rounded(std::bit_cast<Word<Real>>(job.field[i]), dropped));
    return static_cast<double>(job.field[i]) - static_cast<double>(value);
  });
  return relative(errors, job.norm);
}

}  // namespace

template <class Real>
Made encode_truncation(const Job<Real>& job, Header& header) {
  // A rounded mantissa is off by 2^-kept / sqrt(12) in the mean, which is 2^-kept / 5.3 of values spread evenly from 1
  // to
  // 2. Where that guess is too bold, the measured error says by how many bits.
  int kept = std::clamp(static_cast<int>(std::ceil(-std::log2(job.settings.accepted * 5.3))), 0, kMantissa<Real>);
  for (header.error = error_with(job, kept); !(header.error <= job.settings.accepted);
       header.error = error_with(job, kept)) {
    const double missing = std::log2(header.error / job.settings.accepted);
    const int more = std::isfinite(missing) ? std::max(1, static_cast<int>(std::floor(missing))) : kMantissa<Real>;
    kept = std::min(kept + more, kMantissa<Real>);
  }
  header.parameter = kept;

  const int dropped = kMantissa<Real> - kept;
  const std::span<Word<Real>> words(reinterpret_cast<Word<Real>*>(job.parts.words.all().data()), kBlockWords);
  std::size_t written = 0;
  for (std::size_t from = 0; from < job.field.size(); from += kBlockWords) {
    const std::span<const Real> block = job.field.subspan(from, std::min(kBlockWords, job.field.size() - from));
    for (std::size_t i = 0; i < block.size(); ++i) {
      const auto bits = std::bit_cast<Word<Real>>(block[i]);
      words[i] = dropped == 0 ? bits : rounded(bits, dropped);
    }
    const std::span<const Word<Real>> filled = words.first(block.size());
    const std::size_t packed = pack(Packing::bits_lz4, filled, job.parts, job.payload.subspan(written));
    if (packed == 0) return tl::unexpected(Fallback::no_gain);
    written += packed;
  }
  return written;
}

template <class Real>
Outcome<void> decode_truncation(const Record& record, Workspace::Parts& parts, std::span<Real> field) {
  const std::span<Word<Real>> words(reinterpret_cast<Word<Real>*>(parts.words.all().data()), kBlockWords);
  std::span<const std::byte> in = record.payload;
  for (std::size_t from = 0; from < field.size(); from += kBlockWords) {
    const std::span<Real> block = field.subspan(from, std::min(kBlockWords, field.size() - from));
    if (!unpack(Packing::bits_lz4, in, parts, words.first(block.size()))) return tl::unexpected(Failure::damaged);
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = std::bit_cast<Real>(words[i]);
  }
  if (!in.empty()) return tl::unexpected(Failure::damaged);
  return {};
}

template Made encode_truncation(const Job<double>&, Header&);
template Made encode_truncation(const Job<float>&, Header&);
template Outcome<void> decode_truncation(const Record&, Workspace::Parts&, std::span<double>);
template Outcome<void> decode_truncation(const Record&, Workspace::Parts&, std::span<float>);

}  // namespace forebay::codec
