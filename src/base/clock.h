// The one clock. Code that needs the time, or waits, asks the clock that it was given: tests give one that they move by
// hand (base/tests/hand_clock.h), and so never wait for a time to pass.
#pragma once

#include <poll.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>

#include "base/error.h"

namespace forebay {

// Thread-safe.
class Clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;

  virtual ~Clock() = default;
  // Never goes back.
  virtual time_point now() = 0;
  // The time of day, which files have too.
  virtual std::chrono::system_clock::time_point date() = 0;
  // As ::poll. `at_most` negative: however long it takes.
  virtual int poll(std::span<pollfd> descriptors, std::chrono::milliseconds at_most) = 0;
  // Until somebody notifies, or until then; it may return earlier.
  virtual void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, time_point until) = 0;

  // Until `done`, which is asked under the lock; false: it was not done by then.
  template <class Done>
  bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, time_point until, const Done& done) {
    for (; !done(); wait(lock, changed, until))
      if (now() >= until) return false;
    return true;
  }
  // Carries out `work` in a thread of its own, and calls `show` each `interval` until that is done.
  Status meanwhile(const std::function<Status()>& work, duration interval, const std::function<void()>& show);
  // A signal may end it earlier.
  void sleep(std::chrono::milliseconds time) { poll({}, time); }
};

// The clock of this machine.
Clock& real_clock();

}  // namespace forebay
