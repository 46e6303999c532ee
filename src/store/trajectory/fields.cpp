#include "store/trajectory/fields.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "store/trajectory/encoded.h"

namespace forebay::trajectory {
namespace {

constexpr std::uint64_t kLargestStep = std::uint64_t{1} << 40;

std::string name_of_type(std::uint32_t type) {
  const auto info = info_of(type);
  return info ? info->name : "?";
}

// Whether the extents are those of so many values.
bool make_up(std::uint64_t count, std::span<const std::uint64_t> extents) {
  if (extents.size() > segment::kMostExtents) return false;
  if (std::find(extents.begin(), extents.end(), 0u) != extents.end()) return count == 0;
  std::uint64_t product = 1;
  for (const std::uint64_t extent : extents) {
    if (extent > count / product) return false;
    product *= extent;
  }
  return product == count;
}

// This is written so that NaN fails.
bool can_be_accepted(double error) {
  return error >= 0 && error < 1;
}

}  // namespace

std::optional<TypeInfo> info_of(std::uint32_t type) {
  static const TypeInfo kTypes[] = {{"bytes", 1, 0},       {"float32", 4, 4}, {"float64", 8, 8},  {"int8", 1, 0},
                                    {"int16", 2, 0},       {"int32", 4, 0},   {"int64", 8, 0},    {"uint8", 1, 0},
                                    {"uint16", 2, 0},      {"uint32", 4, 0},  {"uint64", 8, 0},   {"complex64", 8, 4},
                                    {"complex128", 16, 8}, {"float16", 2, 0}, {"bfloat16", 2, 0}, {"bool", 1, 0}};
  constexpr std::uint32_t kOpaqueUnit = FOREBAY_OPAQUE(1), kMostOpaque = FOREBAY_OPAQUE(65535);
  if (type < std::size(kTypes)) return kTypes[type];
  if (type % kOpaqueUnit != 0 || type > kMostOpaque) return std::nullopt;
  return TypeInfo{"items of " + plural(type / kOpaqueUnit, "byte"), type / kOpaqueUnit, 0};
}

Outcome<Field> field_of(const segment::FieldEntry& entry) {
  const auto info = info_of(entry.type);
  const bool sound = info && entry.count <= kLargestStep / info->bytes && !entry.name.empty() &&
                     can_be_accepted(entry.accepted) && (entry.accepted == 0 || info->real_bytes != 0) &&
                     make_up(entry.count, entry.shape);
  if (!sound) {
    return fail(FOREBAY_E_DAMAGED, "the store is damaged: a field of type {} with {} values", entry.type, entry.count);
  }
  return Field{.name = entry.name,
               .type = static_cast<forebay_type>(entry.type),
               .count = entry.count,
               .bytes = entry.count * info->bytes,
               .real_bytes = info->real_bytes,
               .accepted = entry.accepted,
               .shape = entry.shape};
}

void Fields::add(Field field) {
  const auto info = info_of(field.type);
  field.bytes = field.count * info->bytes;
  field.real_bytes = info->real_bytes;
  field.offset = payload_bytes_;
  payload_bytes_ += segment::round_to_lines(field.bytes);
  fields_.push_back(std::move(field));
}

void Fields::look_for_encoded() {
  encoded_ = std::any_of(fields_.begin(), fields_.end(), [](const Field& field) { return field.encoded(); });
}

Outcome<int> Fields::declare(const char* name, forebay_type type, std::uint64_t count) {
  if (name == nullptr || *name == '\0' || std::strlen(name) > segment::kFieldName) {
    return fail(FOREBAY_E_INVALID, "a field needs a name of 1 to {}", plural(segment::kFieldName, "byte"));
  }
  const auto info = info_of(type);
  if (!info) return fail(FOREBAY_E_INVALID, "field {}: {} is no type", printable(name), static_cast<int>(type));
  const std::uint64_t size = info->bytes;
  if (count > kLargestStep / size) {
    return fail(FOREBAY_E_INVALID, "field {}: a count of {} is out of range", printable(name), count);
  }
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Field& known = fields_[i];
    if (known.name != name) continue;
    if (known.type != type || known.count != count) {
      return fail(FOREBAY_E_FIELD_CHANGED, "field {} has {} values of {} here, not {} of {}", known.name, known.count,
                  name_of_type(known.type), count, name_of_type(type));
    }
    return static_cast<int>(i);
  }
  if (origin_ != Origin::open) {
    return fail(FOREBAY_E_FIELDS_FIXED, "field {} comes too late: all fields are declared before the first step",
                printable(name));
  }
  if (fields_.size() == segment::kFieldLimit || payload_bytes_ > kLargestStep - count * size) {
    return fail(FOREBAY_E_INVALID, "field {} is one too many", printable(name));
  }
  add({.name = name, .type = type, .count = count, .shape = {count}});
  return static_cast<int>(fields_.size() - 1);
}

Outcome<const Field*> Fields::find(int number) const {
  if (!has(number)) {
    return fail(FOREBAY_E_NO_SUCH_FIELD, "there is no field {}: {} are declared, counted from 0", number,
                fields_.size());
  }
  return &(*this)[number];
}

Outcome<Field*> Fields::changeable(int number) {
  if (auto found = find(number); !found) return pass_on(found);
  return &fields_[static_cast<std::size_t>(number)];
}

Done Fields::set_shape(int number, std::span<const std::uint64_t> extents) {
  auto found = changeable(number);
  if (!found) return pass_on(found);
  Field& changed = **found;
  if (!make_up(changed.count, extents)) {
    return fail(FOREBAY_E_INVALID, "field {} has {} values: extents of {} do not make them up, at most {} of them",
                changed.name, changed.count, fmt::join(extents, " x "), segment::kMostExtents);
  }
  const bool same = std::equal(extents.begin(), extents.end(), changed.shape.begin(), changed.shape.end());
  if (origin_ == Origin::open) {
    changed.shape.assign(extents.begin(), extents.end());
  } else if (origin_ == Origin::begun && !same) {
    return fail(FOREBAY_E_FIELDS_FIXED, "the shape of field {} comes too late: it is set before the first step",
                changed.name);
  } else if (!same && changed.shape.size() > 1 && extents.size() > 1) {
    return fail(FOREBAY_E_FIELD_CHANGED, "field {} has the shape {} here, not {} (the last extent runs fastest)",
                changed.name, fmt::join(changed.shape, " x "), fmt::join(extents, " x "));
  }
  return {};
}

Done Fields::set_accepted_error(int number, double error) {
  auto found = changeable(number);
  if (!found) return pass_on(found);
  Field& changed = **found;
  if (!can_be_accepted(error)) {
    return fail(FOREBAY_E_TOLERANCE, "field {}: {} cannot be accepted as a relative error: it is 0 to less than 1",
                changed.name, error);
  }
  if (error > 0 && changed.real_bytes == 0) {
    return fail(FOREBAY_E_INVALID, "field {} holds {}, not real or complex numbers: they have no error", changed.name,
                name_of_type(changed.type));
  }
  if (origin_ != Origin::open && error != changed.accepted) {
    if (origin_ == Origin::begun) {
      return fail(FOREBAY_E_FIELDS_FIXED,
                  "the accepted error of field {} comes too late: it is set before the first step", changed.name);
    }
    return fail(FOREBAY_E_FIELD_CHANGED, "field {} is kept with an accepted error of {} here, not {}", changed.name,
                changed.accepted, error);
  }
  changed.accepted = error;
  look_for_encoded();
  return {};
}

Done Fields::set_codec(int number, forebay_codec codec) {
  auto found = changeable(number);
  if (!found) return pass_on(found);
  Field& changed = **found;
  if (codec < FOREBAY_CODEC_RAW || codec > FOREBAY_CODEC_DIFFERENCE) {
    return fail(FOREBAY_E_INVALID, "field {}: {} is no codec", changed.name, static_cast<int>(codec));
  }
  if (origin_ == Origin::begun || codecs_fixed_) {
    return fail(FOREBAY_E_FIELDS_FIXED, "the codec of field {} comes too late: it is set before the first step",
                changed.name);
  }
  const auto wanted = static_cast<codec::Codec>(codec);
  if (!codec::is_built(wanted)) {
    return fail(FOREBAY_E_INVALID, "field {}: this forebay was built without {}", changed.name, codec::name(wanted));
  }
  changed.codec = wanted;
  return {};
}

Done Fields::take_over(const std::vector<segment::FieldEntry>& entries) {
  for (const segment::FieldEntry& entry : entries) {
    auto field = field_of(entry);
    if (!field) return pass_on(field);
    add(std::move(*field));
  }
  origin_ = Origin::found;
  look_for_encoded();
  return {};
}

void Fields::fix() {
  origin_ = Origin::begun;
}

std::uint64_t Fields::record_bytes() const {
  return segment::kLine + (encoded_ ? largest_payload(fields_) : payload_bytes_);
}

std::vector<segment::FieldEntry> Fields::entries() const {
  std::vector<segment::FieldEntry> entries;
  for (const Field& field : fields_)
    entries.push_back({field.name, field.type, field.count, field.accepted, field.shape});
  return entries;
}

}  // namespace forebay::trajectory
