// The mover: the part of Tiers that carries segments down, and brings back what is read.
#include <algorithm>
#include <cerrno>

#include "trajectory/tiers.h"

namespace forebay::trajectory {

void Tiers::move(Lock& lock) {
  while (!stop_) {
    const std::uint64_t pokes = pokes_;  // the lock is given up on the way: what changes meanwhile counts
    const bool moved = do_job(lock, next_job(look()));
    done_.notify_all();
    if (!moved) work_.wait(lock, [&] { return pokes_ != pokes; });
  }
}

Look Tiers::look() const {
  Look look;
  for (std::uint32_t i = 0; i < tiers_.size(); ++i) {
    const Slots& slots = log_.tier(i);
    TierLook tier{slots.limit, slots.room(), kNone, false};
    const auto& failure = tiers_[i].failure;
    tier.failing = failure && failure->status != FOREBAY_E_NO_SPACE;
    const auto may_leave = [&](const auto& entry) { return log_[entry.second].movable() && entry.second != wanted_; };
    const auto oldest = std::find_if(slots.resident.begin(), slots.resident.end(), may_leave);
    if (oldest != slots.resident.end()) tier.oldest = oldest->second;
    look.tiers.push_back(tier);
  }
  if (wanted_ != kNone && memory_of(wanted_).empty() && !not_fetched_) look.wanted = wanted_;
  if (request_.segment != kNone && !request_.outcome) look.request = {request_.segment, request_.tier};
  look.writer_waits = writer_.waits;
  look.read_only = read_only_;
  look.reversing = reversing_ && wanted_ == kNone;
  if (!look.reversing) return look;
  // Two are fetched ahead; the others are for what is read, and out of order.
  constexpr std::uint32_t kAhead = 2;
  std::uint32_t ready = 0;
  bool room = cache_.free() != kNone;
  for (std::uint32_t i = 0; i < ReadCache::kBuffers; ++i) {
    const std::uint32_t number = cache_.segment_in(i);
    if (number == kNone) continue;
    const bool below = log_[number].generation < cursor_;
    ready += below ? 1 : 0;
    room = room || (!below && log_[number].generation != cursor_ && log_[number].movable());
  }
  look.ahead_has_buffer = room && ready < kAhead;
  if (look.ahead_has_buffer) look.ahead = next_below_cursor();
  return look;
}

// The next segment below the reader that is not in memory.
std::uint32_t Tiers::next_below_cursor() const {
  std::uint32_t best = kNone;
  for (std::uint32_t i = 1; i < tiers_.size(); ++i) {
    if (!streamed(i)) continue;
    const auto& resident = log_.tier(i).resident;
    for (auto at = resident.lower_bound(cursor_); at != resident.begin();) {
      const Segment& candidate = log_[(--at)->second];
      if (candidate.buffer != kNone) continue;
      if (candidate.moving || candidate.live == 0) break;
      if (best == kNone || candidate.generation > log_[best].generation) best = at->second;
      break;
    }
  }
  return best;
}

bool Tiers::do_job(Lock& lock, const Job& job) {
  switch (job.kind) {
    case Job::Kind::none:
      return false;
    case Job::Kind::fetch:
      if (auto ok = fetch(lock, job.segment); !ok) not_fetched_ = ok.error();
      return true;
    case Job::Kind::fetch_ahead:
      // Whoever asks for it hears why it does not come; until then nothing more is fetched ahead.
      if (!fetch(lock, job.segment)) reversing_ = false;
      return true;
    case Job::Kind::move_for_request:
      request_.outcome = relocate(lock, job.segment, job.tier);
      return true;
    case Job::Kind::move:
      (void)relocate(lock, job.segment, job.tier);
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
    if (number == kNone || !log_[number].movable() || number == wanted_) continue;
    const std::uint64_t there = log_[number].generation;
    const std::uint64_t away = there > generation ? there - generation : generation - there;
    if (farthest != kNone && away <= distance) continue;
    farthest = i;
    distance = away;
  }
  if (farthest != kNone) give_up_buffer(cache_.segment_in(farthest));
  return farthest;
}

// Into the cache.
Done Tiers::fetch(Lock& lock, std::uint32_t number) {
  const Place place = log_[number].place;
  Tier& tier = tiers_[place.tier];
  const std::uint32_t buffer = buffer_for(log_[number].generation);
  if (buffer == kNone) {
    return fail(
        FOREBAY_E_PINNED,
        "no memory for a state that lies in {}: what was read from there before, {} segments, is pinned; release "
        "steps",
        tier.options->path, ReadCache::kBuffers);
  }
  const segment::Extent used = log_[number].extent;
  log_[number].moving = mover_busy_ = true;
  cache_.set_busy(buffer, true);
  lock.unlock();
  Status read;
  if (!cache_.has_memory(buffer)) {
    auto made = segment::memory_of_process()->make(0, segment_bytes_);
    if (made) cache_.give_memory(buffer, std::move(*made));
    if (!made) read = forward(made);
  }
  if (read) read = tier.stream->read(place.slot * segment_bytes_, cache_.bytes(buffer), used);
  lock.lock();
  cache_.set_busy(buffer, false);
  log_[number].moving = mover_busy_ = false;
  if (!read) {
    settle(number);
    return pass_on(read);
  }
  cache_.put(buffer, number);
  log_[number].buffer = buffer;
  log_[number].arrivals += tier.checks ? 1 : 0;
  ++tier.fetched;
  settle(number);
  return {};
}

// To another tier. It is not held.
Done Tiers::relocate(Lock& lock, std::uint32_t number, std::uint32_t to_tier) {
  if (memory_of(number).empty()) {
    const std::uint64_t generation = log_[number].generation;
    if (auto ok = fetch(lock, number); !ok) return ok;
    if (log_[number].generation != generation) return {};
  }
  mover_busy_ = log_[number].moving = true;
  const auto finish = [&] {
    mover_busy_ = log_[number].moving = false;
    settle(number);
  };
  const auto slot = take_slot(lock, to_tier);
  Tier& reached = tiers_[to_tier];
  Slots& slots = log_.tier(to_tier);
  if (!slot) {
    finish();
    return fail(FOREBAY_E_NO_SPACE, "no room in {}: {} of {} segments of {} bytes are free{}",
                reached.options->path.empty() ? "dram" : reached.options->path, slots.room(), slots.limit,
                segment_bytes_, reached.failure ? " (" + reached.failure->text + ")" : "");
  }
  const Place target{to_tier, *slot};
  const Segment before = log_[number];
  const std::span<const std::byte> from = memory_of(number);
  const std::span<std::byte> to = streamed(to_tier) ? std::span<std::byte>() : memory_at(target);
  const bool down = to_tier > before.place.tier;
  lock.unlock();
  const Status carried = carry(before.extent, from, target, to);
  lock.lock();
  Segment& segment = log_[number];
  // Whoever reads it where it is, or has dropped a record of it meanwhile, makes the copy worthless.
  const bool worthless = segment.live != before.live || segment.holds > 0;
  if (!carried || worthless) {
    retire(target);
    slots.free.insert(slots.free.begin(), *slot);  // where it failed for lack of room, it is tried last
    finish();
    if (carried) return {};
    const Failure failure = failure_of(carried.error());
    // Full before its budget: what it holds is what it can hold.
    if (failure.status == FOREBAY_E_NO_SPACE) slots.limit = std::min(slots.limit, slots.used());
    if (down) reached.failure = failure;
    return tl::unexpected(failure);
  }
  retire(before.place);
  log_.relocate(number, target);
  if (!streamed(to_tier)) give_up_buffer(number);
  segment.arrivals += reached.checks && !reached.stream ? 1 : 0;
  ++(down ? reached.moved_in : tiers_[before.place.tier].fetched);
  finish();
  return {};
}

Done Tiers::move_to(std::uint32_t number, std::uint32_t tier) {
  Lock lock(mutex_);
  done_.wait(lock, [&] { return !mover_busy_; });
  if (log_[number].place.tier == tier) return {};
  request_ = {number, tier, std::nullopt};
  poke();
  done_.wait(lock, [&] { return request_.outcome.has_value(); });
  request_.segment = kNone;
  return *std::exchange(request_.outcome, std::nullopt);
}

// Into a slot that counts for nothing until its header is there, which comes last.
Status Tiers::carry(const segment::Extent& used, std::span<const std::byte> from, Place target,
                    std::span<std::byte> to) {
  const Tier& tier = tiers_[target.tier];
  if (tier.stream) {
    return tier.stream->write(target.slot * segment_bytes_, from, used, {store_, tier.checks, durable_});
  }
  if (const int failed = segment::arrive(*tier.medium, to, from, used, store_, tier.checks); failed != 0) {
    errno = failed;
    return errno_error("cannot write to", tier.options->path);
  }
  segment::fence_stores();  // the reader is another thread
  return {};
}

}  // namespace forebay::trajectory
