#include "run/launch/pressure.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>

#include "run/contract/pages.h"
#include "run/launch/processes.h"

namespace forebay::launch {
namespace {

constexpr std::size_t gate_bytes = 4096;
// A pool with fewer inodes than this does not give all that a step asks for.
constexpr std::uint64_t few_inodes = 4;
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

}  // namespace

// By descriptor: to find the path takes most of the time.
Pressure::Room Pressure::available(const PoolState& pool) const {
  if (available_) return available_(pool.path);
  struct statvfs status {};
  if (::fstatvfs(pool.directory.get(), &status) != 0) return {UINT64_MAX};
  // A file system without a table of inodes tells 0 of 0.
  return {static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize,
          status.f_files == 0 || status.f_favail >= few_inodes};
}

Result<std::unique_ptr<Pressure>> Pressure::make(const std::string& gate_path, const std::vector<node::Pool>& pools,
                                                 const settings::Settings& settings, Clock& clock,
                                                 Available available) {
  std::unique_ptr<Pressure> made(new Pressure(clock));
  made->available_ = std::move(available);
  auto page = MappedFile::make(gate_path, gate_bytes);
  if (!page) return forward(page);
  made->gate_page_ = std::move(*page);
  made->gate_ = reinterpret_cast<std::uint32_t*>(made->gate_page_.bytes().data());
  made->high_ = settings.pool.high_water;
  made->patience_ = settings.drain.patience;
  made->low_ = settings.pool.low_water;
  for (const node::Pool& pool : pools) {
    auto directory = open_file(pool.path, O_PATH | O_DIRECTORY);
    if (!directory) return forward(directory);
    PoolState& state = made->pools_.emplace_back(PoolState{pool.path, std::move(*directory), pool.budget});
    state.available_at_start = made->available(state).bytes;
  }
  // Sockets whose pools have one path share its space: what one takes, the other sees gone. Their budgets count
  // together.
  for (PoolState& pool : made->pools_) {
    std::uint64_t together = 0;
    for (const node::Pool& other : pools)
      if (other.path == pool.path) together += other.budget;
    pool.budget = std::min(together, pool.available_at_start);
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

// How full each pool is; true when one is as good as full.
bool Pressure::check() {
  bool full = false;
  for (PoolState& pool : pools_) {
    const auto [now, any_inodes] = available(pool);
    const std::uint64_t used = pool.available_at_start > now ? pool.available_at_start - now : 0;
    pool.fill = pool.budget > 0 ? static_cast<double>(used) / static_cast<double>(pool.budget) : 0;
    full = full || now < contract::as_good_as_full || !any_inodes;
  }
  return full;
}

// Leaves room for a measured output step.
double Pressure::high_mark(const drain::Drain& drain) const {
  double mark = high_;
  for (const PoolState& pool : pools_)
    if (pool.budget > 0)
      mark = std::min(mark,
                      1 - steps_above * static_cast<double>(drain.largest_step()) / static_cast<double>(pool.budget));
  return std::max(mark, least_high);
}

// How long programs need to bring a pool to the high mark, where that is worth a check.
Clock::duration Pressure::until_check(double high) const {
  using Seconds = std::chrono::duration<double>;
  static const auto cores = static_cast<double>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  Seconds least = longest_until_check;
  for (const PoolState& pool : pools_) {
    if (pool.budget == 0) continue;
    const double room = (high - pool.fill) * static_cast<double>(pool.budget);
    least = std::min(least, Seconds(std::max(room, 0.0) / (highest_rate * cores)));
  }
  return std::max<Clock::duration>(std::chrono::duration_cast<Clock::duration>(least), shortest_until_check);
}

void Pressure::act(drain::Drain& drain) {
  const bool full = check();
  drain.pool_is_full(full);
  const double fullest = fill();
  const double high = high_mark(drain), low = std::min(low_, 0.8 * high);
  tight_ = full || fullest >= high;
  next_check_ = tight_ || paused_ ? Clock::time_point{} : clock_.now() + until_check(high);
  if (fullest < low) {
    hopeless_ = false;
    if (paused_) set(false);
    return;
  }
  if (fullest < high && !paused_) return;
  // The fullest may hold nothing that can go, and another as full as it what can.
  for (const PoolState& pool : pools_)
    if (pool.fill >= low)
      drain.evict(static_cast<std::uint64_t>((pool.fill - low) * static_cast<double>(pool.budget)) + 1, pool.path);
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
    return pool.fill >= wait_from && drain.can_make_room(pool.path);
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
  double fullest = 0;
  for (const PoolState& pool : pools_) fullest = std::max(fullest, pool.fill);
  return fullest;
}

void Pressure::release() {
  if (paused_) set(false);
}

std::chrono::milliseconds Pressure::paused_for() const {
  auto total = total_;
  if (paused_) total += clock_.now() - since_;
  return std::chrono::duration_cast<std::chrono::milliseconds>(total);
}

}  // namespace forebay::launch
