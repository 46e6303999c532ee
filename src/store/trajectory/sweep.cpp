#include "store/trajectory/sweep.h"

#include <new>
#include <utility>

namespace forebay::trajectory {

Decoder& Sweep::decoder() {
  if (!decoder_) decoder_ = std::make_unique<Decoder>(kept_.fields().all());
  return *decoder_;
}

Outcome<const std::byte*> Sweep::decode(const Entry& entry, const std::byte* base, int number) {
  const Fields& fields = kept_.fields();
  const std::span segment(base, kept_.tiers().segment_bytes());
  const auto position = static_cast<std::size_t>(number);
  if (fields[number].encoded()) return decoder().field(entry.step, segment, entry.record, position);
  auto record = EncodedRecord::at(segment, entry.record);
  if (!record) return pass_on(record);
  auto part = record->part(fields.all(), position);
  if (!part) return pass_on(part);
  return part->data();
}

void Sweep::unpin(std::int64_t step) {
  if (decoder_) decoder_->unpin(step);
}

void Sweep::begin(std::int64_t from) {
  decoder().begin_sweep();
  sweeping_ = true;
  swept_to_ = from;
}

// A step above the one that was read last, as an interpolation asks for, leads nowhere.
void Sweep::decode_ahead(const Entry& read) {
  if (!sweeping_ || read.step > swept_to_ || &read == &kept_.index()[0]) return;
  swept_to_ = read.step;
  const Entry& next = *(&read - 1);  // they are sorted
  const std::byte* base = active_.base;
  if (next.segment == active_.segment) {
    segment::fence_stores();  // what this thread has streamed is for another one
  } else {
    if (next.segment != ahead_) {
      rest();
      ahead_base_ = kept_.tiers().hold_if_at_hand(next.segment);
      if (ahead_base_ == nullptr) return;
      ahead_ = next.segment;
    }
    base = ahead_base_;
  }
  try {
    decoder().decode_ahead(next.step, std::span(base, kept_.tiers().segment_bytes()), next.record);
  } catch (const std::bad_alloc&) {
    // Then it is decoded when it is asked for.
  }
}

void Sweep::end() {
  sweeping_ = false;
  rest();
}

void Sweep::pause() {
  if (decoder_) decoder_->rest();
}

bool Sweep::rest() {
  pause();
  if (ahead_ == kNone) return false;
  kept_.tiers().unhold(std::exchange(ahead_, kNone));
  return true;
}

void Sweep::forget(std::int64_t step) {
  if (decoder_) decoder_->forget(step);
}

void Sweep::clear() {
  if (decoder_) decoder_->clear();
}

std::uint64_t Sweep::decoded_ahead(int number) const {
  return decoder_ ? decoder_->decoded_ahead(static_cast<std::size_t>(number)) : 0;
}

}  // namespace forebay::trajectory
