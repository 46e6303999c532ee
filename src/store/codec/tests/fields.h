// Fields that codecs meet, and the errors that they leave.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "store/codec/codec.h"

namespace forebay::codec::test {

inline const std::vector<Codec> kCodecs = {Codec::raw, Codec::float32, Codec::truncation, Codec::zfp,
                                           Codec::difference};

template <class Real>
std::vector<Real> smooth(std::size_t count, double time = 0) {
  std::vector<Real> field(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(i) / 1000;
    field[i] = static_cast<Real>(3 * std::sin(x + time) + 0.5 * std::cos(7 * x - 2 * time) + 1);
  }
  return field;
}

template <class Real>
std::vector<Real> rough(std::size_t count, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Real> field(count);
  for (Real& value : field) value = static_cast<Real>(normal(random));
  return field;
}

template <class Real>
std::vector<Real> times(std::vector<Real> field, double factor) {
  for (Real& value : field) value = static_cast<Real>(value * factor);
  return field;
}

// In long double, so that neither huge nor tiny fields are out of its reach.
template <class Real>
double error_between(std::span<const Real> exact, std::span<const Real> decoded) {
  long double wrong = 0, all = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const long double difference = static_cast<long double>(exact[i]) - static_cast<long double>(decoded[i]);
    wrong += difference * difference;
    all += static_cast<long double>(exact[i]) * static_cast<long double>(exact[i]);
  }
  return wrong == 0 ? 0 : static_cast<double>(std::sqrt(wrong / all));
}

// A reference with memory of its own.
struct Held {
  explicit Held(std::size_t count) : values(count) { reference.values = values; }
  Held(const Held&) = delete;
  std::vector<std::int32_t> values;
  Reference reference;
};

using Bytes = std::vector<std::byte>;

// The field, encoded into a buffer of exactly the bound, then cut to its size.
template <class Real>
Outcome<Encoded> encode_into(Bytes& record, const std::vector<Real>& field, const Settings& settings,
                             Workspace& workspace, Reference* reference = nullptr) {
  record.assign(bound(field.size(), sizeof(Real)), std::byte{0xAB});
  const Outcome<Encoded> encoded =
      encode(std::span<const Real>(field), settings, workspace, std::span(record), reference);
  if (encoded) record.resize(encoded->bytes);
  return encoded;
}

template <class Real>
Outcome<void> decode_from(const Bytes& record, std::vector<Real>& field, Workspace& workspace,
                          Reference* reference = nullptr) {
  return decode(std::span<const std::byte>(record), workspace, std::span(field), reference);
}

inline std::string named(Codec codec) {
  return std::string(name(codec));
}

}  // namespace forebay::codec::test
