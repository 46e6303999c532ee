// The way of states that are encoded into the store (encoder.h).
#include <utility>

#include "store/trajectory/clock.h"
#include "store/trajectory/writer.h"

namespace forebay::trajectory {

// For all that are pending and one more, each as large as it can become.
bool Writer::has_room(const Active& active) const {
  const std::uint64_t wanted = (encoder_->pending() + 1) * fields().record_bytes() - segment::kLine;
  return active.segment != kNone && active.writer.has_room(wanted);
}

Done Writer::reserve() {
  reader_.sweep().end();
  if (!encoder_) {
    encoder_ = std::make_unique<Encoder>(fields().all(), kept_.options().encoders);
    kept_.fields().fix_codecs();
  }
  for (;;) {
    const bool wait = encoder_->full();
    const auto start = std::chrono::steady_clock::now();
    auto ready = encoder_->oldest(wait);
    if (wait) waited_for_codecs_ += seconds_since(start);
    if (!ready) return pass_on(ready);
    if (*ready == nullptr) break;
    if (auto ok = place(**ready); !ok) return ok;
  }
  if (!has_room(active_) && !has_room(spare_)) {
    // States become smaller than they can become: with a second segment at hand the first one is filled to its end.
    if (spare_.segment == kNone) spare_ = tiers().next().value_or(Active{});
    if (!has_room(spare_)) {
      if (auto ok = place_pending(); !ok) return ok;
    }
    if (!has_room(active_) && !has_room(spare_)) {
      if (auto ok = next_segment(); !ok) return ok;
    }
  }
  auto memory = encoder_->stage();
  if (!memory) return pass_on(memory);
  staged_ = *memory;
  return {};
}

Done Writer::accept() {
  reader_.sweep().end();
  Entry* const entry = kept_.index().insert(step_);
  if (entry == nullptr)
    return fail(FOREBAY_E_NO_MEMORY, "no memory for the index of {}", plural(kept_.index().size(), "step"));
  entry->time = time_;
  entry->segment = kNone;
  encoder_->accept(step_, time_);
  if (!tiers().kept() && encoder_->has_threads()) return {};
  auto stored = place_pending();
  if (!stored) {
    encoder_->clear();
    kept_.index().erase(kept_.index().find(step_));
  }
  return stored;
}

Done Writer::place(const Encoder::Encoded& state) {
  if (active_.segment == kNone || !active_.writer.has_room(state.payload_bytes)) {
    if (auto ok = next_segment(); !ok) return ok;
  }
  if (active_.first && !state.alone) {
    encoder_->start_again();
    return {};
  }
  announce_next(state.payload_bytes);
  segment::Medium& medium = tiers().first_medium();
  const std::uint32_t record = active_.writer.record(), line = active_.writer.payload_line(state.payload_bytes);
  std::byte* to = active_.writer.payload(state.payload_bytes);
  int failed = 0;
  segment::PayloadHash hash;
  for (const auto& part : state.parts) {
    const std::uint64_t room = segment::round_to_lines(part.size());
    if (failed == 0 && !active_.writer.checks()) failed = medium.store(to, part.data(), part.size());
    if (failed == 0 && active_.writer.checks()) {
      failed = segment::store_hashed(medium, to, part.data(), part.size(), hash);
      hash.add(to + part.size(), room - part.size());
    }
    to += room;
  }
  if (failed == 0) {
    const std::uint64_t check = active_.writer.checks() ? hash.value() : 0;
    failed =
        active_.writer.commit(state.step, state.time, state.payload_bytes, segment::Writer::Payload::stored, check);
  }
  if (failed != 0) return cannot_store(state.step, failed);
  Entry* const entry = kept_.index().find(state.step);
  entry->segment = active_.segment;
  entry->record = record;
  entry->payload = line;
  ++active_.live;
  active_.first = false;
  encoder_->pop();
  return {};
}

Done Writer::place_pending() {
  while (encoder_ && encoder_->pending() > 0) {
    auto state = encoder_->oldest(true);
    if (!state) return pass_on(state);
    if (auto ok = place(**state); !ok) return ok;
  }
  return {};
}

forebay_encoding_info Writer::encoding(int field) const {
  forebay_encoding_info info =
      encoder_ ? encoder_->info(static_cast<std::size_t>(field)) : nothing_stored(fields()[field]);
  if (!fields().encoded()) {
    info.states = kept_.index().size();
    info.raw_bytes = info.stored_bytes = info.states * fields()[field].bytes;
  }
  return info;
}

}  // namespace forebay::trajectory
