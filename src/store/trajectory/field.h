// A field of a trajectory, as it was declared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forebay/trajectory.h"
#include "store/codec/codec.h"
#include "store/segment/format.h"
#include "store/trajectory/failure.h"

namespace forebay::trajectory {

struct Field {
  std::string name;
  forebay_type type = FOREBAY_BYTES;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t real_bytes = 0;         // of each of the real numbers that it consists of; 0: of none
  std::uint64_t offset = 0;             // in a state that is not encoded
  double accepted = 0;                  // relative L2 error; 0: the field is stored as it is
  std::vector<std::uint64_t> shape{};   // extents, the last one runs fastest
  std::optional<codec::Codec> codec{};  // that the user wants; else one is chosen

  bool encoded() const { return accepted > 0 && bytes > 0; }
  std::uint64_t numbers() const { return real_bytes == 0 ? 0 : bytes / real_bytes; }
  // The most that it can need, encoded.
  std::uint64_t bound() const { return codec::bound(numbers(), real_bytes); }
};

struct TypeInfo {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t real_bytes = 0;
};
std::optional<TypeInfo> info_of(std::uint32_t type);
// The field of a store that was found, which is believed in nothing.
Outcome<Field> field_of(const segment::FieldEntry& entry);

inline forebay_encoding_info nothing_stored(const Field& field) {
  forebay_encoding_info info{};
  info.accepted_error = field.accepted;
  info.fallback_reason = "";
  return info;
}

// Calls `use` with one of the real numbers that the field consists of.
template <class Use>
auto with_number(const Field& field, Use&& use) {
  return field.real_bytes == sizeof(float) ? use(float{}) : use(double{});
}

}  // namespace forebay::trajectory
