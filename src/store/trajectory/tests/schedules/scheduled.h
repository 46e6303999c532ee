// A mutex, a condition and a thread as the standard's, of which one thread runs at a time: which one goes on wherever a
// mutex is taken or given up is chosen by a test. So a run can be repeated, and all orders of a short one be tried.
//
// The condition that a thread waits for is written down here, and not in the system: where all wait, nobody will ever
// go on, and the program ends with the state of each.
#pragma once

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace forebay::scheduled {

class Mutex;
class Condition;

class Schedule {
 public:
  // Which of so many threads, at least two, goes on.
  using Choose = std::function<std::size_t(std::size_t)>;

  static Schedule& the() {
    static Schedule schedule;
    return schedule;
  }
  // By the thread that starts all others, when these have ended.
  void begin(Choose choose) {
    threads_ = {{}};
    self() = current_ = 0;
    choose_ = std::move(choose);
  }

  // All below by the thread that runs.
  std::size_t add() {
    threads_.push_back({});
    return threads_.size() - 1;
  }
  void wait_for_mutex(Mutex* mutex) { wait({State::wants, mutex, nullptr, 0}); }
  void wait_for_condition(Mutex* mutex, Condition* condition) { wait({State::sleeps, mutex, condition, 0}); }
  void wait_for_end_of(std::size_t thread) { wait({State::joins, nullptr, nullptr, thread}); }
  void let_others_run() { wait({State::ready, nullptr, nullptr, 0}); }
  void wake_all(Condition* condition) {
    for (Thread& thread : threads_) {
      if (thread.state == State::sleeps && thread.condition == condition) thread.state = State::wants;
    }
  }
  bool choose_whether() { return choose_(2) == 1; }

  void first_turn(std::size_t thread) {
    self() = thread;
    std::unique_lock lock(baton_);
    turn_.wait(lock, [&] { return current_ == thread; });
  }
  void last_turn() {
    const std::lock_guard lock(baton_);
    threads_[self()].state = State::ended;
    hand_on();
  }

 private:
  enum class State { ready, wants, sleeps, joins, ended };
  struct Thread {
    State state = State::ready;
    Mutex* mutex = nullptr;
    Condition* condition = nullptr;
    std::size_t joined = 0;
  };

  static std::size_t& self() {
    static thread_local std::size_t number = 0;
    return number;
  }
  inline bool can_go_on(const Thread& thread) const;
  void wait(const Thread& how) {
    std::unique_lock lock(baton_);
    const std::size_t me = self();
    threads_[me] = how;
    hand_on();
    turn_.wait(lock, [&] { return current_ == me; });
    threads_[me] = {};
  }
  void hand_on() {
    std::vector<std::size_t> able;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (can_go_on(threads_[i])) able.push_back(i);
    }
    if (able.empty()) {
      std::fprintf(stderr, "all threads wait for each other:");
      for (const Thread& thread : threads_) std::fprintf(stderr, " %d", static_cast<int>(thread.state));
      std::fprintf(stderr, "\n");
      std::abort();
    }
    current_ = able[able.size() == 1 ? 0 : choose_(able.size())];
    turn_.notify_all();
  }

  std::mutex baton_;
  std::condition_variable turn_;
  std::vector<Thread> threads_;  // the first is the test's
  std::size_t current_ = 0;
  Choose choose_;
};

class Mutex {
 public:
  void lock() {
    Schedule::the().wait_for_mutex(this);
    taken_ = true;
  }
  bool try_lock() {
    Schedule::the().let_others_run();
    if (taken_) return false;
    taken_ = true;
    return true;
  }
  void unlock() {
    taken_ = false;
    Schedule::the().let_others_run();
  }
  bool taken() const { return taken_; }

 private:
  friend class Condition;
  bool taken_ = false;
};

bool Schedule::can_go_on(const Thread& thread) const {
  switch (thread.state) {
    case State::ready:
      return true;
    case State::wants:
      return !thread.mutex->taken();
    case State::joins:
      return threads_[thread.joined].state == State::ended;
    case State::sleeps:
    case State::ended:
      return false;
  }
  return false;
}

class Condition {
 public:
  void notify_all() { Schedule::the().wake_all(this); }
  void wait(std::unique_lock<Mutex>& lock) {
    lock.mutex()->taken_ = false;
    Schedule::the().wait_for_condition(lock.mutex(), this);
    lock.mutex()->taken_ = true;
  }
  template <class Until>
  void wait(std::unique_lock<Mutex>& lock, Until until) {
    while (!until()) wait(lock);
  }
};

class Thread {
 public:
  Thread() = default;
  template <class Body>
  explicit Thread(Body body) : number_(Schedule::the().add()) {
    thread_ = std::thread([number = number_, body = std::move(body)] {
      Schedule::the().first_turn(number);
      body();
      Schedule::the().last_turn();
    });
  }
  bool joinable() const { return thread_.joinable(); }
  void join() {
    Schedule::the().wait_for_end_of(number_);
    thread_.join();
  }

 private:
  std::size_t number_ = 0;
  std::thread thread_;
};

}  // namespace forebay::scheduled
