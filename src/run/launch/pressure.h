// Back-pressure: while a pool is nearly full, programs wait before they write more, until the drain has made room.
//
// With the redirection library they wait in open (a gate that it reads), otherwise they are stopped. When nothing
// can make room they are let go: the kernel then says no-space, and the run says so in the end.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/base.h"
#include "run/drain/drain.h"
#include "run/node/node.h"
#include "run/settings/settings.h"

namespace forebay::launch {

class Pressure {
 public:
  struct Room {
    std::uint64_t bytes;
    bool any_inodes = true;  // for further files
  };
  // `available`: what is free at a path, where its file system is not to be asked.
  using Available = std::function<Room(const std::string& path)>;
  static Result<std::unique_ptr<Pressure>> make(const std::string& gate_path, const std::vector<node::Pool>& pools,
                                                const settings::Settings& settings, Clock& clock,
                                                Available available = {});
  ~Pressure();

  void watch(pid_t process);
  void forget(pid_t process);
  // Checks the pools and holds back, makes room, or lets go. Cheap enough for every round of the agent, but not for
  // every moment in which it only waits: see next_check().
  void act(drain::Drain& drain);
  // Until then no pool can become nearly full, at the highest rate at which cores write to memory, or hardly more; a
  // moment that has passed while one is.
  Clock::time_point next_check() const { return next_check_; }
  void release();
  bool paused() const { return paused_; }
  // True while a pool is so full that what happens there must be followed closely.
  bool tight() const { return tight_; }
  std::chrono::milliseconds paused_for() const;
  // Of the budget of the fullest pool, when last looked at.
  double fill() const;

 private:
  struct PoolState {
    std::string path;
    Descriptor directory;
    std::uint64_t budget = 0, available_at_start = 0;
    double fill = 0;  // of the budget, when last checked
  };
  explicit Pressure(Clock& clock) : clock_(clock) {}
  void set(bool paused);
  bool check();
  Room available(const PoolState& pool) const;
  double high_mark(const drain::Drain& drain) const;
  Clock::duration until_check(double high) const;

  Clock& clock_;
  Available available_;
  std::vector<PoolState> pools_;
  double high_ = 0, low_ = 0;
  MappedFile gate_page_;
  std::uint32_t* gate_ = nullptr;  // its first word
  std::vector<pid_t> processes_, stopped_;
  bool paused_ = false, hopeless_ = false, tight_ = false;
  std::chrono::milliseconds patience_{};
  std::uint64_t moved_ = 0;  // by the drain, when last checked
  Clock::time_point last_moved_{};
  Clock::time_point since_{}, next_check_{};
  Clock::duration total_{};
};

}  // namespace forebay::launch
