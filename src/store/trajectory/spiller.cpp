// The spiller: the part of Tiers that carries segments down, and brings back what is read.
#include <algorithm>
#include <cerrno>

#include "store/trajectory/tiers.h"

namespace forebay::trajectory {

void Tiers::move() {
  while (!stop_) {
    const std::uint64_t pokes = pokes_;  // the lock is given up on the way: what changes meanwhile counts
    const bool moved = do_job(next_job(situation()));
    done_.notify_all();
    while (!moved && pokes_ == pokes) mutex_.wait(work_);
  }
}

Situation Tiers::situation() const {
  std::vector<bool> failing;
  for (const Traffic& tier : traffic_) {
    failing.push_back(tier.failure && tier.failure->status != FOREBAY_E_NO_SPACE);
  }
  return situation_of(log_, cache_, wishes_, failing, read_only() || !writing_);
}

bool Tiers::do_job(const Job& job) {
  switch (job.kind) {
    case Job::Kind::none:
      return false;
    case Job::Kind::fetch:
      if (auto ok = fetch(job.segment); !ok) wishes_.not_fetched = ok.error();
      return true;
    case Job::Kind::fetch_ahead:
      // A reader that asks for it hears why it does not come; until then nothing more is fetched ahead.
      if (!fetch(job.segment)) wishes_.reversing = false;
      return true;
    case Job::Kind::move_for_request:
      wishes_.move.outcome = relocate(job.segment, job.tier);
      return true;
    case Job::Kind::move:
      (void)relocate(job.segment, job.tier);
      return true;
  }
  return false;
}

std::uint32_t Tiers::buffer_for(std::uint64_t generation) {
  if (const std::uint32_t free = cache_.free(); free != kNone) return free;
  std::uint32_t farthest = kNone;
  std::uint64_t distance = 0;
  for (std::uint32_t i = 0; i < ReadCache::kBuffers; ++i) {
    const std::uint32_t number = cache_.segment_in(i);
    if (number == kNone || !log_[number].movable() || number == wishes_.segment) continue;
    const std::uint64_t there = log_[number].generation;
    const std::uint64_t away = there > generation ? there - generation : generation - there;
    if (farthest != kNone && away <= distance) continue;
    farthest = i;
    distance = away;
  }
  if (farthest != kNone) give_up_buffer(cache_.segment_in(farthest));
  return farthest;
}

// The buffer is busy: nobody else looks at it.
Status Tiers::read_into(std::uint32_t buffer, Place place, const segment::Extent& used) {
  std::span<std::byte> to = cache_.bytes(buffer);
  if (!cache_.has_memory(buffer)) {
    auto made = [&]() REQUIRES(mutex_) {
      const GivenUp open(mutex_);
      return segment::memory_of_process()->make(0, segment_bytes());
    }();
    if (!made) return forward(made);
    cache_.give_memory(buffer, std::move(*made));
    to = cache_.bytes(buffer);
  }
  const GivenUp open(mutex_);
  return store_.read(place, used, to);
}

// Fetches a segment into the cache.
Done Tiers::fetch(std::uint32_t number) {
  const Place place = log_[number].place;
  const std::uint32_t buffer = buffer_for(log_[number].generation);
  if (buffer == kNone) {
    return fail(FOREBAY_E_PINNED,
                "no memory for a state that lies in {}: what was read from there before, {}, is pinned; release "
                "steps",
                store_.options(place.tier).path, plural(ReadCache::kBuffers, "segment"));
  }
  const segment::Extent used = log_[number].extent;
  log_[number].moving = spiller_busy_ = true;
  cache_.set_busy(buffer, true);
  const Status read = read_into(buffer, place, used);
  cache_.set_busy(buffer, false);
  log_[number].moving = spiller_busy_ = false;
  if (!read) {
    forget_if_unused(number);
    return pass_on(read);
  }
  cache_.put(buffer, number);
  log_[number].buffer = buffer;
  log_[number].arrivals += log_[number].checked && store_.compares() ? 1 : 0;
  ++traffic_[place.tier].fetched;
  forget_if_unused(number);
  return {};
}

// Moves a segment, which is not held, to another tier.
Done Tiers::relocate(std::uint32_t number, std::uint32_t to_tier) {
  if (!log_.at_hand(number)) {
    const std::uint64_t generation = log_[number].generation;
    if (auto ok = fetch(number); !ok) return ok;
    if (log_[number].generation != generation) return {};
  }
  if (auto ok = store_.look_at_files(); !ok) {
    if (to_tier > log_[number].place.tier) traffic_[to_tier].failure = ok.error();  // it is not tried again and again
    return ok;
  }
  spiller_busy_ = log_[number].moving = true;
  const auto finish = [&]() REQUIRES(mutex_) {
    spiller_busy_ = log_[number].moving = false;
    forget_if_unused(number);
  };
  const auto slot = take_slot(to_tier);
  Traffic& reached = traffic_[to_tier];
  Slots& slots = log_.tier(to_tier);
  if (!slot) {
    finish();
    return fail(FOREBAY_E_NO_SPACE, "no room in {}: {} free of {} of {} each{}",
                store_.options(to_tier).path.empty() ? "dram" : store_.options(to_tier).path, slots.room(),
                plural(slots.most(), "segment"), plural(segment_bytes(), "byte"),
                reached.failure ? " (" + reached.failure->text + ")" : "");
  }
  const Place target{to_tier, *slot};
  const Segment before = log_[number];
  const std::span<const std::byte> from = memory_of(number);
  const std::span<std::byte> to = slots.streamed ? std::span<std::byte>() : store_.bytes(target);
  const bool down = to_tier > before.place.tier;
  const Status carried = [&]() REQUIRES(mutex_) {
    const GivenUp open(mutex_);
    return store_.carry(before.extent, from, target, to);
  }();
  Segment& segment = log_[number];
  // A reader that reads it where it is, or a record of it that was dropped meanwhile, makes the copy worthless.
  const bool worthless = segment.live != before.live || segment.holds > 0;
  if (!carried || worthless) {
    store_.retire(target);
    slots.free.insert(slots.free.begin(), *slot);  // where it failed for lack of room, it is tried last
    finish();
    if (carried) return {};
    const Failure failure = failure_of(carried.error());
    // Full before its budget: what it holds is what it can hold, until it has room again.
    if (failure.status == FOREBAY_E_NO_SPACE) slots.found_full = slots.used();
    if (down) reached.failure = failure;
    return tl::unexpected(failure);
  }
  store_.retire(before.place);
  log_.relocate(number, target);
  slots.set_headed(target.slot);
  must_tell_ = true;
  if (!slots.streamed) give_up_buffer(number);
  segment.checked = segment.checked || store_.checks(to_tier);
  segment.arrivals += store_.checks(to_tier) && !slots.streamed ? 1 : 0;
  ++(down ? reached.moved_in : traffic_[before.place.tier].fetched);
  finish();
  return {};
}

Done Tiers::move_to(std::uint32_t number, std::uint32_t tier) {
  const Locked lock(mutex_);
  while (spiller_busy_) mutex_.wait(done_);
  if (log_[number].place.tier == tier) return {};
  if (auto ok = go_on_writing(); !ok) return ok;
  look_for_room();
  wishes_.move = {number, tier, std::nullopt};
  poke();
  while (!wishes_.move.outcome) mutex_.wait(done_);
  wishes_.move.segment = kNone;
  return *std::exchange(wishes_.move.outcome, std::nullopt);
}

}  // namespace forebay::trajectory
