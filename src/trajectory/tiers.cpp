#include "trajectory/tiers.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "trajectory/clock.h"
#include "trajectory/threads.h"

namespace forebay::trajectory {
namespace {

tl::unexpected<Failure> medium_failed(int errno_value, const std::string& path) {
  Error error;
  error.what = "cannot write to the store";
  error.path = path;
  error.errno_value = errno_value;
  return tl::unexpected<Failure>(failure_of(error));
}

}  // namespace

Tiers::~Tiers() {
  stop_threads();
}

bool Tiers::has_streamed() const {
  return std::any_of(tiers_.begin(), tiers_.end(), [](const Tier& tier) { return tier.stream != nullptr; });
}

std::uint32_t Tiers::ring() const {
  if (!has_streamed()) return 0;
  const std::uint32_t limit = tiers_.front().limit;
  // Two that the caller pins, as for an interpolation of its own, and the one that comes next.
  if (limit >= 6) return 3;
  return limit >= 4 ? 2 : 1;
}

// --- threads
// -----------------------------------------------------------------------------------------------------------

void Tiers::start_threads() {
  const NoSignals in_threads;
  preparer_ = std::thread([this] {
    Lock lock(mutex_);
    prepare(lock);
  });
  if (tiers_.size() > 1) {
    mover_ = std::thread([this] {
      Lock lock(mutex_);
      move(lock);
    });
  }
  started_ = true;
}

void Tiers::stop_threads() {
  {
    const Lock lock(mutex_);
    stop_ = true;
    poke();
  }
  if (preparer_.joinable()) preparer_.join();
  if (mover_.joinable()) mover_.join();
}

void Tiers::poke() {
  ++pokes_;
  work_.notify_all();
}

void Tiers::prepare(Lock& lock) {
  Tier& first = tiers_.front();
  while (!stop_) {
    // The next is made while the second half of one is written, and while all of it is once the writer has waited for
    // that. More would only take time from a solver that needs no more: where memory is slow to come, 64 MiB cost as
    // much as steps do, and ranks that fill all cores pay for it.
    const bool possible = first.free.empty() && first.made < first.limit && first.making == 0;
    if (!possible || !(next_wanted_ || always_wanted_)) {
      work_.wait(lock);
    } else {
      (void)make_slot(lock, 0);
      done_.notify_all();
      poke();
    }
  }
}

// Makes the next slot of a tier, and adds it to the free ones; false when that failed, or another thread is at it.
bool Tiers::make_slot(Lock& lock, std::uint32_t number) {
  Tier& tier = tiers_[number];
  if (tier.making != 0 || tier.made >= tier.limit) return false;
  const std::uint32_t slot = tier.made;
  if (!streamed(number)) {
    tier.making = 1;
    lock.unlock();
    auto made = tier.medium->make(slot, segment_bytes_);
    lock.lock();
    tier.making = 0;
    if (!made) {
      // A medium that is full before its budget: it has what it has.
      tier.failure = failure_of(made.error());
      tier.limit = tier.made;
      return false;
    }
    tier.mappings.push_back(std::move(*made));
  }
  ++tier.made;
  // They are taken from the back: slots come into use in order.
  tier.free.insert(tier.free.begin(), slot);
  return true;
}

std::optional<std::uint32_t> Tiers::take_slot(Lock& lock, std::uint32_t number) {
  Tier& tier = tiers_[number];
  while (tier.free.empty()) {
    if (tier.making != 0) {
      done_.wait(lock);
    } else if (!make_slot(lock, number)) {
      return std::nullopt;
    }
  }
  const std::uint32_t slot = tier.free.back();
  tier.free.pop_back();
  if (writer_waits_) poke();  // for this one, perhaps: the preparer makes it another
  return slot;
}

// --- the writer
// --------------------------------------------------------------------------------------------------------

Failure Tiers::no_room() {
  std::string text = "no room for another step:";
  for (const Tier& tier : tiers_) {
    const std::uint64_t used = (tier.made - tier.free.size()) * segment_bytes_;
    text += fmt::format(" {} {}: {} of {} bytes used", tier.medium ? tier.medium->kind() : "shared", tier.options->path,
                        used, tier.options->budget);
    if (tier.failure) text += fmt::format(" ({})", tier.failure->text);
    text += &tier == &tiers_.back() ? "" : ",";
  }
  text += "; drop steps, or open the trajectory with larger budgets";
  forebay_status status = FOREBAY_E_NO_SPACE;
  for (Tier& tier : tiers_) {
    // Not lack of room but a failing medium is what the caller must hear of. The next attempt starts afresh.
    if (tier.failure && tier.failure->status != FOREBAY_E_NO_SPACE) status = tier.failure->status;
    if (&tier != &tiers_.front()) tier.failure.reset();
  }
  return {status, text};
}

Outcome<Tiers::Active> Tiers::next(segment::Writer& writer) {
  Lock lock(mutex_);
  Tier& first = tiers_.front();
  reversing_ = false;
  std::optional<std::chrono::steady_clock::time_point> start;
  while (first.free.empty() || first.room() <= ring()) {
    const bool being_made = first.room() > ring() && (first.made < first.limit || first.making != 0);
    if (!being_made && !mover_busy_ && !can_spill(0)) {
      writer_waits_ = next_wanted_ = false;
      return tl::unexpected<Failure>(no_room());
    }
    if (!start) {
      start = std::chrono::steady_clock::now();
      writer_waits_ = next_wanted_ = true;
      always_wanted_ |= took_one_ && first.free.empty();
      poke();
    }
    done_.wait(lock);
  }
  writer_waits_ = next_wanted_ = false;
  took_one_ = true;
  if (start) waited_for_room_ += seconds_since(*start);
  const std::uint32_t slot = first.free.back();
  first.free.pop_back();
  const std::uint64_t generation = next_generation_++;
  const std::uint32_t number = new_segment(generation);
  Segment& made = segments_[number];
  made.home = {0, slot};
  first.resident.emplace(generation, number);
  const std::span<std::byte> memory = bytes(made.home);
  poke();
  lock.unlock();
  if (const int failed = writer.start(*first.medium, memory, {store_, payload_checks_}, generation, epoch_)) {
    lock.lock();
    forget(number);
    return medium_failed(failed, first.directory ? first.directory->path() : "");
  }
  return Active{number, memory.data()};
}

bool Tiers::announce_next() {
  const Lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  next_wanted_ = true;
  poke();
  return true;
}

Done Tiers::seal(segment::Writer& writer, std::uint32_t number, std::uint32_t live, bool held) {
  const int failed = writer.seal();
  segment::fence_stores();  // the mover reads what this thread has streamed
  {
    const Lock lock(mutex_);
    Segment& sealed = segments_[number];
    sealed.sealed = true;
    sealed.extent = writer.extent();
    sealed.live = live;
    sealed.holds = held ? 1 : 0;
    if (live == 0 && !held) forget(number);
    poke();
  }
  if (failed != 0) return medium_failed(failed, tiers_.front().directory ? tiers_.front().directory->path() : "");
  return {};
}

// --- the reader
// --------------------------------------------------------------------------------------------------------

Outcome<const std::byte*> Tiers::hold(std::uint32_t number) {
  Lock lock(mutex_);
  cursor_ = segments_[number].generation;
  if (!segments_[number].home) {
    const auto start = std::chrono::steady_clock::now();
    fetch_failed_.reset();
    wanted_ = number;
    poke();
    done_.wait(lock, [&] { return segments_[number].home || fetch_failed_; });
    wanted_ = kNone;
    waited_for_states_ += seconds_since(start);
    if (!segments_[number].home) return tl::unexpected<Failure>(*fetch_failed_);
  }
  ++segments_[number].holds;
  const std::byte* const at = base(segments_[number].home);
  if (reversing_) poke();
  return at;
}

const std::byte* Tiers::hold_if_at_hand(std::uint32_t number) {
  const Lock lock(mutex_);
  Segment& wanted = segments_[number];
  if (!wanted.home) return nullptr;
  ++wanted.holds;
  return base(wanted.home);
}

void Tiers::unhold(std::uint32_t number) {
  const Lock lock(mutex_);
  Segment& held = segments_[number];
  --held.holds;
  if (held.holds == 0 && held.live == 0 && held.sealed && !held.moving) forget(number);
  poke();
}

Done Tiers::drop(std::uint32_t number, std::uint32_t record) {
  Lock lock(mutex_);
  // A kept segment is marked where it lies, and that only.
  if (kept_) done_.wait(lock, [&] { return !segments_[number].moving; });
  Segment& dropped = segments_[number];
  --dropped.live;
  if (kept_) {
    if (dropped.home && !dropped.copy) {
      // A home beside a copy counts for nothing after a crash.
      const int failed = segment::mark_dropped(*tiers_[dropped.home.tier].medium, bytes(dropped.home), record);
      if (failed != 0) return medium_failed(failed, tiers_[dropped.home.tier].directory->path());
    }
    if (dropped.copy) {
      if (auto ok = mark_in_stream(dropped.copy, record); !ok) return pass_on(ok);
    }
  }
  if (dropped.live == 0 && dropped.holds == 0 && !dropped.moving) forget(number);
  poke();
  return {};
}

void Tiers::reverse(std::uint32_t from_segment) {
  const Lock lock(mutex_);
  reversing_ = true;
  cursor_ = from_segment == kNone ? next_generation_ : segments_[from_segment].generation;
  poke();
}

bool Tiers::suspicious(std::uint32_t number) {
  const Lock lock(mutex_);
  return segments_[number].suspicious;
}

std::string Tiers::place_of(std::uint32_t number) {
  const Lock lock(mutex_);
  const Segment& at = segments_[number];
  const Place place = at.copy ? at.copy : at.home;
  const Tier& tier = tiers_[place.tier];
  return fmt::format("{}, segment {}", tier.directory ? tier.directory->path() : "dram", place.slot);
}

// --- segments
// ----------------------------------------------------------------------------------------------------------

std::uint32_t Tiers::new_segment(std::uint64_t generation) {
  std::uint32_t number = static_cast<std::uint32_t>(segments_.size());
  if (unused_.empty()) {
    segments_.emplace_back();
  } else {
    number = unused_.back();
    unused_.pop_back();
  }
  segments_[number] = {};
  segments_[number].generation = generation;
  segments_[number].used = true;
  return number;
}

void Tiers::release_slot(Place place) {
  if (!place) return;
  // A header that cannot be taken away does no harm now; a reopening may find dropped steps again.
  (void)retire(place, bytes(place));
  tiers_[place.tier].free.push_back(place.slot);
  done_.notify_all();
}

void Tiers::forget(std::uint32_t number) {
  Segment& gone = segments_[number];
  for (const Place place : {gone.home, gone.copy}) {
    if (!place) continue;
    tiers_[place.tier].resident.erase(gone.generation);
    release_slot(place);
  }
  gone = {};
  unused_.push_back(number);
}

Done Tiers::rewind() {
  Lock lock(mutex_);
  done_.wait(lock, [&] { return !mover_busy_; });
  if (kept_ && started_) {
    if (auto ok = tiers_.front().directory->write_epoch(store_, epoch_ + 1); !ok) return pass_on(ok);
  }
  ++epoch_;
  // Headers of the old epoch count no more: nothing needs to be written.
  for (Segment& segment : segments_) {
    for (const Place place : {segment.home, segment.copy}) {
      if (place) tiers_[place.tier].free.push_back(place.slot);
    }
  }
  for (Tier& tier : tiers_) {
    tier.resident.clear();
    std::sort(tier.free.begin(), tier.free.end(), std::greater<>());
  }
  segments_.clear();
  unused_.clear();
  reversing_ = false;
  return {};
}

Outcome<forebay_tier_info> Tiers::info(std::size_t number) {
  const Lock lock(mutex_);
  const Tier& tier = tiers_[number];
  forebay_tier_info info{};
  info.medium = tier.medium ? tier.medium->kind().data() : (tier.options->kind == TierKind::shared ? "shared" : "file");
  info.path = tier.options->path.c_str();
  info.budget = tier.options->budget;
  info.segment_bytes = segment_bytes_;
  info.segments = tier.limit;
  info.prepared = tier.made;
  info.used = tier.made - tier.free.size();
  info.moved_in = tier.moved_in;
  info.fetched = tier.fetched;
  return info;
}

}  // namespace forebay::trajectory
