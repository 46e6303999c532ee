#include "store/trajectory/trajectory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace forebay::trajectory {
Outcome<std::unique_ptr<Trajectory>> Trajectory::open(const Options& options) {
  std::unique_ptr<Trajectory> made(new Trajectory(options));
  if (options.debug) made->lender_.emplace();
  auto tiers = Tiers::open(made->options_);
  if (!tiers) return pass_on(tiers);
  made->tiers_ = std::move(*tiers);
  if (made->tiers_->found_head()) {
    if (auto ok = made->load(); !ok) {
      made->tiers_->take_back();
      return pass_on(ok);
    }
  }
  return made;
}

Trajectory::~Trajectory() = default;

Done Trajectory::close() {
  const bool was_open = step_open_;
  const std::int64_t step = open_step_;
  step_open_ = false;
  end_decoding_ahead();
  Done sealed;
  if (active_.segment != kNone) {
    sealed = tiers_->look_at_files();
    if (sealed) sealed = tiers_->seal(writer_, active_.segment, active_live_, true);
  }
  if (tiers_->kept() && !tiers_->started() && !tiers_->read_only()) (void)tiers_->keep(false, {});
  tiers_.reset();
  if (!sealed) return sealed;
  if (was_open) return fail(FOREBAY_E_CLOSED_OPEN, "closed while step {} was open: that step is not stored", step);
  return {};
}

// --- a store that was kept
// -----------------------------------------------------------------------------------------------

Done Trajectory::load() {
  for (const segment::FieldEntry& entry : tiers_->found_head()->head.fields) {
    if (auto ok = take_over(entry); !ok) return ok;
  }
  fix_fields();
  struct Older {
    std::uint32_t segment;
    std::uint32_t record;
  };
  std::vector<Older> older;
  std::vector<std::uint32_t> live;
  std::uint64_t strange = 0, unchecked = 0;
  // Encoded fields have checksums of their own.
  const bool checked = std::all_of(fields_.begin(), fields_.end(),
                                   [](const Field& field) { return field.encoded() || field.bytes == 0; });
  bool memory = true;
  auto loaded = tiers_->load(
      [&](std::uint32_t number, const segment::RecordHeader& record) {
        if (live.size() <= number) live.resize(number + 1, 0);
        if (encoded_ ? record.payload_bytes > record_bytes_ - segment::kLine : record.payload_bytes != payload_bytes_) {
          ++strange;
          return;
        }
        ++live[number];
        unchecked += record.payload_check == 0 && !checked ? 1 : 0;
        Entry* entry = index_.find(record.step);
        if (entry != nullptr) {
          // Dropped and stored again, and the mark of the drop was lost with the machine's power.
          older.push_back({entry->segment, entry->record});
        } else if (entry = index_.insert(record.step); entry == nullptr) {
          memory = false;
          return;
        }
        *entry = {record.step, record.time, number, record.record, record.payload};
      },
      record_bytes_);
  if (!loaded) return loaded;
  if (!memory) return fail(FOREBAY_E_NO_MEMORY, "no memory for the index of {}", plural(index_.size(), "step"));
  if (unchecked != 0 && options_.checksum.value_or(false)) {
    return fail(FOREBAY_E_INVALID,
                "checksum \"on\" cannot be had: the store has {} kept without; leave the option away to read them",
                plural(unchecked, "step"));
  }
  if (strange != 0) tiers_->remark(fmt::format("{} of another size than its fields", plural(strange, "step")));
  if (auto ok = tiers_->go_on(live); !ok) return ok;
  for (const Older& record : older) {
    if (tiers_->read_only()) break;
    if (auto ok = tiers_->drop(record.segment, record.record); !ok) return ok;
  }
  return {};
}

Done Trajectory::refuse_to_write() const {
  if (!tiers_->read_only()) return {};
  return fail(FOREBAY_E_READ_ONLY, "the trajectory was opened to be read only");
}

Outcome<std::uint64_t> Trajectory::capacity() {
  if (fields_.empty()) return fail(FOREBAY_E_INVALID, "no field is declared: nobody knows how large a state is");
  const std::uint64_t record = segment::kLine + (encoded() ? largest_payload(fields_) : payload_bytes_);
  auto all = tiers_->capacity(record);
  if (!all) return pass_on(all);
  return all->segments * ((all->segment_bytes - segment::kFirstRecord) / record);
}

// --- forward
// -------------------------------------------------------------------------------------------------------------

Done Trajectory::begin_step(std::int64_t step) {
  if (step_open_) {
    return fail(FOREBAY_E_STEP_OPEN, "step {} cannot begin: step {} is open; commit or cancel it", step, open_step_);
  }
  if (index_.find(step) != nullptr) {
    return fail(FOREBAY_E_STEP_EXISTS, "step {} is stored already; drop it, or rewind", step);
  }
  if (auto ok = tiers_->look_at_files(); !ok) return ok;
  if (!encoded_ && active_.segment != kNone && writer_.has_room(payload_bytes_)) {
    announce_next(payload_bytes_);
    return {};
  }
  if (auto ok = refuse_to_write(); !ok) return ok;
  if (fields_.empty()) return fail(FOREBAY_E_INVALID, "step {} cannot begin: no field is declared", step);
  if (!tiers_->started()) {
    if (auto ok = start_store(); !ok) return ok;
  }
  if (encoded_) return reserve();
  if (auto ok = next_segment(); !ok) return ok;
  announce_next(payload_bytes_);
  return {};
}

Done Trajectory::start_store() {
  fix_fields();
  std::vector<segment::FieldEntry> entries;
  for (const Field& field : fields_)
    entries.push_back({field.name, field.type, field.count, field.accepted, field.shape});
  return tiers_->begin_store(entries, record_bytes_);
}

Done Trajectory::end_segment() {
  const std::uint32_t full = std::exchange(active_.segment, kNone);
  return tiers_->seal(writer_, full, active_live_, held(full));
}

void Trajectory::announce_next(std::uint64_t payload_bytes) {
  if (!next_announced_ && writer_.half_full_with(payload_bytes)) next_announced_ = tiers_->announce_next();
}

Done Trajectory::next_segment() {
  if (active_.segment != kNone) {
    if (auto ok = end_segment(); !ok) return ok;
  }
  active_live_ = 0;
  next_announced_ = false;
  first_ = true;
  if (spare_.segment != kNone) {
    active_ = std::exchange(spare_, {});
    writer_ = spare_writer_;
  } else {
    auto active = tiers_->next(writer_);
    if (!active && active.error().status == FOREBAY_E_NO_SPACE && (reading_ != kNone || ahead_ != kNone)) {
      // What is held for the next read only stands in nobody's way.
      leave();
      end_decoding_ahead();
      active = tiers_->next(writer_);
    }
    if (!active && (active.error().status != FOREBAY_E_NO_SPACE || encoded_)) return pass_on(active);
    if (!active) return clean(active.error());
    active_ = *active;
  }
  if (pins_.size() <= active_.segment) pins_.resize(active_.segment + 1, 0);
  return {};
}

Done Trajectory::clean(const Failure& no_room) {
  const auto records = static_cast<std::uint32_t>((tiers_->segment_bytes() - segment::kFirstRecord) / record_bytes_);
  const std::uint32_t from = tiers_->sparsest(records);
  if (from == kNone) return tl::unexpected(no_room);
  auto base = tiers_->hold(from);
  if (!base) return pass_on(base);
  auto active = tiers_->next_for_cleaning(writer_);
  if (!active) {
    tiers_->unhold(from);
    return pass_on(active);
  }
  active_ = *active;
  if (pins_.size() <= active_.segment) pins_.resize(active_.segment + 1, 0);
  const Segment about = tiers_->about(from);
  const std::span memory(*base, tiers_->segment_bytes());
  std::uint32_t moved = 0;
  Done outcome;
  for (const segment::RecordHeader& record : segment::headers_of(memory, about.extent)) {
    Entry* const entry = index_.find(record.step);
    if (entry == nullptr || entry->segment != from || entry->record != record.record) continue;
    const std::byte* const payload = *base + segment::payload_place(entry->payload);
    std::uint64_t check = record.payload_check;
    // A damaged one stays, and whoever gets it is told.
    if (about.arrivals != 0) {
      const bool sound = segment::is_record(record, record.record, tiers_->store(), tiers_->segment_bytes());
      if (!sound || (check != 0 && check != segment::payload_check(payload, payload_bytes_))) continue;
    }
    const std::uint32_t number = writer_.record(), line = writer_.payload_line(payload_bytes_);
    int failed = tiers_->first_medium().store(writer_.payload(payload_bytes_), payload, payload_bytes_);
    if (failed == 0) {
      if (!writer_.checks()) check = 0;
      failed = writer_.commit(record.step, entry->time, payload_bytes_, segment::Writer::Payload::stored, check);
    }
    if (failed != 0) {
      outcome = cannot_store(record.step, failed);
      break;
    }
    entry->segment = active_.segment;
    entry->record = number;
    entry->payload = line;
    ++active_live_;
    ++moved;
  }
  tiers_->unhold(from);
  tiers_->leave(from, moved);
  return outcome;
}

Done Trajectory::begin(std::int64_t step, double time, void** memory) {
  if (memory == nullptr || !std::isfinite(time)) {
    return fail(FOREBAY_E_INVALID, "step {}: {}", step, memory == nullptr ? "no memory for addresses" : "no time");
  }
  if (auto ok = begin_step(step); !ok) return ok;
  std::byte* state = encoded_ ? staged_ : writer_.payload(payload_bytes_);
  if (lender_) {
    auto lent = lender_->lend(step, payload_bytes_);
    if (!lent) return pass_on(lent);
    state = *lent;
  }
  for (std::size_t i = 0; i < fields_.size(); ++i) memory[i] = state + fields_[i].offset;
  step_open_ = true;
  open_step_ = step;
  open_time_ = time;
  return {};
}

Done Trajectory::finish(segment::Writer::Payload how, std::uint64_t check) {
  step_open_ = false;
  if (encoded_) return accept();
  // Word by word (store/segment/copy.h).
  Entry* const entry = index_.insert(open_step_);
  if (entry == nullptr)
    return fail(FOREBAY_E_NO_MEMORY, "no memory for the index of {}", plural(index_.size(), "step"));
  entry->time = open_time_;
  entry->segment = active_.segment;
  entry->record = writer_.record();
  entry->payload = writer_.payload_line(payload_bytes_);
  if (const int failed = writer_.commit(open_step_, open_time_, payload_bytes_, how, check); failed != 0) {
    index_.erase(entry);
    return cannot_store(open_step_, failed);
  }
  ++active_live_;
  return {};
}

Done Trajectory::commit() {
  if (!step_open_) return fail(FOREBAY_E_NO_OPEN_STEP, "there is no open step to commit; each is committed once");
  if (auto ok = tiers_->look_at_files(); !ok) return ok;
  if (!lender_) return finish(segment::Writer::Payload::written);
  std::vector<const void*> memory;
  for (const Field& field : fields_) memory.push_back(lender_->lent() + field.offset);
  lender_->protect();
  auto check = store(memory.data());
  if (!check) return pass_on(check);
  return finish(segment::Writer::Payload::stored, *check);
}

Done Trajectory::cancel() {
  if (!step_open_) return fail(FOREBAY_E_NO_OPEN_STEP, "there is no open step to cancel");
  step_open_ = false;
  if (lender_) lender_->protect();
  return {};
}

Done Trajectory::put(std::int64_t step, double time, const void* const* memory) {
  if (memory == nullptr || !std::isfinite(time)) {
    return fail(FOREBAY_E_INVALID, "step {}: {}", step, memory == nullptr ? "no addresses" : "no time");
  }
  if (auto ok = begin_step(step); !ok) return ok;
  if (lender_) lender_->call_back();
  open_step_ = step;
  open_time_ = time;
  auto check = store(memory);
  if (!check) return pass_on(check);
  return finish(segment::Writer::Payload::stored, *check);
}

// To where the step that is open, or just begins, will be found.
Outcome<std::uint64_t> Trajectory::store(const void* const* memory) {
  segment::Medium& medium = tiers_->first_medium();
  const bool checks = !encoded_ && writer_.checks();
  segment::PayloadHash hash;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    if (field.bytes == 0) continue;
    if (memory[i] == nullptr) {
      return fail(FOREBAY_E_INVALID, "step {}: field {} has no address", open_step_, field.name);
    }
    if (encoded_) {
      std::memcpy(staged_ + field.offset, memory[i], field.bytes);
      continue;
    }
    std::byte* const to = writer_.payload(payload_bytes_) + field.offset;
    const int failed = checks ? segment::store_hashed(medium, to, memory[i], field.bytes, hash)
                              : medium.store(to, memory[i], field.bytes);
    if (failed != 0) return fail(FOREBAY_E_IO, "step {} cannot be written: {}", open_step_, std::strerror(failed));
    // What stands between fields belongs to the payload.
    if (checks) hash.add(to + field.bytes, segment::round_to_lines(field.bytes) - field.bytes);
  }
  return checks ? hash.value() : 0;
}

// --- backwards
// -------------------------------------------------------------------------------------------------------------

tl::unexpected<Failure> Trajectory::unknown(std::int64_t step) {
  if (index_.size() == 0) return fail(FOREBAY_E_NO_SUCH_STEP, "step {} is not stored: no step is", step);
  return fail(FOREBAY_E_NO_SUCH_STEP, "step {} is not stored; stored: {}, from {} to {}", step,
              plural(index_.size(), "step"), index_[0].step, index_[index_.size() - 1].step);
}

void Trajectory::leave() {
  if (reading_ == kNone) return;
  if (!held(reading_)) tiers_->unhold(reading_);
  reading_ = kNone;
  doubt_ = nullptr;
}

// Where a segment is that needs no hold; nullptr for another.
inline const std::byte* Trajectory::at_hand(std::uint32_t segment) const noexcept {
  if (segment == reading_) return reading_base_;
  return segment == active_.segment ? active_.base : nullptr;
}

// The address of the entry's segment, which stays valid at least until the next call.
Outcome<const std::byte*> Trajectory::hold(Entry& entry) {
  if (const std::byte* const base = at_hand(entry.segment); base != nullptr) return base;
  leave();
  // What is held ahead of a sweep must not take the room of what is wanted now.
  if (entry.segment != ahead_) end_decoding_ahead();
  auto base = tiers_->hold(entry.segment);
  if (!base) return base;
  if (pins_.size() <= entry.segment) pins_.resize(entry.segment + 1, 0);
  if (held(entry.segment)) tiers_->unhold(entry.segment);  // it was held already, once is enough
  reading_ = entry.segment;
  reading_base_ = *base;
  doubt_ = nullptr;
  const Segment about = tiers_->about(entry.segment);
  if (about.arrivals == 0) return base;
  if (doubts_.size() <= entry.segment) doubts_.resize(entry.segment + 1);
  auto& doubt = doubts_[entry.segment];
  if (!doubt || doubt->generation != about.generation || doubt->arrivals != about.arrivals) {
    doubt = std::make_unique<Doubt>(Doubt{about.generation, about.arrivals, {}});
    doubt->verified.resize((about.extent.headers - segment::kFirstRecord) / segment::kLine);
  }
  doubt->every_read = about.place.tier == 0 && tiers_->compares_every_read();
  doubt_ = doubt.get();
  return base;
}

inline bool Trajectory::must_verify(const Entry& entry) const noexcept {
  if (entry.segment != reading_) return tiers_->compares_every_read() && entry.segment == active_.segment;
  return doubt_ != nullptr && (doubt_->every_read || !doubt_->verified[entry.record]);
}

// The header and the payload must be those that the index knows of: what was read may be a page of another place, or
// nothing.
Done Trajectory::verify(Entry& entry, const std::byte* base) {
  segment::RecordHeader header;
  std::memcpy(&header, base + segment::header_place(entry.record), sizeof(header));
  const std::uint64_t place = segment::payload_place(entry.payload);
  const bool active = entry.segment != reading_;
  const std::uint64_t generation = active ? writer_.generation() : doubt_->generation;
  const bool fits = segment::is_record(header, entry.record, tiers_->store(), tiers_->segment_bytes()) &&
                    header.generation == generation && header.step == entry.step && header.payload == entry.payload &&
                    (encoded_ || header.payload_bytes == payload_bytes_);
  // 0: it has none.
  const auto is_whole = [&] {
    return header.payload_check == 0 ||
           header.payload_check == segment::payload_check(base + place, header.payload_bytes);
  };
  if (!fits || !is_whole()) {
    return fail(FOREBAY_E_DAMAGED, "step {} is damaged: its checksum does not fit ({}, byte {})", entry.step,
                tiers_->place_of(entry.segment), place);
  }
  if (!active) doubt_->verified[entry.record] = true;
  return {};
}

Outcome<const void*> Trajectory::get(std::int64_t step, int number) {
  if (number < 0 || static_cast<std::size_t>(number) >= fields_.size()) return pass_on(field(number));
  Entry* const entry = index_.find(step);
  if (entry == nullptr) return unknown(step);
  if (auto ok = tiers_->look_at_files(); !ok) return pass_on(ok);
  if (entry->segment == kNone) {
    if (auto ok = place_pending(); !ok) return pass_on(ok);
  }
  auto base = hold(*entry);
  if (!base) return pass_on(base);
  if (must_verify(*entry)) {
    if (auto ok = verify(*entry, *base); !ok) return pass_on(ok);
  }
  if (!encoded_ && lender_) {
    auto shown = lender_->show(step, *base + segment::payload_place(entry->payload), payload_bytes_);
    if (!shown) return pass_on(shown);
    pin(*entry);
    return *shown + fields_[static_cast<std::size_t>(number)].offset;
  }
  if (!encoded_) return pin(*entry, *base, number);
  auto decoded = decode(*entry, *base, static_cast<std::size_t>(number));
  if (!decoded) return pass_on(decoded);
  pin(*entry);
  if (sweeping_) decode_ahead(*entry);
  return *decoded;
}

inline void Trajectory::pin(Entry& entry) noexcept {
  ++entry.pins;
  ++pins_[entry.segment];
}

inline void Trajectory::unpin(Entry& entry) noexcept {
  --entry.pins;
  --pins_[entry.segment];
}

inline const void* Trajectory::pin(Entry& entry, const std::byte* base, int number) noexcept {
  const Field& field = fields_[static_cast<std::size_t>(number)];
  const std::byte* const memory = base + segment::payload_place(entry.payload) + field.offset;
  pin(entry);
  return memory;
}

const void* Trajectory::get_at_hand(std::int64_t step, int number) noexcept {
  if (encoded_ || lender_ || number < 0 || static_cast<std::size_t>(number) >= fields_.size()) return nullptr;
  Entry* const entry = index_.find(step);
  if (entry == nullptr || must_verify(*entry)) return nullptr;
  const std::byte* const base = at_hand(entry->segment);
  if (base == nullptr || (tiers_->kept() && !tiers_->look_at_files())) return nullptr;
  return pin(*entry, base, number);
}

bool Trajectory::release_at_hand(std::int64_t step) noexcept {
  if (encoded_ || lender_) return false;
  Entry* const entry = index_.find(step);
  if (entry == nullptr || entry->pins == 0 || at_hand(entry->segment) == nullptr) return false;
  unpin(*entry);
  return true;
}

Done Trajectory::release(std::int64_t step) {
  Entry* const entry = index_.find(step);
  if (entry == nullptr) return unknown(step);
  if (entry->pins == 0) return fail(FOREBAY_E_NOT_PINNED, "step {} is released, but no get has pinned it", step);
  unpin(*entry);
  if (decoder_ && entry->pins == 0) decoder_->unpin(step);
  if (lender_ && entry->pins == 0) lender_->hide(step);
  if (!held(entry->segment) && at_hand(entry->segment) == nullptr) tiers_->unhold(entry->segment);
  return {};
}

Done Trajectory::reverse(std::int64_t from) {
  const std::size_t after = index_.position(from);
  const bool stored = after < index_.size() && index_[after].step == from;
  if (!stored && after == 0) return unknown(from);
  if (auto ok = place_pending(); !ok) return ok;
  if (decoder_ && options_.encoders != 0) {
    decoder_->begin_sweep();
    sweeping_ = true;
    swept_to_ = from;
  }
  const Entry& first = index_[stored ? after : after - 1];
  tiers_->reverse(first.segment == active_.segment ? kNone : first.segment);
  return {};
}

Done Trajectory::drop(std::int64_t step) {
  if (auto ok = refuse_to_write(); !ok) return ok;
  Entry* const entry = index_.find(step);
  if (entry == nullptr) return unknown(step);
  if (auto ok = tiers_->look_at_files(); !ok) return ok;
  if (entry->pins != 0) return fail(FOREBAY_E_PINNED, "step {} cannot be dropped: it is pinned; release it", step);
  if (auto ok = place_pending(); !ok) return ok;
  if (decoder_) decoder_->rest();  // it may be reading the header that is marked
  if (entry->segment == active_.segment) {
    if (step_open_ && !encoded_)
      return fail(FOREBAY_E_STEP_OPEN, "step {} cannot be dropped while step {} is open", step, open_step_);
    if (const int failed = writer_.drop(entry->record); failed != 0) {
      return fail(FOREBAY_E_IO, "step {} cannot be dropped: {}", step, std::strerror(failed));
    }
    --active_live_;
    if (writer_.record() == entry->record) stand_alone();
  } else if (auto ok = tiers_->drop(entry->segment, entry->record); !ok) {
    return ok;
  }
  if (decoder_) decoder_->forget(step);
  if (lender_) lender_->forget(step);
  index_.erase(entry);
  return {};
}

Done Trajectory::move(std::int64_t step, int tier) {
  if (auto ok = refuse_to_write(); !ok) return ok;
  const Entry* const entry = index_.find(step);
  if (entry == nullptr) return unknown(step);
  if (auto ok = tiers_->look_at_files(); !ok) return ok;
  if (tier < 0 || static_cast<std::size_t>(tier) >= tiers_->count()) {
    return fail(FOREBAY_E_NO_SUCH_TIER, "step {} cannot move: there is no tier {}, {} are open, counted from 0", step,
                tier, tiers_->count());
  }
  if (auto ok = place_pending(); !ok) return ok;
  if (held(entry->segment)) {
    return fail(FOREBAY_E_PINNED, "step {} cannot move: its segment has {} pinned; release what is", step,
                plural(pins_[entry->segment], "step"));
  }
  if (entry->segment == active_.segment) {
    if (tier == 0) return {};
    if (step_open_) return fail(FOREBAY_E_STEP_OPEN, "step {} cannot move while step {} is open", step, open_step_);
    if (auto ok = end_segment(); !ok) return ok;
  }
  leave();
  end_decoding_ahead();
  if (lender_) lender_->forget(step);
  return tiers_->move_to(entry->segment, static_cast<std::uint32_t>(tier));
}

Done Trajectory::rewind() {
  if (auto ok = refuse_to_write(); !ok) return ok;
  if (step_open_) return fail(FOREBAY_E_STEP_OPEN, "rewind while step {} is open; commit or cancel it", open_step_);
  const std::uint64_t pinned = std::accumulate(pins_.begin(), pins_.end(), std::uint64_t{0});
  if (pinned != 0) return fail(FOREBAY_E_PINNED, "rewind with {} pinned; release what is", plural(pinned, "state"));
  leave();
  end_sweep();
  if (auto ok = tiers_->rewind(); !ok) return ok;
  if (encoder_) encoder_->clear();
  if (decoder_) decoder_->clear();
  if (lender_) lender_->call_back();
  active_ = spare_ = {};
  index_.clear();
  return {};
}

Done Trajectory::keep(bool kept) {
  if (auto ok = refuse_to_write(); !ok) return ok;
  if (auto ok = kept ? tiers_->look_at_files() : Done{}; !ok) return ok;
  if (auto ok = place_pending(); !ok) return ok;
  end_decoding_ahead();
  return tiers_->keep(kept, [this](std::uint32_t segment, const segment::RecordHeader& record) {
    const Entry* entry = index_.find(record.step);
    return entry != nullptr && entry->segment == segment && entry->record == record.record;
  });
}

Outcome<const Entry*> Trajectory::at(std::size_t position) {
  if (position >= index_.size()) {
    return fail(FOREBAY_E_NO_SUCH_STEP, "there is no step at position {}: {} are stored", position, index_.size());
  }
  return &index_[position];
}

Outcome<const Entry*> Trajectory::find(std::int64_t step) {
  const Entry* entry = index_.find(step);
  if (entry == nullptr) return unknown(step);
  return entry;
}

}  // namespace forebay::trajectory
