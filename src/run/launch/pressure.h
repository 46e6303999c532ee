// Back-pressure: while a pool is nearly full, programs wait before they write more, until the drain has made room.
//
// With the redirection library they wait in open (a gate that it reads), otherwise they are stopped. When nothing
// can make room they are let go: the kernel then says no-space, and the run says so in the end.
//
// How full a pool is: the bytes of the run's own files in it, of its budget or of what others leave it (pool_share.h).
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/base.h"
#include "run/drain/drain.h"
#include "run/launch/pool_meter.h"
#include "run/launch/pool_share.h"
#include "run/launch/standstill.h"
#include "run/node/node.h"
#include "run/settings/settings.h"

namespace forebay::launch {

class Pressure {
 public:
  // `directories`: the run's own, one for each pool.
  static Result<std::unique_ptr<Pressure>> make(const std::string& gate_path, const std::vector<node::Pool>& pools,
                                                const std::vector<std::string>& directories,
                                                const settings::Settings& settings, Clock& clock,
                                                const MeasurePool& measure = measure_pool);
  ~Pressure();

  void watch(pid_t process);
  void forget(pid_t process);
  // Checks the pools and holds back, makes room, or lets go. Cheap enough for every round of the agent, but not for
  // every moment in which it only waits: see next_check(). `rest`: nothing was heard of the program for a while.
  void act(drain::Drain& drain, bool rest = false);
  // Until then no pool can become nearly full, at the highest rate at which cores write to memory, or hardly more; a
  // moment that has passed while one is. A program at rest does not fill half of a pool before the agent hears of it.
  Clock::time_point next_check() const { return next_check_; }
  void release();
  bool paused() const { return paused_; }
  // True while a pool is so full that what happens there must be followed closely.
  bool tight() const { return tight_; }
  std::chrono::milliseconds paused_for() const;
  // The bytes that the run has in its fullest pool, as last counted, and those that it may have there.
  std::pair<std::uint64_t, std::uint64_t> held_in_fullest() const;
  // The first of these as a part of the second.
  double fill() const;
  // The standstill at the fullest pool, while programs are held back for so long that people want to know why, or were
  // let go since nothing makes room. A short pause between two holds is no end.
  std::optional<Standstill> standstill() const;

 private:
  struct PoolState {
    std::string path;
    std::unique_ptr<PoolMeter> meter;
    std::uint64_t budget = 0, limit = 0;
    std::vector<Claim> others = {};
    Holding holding = {};
    bool counting = false;
    Clock::time_point counted_at = {};
    Clock::duration count_took = {};

    // The used part of the limit: at the last count, and at most now.
    double fill() const { return part_of_limit(holding.at_last_count()); }
    double highest_fill() const { return part_of_limit(holding.at_most()); }
    double part_of_limit(std::uint64_t bytes) const {
      return limit > 0 ? static_cast<double>(bytes) / static_cast<double>(limit) : 0;
    }
    // Until a count says less, what is possible is taken for true.
    double level(double high) const { return counting && highest_fill() >= high ? highest_fill() : fill(); }
  };
  explicit Pressure(Clock& clock) : clock_(clock) {}
  const PoolState& fullest() const { return *std::ranges::max_element(pools_, {}, &PoolState::fill); }
  void hold_or_let_go(drain::Drain& drain, double fullest, double high, double low);
  void set(bool paused);
  bool check(double high);
  void look(PoolState& pool, std::uint64_t free_bytes);
  bool may_rest(const PoolState& pool, double high) const { return rest_ && pool.highest_fill() < high / 2; }
  void count(PoolState& pool);
  std::vector<Claim> exchange_claims(const PoolState& pool) const;
  double high_mark(const drain::Drain& drain) const;
  Clock::time_point next_count(const PoolState& pool, double high) const;
  Clock::duration until_check(double high) const;
  void note_standstill();
  Clock::duration held() const;

  Clock& clock_;
  std::vector<PoolState> pools_;  // each path once
  double high_ = 0, low_ = 0;
  MappedFile gate_page_;
  std::uint32_t* gate_ = nullptr;  // its first word
  std::vector<pid_t> processes_, stopped_;
  bool paused_ = false, hopeless_ = false, tight_ = false, rest_ = false;
  std::chrono::milliseconds patience_{};
  std::uint64_t moved_ = 0;  // by the drain, when last checked
  Clock::time_point last_moved_{};
  Clock::time_point since_{}, next_check_{};
  Clock::duration total_{};
  // Holds that follow each other closely: how long all holds before them lasted, and when the last one was seen.
  struct Standing {
    Clock::duration held_before;
    Clock::time_point last;
  };
  std::optional<Standing> standing_;
};

}  // namespace forebay::launch
