#include "store/trajectory/reader.h"

#include <cstring>
#include <numeric>
#include <utility>

namespace forebay::trajectory {

Reader::Reader(Kept& kept, const Active& active) : kept_(kept), active_(active), sweep_(kept, active) {
  if (kept.options().debug) shown_.emplace();
}

void Reader::make_room_for(std::uint32_t segment) {
  if (pins_.size() <= segment) pins_.resize(segment + 1, 0);
}

std::uint64_t Reader::pinned() const {
  return std::accumulate(pins_.begin(), pins_.end(), std::uint64_t{0});
}

// --- segments
// ----------------------------------------------------------------------------------------------------------

bool Reader::leave_last() {
  if (reading_ == kNone) return false;
  if (pinned_in(reading_) == 0) kept_.tiers().unhold(reading_);
  reading_ = kNone;
  doubts_.turn_away();
  return true;
}

bool Reader::leave() {
  const bool last = leave_last();
  return sweep_.rest() || last;
}

// Where a segment is that needs no hold; nullptr for another.
inline const std::byte* Reader::at_hand(std::uint32_t segment) const noexcept {
  if (segment == reading_) return reading_base_;
  return segment == active_.segment ? active_.base : nullptr;
}

// The address of the entry's segment, which stays valid at least until the next call.
Outcome<const std::byte*> Reader::hold(const Entry& entry) {
  if (const std::byte* const base = at_hand(entry.segment); base != nullptr) return base;
  leave_last();
  // Segments held ahead of a sweep must not take the room of the one that is wanted now.
  if (!sweep_.holds(entry.segment)) sweep_.rest();
  Tiers& tiers = kept_.tiers();
  auto base = tiers.hold(entry.segment);
  if (!base) return base;
  make_room_for(entry.segment);
  if (pinned_in(entry.segment) != 0) tiers.unhold(entry.segment);  // it was held already, once is enough
  reading_ = entry.segment;
  reading_base_ = *base;
  const Segment about = tiers.about(entry.segment);
  doubts_.turn_to(entry.segment, about, about.place.tier == 0 && tiers.compares_every_read());
  return base;
}

// --- damage
// ------------------------------------------------------------------------------------------------------------

inline bool Reader::must_verify(const Entry& entry) const noexcept {
  if (entry.segment == reading_) return doubts_.must_verify(entry.record);
  return kept_.tiers().compares_every_read() && entry.segment == active_.segment;
}

// The header and the payload must be those that the index knows of: what was read may be a page of another place, or
// nothing.
Done Reader::verify(const Entry& entry, const std::byte* base) {
  segment::RecordHeader header;
  std::memcpy(&header, base + segment::header_place(entry.record), sizeof(header));
  const Tiers& tiers = kept_.tiers();
  const std::uint64_t place = segment::payload_place(entry.payload);
  const bool active = entry.segment != reading_;
  const std::uint64_t generation = active ? active_.writer.generation() : doubts_.generation();
  const bool fits = segment::is_record(header, entry.record, tiers.store(), tiers.segment_bytes()) &&
                    header.generation == generation && header.step == entry.step && header.payload == entry.payload &&
                    (kept_.fields().encoded() || header.payload_bytes == kept_.fields().payload_bytes());
  // 0: it has none.
  const auto is_whole = [&] {
    return header.payload_check == 0 ||
           header.payload_check == segment::payload_check(base + place, header.payload_bytes);
  };
  if (!fits || !is_whole()) {
    return fail(FOREBAY_E_DAMAGED, "step {} is damaged: its checksum does not fit ({}, byte {})", entry.step,
                kept_.tiers().place_of(entry.segment), place);
  }
  if (!active) doubts_.set_verified(entry.record);
  return {};
}

// --- states
// ------------------------------------------------------------------------------------------------------------

inline void Reader::pin(Entry& entry) noexcept {
  ++entry.pins;
  ++pins_[entry.segment];
}

inline void Reader::unpin(Entry& entry) noexcept {
  --entry.pins;
  --pins_[entry.segment];
}

inline const void* Reader::pin(Entry& entry, const std::byte* base, int number) noexcept {
  const std::byte* const memory = base + segment::payload_place(entry.payload) + kept_.fields()[number].offset;
  pin(entry);
  return memory;
}

Outcome<const void*> Reader::get(Entry& entry, int number) {
  auto base = hold(entry);
  if (!base) return pass_on(base);
  if (must_verify(entry)) {
    if (auto ok = verify(entry, *base); !ok) return pass_on(ok);
  }
  const Fields& fields = kept_.fields();
  if (!fields.encoded() && shown_) {
    auto shown = shown_->show(entry.step, *base + segment::payload_place(entry.payload), fields.payload_bytes());
    if (!shown) return pass_on(shown);
    pin(entry);
    return *shown + fields[number].offset;
  }
  if (!fields.encoded()) return pin(entry, *base, number);
  auto decoded = sweep_.decode(entry, *base, number);
  if (!decoded) return pass_on(decoded);
  pin(entry);
  sweep_.decode_ahead(entry);
  return *decoded;
}

const void* Reader::get_at_hand(std::int64_t step, int number) noexcept {
  const Fields& fields = kept_.fields();
  if (fields.encoded() || shown_ || !fields.has(number)) return nullptr;
  Entry* const entry = kept_.index().find(step);
  if (entry == nullptr || must_verify(*entry)) return nullptr;
  const std::byte* const base = at_hand(entry->segment);
  if (base == nullptr || (kept_.tiers().kept() && !kept_.tiers().look_at_files())) return nullptr;
  return pin(*entry, base, number);
}

bool Reader::release_at_hand(std::int64_t step) noexcept {
  if (kept_.fields().encoded() || shown_) return false;
  Entry* const entry = kept_.index().find(step);
  if (entry == nullptr || entry->pins == 0 || at_hand(entry->segment) == nullptr) return false;
  unpin(*entry);
  return true;
}

Done Reader::release(std::int64_t step) {
  auto found = kept_.find(step);
  if (!found) return pass_on(found);
  Entry& entry = **found;
  if (entry.pins == 0) return fail(FOREBAY_E_NOT_PINNED, "step {} is released, but no get has pinned it", step);
  unpin(entry);
  if (entry.pins == 0) {
    sweep_.unpin(step);
    if (shown_) shown_->hide(step);
  }
  if (pinned_in(entry.segment) == 0 && at_hand(entry.segment) == nullptr) kept_.tiers().unhold(entry.segment);
  return {};
}

void Reader::reverse(std::int64_t from, const Entry& first) {
  if (kept_.fields().encoded() && kept_.options().encoders != 0) sweep_.begin(from);
  kept_.tiers().reverse(first.segment == active_.segment ? kNone : first.segment);
}

}  // namespace forebay::trajectory
