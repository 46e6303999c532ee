#include "run/launch/pressure.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <map>

#include "run/contract/pages.h"
#include "run/launch/processes.h"

namespace forebay::launch {
namespace {

constexpr std::size_t gate_bytes = 4096;
// Above the high mark so many output steps must fit: ranks are not at the same point, and what one sees takes a moment.
constexpr double steps_above = 2;
// A check of a file system costs a solver that shares the processor some 0.03 ms, so none is taken before programs can
// have written so much that a pool comes to the high mark: bytes per second and core, as many as a kernel takes for new
// files in huge pages of memory.
constexpr double highest_rate = 10e9;
// At most so often where pools are small or nearly full, which a solver would notice; longer than from tick to tick.
constexpr std::chrono::milliseconds shortest_until_check{20}, longest_until_check{1250};
// However large the steps: a program that is always held back never gets anywhere.
constexpr double least_high = 0.3;
// So many entries are counted before the agent looks at other things: some milliseconds.
constexpr std::size_t count_at_once = 2000;
// A file takes a microsecond or two to count, which a solver waits for: counts take this part of a core, or more where
// a pool is full, since programs do not work then.
constexpr int part_for_counts = 128, part_for_counts_when_full = 8;
constexpr std::chrono::milliseconds shortest_until_count{250}, shortest_until_count_when_full{20};
// So long programs must have been held before it is told, and go on before it is over.
constexpr std::chrono::milliseconds held_worth_telling{500}, goes_on_again{1000};

}  // namespace

Result<std::unique_ptr<Pressure>> Pressure::make(const std::string& gate_path, const std::vector<node::Pool>& pools,
                                                 const std::vector<std::string>& directories,
                                                 const settings::Settings& settings, Clock& clock,
                                                 const MeasurePool& measure) {
  std::unique_ptr<Pressure> made(new Pressure(clock));
  auto page = MappedFile::make(gate_path, gate_bytes);
  if (!page) return forward(page);
  made->gate_page_ = std::move(*page);
  made->gate_ = reinterpret_cast<std::uint32_t*>(made->gate_page_.bytes().data());
  made->high_ = settings.pool.high_water;
  made->patience_ = settings.drain.patience;
  made->low_ = settings.pool.low_water;
  // Sockets whose pools have one path share its space, and their budgets count together.
  std::map<std::string, std::vector<std::string>> at_path;
  for (std::size_t i = 0; i < pools.size(); ++i) at_path[pools[i].path].push_back(directories.at(i));
  for (const auto& [path, own] : at_path) {
    auto meter = measure(path, own);
    if (!meter) return forward(meter);
    PoolState& state = made->pools_.emplace_back(PoolState{path, std::move(*meter)});
    for (const node::Pool& pool : pools)
      if (pool.path == path) state.budget += pool.budget;
  }
  for (PoolState& pool : made->pools_) {
    pool.others = made->exchange_claims(pool);
    made->look(pool, pool.meter->room().bytes);
  }
  return made;
}

Pressure::~Pressure() {
  release();
}

void Pressure::watch(pid_t process) {
  processes_.push_back(process);
}

void Pressure::forget(pid_t process) {
  std::erase(processes_, process);
}

// True when a pool is as good as full, whoever filled it.
bool Pressure::check(double high) {
  bool full = false;
  for (PoolState& pool : pools_) {
    const auto [now, any_inodes] = pool.meter->room();
    full = full || now < contract::as_good_as_full || !any_inodes;
    look(pool, now);
    if (pool.counting || clock_.now() >= next_count(pool, high)) count(pool);
  }
  return full;
}

void Pressure::look(PoolState& pool, std::uint64_t free_bytes) {
  pool.holding.free_is(free_bytes);
  pool.limit = limit_of({pool.budget, pool.holding.at_most()}, free_bytes, pool.others);
}

void Pressure::count(PoolState& pool) {
  if (!pool.counting) {
    pool.holding.count_begins();
    pool.count_took = {};
  }
  const auto began = clock_.now();
  const auto bytes = pool.meter->count(count_at_once);
  pool.counting = !bytes;
  pool.counted_at = clock_.now();
  pool.count_took += pool.counted_at - began;
  if (!bytes) return;
  pool.holding.counted(*bytes);
  pool.others = exchange_claims(pool);
  look(pool, pool.meter->room().bytes);
}

// Another pool of this run on the same mount takes of its free bytes like another run.
std::vector<Claim> Pressure::exchange_claims(const PoolState& pool) const {
  const auto claim = [](const PoolState& of) { return Claim{of.limit, of.holding.at_last_count()}; };
  std::vector<Claim> others = pool.meter->exchange(claim(pool));
  for (const PoolState& own : pools_)
    if (&own != &pool && own.meter->mount() == pool.meter->mount()) others.push_back(claim(own));
  return others;
}

// At once where it is possible that the high mark was passed, but not known: another may have taken what is free no
// more.
Clock::time_point Pressure::next_count(const PoolState& pool, double high) const {
  const bool full = pool.fill() >= high;
  if (!full && pool.highest_fill() >= high) return {};
  if (!pool.holding.is_stale()) return Clock::time_point::max();
  if (full || paused_)
    return pool.counted_at +
           std::max<Clock::duration>(shortest_until_count_when_full, part_for_counts_when_full * pool.count_took);
  const auto shortest = may_rest(pool, high) ? longest_until_check : shortest_until_count;
  return pool.counted_at + std::max<Clock::duration>(shortest, part_for_counts * pool.count_took);
}

// Leaves room for a measured output step.
double Pressure::high_mark(const drain::Drain& drain) const {
  double mark = high_;
  for (const PoolState& pool : pools_)
    if (pool.limit > 0)
      mark =
          std::min(mark, 1 - steps_above * static_cast<double>(drain.largest_step()) / static_cast<double>(pool.limit));
  return std::max(mark, least_high);
}

// How long programs need to bring a pool to the high mark, where that is worth a check.
Clock::duration Pressure::until_check(double high) const {
  using Seconds = std::chrono::duration<double>;
  static const auto cores = static_cast<double>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  Seconds least = longest_until_check;
  for (const PoolState& pool : pools_) {
    if (pool.limit == 0 || may_rest(pool, high)) continue;
    const double room = (high - pool.highest_fill()) * static_cast<double>(pool.limit);
    least = std::min(least, Seconds(std::max(room, 0.0) / (highest_rate * cores)));
  }
  return std::max<Clock::duration>(std::chrono::duration_cast<Clock::duration>(least), shortest_until_check);
}

void Pressure::act(drain::Drain& drain, bool rest) {
  rest_ = rest;
  const double high = high_mark(drain), low = std::min(low_, 0.8 * high);
  const bool full = check(high);
  drain.pool_is_full(full);
  double fullest = 0;
  for (const PoolState& pool : pools_) fullest = std::max(fullest, pool.level(high));
  tight_ = full || fullest >= high;
  hold_or_let_go(drain, fullest, high, low);
  note_standstill();
  next_check_ = clock_.now() + until_check(high);
  for (const PoolState& pool : pools_)
    if (tight_ || paused_ || pool.counting) {
      next_check_ = {};
    } else if (!may_rest(pool, high)) {  // else it is counted when somebody looks
      next_check_ = std::min(next_check_, next_count(pool, high));
    }
}

void Pressure::hold_or_let_go(drain::Drain& drain, double fullest, double high, double low) {
  if (fullest < low) {
    hopeless_ = false;
    if (paused_) set(false);
    return;
  }
  if (fullest < high && !paused_) return;
  // The fullest may hold nothing that can go, and another as full as it what can.
  for (const PoolState& pool : pools_)
    if (pool.fill() >= low && !pool.counting)
      drain.evict(static_cast<std::uint64_t>((pool.fill() - low) * static_cast<double>(pool.limit)) + 1, pool.path);
  const drain::MoverProgress progress = drain.progress();
  const std::uint64_t moved = progress.bytes_written + progress.files_written;
  if (moved > moved_ || !paused_) last_moved_ = clock_.now();  // failed attempts let it fall
  moved_ = std::max(moved, moved_);
  // A shared file system that takes nothing makes no room either: the program is let go, and not held back again.
  if (clock_.now() - last_moved_ > patience_) hopeless_ = true;
  // Where there is nothing to carry now, there may be at once: a time that the program ends, or events that are not
  // read yet.
  const double wait_from = paused_ ? low : high;
  const bool wait = !hopeless_ && std::ranges::any_of(pools_, [&](const PoolState& pool) {
    return pool.level(high) >= wait_from && drain.can_make_room(pool.path);
  });
  if (wait || paused_) set(wait);
}

void Pressure::set(bool paused) {
  if (paused != paused_) {
    if (paused) {
      since_ = clock_.now();
    } else {
      total_ += clock_.now() - since_;
    }
  }
  paused_ = paused;
  std::atomic_ref<std::uint32_t>(*gate_).store(paused ? 1 : 0);
  if (paused) {
    const std::vector<pid_t> now = with_descendants(processes_);
    for (const pid_t process : now) {
      if (std::ranges::find(stopped_, process) != stopped_.end()) continue;
      stopped_.push_back(process);
      pause_processes({process}, true);
    }
    return;
  }
  ::syscall(SYS_futex, gate_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  pause_processes(stopped_, false);
  stopped_.clear();
}

double Pressure::fill() const {
  return pools_.empty() ? 0 : fullest().fill();
}

void Pressure::release() {
  if (paused_) set(false);
}

Clock::duration Pressure::held() const {
  return paused_ ? total_ + (clock_.now() - since_) : total_;
}

std::chrono::milliseconds Pressure::paused_for() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(held());
}

void Pressure::note_standstill() {
  const auto now = clock_.now();
  if (paused_) {
    standing_ = Standing{standing_ ? standing_->held_before : total_, now};
  } else if (standing_ && now - standing_->last > goes_on_again) {
    standing_.reset();
  }
}

std::pair<std::uint64_t, std::uint64_t> Pressure::held_in_fullest() const {
  if (pools_.empty()) return {};
  return {fullest().holding.at_last_count(), fullest().limit};
}

std::optional<Standstill> Pressure::standstill() const {
  const bool holds = standing_ && held() - standing_->held_before >= held_worth_telling;
  if (!holds && !hopeless_) return std::nullopt;
  return Standstill{.pool = fullest().path,
                    .held_bytes = fullest().holding.at_last_count(),
                    .budget = fullest().budget,
                    .limit = fullest().limit,
                    .let_go = hopeless_};
}

}  // namespace forebay::launch
