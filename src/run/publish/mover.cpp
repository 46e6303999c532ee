#include "run/publish/mover.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace forebay::drain {
namespace {

// Names made durable by one fsync of their directory: so many at most, so long after their rename at most.
constexpr std::size_t most_unsynced = 512;
constexpr std::chrono::milliseconds longest_unsynced{500};
// Before a unit larger than this starts, what waits for its fsync gets it.
constexpr std::uint64_t large_unit = std::uint64_t{8} << 20;
// The amount that the bandwidth cap lets through at once after a pause.
constexpr std::chrono::milliseconds cap_burst{100};
// Units that are written and wait for their turn, each in a thread of its own that does nothing else: not many more.
constexpr std::size_t most_waiting = 32;
// So often a unit is tried while others wait for it.
constexpr int most_tries = 6;

struct Order {
  std::uint64_t ticket = 0;
  Mover::Make make;
  Mover::Done done;
  Place place;
  bool is_last_try = false;  // others wait for it: if it fails now they go first
  int attempts = 0;
  Attempts earlier;                  // what they may have left
  std::optional<Published> renamed;  // published, its name not durable yet
  Error last_error;
};

// A link that somebody put into the case stays there until he removes it: the error says so.
bool may_pass(const Error& error) {
  return error.errno_value != ELOOP && error.code != Code::conflict && error.code != Code::bad_input &&
         !source_changed(error) && !source_unreadable(error);
}

Error was_dropped() {
  return {Code::undrained, "the run was told to end before this was carried", "", 0, ""};
}

std::uint64_t size_of(const layouts::Unit& unit) {
  std::uint64_t bytes = 0;
  for (const layouts::OutputFile& file : unit.files)
    for (const layouts::Piece& piece : file.pieces) bytes += piece.source.empty() ? piece.literal.size() : piece.length;
  return bytes;
}

// A unit is in exactly one place: queue (not started, or due again), a thread's hands (active), retries (waiting for
// its time), unsynced (renamed, waiting for the fsync of its directory), or ended (given up, to be reported).
struct Units {
  std::deque<Order> queue;
  std::multimap<Clock::time_point, Order> retries;
  std::deque<Order> ended;
  std::vector<Order> unsynced;
  Clock::time_point oldest_unsynced;
  std::uint64_t active = 0;
  std::size_t writing = 0, waiting = 0;  // of these: at work on a unit, and done but for its name
  Turns turns;
  std::set<std::uint64_t> dropped;
};

}  // namespace

struct Mover::State {
  State(SharedFiles& shared_files, std::string run_name, MoverSettings mover_settings, Clock& the_clock)
      : shared(shared_files), run(std::move(run_name)), settings(std::move(mover_settings)), clock(the_clock) {
    publish_settings = settings.publish;
    publish_settings.clock = &clock;
    publish_settings.defer_directory_sync = true;
    publish_settings.pace = [this](std::size_t bytes) { return pace(bytes); };
    const int count = std::max(1, settings.threads);
    threads.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
  }

  void work();
  std::deque<Order>::iterator next_to_start();
  void attempt(Order order, std::unique_lock<std::mutex>& lock);
  Result<Published> publish_order(Order& order, const layouts::Unit& unit);
  bool await_turn(const Order& order);
  void try_earlier_now(const Place& place);
  void sync_names(std::unique_lock<std::mutex>& lock);
  void failed(Order order, const Error& error, bool final, std::unique_lock<std::mutex>& lock);
  void report(const Order& order, Result<Published> result, bool final, std::unique_lock<std::mutex>& lock);
  void requeue_due();
  bool at_work() const {
    return !units.queue.empty() || !units.ended.empty() || !units.unsynced.empty() || units.active > 0;
  }
  bool pace(std::size_t bytes);
  bool is_dropped(std::uint64_t ticket) const;
  std::chrono::milliseconds delay_after(int attempts) const;
  void stop();

  SharedFiles& shared;
  const std::string run;
  const MoverSettings settings;
  Clock& clock;
  PublishSettings publish_settings;

  mutable std::mutex mutex;
  std::condition_variable work_changed, turn_changed, idle_reached, stop_requested;
  Units units;
  std::uint64_t next_ticket = 1, files_written = 0;
  std::atomic<std::uint64_t> bytes_written{0};
  bool giving_up = false, stopping = false;
  Clock::time_point cap_free;  // when the bandwidth cap lets the next byte through

  std::mutex join_mutex;
  std::vector<std::thread> threads;
};

void Mover::State::work() {
  if (settings.idle_priority) give_way();
  std::unique_lock lock(mutex);
  while (!stopping) {
    requeue_due();
    if (!units.ended.empty()) {
      Order order = std::move(units.ended.front());
      units.ended.pop_front();
      ++units.active;
      report(order, tl::unexpected<Error>(order.last_error), true, lock);
      --units.active;
    } else if (const auto next = next_to_start(); next != units.queue.end()) {
      Order order = std::move(*next);
      units.queue.erase(next);
      ++units.active;
      ++units.writing;
      attempt(std::move(order), lock);
      --units.writing;
      --units.active;
      if (units.unsynced.size() >= most_unsynced ||
          (!units.unsynced.empty() && clock.now() - units.oldest_unsynced > longest_unsynced))
        sync_names(lock);
    } else if (!units.unsynced.empty()) {
      sync_names(lock);
    } else {
      if (!at_work()) idle_reached.notify_all();
      if (units.retries.empty())
        work_changed.wait(lock);
      else
        clock.wait(lock, work_changed, units.retries.begin()->first);
    }
  }
  // A unit that was renamed is on the case; it is told, so that it need not be drained again.
  if (!units.unsynced.empty()) sync_names(lock);
}

void Mover::State::requeue_due() {
  if (units.retries.empty()) return;
  const auto due = units.retries.upper_bound(clock.now());
  // In front of the others: they were submitted earlier than what still waits for its first attempt.
  auto at = units.queue.begin();
  for (auto retry = units.retries.begin(); retry != due; ++retry)
    at = std::next(units.queue.insert(at, std::move(retry->second)));
  units.retries.erase(units.retries.begin(), due);
}

// While many wait for their turn only what need not wait is started.
std::deque<Order>::iterator Mover::State::next_to_start() {
  const auto end = units.queue.end();
  if (units.writing >= static_cast<std::size_t>(std::max(1, settings.threads))) return end;
  if (units.waiting < most_waiting) return units.queue.begin();
  return std::ranges::find_if(units.queue, [&](const Order& order) { return units.turns.is_next(order.place); });
}

void Mover::State::attempt(Order order, std::unique_lock<std::mutex>& lock) {
  ++order.attempts;
  if (order.renamed) {
    if (units.unsynced.empty()) units.oldest_unsynced = clock.now();
    units.unsynced.push_back(std::move(order));
    return;
  }
  lock.unlock();
  auto unit = order.make();
  if (!unit) {
    const int reason = unit.error().errno_value;
    lock.lock();
    order.is_last_try = false;  // it is not the shared file system that fails
    return failed(std::move(order), unit.error(), reason == 0 || reason == ENOENT || source_unreadable(unit.error()),
                  lock);
  }
  if (!*unit) {
    lock.lock();
    return report(order, Published{}, true, lock);
  }
  if (size_of(**unit) > large_unit) {
    lock.lock();
    if (!units.unsynced.empty()) sync_names(lock);
    lock.unlock();
  }
  auto published = publish_order(order, **unit);
  lock.lock();
  if (!published && units.dropped.contains(order.ticket)) return failed(std::move(order), was_dropped(), true, lock);
  if (!published) return failed(std::move(order), published.error(), !may_pass(published.error()), lock);
  files_written += published->files.size();
  units.turns.leave(order.place);
  turn_changed.notify_all();
  order.renamed = std::move(*published);
  if (units.unsynced.empty()) units.oldest_unsynced = clock.now();
  units.unsynced.push_back(std::move(order));
}

Result<Published> Mover::State::publish_order(Order& order, const layouts::Unit& unit) {
  // Bytes of a failed attempt do not count: a caller that waits for progress would wait for ever.
  std::uint64_t written = 0;
  PublishSettings counting = publish_settings;
  counting.pace = [this, &written, ticket = order.ticket](std::size_t bytes) {
    if (is_dropped(ticket) || !pace(bytes)) return false;
    written += bytes;
    return true;
  };
  if (order.place.line != Line::none) counting.turn = [this, &order] { return await_turn(order); };
  auto published = publish(shared, unit, run, counting, order.earlier);
  if (!published) bytes_written.fetch_sub(written, std::memory_order_relaxed);
  return published;
}

// A thread that waits is replaced, so that as many write as before. There is always one more than wait, and what the
// others wait for is started by it: nobody waits for ever.
bool Mover::State::await_turn(const Order& order) {
  std::unique_lock lock(mutex);
  const auto may_go_on = [&] {
    return stopping || units.dropped.contains(order.ticket) || units.turns.is_next(order.place);
  };
  if (!may_go_on()) {
    if (threads.size() <= static_cast<std::size_t>(std::max(1, settings.threads)) + units.waiting) {
      try {
        threads.emplace_back([this] { work(); });
      } catch (const std::system_error&) {  // this user may have no more: out of turn is better than never
        return true;
      }
    }
    try_earlier_now(order.place);
    --units.writing;
    ++units.waiting;
    work_changed.notify_all();
    turn_changed.wait(lock, may_go_on);
    --units.waiting;
    ++units.writing;
  }
  return !stopping && !units.dropped.contains(order.ticket);
}

// The shared file system takes files again, or failed for those only: what fails once more now is waited for by nobody.
void Mover::State::try_earlier_now(const Place& place) {
  for (auto at = units.retries.begin(); at != units.retries.end();) {
    Order& order = at->second;
    if (order.place.line == Line::none || order.place.turn > place.turn || order.is_last_try) {
      ++at;
      continue;
    }
    order.is_last_try = true;
    units.queue.push_front(std::move(order));
    at = units.retries.erase(at);
  }
}

void Mover::State::sync_names(std::unique_lock<std::mutex>& lock) {
  std::vector<Order> batch = std::exchange(units.unsynced, {});
  std::vector<std::string> directories;
  for (const Order& order : batch)
    directories.insert(directories.end(), order.renamed->unsynced.begin(), order.renamed->unsynced.end());
  units.active += batch.size();
  lock.unlock();
  const auto synced = sync_directories(shared, directories);
  lock.lock();
  for (Order& order : batch) {
    if (synced) {
      order.renamed->unsynced.clear();
      report(order, std::move(*order.renamed), true, lock);
    } else {
      failed(std::move(order), synced.error(), false, lock);
    }
    --units.active;
  }
}

void Mover::State::failed(Order order, const Error& error, bool final, std::unique_lock<std::mutex>& lock) {
  final = final || giving_up || stopping || units.dropped.contains(order.ticket);
  report(order, tl::unexpected<Error>(error), final, lock);
  if (final) return;
  order.last_error = error;
  if (order.is_last_try || (units.waiting > 0 && order.attempts >= most_tries)) {
    units.turns.leave(order.place);
    turn_changed.notify_all();
  }
  if (giving_up) {  // since the report
    units.ended.push_back(std::move(order));
  } else {
    const auto due = clock.now() + delay_after(order.attempts);
    units.retries.emplace(due, std::move(order));
  }
  work_changed.notify_all();
}

void Mover::State::report(const Order& order, Result<Published> result, bool final,
                          std::unique_lock<std::mutex>& lock) {
  if (!order.done) return;
  lock.unlock();
  order.done(Outcome{order.ticket, final, order.attempts, std::move(result)});
  lock.lock();
}

bool Mover::State::is_dropped(std::uint64_t ticket) const {
  const std::lock_guard lock(mutex);
  return units.dropped.contains(ticket);
}

std::chrono::milliseconds Mover::State::delay_after(int attempts) const {
  auto delay = settings.first_retry;
  for (int i = 1; i < attempts && delay < settings.last_retry; ++i) delay *= 2;
  return std::min(delay, settings.last_retry);
}

bool Mover::State::pace(std::size_t bytes) {
  {
    std::unique_lock lock(mutex);
    if (settings.bytes_per_second && *settings.bytes_per_second > 0) {
      // Each write books its share of the future and waits for its beginning.
      const auto now = clock.now();
      const auto begin = std::max(cap_free, now - cap_burst);
      const std::chrono::duration<double> share(static_cast<double>(bytes) /
                                                static_cast<double>(*settings.bytes_per_second));
      cap_free = begin + std::chrono::duration_cast<Clock::duration>(share);
      clock.wait(lock, stop_requested, begin, [this] { return stopping; });
    }
    if (stopping) return false;
  }
  if (settings.publish.pace && !settings.publish.pace(bytes)) return false;
  bytes_written.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

void Mover::State::stop() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
    work_changed.notify_all();
    turn_changed.notify_all();
    stop_requested.notify_all();
  }
  const std::lock_guard joining(join_mutex);
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  const std::lock_guard lock(mutex);
  units.queue.clear();
  units.retries.clear();
  units.ended.clear();
  idle_reached.notify_all();
}

Mover::Mover(SharedFiles& shared, std::string run, MoverSettings settings, Clock& clock)
    : state_(std::make_unique<State>(shared, std::move(run), std::move(settings), clock)) {}

Mover::~Mover() {
  stop();
}

std::uint64_t Mover::submit(Make make, Done done, Place place) {
  const std::lock_guard lock(state_->mutex);
  const std::uint64_t ticket = state_->next_ticket++;
  if (state_->stopping) return ticket;
  state_->units.turns.join(place);
  state_->units.queue.push_back(Order{ticket, std::move(make), std::move(done), place, false, 0, {}, std::nullopt, {}});
  state_->work_changed.notify_one();
  return ticket;
}

void Mover::leave(const Place& place) {
  const std::lock_guard lock(state_->mutex);
  state_->units.turns.leave(place);
  state_->turn_changed.notify_all();
  state_->work_changed.notify_all();
}

bool Mover::wait_idle() {
  std::unique_lock lock(state_->mutex);
  state_->idle_reached.wait(lock, [this] { return !state_->at_work(); });
  return state_->units.retries.empty();
}

void Mover::retry_now() {
  const std::lock_guard lock(state_->mutex);
  const auto now = state_->clock.now();
  for (auto& [due, order] : std::exchange(state_->units.retries, {}))
    state_->units.retries.emplace(now, std::move(order));
  state_->work_changed.notify_all();
}

void Mover::give_up() {
  const std::lock_guard lock(state_->mutex);
  state_->giving_up = true;
  for (auto& [due, order] : state_->units.retries) state_->units.ended.push_back(std::move(order));
  state_->units.retries.clear();
  state_->work_changed.notify_all();
}

void Mover::drop(const std::set<std::uint64_t>& tickets) {
  const std::lock_guard lock(state_->mutex);
  Units& units = state_->units;
  units.dropped.insert(tickets.begin(), tickets.end());
  // (The one of std::ranges is more than clang 14 can make of this library.)
  const auto waits = std::stable_partition(units.queue.begin(), units.queue.end(),
                                           [&](const Order& order) { return !tickets.contains(order.ticket); });
  for (auto order = waits; order != units.queue.end(); ++order) {
    if (order->attempts == 0) order->last_error = was_dropped();
    units.ended.push_back(std::move(*order));
  }
  units.queue.erase(waits, units.queue.end());
  for (auto at = units.retries.begin(); at != units.retries.end();) {
    if (!tickets.contains(at->second.ticket)) {
      ++at;
      continue;
    }
    units.ended.push_back(std::move(at->second));
    at = units.retries.erase(at);
  }
  state_->turn_changed.notify_all();
  state_->work_changed.notify_all();
}

void Mover::stop() {
  state_->stop();
}

MoverProgress Mover::progress() const {
  const std::lock_guard lock(state_->mutex);
  MoverProgress progress;
  progress.queued = state_->units.queue.size();
  progress.active = state_->units.active + state_->units.unsynced.size();
  progress.waiting_for_retry = state_->units.retries.size() + state_->units.ended.size();
  progress.bytes_written = state_->bytes_written;
  progress.files_written = state_->files_written;
  return progress;
}

}  // namespace forebay::drain
