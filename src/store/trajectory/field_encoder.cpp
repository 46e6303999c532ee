#include "store/trajectory/field_encoder.h"

#include <algorithm>
#include <new>

namespace forebay::trajectory {
namespace {

constexpr std::uint64_t kSamples = 3;
constexpr std::uint64_t kSampleValues = std::uint64_t{1} << 18;  // more than codec::measure looks at is of no use
// A user who accepts an error wants smaller states: any codec that makes them this much smaller goes before raw. The
// one is chosen that would be fastest in front of a busy shared file system, which takes so many bytes per second of
// one rank: small states count for much, but time counts too.
constexpr codec::Rates kRates{.write = 2e8, .read = 2e8, .needed_ratio = 1.1};

template <class Real>
std::span<const Real> numbers_in(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const Real*>(bytes.data()), bytes.size() / sizeof(Real)};
}

}  // namespace

FieldEncoder::FieldEncoder(const Field& field)
    : field_(field),
      settings_{.codec = field.codec.value_or(codec::Codec::difference), .accepted = field.accepted},
      next_choice_(kSamples) {
  if (settings_.codec == codec::Codec::difference) numbers_.resize(field.numbers());
  reference_.values = numbers_;
}

codec::Outcome<codec::Encoded> FieldEncoder::encode(const std::byte* values, std::span<std::byte> out) {
  return with_number(field_, [&]<class Real>(Real) {
    return encode_numbers(std::span(reinterpret_cast<const Real*>(values), field_.numbers()), out);
  });
}

template <class Real>
codec::Outcome<codec::Encoded> FieldEncoder::encode_numbers(std::span<const Real> values, std::span<std::byte> out) {
  // Every state that is not encoded as a difference interrupts the chain.
  if (settings_.codec != codec::Codec::difference) reference_.forget();
  const auto encoded = codec::encode(values, settings_, workspace_, out, &reference_);
  if (!field_.codec && encoded && encoded->fallback != codec::Fallback::not_finite) {
    try {
      learn(values);
    } catch (const std::bad_alloc&) {
      samples_ = {};  // what is followed now will do
    }
  }
  return encoded;
}

template <class Real>
void FieldEncoder::learn(std::span<const Real> values) {
  if (++seen_ + kSamples <= next_choice_) return;
  const auto bytes = std::as_bytes(values.first(std::min<std::size_t>(values.size(), kSampleValues)));
  samples_.emplace_back(bytes.begin(), bytes.end());
  if (seen_ < next_choice_) return;
  next_choice_ *= 10;
  std::vector<std::span<const Real>> steps;
  for (const auto& sample : samples_) steps.push_back(numbers_in<Real>(sample));
  const auto trials = codec::measure(std::span<const std::span<const Real>>(steps), settings_, workspace_);
  samples_ = {};
  if (!trials || trials->empty()) return;
  settings_.codec = (*trials)[codec::choose(*trials, kRates)].codec;
}

}  // namespace forebay::trajectory
