#include "trajectory/decoder.h"

#include <algorithm>

namespace forebay::trajectory {
namespace {

// States that are kept when nobody pins them: the two that an interpolation wants again and again, and one more.
constexpr std::size_t kUnpinned = 3;
// Codecs let a chain run over 32 steps; a reader that goes back further follows damage.
constexpr std::size_t kLongestChain = 1024;

}  // namespace

Decoder::Decoder(const std::vector<Field>& fields) : fields_(fields), readers_(fields.size()) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i].encoded()) continue;
    readers_[i].offset = state_bytes_;
    state_bytes_ += segment::round_to_lines(fields[i].bytes);
  }
}

Outcome<Decoder::State*> Decoder::state_of(std::int64_t step) {
  if (const auto known = states_.find(step); known != states_.end()) {
    std::erase(unpinned_, step);
    return &known->second;
  }
  State state;
  if (unpinned_.size() >= kUnpinned) {
    const auto oldest = states_.find(unpinned_.front());
    state.memory = std::move(oldest->second.memory);
    states_.erase(oldest);
    unpinned_.pop_front();
  } else {
    auto made = memory_beside_tiers(state_bytes_);
    if (!made) return pass_on(made);
    state.memory = std::move(*made);
  }
  state.decoded.resize(fields_.size());
  return &states_.emplace(step, std::move(state)).first->second;
}

Outcome<const std::byte*> Decoder::field(std::int64_t step, std::span<const std::byte> segment, std::uint32_t record,
                                         std::size_t number) {
  if (!states_.contains(step)) {
    if (auto ok = check_counts(segment, record, number); !ok) {
      return fail(ok.error().status, "step {} cannot be decoded: {}", step, ok.error().text);
    }
  }
  auto state = state_of(step);
  if (!state) return pass_on(state);
  const std::span<std::byte> out = (*state)->memory.bytes.subspan(readers_[number].offset, fields_[number].bytes);
  if (!(*state)->decoded[number]) {
    if (auto ok = decode(segment, record, number, out); !ok) {
      if (!(*state)->pinned) forget(step);
      return fail(ok.error().status, "step {} cannot be decoded: {}", step, ok.error().text);
    }
    (*state)->decoded[number] = true;
  }
  (*state)->pinned = true;
  return out.data();
}

// Before there is memory for a state: its fields must have as many values stored as the head of the store claims. One
// that is damaged stands in the way of no other.
Done Decoder::check_counts(std::span<const std::byte> segment, std::uint32_t record, std::size_t wanted) const {
  const auto stored = EncodedRecord::at(segment, record);
  if (!stored) return pass_on(stored);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (!fields_[i].encoded()) continue;
    const auto part = stored->part(fields_, i);
    if (!part && i == wanted) return pass_on(part);
    if (!part) continue;
    const auto about = codec::inspect(*part);
    if (!about && i == wanted) return tl::unexpected(failure_of(about.error(), fields_[i]));
    if (about && about->count != fields_[i].count) {
      return tl::unexpected(failure_of(codec::Failure::other_count, fields_[i]));
    }
  }
  return {};
}

void Decoder::unpin(std::int64_t step) {
  const auto known = states_.find(step);
  if (known == states_.end() || !known->second.pinned) return;
  known->second.pinned = false;
  unpinned_.push_back(step);
  if (unpinned_.size() <= kUnpinned) return;
  states_.erase(unpinned_.front());
  unpinned_.pop_front();
}

void Decoder::forget(std::int64_t step) {
  states_.erase(step);
  std::erase(unpinned_, step);
}

void Decoder::clear() {
  states_.clear();
  unpinned_.clear();
}

Done Decoder::decode(std::span<const std::byte> segment, std::uint32_t record, std::size_t number,
                     std::span<std::byte> out) {
  const auto wanted = EncodedRecord::at(segment, record);
  if (!wanted) return pass_on(wanted);
  const Field& field = fields_[number];
  return with_number(field, [&]<class Real>(Real) {
    return decode_numbers(segment, *wanted, number, std::span(reinterpret_cast<Real*>(out.data()), field.count));
  });
}

// From the record behind it, whose numbers are at hand.
template <class Real>
bool Decoder::take_back(std::span<const std::byte> segment, const EncodedRecord& record, std::size_t number,
                        std::span<Real> out) {
  Reader& reader = readers_[number];
  if (reader.generation != record.generation() || reader.record != record.number() + 1) return false;
  const auto behind = EncodedRecord::at(segment, reader.record);
  if (!behind) return false;
  const auto part = behind->part(fields_, number);
  return part && codec::undo(*part, workspace_, out, reader.reference);
}

template <class Real>
Done Decoder::decode_numbers(std::span<const std::byte> segment, const EncodedRecord& wanted, std::size_t number,
                             std::span<Real> out) {
  Reader& reader = readers_[number];
  // Those that must be read before the wanted one, the first one last.
  std::vector<EncodedRecord> chain{wanted};
  bool turned = false;
  while (!chain.empty()) {
    const EncodedRecord& record = chain.back();
    const auto part = record.part(fields_, number);
    if (!part) return pass_on(part);
    const auto about = codec::inspect(*part);
    if (!about) return tl::unexpected(failure_of(about.error(), fields_[number]));
    const bool is_difference = about->codec == codec::Codec::difference;
    if (is_difference && reader.numbers.empty()) {
      reader.numbers.resize(out.size());
      reader.reference.values = reader.numbers;
    }
    const bool back = is_difference && !turned && chain.size() == 1 && take_back(segment, record, number, out);
    const auto decoded = back ? codec::Outcome<void>() : codec::decode(*part, workspace_, out, &reader.reference);
    if (decoded) {
      if (is_difference) {
        reader.generation = record.generation();
        reader.record = record.number();
      }
      chain.pop_back();
      turned = true;
      continue;
    }
    // Labels tell whether the numbers at hand are those of the step before (codec.h).
    const bool far_enough = turned || record.number() == 0 || chain.size() == kLongestChain;
    if (decoded.error() != codec::Failure::reference_unfit || far_enough) {
      return tl::unexpected(failure_of(decoded.error(), fields_[number]));
    }
    auto before = EncodedRecord::at(segment, record.number() - 1);
    if (!before) return pass_on(before);
    chain.push_back(*before);
  }
  return {};
}

}  // namespace forebay::trajectory
