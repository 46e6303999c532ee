#include "store/trajectory/kept.h"

#include <algorithm>

namespace forebay::trajectory {

Done Kept::open() {
  auto tiers = Tiers::open(options_);
  if (!tiers) return pass_on(tiers);
  tiers_ = std::move(*tiers);
  if (!tiers_->found_head()) return {};
  auto loaded = load();
  if (!loaded) tiers_->take_back();
  return loaded;
}

void Kept::close() {
  if (tiers_->kept() && !tiers_->started() && !tiers_->read_only()) (void)tiers_->keep(false, {});
  tiers_.reset();
}

Done Kept::begin() {
  auto begun = tiers_->begin_store(fields_.entries(), fields_.record_bytes());
  if (begun) fields_.fix();
  return begun;
}

Done Kept::load() {
  if (auto ok = fields_.take_over(tiers_->found_head()->head.fields); !ok) return ok;
  std::vector<std::uint32_t> live;
  std::vector<Older> older;
  if (auto ok = read_index(live, older); !ok) return ok;
  if (auto ok = tiers_->go_on(live); !ok) return ok;
  for (const Older& record : older) {
    if (tiers_->read_only()) break;
    if (auto ok = tiers_->drop(record.segment, record.record); !ok) return ok;
  }
  return {};
}

// `live`: by segment, how many of its records count.
Done Kept::read_index(std::vector<std::uint32_t>& live, std::vector<Older>& older) {
  const std::uint64_t record_bytes = fields_.record_bytes();
  std::uint64_t strange = 0, unchecked = 0;
  // Encoded fields have checksums of their own.
  const bool checked = std::all_of(fields_.all().begin(), fields_.all().end(),
                                   [](const Field& field) { return field.encoded() || field.bytes == 0; });
  const auto fits = [&](std::uint64_t payload_bytes) {
    return fields_.encoded() ? payload_bytes <= record_bytes - segment::kLine
                             : payload_bytes == fields_.payload_bytes();
  };
  bool memory = true;
  auto loaded = tiers_->load(
      [&](std::uint32_t number, const segment::RecordHeader& record) {
        if (live.size() <= number) live.resize(number + 1, 0);
        if (!fits(record.payload_bytes)) {
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
      record_bytes);
  if (!loaded) return loaded;
  if (!memory) return fail(FOREBAY_E_NO_MEMORY, "no memory for the index of {}", plural(index_.size(), "step"));
  if (unchecked != 0 && options_.checksum.value_or(false)) {
    return fail(FOREBAY_E_INVALID,
                "checksum \"on\" cannot be had: the store has {} kept without; leave the option away to read them",
                plural(unchecked, "step"));
  }
  if (strange != 0) tiers_->remark(fmt::format("{} of another size than its fields", plural(strange, "step")));
  return {};
}

Done Kept::keep(bool kept) {
  return tiers_->keep(kept, [this](std::uint32_t segment, const segment::RecordHeader& record) {
    const Entry* entry = index_.find(record.step);
    return entry != nullptr && entry->segment == segment && entry->record == record.record;
  });
}

Done Kept::refuse_to_write() const {
  if (!tiers_->read_only()) return {};
  return fail(FOREBAY_E_READ_ONLY, "the trajectory was opened to be read only");
}

Outcome<std::uint64_t> Kept::capacity() {
  if (fields_.all().empty()) return fail(FOREBAY_E_INVALID, "no field is declared: nobody knows how large a state is");
  const std::uint64_t record = fields_.record_bytes();
  auto all = tiers_->capacity(record);
  if (!all) return pass_on(all);
  return all->segments * ((all->segment_bytes - segment::kFirstRecord) / record);
}

Outcome<Entry*> Kept::find(std::int64_t step) {
  Entry* const entry = index_.find(step);
  if (entry == nullptr) return unknown(step);
  return entry;
}

tl::unexpected<Failure> Kept::unknown(std::int64_t step) {
  if (index_.size() == 0) return fail(FOREBAY_E_NO_SUCH_STEP, "step {} is not stored: no step is", step);
  return fail(FOREBAY_E_NO_SUCH_STEP, "step {} is not stored; stored: {}, from {} to {}", step,
              plural(index_.size(), "step"), index_[0].step, index_[index_.size() - 1].step);
}

}  // namespace forebay::trajectory
