// The part of Tiers that begins a store, takes over what one that was kept has, and lets one be kept.
#include <algorithm>
#include <chrono>
#include <map>

#include "store/trajectory/tiers.h"

namespace forebay::trajectory {
namespace {

std::uint64_t nanoseconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

Outcome<std::unique_ptr<Tiers>> Tiers::open(const Options& options) {
  std::unique_ptr<Tiers> tiers(new Tiers(options));
  if (auto ok = tiers->store_.open(); !ok) return pass_on(ok);
  const Locked lock(tiers->mutex_);
  tiers->log_.begin(options.tiers.size());
  tiers->traffic_.resize(options.tiers.size());
  for (std::uint32_t i = 0; i < tiers->store_.tiers(); ++i) tiers->log_.tier(i).streamed = tiers->store_.streamed(i);
  return tiers;
}

void Tiers::take_limits(const Sizes& sizes) {
  for (std::uint32_t i = 0; i < store_.tiers(); ++i) log_.tier(i).limit = sizes.limits[i];
}

Outcome<Tiers::Capacity> Tiers::capacity(std::uint64_t record_bytes) {
  const Locked lock(mutex_);
  Capacity all{segment_bytes(), 0};
  if (!started_) {
    const auto sizes = store_.sizes(record_bytes);
    if (!sizes) return pass_on(sizes);
    take_limits(*sizes);
    all.segment_bytes = sizes->segment_bytes;
  }
  for (std::uint32_t i = 0; i < store_.tiers(); ++i) all.segments += log_.tier(i).limit;
  return all;
}

Done Tiers::begin_store(const std::vector<segment::FieldEntry>& fields, std::uint64_t record_bytes) {
  const Locked lock(mutex_);
  const auto sizes = store_.sizes(record_bytes);
  if (!sizes) return pass_on(sizes);
  take_limits(*sizes);
  if (auto ok = store_.begin(fields, sizes->segment_bytes); !ok) return ok;
  writing_ = true;
  start_threads();
  return {};
}

Done Tiers::load(const Visit& visit, std::uint64_t record_bytes) {
  const Locked lock(mutex_);
  const auto sizes = store_.sizes(record_bytes);
  if (!sizes) return pass_on(sizes);
  take_limits(*sizes);
  store_.take_over(sizes->segment_bytes);
  // Headers that were found do not tell all numbers that were used: a segment that was given up has lost its header,
  // but its records may stand somewhere yet. Numbers of no store are used up faster than nanoseconds pass.
  next_generation_ = nanoseconds_since_1970();
  for (std::uint32_t i = 0; i < store_.tiers(); ++i) {
    if (auto ok = find_segments(i); !ok) return ok;
  }
  std::vector<std::uint64_t> found(store_.tiers());  // records
  std::map<std::uint64_t, std::uint32_t> in_order;
  for (std::uint32_t i = 0; i < log_.size(); ++i) {
    if (log_[i].used()) in_order.emplace(log_[i].generation, i);
  }
  for (const auto& entry : in_order) {
    const std::uint32_t number = entry.second;
    bool checked = false;
    std::int64_t highest = 0;
    std::uint64_t records = 0;
    const auto extent = store_.find_records(log_[number].place, entry.first, [&](const segment::RecordHeader& record) {
      checked = checked || record.payload_check != 0;
      highest = records == 0 ? record.step : std::max(highest, record.step);
      ++records;
      visit(number, record);
    });
    if (!extent) return pass_on(extent);
    log_[number].extent = *extent;
    log_[number].checked = checked;
    log_[number].highest = highest;
    found[log_[number].place.tier] += records;
    log_[number].arrivals = checked && store_.compares() ? 1 : 0;
  }
  for (std::uint32_t i = 0; i < store_.tiers(); ++i) store_.count_losses(i, found[i]);
  return {};
}

Done Tiers::find_segments(std::uint32_t tier) {
  Slots& slots = log_.tier(tier);
  const auto whole = store_.slots_found(tier);
  if (!whole) return pass_on(whole);
  for (std::uint32_t slot = 0; slot < *whole; ++slot) {
    slots.add();
    slots.free.erase(slots.free.begin());
    const auto header = store_.find({tier, slot});
    if (!header) return pass_on(header);
    if (*header) slots.set_headed(slot);
    const std::uint64_t generation = *header ? (*header)->generation : 0;
    next_generation_ = std::max(next_generation_, generation + 1);
    if (!*header || (*header)->epoch != store_.epoch()) {
      slots.free.push_back(slot);
      continue;
    }
    // A crash came between a segment's arrival here and its removal above. Here it is whole: its header came last.
    for (std::uint32_t above = 0; above < tier; ++above) {
      const auto& resident = log_.tier(above).resident;
      if (const auto twice = resident.find(generation); twice != resident.end()) forget(twice->second);
    }
    if (slots.resident.contains(generation)) {
      remark(fmt::format("{}: segment {} is there twice", store_.path(tier), slot));
      slots.free.push_back(slot);
      continue;
    }
    Segment& found = log_[log_.add(generation, {tier, slot})];
    found.sealed = true;
  }
  slots.limit = std::max(slots.limit, slots.used());
  return {};
}

Done Tiers::go_on(const std::vector<std::uint32_t>& live) {
  const Locked lock(mutex_);
  if (!read_only()) {
    if (auto ok = store_.mend_heads(); !ok) return ok;
  }
  for (std::uint32_t i = 0; i < log_.size(); ++i) {
    if (!log_[i].used()) continue;
    log_[i].live = i < live.size() ? live[i] : 0;
    forget_if_unused(i);
  }
  start_threads();
  return {};
}

bool Tiers::is_making() const {
  for (std::uint32_t i = 0; i < store_.tiers(); ++i) {
    if (log_.tier(i).making) return true;
  }
  return false;
}

Done Tiers::keep(bool keep, const Lives& lives) {
  const Locked lock(mutex_);
  if (keep == kept()) return {};
  // A thread that moves or makes a slot uses the store without the lock.
  while (spiller_busy_ || telling_ || is_making()) mutex_.wait(done_);
  if (auto ok = store_.keep(keep); !ok) return ok;
  if (!keep || !started_) return {};
  writing_ = true;
  for (std::uint32_t i = 0; i < log_.size(); ++i) {
    if (!log_[i].used()) continue;
    const Place place = log_[i].place;
    std::vector<std::uint32_t> gone;
    const auto found = store_.find_records(place, log_[i].generation, [&](const segment::RecordHeader& record) {
      if (!lives(i, record)) gone.push_back(record.record);
    });
    if (!found) return pass_on(found);
    for (const std::uint32_t record : gone) {
      if (auto ok = store_.mark_dropped(place, record, memory_of(i)); !ok) return ok;
    }
    if (auto ok = store_.sync(place); !ok) return ok;
  }
  return store_.write_heads(held());
}

}  // namespace forebay::trajectory
