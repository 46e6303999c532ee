// The fields of a trajectory: declared before the first step, or taken over from a store that was found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/trajectory/failure.h"
#include "store/trajectory/field.h"

namespace forebay::trajectory {

class Fields {
 public:
  Outcome<int> declare(const char* name, forebay_type type, std::uint64_t count);
  Done set_shape(int number, std::span<const std::uint64_t> extents);
  Done set_accepted_error(int number, double error);
  Done set_codec(int number, forebay_codec codec);
  // Takes over the fields of a store that was found.
  Done take_over(const std::vector<segment::FieldEntry>& entries);
  // A store has begun with those that are declared: they stay as they are.
  void fix();
  // A state is encoded from now on.
  void fix_codecs() { codecs_fixed_ = true; }

  const std::vector<Field>& all() const { return fields_; }
  const Field& operator[](int number) const { return fields_[static_cast<std::size_t>(number)]; }
  bool has(int number) const { return number >= 0 && static_cast<std::size_t>(number) < fields_.size(); }
  Outcome<const Field*> find(int number) const;
  // Whether one of them is encoded.
  bool encoded() const { return encoded_; }
  // The payload of a state that is not encoded.
  std::uint64_t payload_bytes() const { return payload_bytes_; }
  // The size of the largest record, with its header.
  std::uint64_t record_bytes() const;
  std::vector<segment::FieldEntry> entries() const;

 private:
  enum class Origin { open, begun, found };

  void add(Field field);
  // A field that may be changed.
  Outcome<Field*> changeable(int number);
  void look_for_encoded();

  std::vector<Field> fields_;
  std::uint64_t payload_bytes_ = 0;
  bool encoded_ = false;
  Origin origin_ = Origin::open;  // open: more can be declared
  bool codecs_fixed_ = false;
};

}  // namespace forebay::trajectory
