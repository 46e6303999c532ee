// A clock that a test moves by hand.
#pragma once

#include <poll.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <utility>

#include "base/clock.h"

namespace forebay {

class HandClock final : public Clock {
 public:
  time_point now() override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  std::chrono::system_clock::time_point date() override {
    return std::chrono::system_clock::time_point() + since_start();
  }
  // Where nothing has happened yet, time passes.
  int poll(std::span<pollfd> descriptors, std::chrono::milliseconds at_most) override {
    if (while_asleep) while_asleep();
    const int ready = ::poll(descriptors.data(), descriptors.size(), at_most.count() < 0 ? -1 : 0);
    if (ready == 0) move(at_most);
    return ready;
  }
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, time_point until) override {
    const auto me = enter({lock.mutex(), &changed, until});
    if (now() < until) changed.wait(lock);
    const std::lock_guard registered(mutex_);
    waiting_.erase(me);
    changed_.notify_all();
  }

  // All whose time has come have stopped waiting when it returns. Not while a lock is held that somebody waits with.
  void move(duration by) {
    std::unique_lock lock(mutex_);
    now_ += by;
    const auto woken = waiting_;
    lock.unlock();
    for (const Waiting& each : woken) {
      const std::lock_guard held(*each.mutex);
      each.changed->notify_all();
    }
    lock.lock();
    changed_.wait(lock, [this] { return count_due() == 0; });
  }
  // Returns when so many threads wait for a later time.
  void await_waiting(std::size_t count = 1) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() - count_due() >= count; });
  }
  // The time for which the first of those waits.
  time_point next() {
    const std::lock_guard lock(mutex_);
    time_point first = time_point::max();
    for (const Waiting& each : waiting_) first = std::min(first, each.until);
    return first;
  }
  duration since_start() { return now() - start; }

  // This is called when somebody polls or sleeps, before time passes.
  std::function<void()> while_asleep;

 private:
  static constexpr time_point start{std::chrono::hours(1)};
  struct Waiting {
    std::mutex* mutex;
    std::condition_variable* changed;
    time_point until;
  };

  std::list<Waiting>::iterator enter(const Waiting& waiting) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return waiting_.insert(waiting_.end(), waiting);
  }
  std::size_t count_due() const {
    return static_cast<std::size_t>(
        std::count_if(waiting_.begin(), waiting_.end(), [this](const Waiting& each) { return each.until <= now_; }));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  time_point now_ = start;
  std::list<Waiting> waiting_;
};

}  // namespace forebay
