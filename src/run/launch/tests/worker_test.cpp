#include "run/launch/worker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/tests/hand_clock.h"

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;

constexpr Bounds bounds{5s, 20s};

// Its worker does what it is told, and then nothing any more.
class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() : pulse_(*Pulse::make()), signals_({SIGCHLD}, clock_) {}
  ~WorkerTest() override {
    Pulse::tell_no_calls();
    if (worker_ > 0) {
      ::kill(worker_, SIGKILL);
      ::waitpid(worker_, nullptr, 0);
    }
    signals_.restore();
  }
  // `work` calls what it is given when it is to do nothing any more.
  void begin(const std::function<void(const std::function<void()>& rest)>& work) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    worker_ = ::fork();
    ASSERT_GE(worker_, 0);
    if (worker_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      pulse_.tell_calls();
      work([&] {
        ::close(ends[1]);
        for (;;) ::pause();
      });
      ::_exit(0);
    }
    ::close(ends[1]);
    char nothing = 0;
    EXPECT_EQ(::read(ends[0], &nothing, 1), 0);
    ::close(ends[0]);
  }
  Watched watch(const std::function<bool()>& counts = [] { return true; }) {
    return watch_worker(
        worker_, pulse_, bounds, counts, signals_, [](const auto&) { return false; }, clock_);
  }

  HandClock clock_;
  Pulse pulse_;
  WatchedSignals signals_;
  pid_t worker_ = 0;
};

void hang_in_a_call(const std::function<void()>& rest) {
  { const MayHang returns("/case/first"); }
  const MayHang call("/case/out");
  rest();
}

TEST_F(WorkerTest, ACallThatDoesNotReturnIsToldWithItsPath) {
  begin(hang_in_a_call);
  const Watched watched = watch();
  EXPECT_EQ(watched.end, Watched::End::hangs);
  EXPECT_EQ(watched.path, "/case/out");
  EXPECT_GT(clock_.since_start(), bounds.call);
  EXPECT_LE(clock_.since_start(), bounds.call + 2 * look_interval);
}

TEST_F(WorkerTest, WhoTellsNothingIsSilent) {
  begin([](const auto& rest) { rest(); });
  EXPECT_EQ(watch().end, Watched::End::silent);
  EXPECT_GT(clock_.since_start(), bounds.beat);
  EXPECT_LE(clock_.since_start(), bounds.beat + 2 * look_interval);
}

TEST_F(WorkerTest, AfterPatienceACallHasLessTime) {
  begin([](const auto& rest) {
    Pulse::give_up();
    hang_in_a_call(rest);
  });
  EXPECT_EQ(watch().end, Watched::End::hangs);
  EXPECT_LE(clock_.since_start(), call_returns_within + 2 * look_interval);
}

TEST_F(WorkerTest, WhoIsAtWorkMayTakeAnyTime) {
  begin([](const auto& rest) { rest(); });
  pulse_.tell_calls();  // for it
  clock_.while_asleep = [&] {
    Pulse::beat();
    if (clock_.since_start() > 10 * bounds.beat) ::kill(worker_, SIGKILL);
  };
  const Watched watched = watch();
  worker_ = 0;
  EXPECT_EQ(watched.end, Watched::End::ended);
  EXPECT_TRUE(WIFSIGNALED(watched.status));
}

TEST_F(WorkerTest, WhoWaitsForAPersonOrIsNotCountedMayTakeAnyTime) {
  for (const bool rests : {true, false}) {
    begin([&](const auto& rest) {
      Pulse::rest(rests);
      hang_in_a_call(rest);
    });
    const auto began = clock_.now();
    clock_.while_asleep = [&] {
      if (clock_.now() - began > 10 * bounds.beat) ::kill(worker_, SIGKILL);
    };
    EXPECT_EQ(watch([&] { return rests; }).end, Watched::End::ended) << "it was killed by then";
    worker_ = 0;
    pulse_ = *Pulse::make();
  }
}

}  // namespace
}  // namespace forebay::launch
