// Work beside the solver. Work in one lane is done in order, one piece at a time; lanes are done side by side, by as
// many threads as there are.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace forebay::trajectory {

// All functions are called by one thread.
class Lanes {
 public:
  using Work = std::function<void()>;  // throws nothing

  // Without threads, work is done by whoever posts it.
  Lanes(std::size_t lanes, unsigned threads);
  // As clear().
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  void post(std::size_t lane, Work work);
  // Forgets what nobody has begun, and waits for the rest.
  void clear();
  // Until `reached` says so; it is asked each time that a piece of work is done.
  template <class Condition>
  void wait_until(Condition reached) {
    const Locked lock(mutex_);
    while (!reached()) mutex_.wait(done_);
  }
  std::size_t threads() const { return threads_.size(); }

 private:
  struct Lane {
    std::deque<Work> waiting;
    bool busy = false;
  };
  void serve();
  Lane* next() REQUIRES(mutex_);

  Guard<std::mutex> mutex_;
  std::condition_variable work_, done_;
  std::vector<Lane> lanes_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace forebay::trajectory
