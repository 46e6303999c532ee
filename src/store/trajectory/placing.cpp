// The way of states that are encoded into the store and out of it (encoder.h, decoder.h).
#include <new>
#include <utility>

#include "store/trajectory/clock.h"
#include "store/trajectory/trajectory.h"

namespace forebay::trajectory {

tl::unexpected<Failure> Trajectory::cannot_store(std::int64_t step, int errno_value) {
  Error error;
  error.what = fmt::format("step {} cannot be stored", step);
  error.errno_value = errno_value;
  return tl::unexpected<Failure>(failure_of(error));
}

// For all that are pending and one more, each as large as it can become.
bool Trajectory::has_room(const Tiers::Active& segment, const segment::Writer& writer) const {
  return segment.segment != kNone && writer.has_room((encoder_->pending() + 1) * record_bytes_ - segment::kLine);
}

Done Trajectory::reserve() {
  end_sweep();
  if (!encoder_) encoder_ = std::make_unique<Encoder>(fields_, options_.encoders);
  for (;;) {
    const bool wait = encoder_->full();
    const auto start = std::chrono::steady_clock::now();
    auto ready = encoder_->oldest(wait);
    if (wait) waited_for_codecs_ += seconds_since(start);
    if (!ready) return pass_on(ready);
    if (*ready == nullptr) break;
    if (auto ok = place(**ready); !ok) return ok;
  }
  if (!has_room(active_, writer_) && !has_room(spare_, spare_writer_)) {
    // States become smaller than they can become: with a second segment at hand the first one is filled to its end.
    Outcome<Tiers::Active> next = Tiers::Active{};
    if (spare_.segment == kNone) next = tiers_->next(spare_writer_);
    if (next && next->segment != kNone) spare_ = *next;
    if (!has_room(spare_, spare_writer_)) {
      if (auto ok = place_pending(); !ok) return ok;
    }
    if (!has_room(active_, writer_) && !has_room(spare_, spare_writer_)) {
      if (auto ok = next_segment(); !ok) return ok;
    }
  }
  auto memory = encoder_->stage();
  if (!memory) return pass_on(memory);
  staged_ = *memory;
  return {};
}

Done Trajectory::accept() {
  end_sweep();
  Entry* const entry = index_.insert(open_step_);
  if (entry == nullptr)
    return fail(FOREBAY_E_NO_MEMORY, "no memory for the index of {}", plural(index_.size(), "step"));
  entry->time = open_time_;
  entry->segment = kNone;
  encoder_->accept(open_step_, open_time_);
  if (!tiers_->kept() && encoder_->has_threads()) return {};
  auto stored = place_pending();
  if (!stored) {
    encoder_->clear();
    index_.erase(index_.find(open_step_));
  }
  return stored;
}

Done Trajectory::place(const Encoder::Encoded& state) {
  if (active_.segment == kNone || !writer_.has_room(state.payload_bytes)) {
    if (auto ok = next_segment(); !ok) return ok;
  }
  if (first_ && !state.alone) {
    encoder_->start_again();
    return {};
  }
  announce_next(state.payload_bytes);
  segment::Medium& medium = tiers_->first_medium();
  const std::uint32_t record = writer_.record(), line = writer_.payload_line(state.payload_bytes);
  std::byte* to = writer_.payload(state.payload_bytes);
  int failed = 0;
  segment::PayloadHash hash;
  for (const auto& part : state.parts) {
    const std::uint64_t room = segment::round_to_lines(part.size());
    if (failed == 0 && !writer_.checks()) failed = medium.store(to, part.data(), part.size());
    if (failed == 0 && writer_.checks()) {
      failed = segment::store_hashed(medium, to, part.data(), part.size(), hash);
      hash.add(to + part.size(), room - part.size());
    }
    to += room;
  }
  if (failed == 0) {
    const std::uint64_t check = writer_.checks() ? hash.value() : 0;
    failed = writer_.commit(state.step, state.time, state.payload_bytes, segment::Writer::Payload::stored, check);
  }
  if (failed != 0) return cannot_store(state.step, failed);
  Entry* const entry = index_.find(state.step);
  entry->segment = active_.segment;
  entry->record = record;
  entry->payload = line;
  ++active_live_;
  first_ = false;
  encoder_->pop();
  return {};
}

Done Trajectory::place_pending() {
  while (encoder_ && encoder_->pending() > 0) {
    auto state = encoder_->oldest(true);
    if (!state) return pass_on(state);
    if (auto ok = place(**state); !ok) return ok;
  }
  return {};
}

// What the next state could stand on was taken back; none is pending.
void Trajectory::stand_alone() {
  first_ = true;
  if (encoder_) encoder_->forget();
}

Outcome<const std::byte*> Trajectory::decode(const Entry& entry, const std::byte* base, std::size_t number) {
  const std::span segment(base, tiers_->segment_bytes());
  if (fields_[number].encoded()) return decoder_->field(entry.step, segment, entry.record, number);
  auto record = EncodedRecord::at(segment, entry.record);
  if (!record) return pass_on(record);
  auto part = record->part(fields_, number);
  if (!part) return pass_on(part);
  return part->data();
}

// A step above the one that was read last, as an interpolation asks for, leads nowhere.
void Trajectory::decode_ahead(const Entry& read) {
  if (read.step > swept_to_ || &read == &index_[0]) return;
  swept_to_ = read.step;
  const Entry& next = *(&read - 1);  // they are sorted
  const std::byte* base = active_.base;
  if (next.segment == active_.segment) {
    segment::fence_stores();  // what this thread has streamed is for another one
  } else {
    if (next.segment != ahead_) {
      end_decoding_ahead();
      ahead_base_ = tiers_->hold_if_at_hand(next.segment);
      if (ahead_base_ == nullptr) return;
      ahead_ = next.segment;
    }
    base = ahead_base_;
  }
  try {
    decoder_->decode_ahead(next.step, std::span(base, tiers_->segment_bytes()), next.record);
  } catch (const std::bad_alloc&) {
    // Then it is decoded when it is asked for.
  }
}

void Trajectory::end_sweep() {
  sweeping_ = false;
  end_decoding_ahead();
}

void Trajectory::end_decoding_ahead() {
  if (!decoder_) return;
  decoder_->rest();
  if (ahead_ != kNone) tiers_->unhold(std::exchange(ahead_, kNone));
}

}  // namespace forebay::trajectory
