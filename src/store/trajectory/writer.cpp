#include "store/trajectory/writer.h"

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

namespace forebay::trajectory {

Writer::Writer(Kept& kept, Active& active, Reader& reader) : kept_(kept), active_(active), reader_(reader) {
  if (kept.options().debug) lender_.emplace();
}

tl::unexpected<Failure> cannot_store(std::int64_t step, int errno_value) {
  Error error;
  error.what = fmt::format("step {} cannot be stored", step);
  error.errno_value = errno_value;
  return tl::unexpected<Failure>(failure_of(error));
}

Done Writer::close() {
  step_open_ = false;
  reader_.sweep().rest();
  if (active_.segment == kNone) return {};
  if (auto ok = tiers().look_at_files(); !ok) return ok;
  return tiers().seal(active_, true);
}

Done Writer::begin_step(std::int64_t step) {
  if (step_open_) {
    return fail(FOREBAY_E_STEP_OPEN, "step {} cannot begin: step {} is open; commit or cancel it", step, step_);
  }
  if (kept_.index().find(step) != nullptr) {
    return fail(FOREBAY_E_STEP_EXISTS, "step {} is stored already; drop it, or rewind", step);
  }
  if (auto ok = tiers().look_at_files(); !ok) return ok;
  if (!fields().encoded() && active_.segment != kNone && active_.writer.has_room(payload_bytes())) {
    announce_next(payload_bytes());
    return {};
  }
  if (auto ok = kept_.refuse_to_write(); !ok) return ok;
  if (fields().all().empty()) return fail(FOREBAY_E_INVALID, "step {} cannot begin: no field is declared", step);
  if (!tiers().started()) {
    if (auto ok = kept_.begin(); !ok) return ok;
  }
  if (fields().encoded()) return reserve();
  if (auto ok = next_segment(); !ok) return ok;
  announce_next(payload_bytes());
  return {};
}

Done Writer::end_segment() {
  Active full = std::exchange(active_, {});
  return tiers().seal(full, reader_.pinned_in(full.segment) != 0);
}

void Writer::announce_next(std::uint64_t payload_bytes) {
  if (!next_announced_ && active_.writer.half_full_with(payload_bytes)) next_announced_ = tiers().announce_next();
}

Done Writer::next_segment() {
  if (active_.segment != kNone) {
    if (auto ok = end_segment(); !ok) return ok;
  }
  next_announced_ = false;
  if (spare_.segment != kNone) {
    active_ = std::exchange(spare_, {});
  } else {
    const auto no_space = [](const Outcome<Active>& got) { return !got && got.error().status == FOREBAY_E_NO_SPACE; };
    auto active = tiers().next();
    // A segment held only for the next read stands in nobody's way.
    if (no_space(active) && reader_.leave()) active = tiers().next();
    if (no_space(active) && !fields().encoded()) return clean(active.error());
    if (!active) return pass_on(active);
    active_ = *active;
  }
  reader_.make_room_for(active_.segment);
  return {};
}

Done Writer::clean(const Failure& no_room) {
  const std::uint64_t room = tiers().segment_bytes() - segment::kFirstRecord;
  const std::uint32_t from = tiers().sparsest(static_cast<std::uint32_t>(room / fields().record_bytes()));
  if (from == kNone) return tl::unexpected(no_room);
  auto base = tiers().hold(from);
  if (!base) return pass_on(base);
  auto active = tiers().next_for_cleaning();
  if (!active) {
    tiers().unhold(from);
    return pass_on(active);
  }
  active_ = *active;
  reader_.make_room_for(active_.segment);
  auto outcome = move_records(from, *base);
  tiers().unhold(from);
  tiers().leave(from, active_.live);
  return outcome;
}

// To the active segment, which is empty.
Done Writer::move_records(std::uint32_t from, const std::byte* base) {
  const Segment about = tiers().about(from);
  const std::uint64_t bytes = payload_bytes();
  segment::Writer& writer = active_.writer;
  for (const segment::RecordHeader& record : segment::headers_of({base, tiers().segment_bytes()}, about.extent)) {
    Entry* const entry = kept_.index().find(record.step);
    if (entry == nullptr || entry->segment != from || entry->record != record.record) continue;
    const std::byte* const payload = base + segment::payload_place(entry->payload);
    std::uint64_t check = record.payload_check;
    // A damaged one stays, and whoever gets it is told.
    if (about.arrivals != 0) {
      const bool sound = segment::is_record(record, record.record, tiers().store(), tiers().segment_bytes());
      if (!sound || (check != 0 && check != segment::payload_check(payload, bytes))) continue;
    }
    const std::uint32_t number = writer.record(), line = writer.payload_line(bytes);
    int failed = tiers().first_medium().store(writer.payload(bytes), payload, bytes);
    if (failed == 0) {
      if (!writer.checks()) check = 0;
      failed = writer.commit(record.step, entry->time, bytes, segment::Writer::Payload::stored, check);
    }
    if (failed != 0) return cannot_store(record.step, failed);
    entry->segment = active_.segment;
    entry->record = number;
    entry->payload = line;
    ++active_.live;
  }
  return {};
}

Done Writer::begin(std::int64_t step, double time, void** memory) {
  if (memory == nullptr || !std::isfinite(time)) {
    return fail(FOREBAY_E_INVALID, "step {}: {}", step, memory == nullptr ? "no memory for addresses" : "no time");
  }
  if (auto ok = begin_step(step); !ok) return ok;
  std::byte* state = fields().encoded() ? staged_ : active_.writer.payload(payload_bytes());
  if (lender_) {
    auto lent = lender_->lend(step, payload_bytes());
    if (!lent) return pass_on(lent);
    state = *lent;
  }
  for (const Field& field : fields().all()) *memory++ = state + field.offset;
  step_open_ = true;
  step_ = step;
  time_ = time;
  return {};
}

Done Writer::finish(segment::Writer::Payload how, std::uint64_t check) {
  step_open_ = false;
  if (fields().encoded()) return accept();
  // Word by word (store/segment/copy.h).
  Entry* const entry = kept_.index().insert(step_);
  if (entry == nullptr)
    return fail(FOREBAY_E_NO_MEMORY, "no memory for the index of {}", plural(kept_.index().size(), "step"));
  entry->time = time_;
  entry->segment = active_.segment;
  entry->record = active_.writer.record();
  entry->payload = active_.writer.payload_line(payload_bytes());
  if (const int failed = active_.writer.commit(step_, time_, payload_bytes(), how, check); failed != 0) {
    kept_.index().erase(entry);
    return cannot_store(step_, failed);
  }
  ++active_.live;
  return {};
}

Done Writer::commit() {
  if (!step_open_) return fail(FOREBAY_E_NO_OPEN_STEP, "there is no open step to commit; each is committed once");
  if (auto ok = tiers().look_at_files(); !ok) return ok;
  if (!lender_) return finish(segment::Writer::Payload::written);
  std::vector<const void*> memory;
  for (const Field& field : fields().all()) memory.push_back(lender_->lent() + field.offset);
  lender_->protect();
  auto check = store(memory.data());
  if (!check) return pass_on(check);
  return finish(segment::Writer::Payload::stored, *check);
}

Done Writer::cancel() {
  if (!step_open_) return fail(FOREBAY_E_NO_OPEN_STEP, "there is no open step to cancel");
  step_open_ = false;
  if (lender_) lender_->protect();
  return {};
}

Done Writer::put(std::int64_t step, double time, const void* const* memory) {
  if (memory == nullptr || !std::isfinite(time)) {
    return fail(FOREBAY_E_INVALID, "step {}: {}", step, memory == nullptr ? "no addresses" : "no time");
  }
  if (auto ok = begin_step(step); !ok) return ok;
  if (lender_) lender_->call_back();
  step_ = step;
  time_ = time;
  auto check = store(memory);
  if (!check) return pass_on(check);
  return finish(segment::Writer::Payload::stored, *check);
}

// To where the step that is open, or just begins, will be found.
Outcome<std::uint64_t> Writer::store(const void* const* memory) {
  segment::Medium& medium = tiers().first_medium();
  const bool checks = !fields().encoded() && active_.writer.checks();
  segment::PayloadHash hash;
  for (const Field& field : fields().all()) {
    const void* const from = *memory++;
    if (field.bytes == 0) continue;
    if (from == nullptr) {
      return fail(FOREBAY_E_INVALID, "step {}: field {} has no address", step_, field.name);
    }
    if (fields().encoded()) {
      std::memcpy(staged_ + field.offset, from, field.bytes);
      continue;
    }
    std::byte* const to = active_.writer.payload(payload_bytes()) + field.offset;
    const int failed =
        checks ? segment::store_hashed(medium, to, from, field.bytes, hash) : medium.store(to, from, field.bytes);
    if (failed != 0) return fail(FOREBAY_E_IO, "step {} cannot be written: {}", step_, std::strerror(failed));
    // The bytes between fields belong to the payload.
    if (checks) hash.add(to + field.bytes, segment::round_to_lines(field.bytes) - field.bytes);
  }
  return checks ? hash.value() : 0;
}

Done Writer::drop(std::int64_t step) {
  if (auto ok = kept_.refuse_to_write(); !ok) return ok;
  auto found = kept_.find(step);
  if (!found) return pass_on(found);
  Entry* const entry = *found;
  if (auto ok = tiers().look_at_files(); !ok) return ok;
  if (entry->pins != 0) return fail(FOREBAY_E_PINNED, "step {} cannot be dropped: it is pinned; release it", step);
  if (auto ok = place_pending(); !ok) return ok;
  reader_.sweep().pause();  // it may be reading the header that is marked
  if (entry->segment == active_.segment) {
    if (step_open_ && !fields().encoded())
      return fail(FOREBAY_E_STEP_OPEN, "step {} cannot be dropped while step {} is open", step, step_);
    if (const int failed = active_.writer.drop(entry->record); failed != 0) {
      return fail(FOREBAY_E_IO, "step {} cannot be dropped: {}", step, std::strerror(failed));
    }
    --active_.live;
    if (active_.writer.record() == entry->record) {
      // The state that the next one could stand on was taken back; none is pending.
      active_.first = true;
      if (encoder_) encoder_->forget();
    }
  } else if (auto ok = tiers().drop(entry->segment, entry->record); !ok) {
    return ok;
  }
  reader_.sweep().forget(step);
  if (lender_) lender_->forget(step);
  kept_.index().erase(entry);
  return {};
}

Done Writer::move(std::int64_t step, int tier) {
  if (auto ok = kept_.refuse_to_write(); !ok) return ok;
  auto found = kept_.find(step);
  if (!found) return pass_on(found);
  const Entry* const entry = *found;
  if (auto ok = tiers().look_at_files(); !ok) return ok;
  if (tier < 0 || static_cast<std::size_t>(tier) >= tiers().count()) {
    return fail(FOREBAY_E_NO_SUCH_TIER, "step {} cannot move: there is no tier {}, {} are open, counted from 0", step,
                tier, tiers().count());
  }
  if (auto ok = place_pending(); !ok) return ok;
  if (const std::uint32_t pinned = reader_.pinned_in(entry->segment); pinned != 0) {
    return fail(FOREBAY_E_PINNED, "step {} cannot move: its segment has {} pinned; release what is", step,
                plural(pinned, "step"));
  }
  if (entry->segment == active_.segment) {
    if (tier == 0) return {};
    if (step_open_) return fail(FOREBAY_E_STEP_OPEN, "step {} cannot move while step {} is open", step, step_);
    if (auto ok = end_segment(); !ok) return ok;
  }
  reader_.leave();
  if (lender_) lender_->forget(step);
  return tiers().move_to(entry->segment, static_cast<std::uint32_t>(tier));
}

Done Writer::rewind() {
  if (auto ok = kept_.refuse_to_write(); !ok) return ok;
  if (step_open_) return fail(FOREBAY_E_STEP_OPEN, "rewind while step {} is open; commit or cancel it", step_);
  const std::uint64_t pinned = reader_.pinned();
  if (pinned != 0) return fail(FOREBAY_E_PINNED, "rewind with {} pinned; release what is", plural(pinned, "state"));
  reader_.leave();
  reader_.sweep().end();
  if (auto ok = tiers().rewind(); !ok) return ok;
  if (encoder_) encoder_->clear();
  reader_.sweep().clear();
  if (lender_) lender_->call_back();
  active_ = spare_ = {};
  kept_.index().clear();
  return {};
}

}  // namespace forebay::trajectory
