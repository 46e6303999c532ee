#include "trajectory/tiers.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

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

std::span<std::byte> Tiers::memory_of(std::uint32_t number) const {
  const Segment& segment = log_[number];
  if (!streamed(segment.place.tier)) return memory_at(segment.place);
  return segment.buffer == kNone ? std::span<std::byte>() : cache_.bytes(segment.buffer);
}

// --- threads
// -----------------------------------------------------------------------------------------------------------

void Tiers::start_threads() {
  const NoSignals in_threads;
  if (!read_only_) {
    preparer_ = std::thread([this] {
      Lock lock(mutex_);
      prepare(lock);
    });
  }
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
  const Slots& first = log_.tier(0);
  while (!stop_) {
    // The next is made while the second half of one is written, and while all of it is once the writer has waited for
    // that. More would only take time from a solver that needs no more: where memory is slow to come, 64 MiB cost as
    // much as steps do, and ranks that fill all cores pay for it.
    const bool possible = first.free.empty() && first.made < first.limit && !first.making;
    if (!possible || !(writer_.wants_next || writer_.always_wants)) {
      work_.wait(lock);
    } else {
      (void)make_slot(lock, 0, first.limit);
      done_.notify_all();
      poke();
    }
  }
}

// Makes the next slot of a tier, and adds it to the free ones; false when that failed, or another thread is at it, or
// there are `most` already.
bool Tiers::make_slot(Lock& lock, std::uint32_t number, std::uint32_t most) {
  Tier& tier = tiers_[number];
  Slots& slots = log_.tier(number);
  if (slots.making || slots.made >= most) return false;
  if (!streamed(number)) {
    slots.making = true;
    lock.unlock();
    auto made = tier.medium->make(slots.made, segment_bytes_);
    lock.lock();
    slots.making = false;
    if (!made) {
      // A medium that is full before its budget: it has what it has.
      tier.failure = failure_of(made.error());
      slots.limit = std::min(slots.limit, slots.made);
      return false;
    }
    tier.mappings.push_back(std::move(*made));
  }
  slots.add();
  return true;
}

std::optional<std::uint32_t> Tiers::take_slot(Lock& lock, std::uint32_t number) {
  Slots& slots = log_.tier(number);
  while (slots.free.empty() || slots.room() == 0) {
    if (slots.making) {
      done_.wait(lock);
    } else if (slots.room() == 0 || !make_slot(lock, number, slots.limit)) {
      return std::nullopt;
    }
  }
  const std::uint32_t slot = slots.take();
  if (writer_.waits) poke();  // for this one, perhaps: the preparer makes it another
  return slot;
}

// --- the writer
// --------------------------------------------------------------------------------------------------------

Failure Tiers::no_room() {
  std::string text = "no room for another step:";
  forebay_status status = FOREBAY_E_NO_SPACE;
  for (std::uint32_t i = 0; i < tiers_.size(); ++i) {
    Tier& tier = tiers_[i];
    const std::uint64_t used = log_.tier(i).used() * segment_bytes_;
    text += fmt::format("{} {} {}: {} of {} bytes used", i == 0 ? "" : ",",
                        tier.medium ? tier.medium->kind() : "shared", tier.options->path, used, tier.options->budget);
    if (!tier.failure) continue;
    text += fmt::format(" ({})", tier.failure->text);
    // Not lack of room but a failing medium is what the caller must hear of. The next attempt starts afresh.
    if (tier.failure->status != FOREBAY_E_NO_SPACE) status = tier.failure->status;
    if (i != 0) tier.failure.reset();
  }
  return {status, text + "; drop steps, or open the trajectory with larger budgets"};
}

Outcome<Tiers::Active> Tiers::next(segment::Writer& writer) {
  Lock lock(mutex_);
  const Slots& first = log_.tier(0);
  reversing_ = false;
  std::optional<std::chrono::steady_clock::time_point> start_of_wait;
  while (first.free.empty() || first.room() == 0) {
    const bool being_made = first.room() > 0 && (first.made < first.limit || first.making);
    if (!being_made && !mover_busy_ && !can_spill(look(), 0)) {
      writer_.waits = writer_.wants_next = false;
      return tl::unexpected<Failure>(no_room());
    }
    if (!start_of_wait) {
      start_of_wait = std::chrono::steady_clock::now();
      writer_.waits = writer_.wants_next = true;
      writer_.always_wants |= writer_.took_one && first.free.empty();
      poke();
    }
    done_.wait(lock);
  }
  writer_.waits = writer_.wants_next = false;
  writer_.took_one = true;
  if (start_of_wait) waited_for_room_ += seconds_since(*start_of_wait);
  return start(lock, writer);
}

Outcome<Tiers::Active> Tiers::next_for_cleaning(segment::Writer& writer) {
  Lock lock(mutex_);
  const Slots& first = log_.tier(0);
  // The last cleaning may have freed a slot further down: the mover makes room here by that.
  done_.wait(lock, [&] { return first.used() <= first.limit || (!mover_busy_ && !can_spill(look(), 0)); });
  if (first.used() > first.limit || (first.free.empty() && !make_slot(lock, 0, first.limit + 1))) {
    return tl::unexpected<Failure>(no_room());
  }
  return start(lock, writer);
}

// In a free slot of the first tier.
Outcome<Tiers::Active> Tiers::start(Lock& lock, segment::Writer& writer) {
  const std::uint64_t generation = next_generation_++;
  const std::uint32_t number = log_.add(generation, {0, log_.tier(0).take()});
  const std::span<std::byte> memory = memory_of(number);
  poke();
  lock.unlock();
  const int failed = writer.start(first_medium(), memory, {store_, tiers_.front().checks}, generation, epoch_);
  if (failed == 0) return Active{number, memory.data()};
  lock.lock();
  forget(number);
  return medium_failed(failed, tiers_.front().path());
}

std::uint32_t Tiers::sparsest(std::uint32_t records) {
  const Lock lock(mutex_);
  return log_.sparsest(records);
}

void Tiers::leave(std::uint32_t number, std::uint32_t records) {
  const Lock lock(mutex_);
  log_[number].live -= records;
  settle(number);
  poke();
}

bool Tiers::announce_next() {
  const Lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  writer_.wants_next = true;
  poke();
  return true;
}

Done Tiers::seal(segment::Writer& writer, std::uint32_t number, std::uint32_t live, bool held) {
  const int failed = writer.seal();
  segment::fence_stores();  // the mover reads what this thread has streamed
  {
    const Lock lock(mutex_);
    Segment& sealed = log_[number];
    sealed.sealed = true;
    sealed.extent = writer.extent();
    sealed.live = live;
    sealed.holds = held ? 1 : 0;
    sealed.arrivals = tiers_.front().checks ? 1 : 0;
    settle(number);
    poke();
  }
  if (failed != 0) return medium_failed(failed, tiers_.front().path());
  return {};
}

// --- the reader
// --------------------------------------------------------------------------------------------------------

Outcome<const std::byte*> Tiers::hold(std::uint32_t number) {
  Lock lock(mutex_);
  cursor_ = log_[number].generation;
  if (memory_of(number).empty()) {
    const auto start_of_wait = std::chrono::steady_clock::now();
    not_fetched_.reset();
    wanted_ = number;
    poke();
    done_.wait(lock, [&] { return !memory_of(number).empty() || not_fetched_; });
    wanted_ = kNone;
    waited_for_states_ += seconds_since(start_of_wait);
    if (memory_of(number).empty()) return tl::unexpected<Failure>(*not_fetched_);
  }
  ++log_[number].holds;
  if (reversing_) poke();
  return memory_of(number).data();
}

const std::byte* Tiers::hold_if_at_hand(std::uint32_t number) {
  const Lock lock(mutex_);
  const std::span<const std::byte> memory = memory_of(number);
  if (!memory.empty()) ++log_[number].holds;
  return memory.data();
}

void Tiers::unhold(std::uint32_t number) {
  const Lock lock(mutex_);
  --log_[number].holds;
  settle(number);
  poke();
}

Segment Tiers::about(std::uint32_t number) {
  const Lock lock(mutex_);
  return log_[number];
}

Done Tiers::drop(std::uint32_t number, std::uint32_t record) {
  Lock lock(mutex_);
  // A kept segment is marked where it lies.
  if (kept_) done_.wait(lock, [&] { return !log_[number].moving; });
  if (kept_) {
    if (auto ok = mark_dropped(number, record); !ok) return ok;
  }
  --log_[number].live;
  settle(number);
  poke();
  return {};
}

void Tiers::reverse(std::uint32_t from_segment) {
  const Lock lock(mutex_);
  reversing_ = true;
  cursor_ = from_segment == kNone ? next_generation_ : log_[from_segment].generation;
  poke();
}

std::string Tiers::place_of(std::uint32_t number) {
  const Lock lock(mutex_);
  const Place place = log_[number].place;
  const Tier& tier = tiers_[place.tier];
  return fmt::format("{}, segment {}", tier.directory ? tier.path() : "dram", place.slot);
}

// --- segments
// ----------------------------------------------------------------------------------------------------------

void Tiers::retire(Place place) {
  Tier& tier = tiers_[place.tier];
  if (read_only_) return;
  // A header that cannot be taken away does no harm now; a reopening may find dropped steps again.
  if (tier.stream) {
    (void)tier.stream->retire(place.slot * segment_bytes_, store_);
  } else {
    (void)segment::retire(*tier.medium, memory_at(place), store_);
  }
}

void Tiers::give_up_buffer(std::uint32_t number) {
  Segment& segment = log_[number];
  if (segment.buffer != kNone) cache_.give_up(std::exchange(segment.buffer, kNone));
}

void Tiers::settle(std::uint32_t number) {
  if (log_[number].live == 0 && log_[number].movable()) forget(number);
}

void Tiers::forget(std::uint32_t number) {
  give_up_buffer(number);
  retire(log_[number].place);
  log_.erase(number);
  done_.notify_all();
}

Done Tiers::rewind() {
  Lock lock(mutex_);
  done_.wait(lock, [&] { return !mover_busy_; });
  // The highest epoch counts for all: once the first tier tells it, this is done, and whoever opens the store tells it
  // to those that did not take it.
  for (std::size_t i = 0; kept_ && started_ && i < tiers_.size(); ++i) {
    auto ok = tiers_[i].directory->write_epoch(store_, epoch_ + 1);
    if (!ok && i == 0) return pass_on(ok);
  }
  ++epoch_;
  // Headers of the old epoch count no more: nothing needs to be written.
  log_.clear();
  cache_.clear();
  reversing_ = false;
  return {};
}

Outcome<forebay_tier_info> Tiers::info(std::size_t number) {
  const Lock lock(mutex_);
  const Tier& tier = tiers_[number];
  const Slots& slots = log_.tier(static_cast<std::uint32_t>(number));
  forebay_tier_info info{};
  info.medium = tier.medium ? tier.medium->kind().data() : (tier.options->kind == TierKind::shared ? "shared" : "file");
  info.path = tier.options->path.c_str();
  info.budget = tier.options->budget;
  info.segment_bytes = segment_bytes_;
  info.segments = slots.limit;
  info.prepared = slots.made;
  info.used = slots.used();
  info.moved_in = tier.moved_in;
  info.fetched = tier.fetched;
  return info;
}

}  // namespace forebay::trajectory
