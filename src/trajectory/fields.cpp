// The fields of a trajectory: what is declared before the first step.
#include <algorithm>
#include <cstring>

#include "trajectory/trajectory.h"

namespace forebay::trajectory {
namespace {

constexpr std::uint64_t kLargestStep = std::uint64_t{1} << 40;

std::uint64_t bytes_of(forebay_type type) {
  switch (type) {
    case FOREBAY_BYTES:
      return 1;
    case FOREBAY_FLOAT32:
      return 4;
    case FOREBAY_FLOAT64:
      return 8;
  }
  return 0;
}

const char* name_of_type(std::uint32_t type) {
  static constexpr const char* kNames[] = {"bytes", "float32", "float64"};
  return type < 3 ? kNames[type] : "?";
}

// Written so that NaN fails.
bool can_be_accepted(double error) {
  return error >= 0 && error < 1;
}

}  // namespace

void Trajectory::lay_out(Field& field) {
  field.bytes = field.count * bytes_of(field.type);
  field.offset = payload_bytes_;
  payload_bytes_ += segment::round_to_lines(field.bytes);
}

Outcome<int> Trajectory::declare(const char* name, forebay_type type, std::uint64_t count) {
  if (name == nullptr || *name == '\0' || std::strlen(name) > segment::kFieldName) {
    return fail(FOREBAY_E_INVALID, "a field needs a name of 1 to {} bytes", segment::kFieldName);
  }
  const std::uint64_t size = bytes_of(type);
  if (size == 0) return fail(FOREBAY_E_INVALID, "field {}: {} is no type", printable(name), static_cast<int>(type));
  if (count == 0 || count > kLargestStep / size) {
    return fail(FOREBAY_E_INVALID, "field {}: a count of {} is out of range", printable(name), count);
  }
  if (step_open_) return fail(FOREBAY_E_STEP_OPEN, "a field cannot be declared while step {} is open", open_step_);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Field& known = fields_[i];
    if (known.name != name) continue;
    if (known.type != type || known.count != count) {
      return fail(FOREBAY_E_FIELD_CHANGED, "field {} has {} values of {} here, not {} of {}", known.name, known.count,
                  name_of_type(known.type), count, name_of_type(type));
    }
    return static_cast<int>(i);
  }
  if (tiers_->started()) {
    return fail(FOREBAY_E_FIELDS_FIXED, "field {} comes too late: all fields are declared before the first step",
                printable(name));
  }
  if (fields_.size() == segment::kFieldLimit || payload_bytes_ > kLargestStep - count * size) {
    return fail(FOREBAY_E_INVALID, "field {} is one too many", printable(name));
  }
  fields_.push_back({.name = name, .type = type, .count = count});
  lay_out(fields_.back());
  return static_cast<int>(fields_.size() - 1);
}

Outcome<const Field*> Trajectory::field(int number) const {
  if (number < 0 || static_cast<std::size_t>(number) >= fields_.size()) {
    return fail(FOREBAY_E_NO_SUCH_FIELD, "there is no field {}: {} are declared, counted from 0", number,
                fields_.size());
  }
  return &fields_[static_cast<std::size_t>(number)];
}

Done Trajectory::set_accepted_error(int number, double error) {
  auto found = field(number);
  if (!found) return pass_on(found);
  Field& changed = fields_[static_cast<std::size_t>(number)];
  if (!can_be_accepted(error)) {
    return fail(FOREBAY_E_TOLERANCE, "field {}: {} cannot be accepted as a relative error: it is 0 to less than 1",
                changed.name, error);
  }
  if (error > 0 && changed.type == FOREBAY_BYTES) {
    return fail(FOREBAY_E_INVALID, "field {} holds bytes, not numbers: they have no error", changed.name);
  }
  if (tiers_->started() && error != changed.accepted) {
    if (!tiers_->found_head()) {
      return fail(FOREBAY_E_FIELDS_FIXED,
                  "the accepted error of field {} comes too late: it is set before the first step", changed.name);
    }
    return fail(FOREBAY_E_FIELD_CHANGED, "field {} is kept with an accepted error of {} here, not {}", changed.name,
                changed.accepted, error);
  }
  changed.accepted = error;
  return {};
}

Done Trajectory::set_codec(int number, forebay_codec codec) {
  auto found = field(number);
  if (!found) return pass_on(found);
  Field& changed = fields_[static_cast<std::size_t>(number)];
  if (codec < FOREBAY_CODEC_CHOSEN || codec > FOREBAY_CODEC_DIFFERENCE) {
    return fail(FOREBAY_E_INVALID, "field {}: {} is no codec", changed.name, static_cast<int>(codec));
  }
  if (tiers_->started() && (encoder_ || !tiers_->found_head())) {
    return fail(FOREBAY_E_FIELDS_FIXED, "the codec of field {} comes too late: it is set before the first step",
                changed.name);
  }
  changed.codec.reset();
  if (codec == FOREBAY_CODEC_CHOSEN) return {};
  const auto wanted = static_cast<codec::Codec>(codec);
  if (!codec::is_built(wanted)) {
    return fail(FOREBAY_E_INVALID, "field {}: this forebay was built without {}", changed.name, codec::name(wanted));
  }
  changed.codec = wanted;
  return {};
}

Outcome<forebay_encoding_info> Trajectory::encoding(int number) {
  auto found = field(number);
  if (!found) return pass_on(found);
  if (auto ok = settle(); !ok) return pass_on(ok);
  const auto position = static_cast<std::size_t>(number);
  forebay_encoding_info info = encoder_ ? encoder_->info(position) : nothing_stored(**found);
  if (!encoded_) {
    info.states = index_.size();
    info.raw_bytes = info.stored_bytes = info.states * (*found)->bytes;
  }
  if (decoder_) info.decoded_ahead = decoder_->decoded_ahead(position);
  return info;
}

// Of a store that was found.
Done Trajectory::take_over(const segment::FieldEntry& entry) {
  const bool sound = entry.type <= FOREBAY_FLOAT64 && entry.count != 0 && entry.count <= kLargestStep / 8 &&
                     !entry.name.empty() && can_be_accepted(entry.accepted) &&
                     (entry.accepted == 0 || entry.type != FOREBAY_BYTES);
  if (!sound) {
    return fail(FOREBAY_E_DAMAGED, "the store is damaged: a field of type {} with {} values", entry.type, entry.count);
  }
  fields_.push_back({.name = entry.name,
                     .type = static_cast<forebay_type>(entry.type),
                     .count = entry.count,
                     .accepted = entry.accepted});
  lay_out(fields_.back());
  return {};
}

// What follows from them: they stay as they are.
void Trajectory::fix_fields() {
  encoded_ = std::any_of(fields_.begin(), fields_.end(), [](const Field& field) { return field.encoded(); });
  record_bytes_ = segment::kLine + (encoded_ ? largest_payload(fields_) : payload_bytes_);
  if (encoded_) decoder_ = std::make_unique<Decoder>(fields_);
  takes_turns_ = tiers_->takes_turns(0);
}

}  // namespace forebay::trajectory
