#include "store/trajectory/decoder.h"

#include <algorithm>

namespace forebay::trajectory {
namespace {

// States that are kept when nobody pins them: the two that an interpolation wants again and again, and one more.
constexpr std::size_t kUnpinned = 3;

}  // namespace

Decoder::Decoder(const std::vector<Field>& fields)
    : fields_(fields),
      decoders_(fields.size()),
      offsets_(fields.size()),
      asked_(fields.size()),
      decoded_ahead_(fields.size()) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i].encoded()) continue;
    decoders_[i] = std::make_unique<FieldDecoder>(fields, i);
    offsets_[i] = state_bytes_;
    state_bytes_ += segment::round_to_lines(fields[i].bytes);
  }
}

std::span<std::byte> Decoder::memory_of(const State& state, std::size_t number) const {
  return state.memory.bytes.subspan(offsets_[number], fields_[number].bytes);
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
  const auto cannot = [&](const Failure& why) {
    return fail(why.status, "step {} cannot be decoded: {}", step, why.text);
  };
  const auto known = states_.find(step);
  const bool at_hand = known != states_.end() && known->second.decoded[number];
  if (!at_hand || (ahead_ && ahead_->step == step)) rest();
  if (!states_.contains(step)) {
    if (auto ok = check_counts(segment, record, number); !ok) return cannot(ok.error());
  }
  auto state = state_of(step);
  if (!state) return pass_on(state);
  asked_[number] = true;
  const std::span<std::byte> out = memory_of(**state, number);
  if (!(*state)->decoded[number]) {
    if (auto ok = decoders_[number]->decode(segment, record, out); !ok) {
      if (!(*state)->pinned) forget(step);
      return cannot(ok.error());
    }
    (*state)->decoded[number] = true;
  }
  (*state)->pinned = true;
  return out.data();
}

// Before there is memory for a state: its fields must have as many values stored as the head of the store claims. A
// damaged field stands in the way of no other.
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
    if (about && about->count != fields_[i].numbers()) {
      return tl::unexpected(failure_of(codec::Failure::other_count, fields_[i]));
    }
  }
  return {};
}

void Decoder::unpin(std::int64_t step) {
  const auto known = states_.find(step);
  if (known == states_.end() || !known->second.pinned) return;
  known->second.pinned = false;
  retire(step);
}

void Decoder::retire(std::int64_t step) {
  unpinned_.push_back(step);
  if (unpinned_.size() <= kUnpinned) return;
  states_.erase(unpinned_.front());
  unpinned_.pop_front();
}

// --- ahead of a sweep
// ------------------------------------------------------------------------------------------------------

void Decoder::begin_sweep() {
  if (!lanes_) lanes_.emplace(1, 1);
  asked_.assign(fields_.size(), false);
}

void Decoder::decode_ahead(std::int64_t step, std::span<const std::byte> segment, std::uint32_t record) {
  if (ahead_ && ahead_->step == step) return;
  rest();
  const auto known = states_.find(step);
  if (known != states_.end() && known->second.pinned) return;
  Ahead ahead{.step = step, .fields = {}};
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (!asked_[i] || (known != states_.end() && known->second.decoded[i])) continue;
    if (!check_counts(segment, record, i)) return;
    ahead.fields.push_back(i);
  }
  if (ahead.fields.empty()) return;
  auto state = state_of(step);
  if (!state) return;
  ahead_ = std::move(ahead);
  lanes_->post(0, [this, segment, record, &memory = **state] {
    try {
      for (const std::size_t i : ahead_->fields) {
        if (!decoders_[i]->decode(segment, record, memory_of(memory, i))) return;
        ++ahead_->done;
      }
    } catch (const std::bad_alloc&) {
      // field() decodes the rest.
    }
  });
}

void Decoder::rest() {
  if (!ahead_) return;
  // field() does sooner what the thread has not begun.
  lanes_->clear();
  State& state = states_.at(ahead_->step);
  for (std::size_t i = 0; i < ahead_->done; ++i) {
    const std::size_t number = ahead_->fields[i];
    state.decoded[number] = true;
    ++decoded_ahead_[number];
  }
  retire(ahead_->step);
  ahead_.reset();
}

void Decoder::forget(std::int64_t step) {
  rest();
  states_.erase(step);
  std::erase(unpinned_, step);
}

void Decoder::clear() {
  rest();
  states_.clear();
  unpinned_.clear();
}

}  // namespace forebay::trajectory
