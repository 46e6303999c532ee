// Makes one field smaller, state after state, and chooses how.
//
// The first states are encoded as differences to each other. Then every codec is tried on the last few of them, and the
// one that serves best is followed. That is repeated after ten times as many states, since a run may begin at rest and
// end in turbulence. So no state waits for others, and each tells by its own header how it was encoded.
#pragma once

#include <span>
#include <vector>

#include "store/trajectory/field.h"

namespace forebay::trajectory {

// One thread at a time. The field outlives it.
class FieldEncoder {
 public:
  explicit FieldEncoder(const Field& field);
  FieldEncoder(const FieldEncoder&) = delete;
  FieldEncoder& operator=(const FieldEncoder&) = delete;

  // `out` has codec::bound() bytes.
  codec::Outcome<codec::Encoded> encode(const std::byte* values, std::span<std::byte> out);
  // The next state stands alone.
  void forget() { reference_.forget(); }

 private:
  template <class Real>
  codec::Outcome<codec::Encoded> encode_numbers(std::span<const Real> values, std::span<std::byte> out);
  template <class Real>
  void learn(std::span<const Real> values);

  const Field& field_;
  codec::Settings settings_;
  codec::Workspace workspace_;
  std::vector<std::int32_t> numbers_;
  codec::Reference reference_;
  std::uint64_t seen_ = 0;
  std::uint64_t next_choice_;
  std::vector<std::vector<std::byte>> samples_;
};

}  // namespace forebay::trajectory
