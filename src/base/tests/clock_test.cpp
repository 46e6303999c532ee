#include "base/clock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/base.h"
#include "base/tests/hand_clock.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

// A thread of its own that waits for `done`.
class Waiter {
 public:
  Waiter(Clock& clock, Clock::time_point until)
      : thread_([this, &clock, until] {
          std::unique_lock lock(mutex_);
          in_time_ = clock.wait(lock, changed_, until, [this] { return done_; });
        }) {}
  void end() {
    const std::scoped_lock lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }
  bool was_in_time() {
    thread_.join();
    return in_time_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false, in_time_ = false;
  std::thread thread_;
};

TEST(ClockTest, WhoWaitsGoesOnWhenItIsDone) {
  HandClock by_hand;
  for (Clock* clock : {&real_clock(), static_cast<Clock*>(&by_hand)}) {
    Waiter waiter(*clock, clock->now() + 1h);
    waiter.end();
    EXPECT_TRUE(waiter.was_in_time());
  }
}

TEST(ClockTest, OrWhenTheTimeIsOver) {
  EXPECT_FALSE(Waiter(real_clock(), real_clock().now() + 1ms).was_in_time());
  HandClock by_hand;
  Waiter waiter(by_hand, by_hand.now() + 1h);
  by_hand.await_waiting();
  by_hand.move(59min);
  by_hand.await_waiting();
  by_hand.move(1min);
  EXPECT_FALSE(waiter.was_in_time());
}

TEST(ClockTest, PollingEndsWithWhatIsReadyOrWithTheTime) {
  HandClock by_hand;
  for (Clock* clock : {&real_clock(), static_cast<Clock*>(&by_hand)}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const Descriptor in(ends[0]), out(ends[1]);
    pollfd ready{in.get(), POLLIN, 0};
    const auto before = clock->now();
    EXPECT_EQ(clock->poll({&ready, 1}, 1ms), 0);
    EXPECT_GE(clock->now() - before, 1ms);
    ASSERT_EQ(::write(out.get(), "x", 1), 1);
    EXPECT_EQ(clock->poll({&ready, 1}, 1h), 1);
    EXPECT_EQ(clock->poll({&ready, 1}, -1ms), 1);
    EXPECT_LT(clock->now() - before, 1h);
  }
}

TEST(ClockTest, WhatIsDoneMeanwhileIsShownNowAndThen) {
  HandClock by_hand;
  std::atomic<int> shown = 0;
  const auto wait_until_shown = [&]() -> Status {
    for (int times = 0; times < 3; ++times) {
      by_hand.await_waiting();
      EXPECT_EQ(shown, times);
      by_hand.move(199ms);
      EXPECT_EQ(shown, times);
      by_hand.move(1ms);
      shown.wait(times);
    }
    return error(Code::failed, "in the end", "");
  };
  const auto show = [&] {
    ++shown;
    shown.notify_all();
  };
  EXPECT_EQ(by_hand.meanwhile(wait_until_shown, 200ms, show).error().what, "in the end");
  EXPECT_EQ(shown, 3);
}

TEST(ClockTest, TheDayMovesWithTheTime) {
  HandClock by_hand;
  const auto before = by_hand.date();
  by_hand.sleep(24h);
  EXPECT_EQ(by_hand.date() - before, 24h);
}

}  // namespace
}  // namespace forebay
