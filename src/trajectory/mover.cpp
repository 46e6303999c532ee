// The mover: the part of Tiers that carries segments down and back.
#include <algorithm>
#include <cerrno>

#include "trajectory/tiers.h"

namespace forebay::trajectory {

void Tiers::move(Lock& lock) {
  while (!stop_) {
    const std::uint64_t pokes = pokes_;  // the lock is given up on the way: what changes meanwhile counts
    bool moved = false;
    if (wanted_ != kNone && !segments_[wanted_].home && !fetch_failed_) {
      moved = fetch(lock, wanted_);
    }
    if (request_ && !request_->outcome) {
      request_->outcome = relocate(lock, request_->segment, request_->tier);
      moved = true;
    }
    // From below, so that there is room for what comes from above.
    for (std::size_t i = tiers_.size() - 1; !moved && i-- > 0;) {
      const auto tier = static_cast<std::uint32_t>(i);
      if (spill_needed(tier)) moved = spill(lock, tier);
    }
    if (!moved && reversing_ && wanted_ == kNone) {
      if (const std::uint32_t ahead = next_to_fetch(); ahead != kNone) moved = fetch(lock, ahead);
    }
    done_.notify_all();
    if (!moved) work_.wait(lock, [&] { return pokes_ != pokes; });
  }
}

// The oldest segment of a tier that may leave it.
std::uint32_t Tiers::victim(std::uint32_t number) const {
  for (const auto& [generation, segment] : tiers_[number].resident) {
    const Segment& candidate = segments_[segment];
    if (candidate.sealed && candidate.holds == 0 && !candidate.moving && segment != wanted_) return segment;
  }
  return kNone;
}

bool Tiers::can_spill(std::uint32_t number) const {
  const std::uint32_t oldest = victim(number);
  if (oldest == kNone) return false;
  if (!streamed(number) && segments_[oldest].copy) return true;
  if (number + 1 >= tiers_.size()) return false;
  const Tier& below = tiers_[number + 1];
  // One that is merely full has its limit lowered, and may pass something on.
  if (below.failure && below.failure->status != FOREBAY_E_NO_SPACE) return false;
  return below.room() > 0 || can_spill(number + 1);
}

bool Tiers::spill_needed(std::uint32_t number) const {
  const Tier& tier = tiers_[number];
  if (number == 0) {
    if (reversing_ && !writer_waits_) return false;
    const std::uint32_t spare = std::min<std::uint32_t>(2, tier.limit - std::min(tier.limit, ring() + 1));
    const bool low = tier.room() < ring() + std::max<std::uint32_t>(spare, 1);
    return low && (spare > 0 || writer_waits_) && can_spill(0);
  }
  // A lower tier makes room when the one above is about to need it.
  return tier.room() == 0 && can_spill(number) && spill_needed(number - 1);
}

bool Tiers::spill(Lock& lock, std::uint32_t number) {
  const std::uint32_t oldest = victim(number);
  if (oldest == kNone) return false;
  if (!streamed(number) && segments_[oldest].copy) {
    give_up_home(segments_[oldest]);
    return true;
  }
  return relocate(lock, oldest, number + 1).has_value();
}

// Of a segment that has a copy below.
void Tiers::give_up_home(Segment& clean) {
  Tier& tier = tiers_[clean.home.tier];
  tier.resident.erase(clean.generation);
  tier.free.push_back(clean.home.slot);
  clean.home = {};
}

// A slot to move a segment into. The first tier keeps what it needs for states that come back.
std::optional<std::uint32_t> Tiers::slot_for(Lock& lock, std::uint64_t generation, std::uint32_t tier) {
  const Tier& first = tiers_.front();
  while (tier == 0 && first.room() <= ring()) {
    if (!give_up_clean(generation, false)) return std::nullopt;
  }
  return take_slot(lock, tier);
}

// From where the segment counts to another tier. It is not held.
Done Tiers::relocate(Lock& lock, std::uint32_t number, std::uint32_t to_tier) {
  if (segments_[number].home && segments_[number].copy) give_up_home(segments_[number]);
  mover_busy_ = true;
  segments_[number].moving = true;
  const auto slot = slot_for(lock, segments_[number].generation, to_tier);
  const auto finish = [&] {
    segments_[number].moving = false;
    mover_busy_ = false;
    if (segments_[number].live == 0 && segments_[number].holds == 0) forget(number);
  };
  Tier& reached = tiers_[to_tier];
  if (!slot) {
    finish();
    return fail(FOREBAY_E_NO_SPACE, "no room in {}: {} of {} segments of {} bytes are free, {} for what comes back{}",
                reached.options->path.empty() ? "dram" : reached.options->path, reached.room(), reached.limit,
                segment_bytes_, to_tier == 0 ? ring() : 0, reached.failure ? " (" + reached.failure->text + ")" : "");
  }
  const Place target{to_tier, *slot};
  const Segment before = segments_[number];
  const Place source = before.copy ? before.copy : before.home;
  const std::span<std::byte> from = bytes(source);
  const std::span<std::byte> to = bytes(target);
  lock.unlock();
  const Status carried = carry(before.extent, source, from, target, to);
  lock.lock();
  Segment& segment = segments_[number];
  const bool down = to_tier > source.tier;
  if (!carried) {
    const Failure failure = failure_of(carried.error());
    if (failure.status != FOREBAY_E_NO_SPACE) {
      release_slot(target);
    } else if (target.slot + 1 == reached.made) {
      reached.limit = --reached.made;  // full before its budget: what it holds is what it can hold
    }
    if (down) reached.failure = failure;
    finish();
    return tl::unexpected(failure);
  }
  // Whoever reads it where it is, or has dropped a record of it meanwhile, makes the copy worthless.
  if (segment.live != before.live || (!streamed(source.tier) && segment.holds > 0)) {
    release_slot(target);
    finish();
    return {};
  }
  tiers_[source.tier].resident.erase(segment.generation);
  reached.resident.emplace(segment.generation, number);
  ++(down ? reached.moved_in : tiers_[source.tier].fetched);
  (streamed(source.tier) ? segment.copy : segment.home) = {};
  (streamed(to_tier) ? segment.copy : segment.home) = target;
  if (streamed(to_tier)) segment.suspicious = true;
  release_slot(source);
  finish();
  return {};
}

Done Tiers::move_to(std::uint32_t number, std::uint32_t tier) {
  Lock lock(mutex_);
  done_.wait(lock, [&] { return !mover_busy_; });
  Segment& segment = segments_[number];
  if (segment.copy && segment.copy.tier == tier && segment.home) give_up_home(segment);
  if ((segment.home && segment.home.tier == tier) || (segment.copy && segment.copy.tier == tier)) return {};
  request_ = Request{number, tier, std::nullopt};
  poke();
  done_.wait(lock, [&] { return request_->outcome.has_value(); });
  Done outcome = std::move(*request_->outcome);
  request_.reset();
  return outcome;
}

// Into a slot that counts for nothing until its header is there, which comes last.
Status Tiers::carry(const segment::Extent& used, Place source, std::span<std::byte> from, Place target,
                    std::span<std::byte> to) {
  if (streamed(source.tier)) {
    if (bounce_.bytes.empty()) {
      auto made = segment::memory_of_process()->make(0, segment_bytes_);
      if (!made) return forward(made);
      bounce_ = std::move(*made);
    }
    from = bounce_.bytes;
    if (auto ok = tiers_[source.tier].stream->read(source.slot * segment_bytes_, from, used); !ok) return ok;
  }
  if (streamed(target.tier)) {
    return tiers_[target.tier].stream->write(target.slot * segment_bytes_, from, used, durable_);
  }
  segment::Medium& medium = *tiers_[target.tier].medium;
  const auto turn = turn_at(target.tier);
  if (const int failed = segment::arrive(medium, to, from, used, store_); failed != 0) {
    errno = failed;
    return errno_error("cannot write to", tiers_[target.tier].options->path);
  }
  segment::fence_stores();  // the reader is another thread
  return {};
}

// The bandwidth of persistent memory falls when more than a few write to it at once. What lies behind the page cache is
// written by the kernel.
bool Tiers::takes_turns(std::uint32_t number) const {
  const Tier& tier = tiers_[number];
  return options_.writers > 0 && tier.medium && tier.medium->persistent() && tier.medium->kind() != "file";
}

std::optional<segment::Turn> Tiers::turn_at(std::uint32_t number) const {
  if (!takes_turns(number)) return std::nullopt;
  return segment::Turn::wait(tiers_[number].options->path, static_cast<unsigned>(options_.writers));
}

Status Tiers::retire(Place place, std::span<std::byte> memory) {
  Tier& tier = tiers_[place.tier];
  if (!streamed(place.tier)) {
    if (const int failed = segment::retire(*tier.medium, memory, store_); failed != 0) {
      errno = failed;
      return errno_error("cannot write to", tier.options->path);
    }
    return {};
  }
  return tier.stream->retire(place.slot * segment_bytes_);
}

// --- back again
// --------------------------------------------------------------------------------------------------------

// Gives up the home of a segment that has a copy below: the one that is needed last, counting from the wanted one.
bool Tiers::give_up_clean(std::uint64_t wanted, bool passed_only) {
  std::uint32_t farthest = kNone;
  std::uint64_t distance = 0;
  for (const auto& [generation, number] : tiers_.front().resident) {
    const Segment& candidate = segments_[number];
    if (!candidate.copy || candidate.holds != 0 || candidate.moving || number == wanted_) continue;
    if (passed_only && generation <= cursor_) continue;
    const std::uint64_t away = generation > wanted ? generation - wanted : wanted - generation;
    if (farthest == kNone || away > distance) {
      farthest = number;
      distance = away;
    }
  }
  if (farthest == kNone) return false;
  give_up_home(segments_[farthest]);
  return true;
}

// The next segment below the reader that is not in memory, while there is room to have it there.
std::uint32_t Tiers::next_to_fetch() {
  // What lies ready below the reader already.
  std::uint32_t ready = 0;
  for (const auto& [generation, number] : tiers_.front().resident) {
    if (generation >= cursor_) break;
    if (segments_[number].copy) ++ready;
  }
  std::uint32_t best = kNone;
  for (std::uint32_t i = 1; i < tiers_.size(); ++i) {
    if (!streamed(i)) continue;
    const auto& resident = tiers_[i].resident;
    for (auto at = resident.lower_bound(cursor_); at != resident.begin();) {
      --at;
      const Segment& candidate = segments_[at->second];
      if (candidate.home) continue;
      if (candidate.moving || candidate.live == 0) break;
      if (best == kNone || candidate.generation > segments_[best].generation) best = at->second;
      break;
    }
  }
  if (best == kNone || tiers_[0].failure) return kNone;
  const bool room = tiers_[0].room() > 0 || give_up_clean(cursor_, true);
  // One slot stays for a read out of order.
  return room && (tiers_[0].room() > 1 || ready == 0) ? best : kNone;
}

bool Tiers::fetch(Lock& lock, std::uint32_t number) {
  if (segments_[number].moving) return false;
  Tier& first = tiers_.front();
  while (first.room() == 0) {
    if (give_up_clean(segments_[number].generation, false)) break;
    bool spilled = false;
    for (std::size_t i = tiers_.size() - 1; i-- > 0;) {
      const auto tier = static_cast<std::uint32_t>(i);
      if ((tier == 0 || tiers_[tier].room() == 0) && can_spill(tier)) spilled = spill(lock, tier) || spilled;
    }
    if (spilled) continue;
    fetch_failed_ = Failure{FOREBAY_E_PINNED,
                            fmt::format("no room in the first tier for a state that lies in {}: all of its {} segments "
                                        "are pinned, or nothing below has room; release or drop steps",
                                        tiers_[segments_[number].copy.tier].options->path, first.limit)};
    return false;
  }
  segments_[number].moving = true;
  mover_busy_ = true;
  const auto slot = take_slot(lock, 0);
  Status read;
  const Place source = segments_[number].copy;
  const segment::Extent used = segments_[number].extent;
  if (slot) {
    const Place target{0, *slot};
    const std::span<std::byte> memory = bytes(target);
    lock.unlock();
    // The copy below is the one that counts: no header stands in this one, ever.
    read = tiers_[source.tier].stream->read(source.slot * segment_bytes_, memory, used);
    if (auto retired = segment::retire(*first.medium, memory, store_); retired != 0 && read) {
      errno = retired;
      read = errno_error("cannot write to", first.options->path);
    }
    lock.lock();
  } else {
    const std::string text = first.failure ? first.failure->text : std::string("it is full");
    read = error(Code::failed, "cannot fetch a state into the first tier: " + text);
  }
  mover_busy_ = false;
  Segment& segment = segments_[number];
  segment.moving = false;
  if (!read) {
    if (slot) first.free.push_back(*slot);
    fetch_failed_ = failure_of(read.error());
    return false;
  }
  segment.home = {0, *slot};
  first.resident.emplace(segment.generation, number);
  ++tiers_[source.tier].fetched;
  if (segment.live == 0 && segment.holds == 0) forget(number);
  return true;
}

}  // namespace forebay::trajectory
