// Proves what memory from begin and get is good for, and for how long; and that a trajectory is its opener's alone.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <thread>

#include "api/tests/no_memory.h"
#include "store/trajectory/tests/api.h"

namespace forebay {
namespace {

constexpr std::uint64_t kSegment = 64 << 10;  // 8 steps of 1000 doubles

// How a child ended that did this: its exit status, or minus the signal.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::signal(SIGSEGV, SIG_DFL);  // a sanitizer makes an exit of it
    ::_exit(work());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

double* begin(forebay_trajectory* t, std::int64_t step) {
  void* memory = nullptr;
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_begin(t, step, 0, &memory, 1));
  return static_cast<double*>(memory);
}

// Whether every call is refused in a child: 0, or the number of the first one that is not.
int use_in_child(States& run) {
  const void* memory = nullptr;
  void* begun = nullptr;
  std::vector<double> out(1000);
  auto info = sized<forebay_tier_info>();
  const int statuses[] = {run.put(200),
                          forebay_trajectory_begin(run, 200, 0, &begun, 1),
                          forebay_trajectory_commit(run),
                          forebay_trajectory_get(run, 0, 0, &memory),
                          forebay_trajectory_get(run, 99, 0, &memory),
                          forebay_trajectory_release(run, 0),
                          forebay_trajectory_drop(run, 50),
                          forebay_trajectory_rewind(run),
                          forebay_trajectory_move(run, 50, 1),
                          forebay_trajectory_reverse(run, 50),
                          forebay_trajectory_interpolate(run, 1, 0, out.data()),
                          forebay_trajectory_keep(run, 0),
                          forebay_trajectory_count_steps(run, nullptr),
                          forebay_trajectory_describe_tier(run, 0, &info),
                          forebay_trajectory_declare(run, "v", FOREBAY_FLOAT64, 3, nullptr),
                          forebay_trajectory_get_waited(run, nullptr, nullptr),
                          forebay_trajectory_close(run)};
  int number = 1;
  for (const int status : statuses) {
    if (status != FOREBAY_E_FORKED) return number;
    ++number;
  }
  return 0;
}

class Lifetime : public testing::Test {
 protected:
  const Scratch pool_, shared_{"/tmp"};
  OptionsOf options() const {
    return std::move(
        OptionsOf().pool(pool_.path(), 3 * kSegment).shared(shared_.path(), 50 * kSegment).segments(kSegment));
  }
};

TEST_F(Lifetime, MemoryOfAStepStaysUntilTheNextBegins) {
  for (const bool debug : {false, true}) {
    auto with = options();
    if (debug) with.debug();
    States run(with);
    for (int step = 0; step < 100; ++step) {
      double* const u = begin(run, step);
      for (int i = 0; i < 1000; ++i) u[i] = States::value(step, static_cast<std::uint64_t>(i));
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_commit(run));
      ASSERT_TRUE(run.whole(step / 3)) << "what else is fetched changes nothing";
      ASSERT_TRUE(run.whole(step));
      for (int i = 0; i < 1000; ++i) ASSERT_EQ(u[i], States::value(step, static_cast<std::uint64_t>(i)));
    }
  }
}

TEST_F(Lifetime, DebugMarksWhatIsNoLongerValid) {
  States run(options().debug());
  double* const first = begin(run, 0);
  first[0] = 1;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_commit(run));
  EXPECT_EQ(in_child([&] { return first[0] = 2, 0; }), -SIGSEGV) << "a write after commit";
  EXPECT_EQ(first[0], 1);
  double* const second = begin(run, 1);
  EXPECT_EQ(reinterpret_cast<unsigned char*>(first)[7999], 0xfb);
  second[0] = 3;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_cancel(run));
  EXPECT_EQ(in_child([&] { return second[0] = 2, 0; }), -SIGSEGV) << "a write after cancel";
  ASSERT_STATUS(FOREBAY_OK, run.put(2));
  EXPECT_EQ(reinterpret_cast<unsigned char*>(second)[0], 0xfb);
  const double* stored = nullptr;
  ASSERT_STATUS(FOREBAY_OK, get_values(run, 0, stored));
  EXPECT_EQ(stored[0], 1);
}

// Memory from begin also ends with the step itself, and memory from get with its release; neither may be written to.
TEST_F(Lifetime, DebugMarksWhatEndsWithItsStep) {
  const auto first_byte = [](const double* u) { return *reinterpret_cast<const unsigned char*>(u); };
  States run(options().debug());
  const auto committed = [&](std::int64_t step) {
    double* const u = begin(run, step);
    u[0] = static_cast<double>(step);
    EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_commit(run));
    return u;
  };
  const double* const dropped = committed(1);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, 1));
  EXPECT_EQ(first_byte(dropped), 0xfb);
  const double* const moved = committed(2);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_move(run, 2, 1));
  EXPECT_EQ(first_byte(moved), 0xfb);

  const double *got = nullptr, *again = nullptr, *other = nullptr;
  ASSERT_STATUS(FOREBAY_OK, get_values(run, 2, got));
  ASSERT_STATUS(FOREBAY_OK, get_values(run, 2, again));
  EXPECT_EQ(got, again) << "one state has one place";
  EXPECT_EQ(in_child([&] { return const_cast<double*>(got)[0] = 7, 0; }), -SIGSEGV) << "a write to a stored state";
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_release(run, 2));
  EXPECT_EQ(got[0], 2) << "it is pinned once more";
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_release(run, 2));
  EXPECT_EQ(first_byte(got), 0xfb);
  ASSERT_STATUS(FOREBAY_OK, get_values(run, 2, other));
  EXPECT_NE(got, other);
  EXPECT_EQ(other[0], 2);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_release(run, 2));

  const double* const rewound = committed(3);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
  EXPECT_EQ(first_byte(rewound), 0xfb);
}

TEST_F(Lifetime, AChildHasNoUseOfItsParentsTrajectory) {
  for (const bool keep : {false, true}) {
    auto with = options();
    if (keep) with.keep().process_only();
    States run(with);
    for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    void* open = nullptr;
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_begin(run, 100, 0, &open, 1));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_commit(run));
    EXPECT_EQ(in_child([&] { return use_in_child(run); }), 0);
    for (int step = 101; step < 200; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    for (int step = 199; step > 100; --step) ASSERT_TRUE(run.whole(step));
    for (int step = 99; step >= 0; --step) ASSERT_TRUE(run.whole(step));
    ASSERT_STATUS(FOREBAY_OK, run.close());
    if (!keep) continue;
    States again(with);
    EXPECT_EQ(again.count(), 200u);
  }
}

// No file is open that a process would have to close after a fork.
TEST(LifetimeInMemory, AChildHasNoUseOfItsParentsTrajectory) {
  States run(OptionsOf().dram(50 * kSegment).segments(kSegment));
  for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  EXPECT_EQ(in_child([&] { return use_in_child(run); }), 0);
  for (int step = 99; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  ASSERT_STATUS(FOREBAY_OK, run.close());
}

// Neither do the words of an error leave the library as an exception.
TEST(LifetimeInMemory, ACallWithoutMemoryTellsSo) {
#ifdef FOREBAY_SANITIZED
  GTEST_SKIP() << "sanitizers end a process that can have no more memory";
#endif
  States run(OptionsOf().dram(50 * kSegment).segments(kSegment));
  EXPECT_EQ(api::without_memory([&] { return forebay_trajectory_count_steps(run, nullptr); }), FOREBAY_E_FORKED);
  EXPECT_EQ(api::without_memory([&] { return forebay_trajectory_count_steps(nullptr, nullptr); }), FOREBAY_E_NO_MEMORY);
}

TEST(LifetimeInMemory, AFieldIsLookedForWithoutMemory) {
#ifdef FOREBAY_SANITIZED
  GTEST_SKIP() << "sanitizers end a process that can have no more memory";
#endif
  EXPECT_EQ(in_child([]() -> int {
              States run(OptionsOf().dram(50 * kSegment).segments(kSegment));
              int field = -1;
              api::take_all_memory();
              if (forebay_trajectory_find_field(run, "u", &field) != FOREBAY_OK || field != 0) ::_exit(1);
              ::_exit(forebay_trajectory_find_field(run, "of another name", &field));
            }),
            FOREBAY_E_NO_MEMORY);
}

TEST_F(Lifetime, ALivingChildKeepsNoLock) {
  auto with = std::move(options().keep().process_only());
  auto run = std::make_unique<States>(with);
  ASSERT_STATUS(FOREBAY_OK, run->put(0));
  int wait[2];
  ASSERT_EQ(::pipe(wait), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char end = 0;
    ::alarm(20);
    ::close(wait[1]);
    ::_exit(static_cast<int>(::read(wait[0], &end, 1)));
  }
  ASSERT_STATUS(FOREBAY_OK, run->close());
  States again(with);
  EXPECT_EQ(again.count(), 1u);
  ::close(wait[1]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// A forked child waits for this before it does anything else: the end of a pipe, or nothing.
int hold_up = -1;
[[maybe_unused]] const int held_up = ::pthread_atfork(nullptr, nullptr, [] {
  char end = 0;
  if (hold_up >= 0) (void)!::read(hold_up, &end, 1);
});

// A child that was forked has its parent's lock until it runs for the first time, which a busy machine puts off.
TEST_F(Lifetime, AChildThatHasNotRunYetKeepsNoLock) {
  int let_run[2], forked[2];
  ASSERT_EQ(::pipe(let_run), 0);
  ASSERT_EQ(::pipe(forked), 0);
  auto with = std::move(options().keep().process_only());
  const pid_t parent = ::fork();
  char one = 0;
  if (parent == 0) {
    ::alarm(20);
    ::close(let_run[1]);
    hold_up = let_run[0];
    States run(with);
    if (run.put(0) != FOREBAY_OK) ::_exit(1);
    if (::fork() == 0) ::_exit(0);
    (void)!::write(forked[1], &one, 1);
    ::pause();
  }
  ASSERT_EQ(::read(forked[0], &one, 1), 1);
  ::kill(parent, SIGKILL);  // a zombie, until it is waited for
  const std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::close(let_run[1]);
  });
  States again(with);
  EXPECT_EQ(again.count(), 1u);
  EXPECT_EQ(::waitpid(parent, nullptr, 0), parent);
}

}  // namespace
}  // namespace forebay
