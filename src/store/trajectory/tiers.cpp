#include "store/trajectory/tiers.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "store/trajectory/clock.h"
#include "store/trajectory/threads.h"

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
  const Locked lock(mutex_);
  if (writing_ && kept()) store_.tell(store_.ledger(held()));
}

std::span<std::byte> Tiers::memory_of(std::uint32_t number) const {
  const Segment& segment = log_[number];
  if (!log_.at_hand(number)) return {};
  return log_.tier(segment.place.tier).streamed ? cache_.bytes(segment.buffer) : store_.bytes(segment.place);
}

// --- threads
// -----------------------------------------------------------------------------------------------------------

void Tiers::start_threads() {
  const NoSignals in_threads;
  if (!read_only()) {
    preparer_ = Thread([this] {
      const Locked lock(mutex_);
      prepare();
    });
  }
  if (store_.tiers() > 1 || store_.streamed(0)) {
    spiller_ = Thread([this] {
      const Locked lock(mutex_);
      move();
    });
  }
  started_ = true;
}

void Tiers::stop_threads() {
  {
    const Locked lock(mutex_);
    stop_ = true;
    poke();
  }
  if (preparer_.joinable()) preparer_.join();
  if (spiller_.joinable()) spiller_.join();
}

void Tiers::poke() {
  ++pokes_;
  work_.notify_all();
}

void Tiers::prepare() {
  const Slots& first = log_.tier(0);
  while (!stop_) {
    // The next is made while the second half of one is written, and while all of it is once the writer has waited for
    // that. More would only take time from a solver that needs no more: where memory is slow to come, 64 MiB cost as
    // much as steps do, and ranks that fill all cores pay for it.
    const bool possible = first.free.empty() && first.made < first.most() && !first.making;
    if (must_tell_ && kept() && writing_) {
      tell();
      continue;
    }
    if (!possible || !(wishes_.writer.wants_next || wishes_.writer.always_wants)) {
      mutex_.wait(work_);
    } else {
      (void)make_slot(0, first.most());
      done_.notify_all();
      poke();
    }
  }
}

std::vector<Held> Tiers::held() const {
  std::vector<Held> held;
  for (std::uint32_t i = 0; i < store_.tiers(); ++i) held.push_back(log_.held(i));
  return held;
}

void Tiers::tell() {
  must_tell_ = false;
  telling_ = true;
  const segment::Ledger ledger = store_.ledger(held());
  {
    const GivenUp open(mutex_);
    store_.tell(ledger);
  }
  telling_ = false;
  done_.notify_all();
}

Done Tiers::go_on_writing() {
  if (writing_) return {};
  if (auto ok = store_.begin_anew(); !ok) return ok;
  writing_ = must_tell_ = true;
  return {};
}

// Makes the next slot of a tier, and adds it to the free ones; false when that failed, or another thread is at it, or
// there are `most` already.
bool Tiers::make_slot(std::uint32_t number, std::uint32_t most) {
  Slots& slots = log_.tier(number);
  if (slots.making || slots.made >= most) return false;
  if (!slots.streamed) {
    slots.making = true;
    const std::uint32_t next = slots.made;
    auto made = [&]() REQUIRES(mutex_) {
      const GivenUp open(mutex_);
      return store_.make(number, next);
    }();
    slots.making = false;
    if (!made) {
      // A medium that is full before its budget has what it has, until it has room again.
      traffic_[number].failure = made.error();
      slots.found_full = slots.made;
      return false;
    }
    store_.add(number, std::move(*made));
  }
  slots.add();
  return true;
}

std::optional<std::uint32_t> Tiers::take_slot(std::uint32_t number) {
  Slots& slots = log_.tier(number);
  while (slots.free.empty() || slots.room() == 0) {
    if (slots.making) {
      mutex_.wait(done_);
    } else if (slots.room() == 0 || !make_slot(number, slots.most())) {
      return std::nullopt;
    }
  }
  const std::uint32_t slot = slots.take();
  if (wishes_.writer.waits) poke();  // for this one, perhaps: the preparer makes it another
  return slot;
}

// --- the writer
// --------------------------------------------------------------------------------------------------------

Failure Tiers::no_room() {
  std::string text = "no room for another step:";
  forebay_status status = FOREBAY_E_NO_SPACE;
  for (std::uint32_t i = 0; i < store_.tiers(); ++i) {
    const TierOptions& tier = store_.options(i);
    std::optional<Failure>& failure = traffic_[i].failure;
    text += fmt::format("{} {} {}: {} of {} used", i == 0 ? "" : ",", store_.kind(i), tier.path,
                        log_.tier(i).used() * segment_bytes(), plural(tier.budget, "byte"));
    if (!failure) continue;
    text += fmt::format(" ({})", failure->text);
    // Not lack of room but a failing medium is what the caller must hear of. The next attempt starts afresh.
    if (failure->status != FOREBAY_E_NO_SPACE) status = failure->status;
    if (i != 0) failure.reset();
  }
  return {status, text + "; drop steps, or open the trajectory with larger budgets"};
}

// A file system that was full may have room again.
void Tiers::look_for_room() {
  for (std::uint32_t i = 0; i < store_.tiers(); ++i) {
    Slots& slots = log_.tier(i);
    if (slots.found_full == kNone || !store_.may_have_room(i)) continue;
    slots.found_full = kNone;
    traffic_[i].failure.reset();
  }
}

Outcome<Active> Tiers::next() {
  const Locked lock(mutex_);
  if (auto ok = go_on_writing(); !ok) return pass_on(ok);
  const Slots& first = log_.tier(0);
  wishes_.reversing = false;
  if (first.free.empty() || first.room() == 0) look_for_room();
  std::optional<std::chrono::steady_clock::time_point> start_of_wait;
  while (first.free.empty() || first.room() == 0) {
    const bool being_made = first.room() > 0 && (first.made < first.most() || first.making);
    if (!being_made && !spiller_busy_ && !can_spill(situation(), 0)) {
      wishes_.writer.waits = wishes_.writer.wants_next = false;
      return tl::unexpected<Failure>(no_room());
    }
    if (!start_of_wait) {
      start_of_wait = std::chrono::steady_clock::now();
      wishes_.writer.waits = wishes_.writer.wants_next = true;
      wishes_.writer.always_wants |= wishes_.writer.took_one && first.free.empty();
      poke();
    }
    mutex_.wait(done_);
  }
  wishes_.writer.waits = wishes_.writer.wants_next = false;
  wishes_.writer.took_one = true;
  if (start_of_wait) waited_for_room_ += seconds_since(*start_of_wait);
  return start();
}

Outcome<Active> Tiers::next_for_cleaning() {
  const Locked lock(mutex_);
  const Slots& first = log_.tier(0);
  // The last cleaning may have freed a slot further down: the spiller makes room here by that.
  while (first.used() > first.most() && (spiller_busy_ || can_spill(situation(), 0))) mutex_.wait(done_);
  if (first.used() > first.most() || (first.free.empty() && !make_slot(0, first.most() + 1))) {
    return tl::unexpected<Failure>(no_room());
  }
  return start();
}

// Starts a segment in a free slot of the first tier.
Outcome<Active> Tiers::start() {
  const std::uint64_t generation = next_generation_++;
  const std::uint32_t number = log_.add(generation, {0, log_.tier(0).take()});
  const std::span<std::byte> memory = memory_of(number);
  poke();
  Active active{.segment = number, .base = memory.data()};
  int failed = 0;
  {
    const GivenUp open(mutex_);
    failed = active.writer.start(first_medium(), memory, {store(), store_.checks(0)}, generation, store_.epoch());
  }
  if (failed == 0) {
    log_.tier(0).set_headed(log_[number].place.slot);
    return active;
  }
  forget(number);
  return medium_failed(failed, store_.path(0));
}

std::uint32_t Tiers::sparsest(std::uint32_t records) {
  const Locked lock(mutex_);
  return log_.sparsest(records);
}

void Tiers::leave(std::uint32_t number, std::uint32_t records) {
  const Locked lock(mutex_);
  log_[number].live -= records;
  forget_if_unused(number);
  poke();
}

bool Tiers::announce_next() {
  if (!mutex_.try_lock()) return false;
  const Locked lock(mutex_, std::adopt_lock);
  wishes_.writer.wants_next = true;
  poke();
  return true;
}

Done Tiers::seal(Active& full, bool held) {
  const int failed = full.writer.seal();
  segment::fence_stores();  // the spiller reads what this thread has streamed
  {
    const Locked lock(mutex_);
    Segment& sealed = log_[full.segment];
    sealed.sealed = true;
    sealed.extent = full.writer.extent();
    sealed.live = full.live;
    sealed.highest = full.writer.highest();
    sealed.holds = held ? 1 : 0;
    sealed.checked = store_.checks(0);
    sealed.arrivals = store_.checks(0) ? 1 : 0;
    forget_if_unused(full.segment);
    must_tell_ = true;
    poke();
  }
  if (failed != 0) return medium_failed(failed, store_.path(0));
  return {};
}

// --- the reader
// --------------------------------------------------------------------------------------------------------

Outcome<const std::byte*> Tiers::hold(std::uint32_t number) {
  const Locked lock(mutex_);
  wishes_.cursor = log_[number].generation;
  if (!log_.at_hand(number)) {
    const auto start_of_wait = std::chrono::steady_clock::now();
    wishes_.not_fetched.reset();
    wishes_.segment = number;
    poke();
    while (!log_.at_hand(number) && !wishes_.not_fetched) mutex_.wait(done_);
    wishes_.segment = kNone;
    waited_for_states_ += seconds_since(start_of_wait);
    if (!log_.at_hand(number)) return tl::unexpected<Failure>(*wishes_.not_fetched);
  }
  ++log_[number].holds;
  if (wishes_.reversing) poke();
  return memory_of(number).data();
}

const std::byte* Tiers::hold_if_at_hand(std::uint32_t number) {
  const Locked lock(mutex_);
  const std::span<const std::byte> memory = memory_of(number);
  if (!memory.empty()) ++log_[number].holds;
  return memory.data();
}

void Tiers::unhold(std::uint32_t number) {
  const Locked lock(mutex_);
  --log_[number].holds;
  forget_if_unused(number);
  poke();
}

Segment Tiers::about(std::uint32_t number) {
  const Locked lock(mutex_);
  return log_[number];
}

Done Tiers::drop(std::uint32_t number, std::uint32_t record) {
  const Locked lock(mutex_);
  // A kept segment is marked where it lies.
  if (kept()) {
    if (auto ok = go_on_writing(); !ok) return ok;
    while (log_[number].moving) mutex_.wait(done_);
    if (auto ok = store_.mark_dropped(log_[number].place, record, memory_of(number)); !ok) return ok;
  }
  --log_[number].live;
  forget_if_unused(number);
  poke();
  return {};
}

void Tiers::reverse(std::uint32_t from_segment) {
  const Locked lock(mutex_);
  wishes_.reversing = true;
  wishes_.cursor = from_segment == kNone ? next_generation_ : log_[from_segment].generation;
  poke();
}

std::string Tiers::place_of(std::uint32_t number) {
  const Locked lock(mutex_);
  const Place place = log_[number].place;
  const std::string& path = store_.path(place.tier);
  return fmt::format("{}, segment {}", path.empty() ? "dram" : path, place.slot);
}

// --- segments
// ----------------------------------------------------------------------------------------------------------

void Tiers::give_up_buffer(std::uint32_t number) {
  Segment& segment = log_[number];
  if (segment.buffer != kNone) cache_.give_up(std::exchange(segment.buffer, kNone));
}

void Tiers::forget_if_unused(std::uint32_t number) {
  if (log_[number].live == 0 && log_[number].movable()) forget(number);
}

void Tiers::forget(std::uint32_t number) {
  give_up_buffer(number);
  store_.retire(log_[number].place);
  log_.erase(number);
  done_.notify_all();
}

Done Tiers::rewind() {
  const Locked lock(mutex_);
  while (spiller_busy_ || telling_) mutex_.wait(done_);
  if (!started_) return {};
  if (auto ok = go_on_writing(); !ok) return ok;
  if (auto ok = store_.rewind(); !ok) return ok;
  // Headers of the old epoch count no more: nothing needs to be written.
  log_.clear();
  cache_.clear();
  wishes_.reversing = false;
  must_tell_ = true;
  poke();
  return {};
}

Outcome<forebay_tier_info> Tiers::info(std::size_t number) {
  const Locked lock(mutex_);
  const auto tier = static_cast<std::uint32_t>(number);
  const Slots& slots = log_.tier(tier);
  forebay_tier_info info{};
  info.medium = store_.kind(tier);
  info.path = store_.options(tier).path.c_str();
  info.budget = store_.options(tier).budget;
  info.segment_bytes = segment_bytes();
  info.segments = slots.limit;
  info.prepared = slots.made;
  info.used = slots.used();
  info.moved_in = traffic_[number].moved_in;
  info.fetched = traffic_[number].fetched;
  return info;
}

}  // namespace forebay::trajectory
