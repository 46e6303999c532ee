// Makes one field whole again, step after step.
//
// Differences are taken back as well as added: the numbers of a step lead to the one before by the record that is known
// already (codec.h), so a sweep in either direction reads each record once. A step out of order begins at the last one
// before it that stands alone.
#pragma once

#include <span>
#include <vector>

#include "store/trajectory/encoded.h"

namespace forebay::trajectory {

// One thread at a time. The fields outlive it.
class FieldDecoder {
 public:
  FieldDecoder(const std::vector<Field>& fields, std::size_t number) : fields_(fields), number_(number) {}
  FieldDecoder(const FieldDecoder&) = delete;
  FieldDecoder& operator=(const FieldDecoder&) = delete;

  std::size_t number() const { return number_; }
  // Decodes from a record in the memory of its segment. `out` has the size of the field.
  Done decode(std::span<const std::byte> segment, std::uint32_t record, std::span<std::byte> out);

 private:
  template <class Real>
  bool take_back(std::span<const std::byte> segment, const EncodedRecord& record, std::span<Real> out);
  template <class Real>
  Done decode_numbers(std::span<const std::byte> segment, const EncodedRecord& wanted, std::span<Real> out);

  const std::vector<Field>& fields_;
  const std::size_t number_;
  codec::Workspace workspace_;
  // The step that was decoded last: its numbers, the generation of its segment, and its record there.
  std::vector<std::int32_t> numbers_;
  codec::Reference reference_;
  std::uint64_t generation_ = 0;
  std::uint32_t record_ = 0;
};

}  // namespace forebay::trajectory
