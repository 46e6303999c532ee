// The payload of a step where a field is encoded (docs/format.md, "Store of a trajectory"): the fields in the order of
// their declaration, each from a multiple of 64 bytes: an encoded field (codec.h), or the field as it is where no error
// is accepted.
//
// An encoded field may be the difference to the record before it in its segment, so it is read by going back to one
// that stands alone. The first record of each segment does, and a segment is given up as a whole: what was dropped in
// between stays readable as long as a step behind it lives.
#pragma once

#include <span>
#include <vector>

#include "store/segment/segment.h"
#include "store/trajectory/failure.h"
#include "store/trajectory/field.h"

namespace forebay::trajectory {

// Memory for states on their way into a tier or out of it: memory of the process that counts against no budget.
Outcome<segment::Mapping> memory_beside_tiers(std::uint64_t bytes);

// The most that a payload can need.
std::uint64_t largest_payload(const std::vector<Field>& fields);

// A record in the memory of its segment. Nothing that is read is believed before it is checked.
class EncodedRecord {
 public:
  static Outcome<EncodedRecord> at(std::span<const std::byte> segment, std::uint32_t number);

  // Its number in the segment, from 0.
  std::uint32_t number() const { return number_; }
  // The generation of the segment: records left by an earlier use of the memory have another.
  std::uint64_t generation() const { return generation_; }
  // The stored bytes of a field.
  Outcome<std::span<const std::byte>> part(const std::vector<Field>& fields, std::size_t field) const;

 private:
  EncodedRecord(std::span<const std::byte> payload, const segment::RecordHeader& header)
      : payload_(payload), generation_(header.generation), number_(header.record) {}
  std::span<const std::byte> payload_;
  std::uint64_t generation_;
  std::uint32_t number_;
};

Failure failure_of(codec::Failure failure, const Field& field);

}  // namespace forebay::trajectory
