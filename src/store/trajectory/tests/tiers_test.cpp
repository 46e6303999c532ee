#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>

#include "store/trajectory/tests/api.h"

namespace forebay::tiers_test {
namespace {

constexpr std::uint64_t kSegment = 64 << 10;  // 8 steps of 1000 doubles

void fill_and_sweep(const OptionsOf& options, int steps) {
  States run(options);
  for (int iteration = 0; iteration < 2; ++iteration) {
    for (int step = 0; step < steps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, steps - 1));
    for (int step = steps - 1; step >= 0; --step) ASSERT_TRUE(run.whole(step));
    for (int step = 0; step < steps; step += 7) ASSERT_TRUE(run.whole(step)) << "forwards, out of order";
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
  }
  EXPECT_STATUS(FOREBAY_OK, run.close());
}

TEST(Tiers, OldestStatesMoveToThePoolBelow) {
  const Scratch scratch;
  States run(OptionsOf().dram(6 * kSegment).pool(scratch.path(), 100 * kSegment).segments(kSegment));
  for (int step = 0; step < 400; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  EXPECT_GT(run.tier(1).moved_in, 40u);
  EXPECT_GE(run.tier(0).used, 3u) << "the newest stay";
  for (int step = 399; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  EXPECT_EQ(run.tier(1).fetched, 0u) << "mapped memory is read where it is";
}

TEST(Tiers, ThreeOfThemHoldWhatTheirBudgetsSay) {
  const Scratch pool, shared("/tmp");
  fill_and_sweep(OptionsOf()
                     .dram(4 * kSegment)
                     .pool(pool.path(), 8 * kSegment)
                     .shared(shared.path(), 100 * kSegment)
                     .segments(kSegment),
                 600);
}

TEST(Tiers, StatesComeBackFromAFileSystem) {
  for (const std::uint64_t first : {2u, 4u, 9u}) {
    const Scratch shared("/tmp");
    fill_and_sweep(OptionsOf().dram(first * kSegment).shared(shared.path(), 100 * kSegment).segments(kSegment), 400);
  }
}

TEST(Tiers, PersistentMemoryBelowIsReadWhereItIs) {
  ::setenv("PMEM2_FORCE_GRANULARITY", "BYTE", 1);
  const Scratch pool("/tmp");
  States run(OptionsOf().dram(5 * kSegment).pool(pool.path(), 100 * kSegment).segments(kSegment));
  const bool pmem = std::string(run.tier(1).medium) == "fsdax";
  for (int step = 0; step < 300; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  ::unsetenv("PMEM2_FORCE_GRANULARITY");
  if (!pmem) GTEST_SKIP() << "built without libpmem2";
  for (int step = 299; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  EXPECT_GT(run.tier(1).moved_in, 20u);
  EXPECT_EQ(run.tier(1).fetched, 0u);
}

TEST(Tiers, StatesAreFetchedAheadOfTheSweep) {
  const Scratch shared("/tmp");
  States run(OptionsOf().dram(10 * kSegment).shared(shared.path(), 100 * kSegment).segments(kSegment));
  for (int step = 0; step < 400; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  forebay_trajectory_reverse(run, 399);
  for (int step = 399; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  const forebay_tier_info info = run.tier(1);
  EXPECT_GE(info.fetched, info.moved_in - 4) << "each segment once, except what was still above";
  EXPECT_LE(info.fetched, info.moved_in + 4);
}

TEST(Tiers, AFullLastTierIsNoSpaceAndNothingIsLost) {
  const Scratch shared("/tmp");
  States run(OptionsOf().dram(4 * kSegment).shared(shared.path(), 5 * kSegment).segments(kSegment));
  int stored = 0;
  while (run.put(stored) == FOREBAY_OK) ASSERT_LT(++stored, 1000);
  EXPECT_STATUS(FOREBAY_E_NO_SPACE, run.put(stored));
  EXPECT_NE(std::string(forebay_error_get_text()).find("of 327680 bytes used"), std::string::npos)
      << forebay_error_get_text();
  EXPECT_GE(stored, 7 * 8 - 8);
  for (int step = stored - 1; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  for (int step = 0; step < stored; step += 3) ASSERT_TRUE(run.whole(step));
}

TEST(Tiers, AFullSharedDirectoryIsNoSpaceAndNothingIsLost) {
  const SmallTmpfs shared(0, "size=1m");
  if (!shared.mounted()) GTEST_SKIP() << "cannot mount";
  {
    States run(OptionsOf().dram(4 * kSegment).shared(shared.path(), 100 * kSegment).segments(kSegment));
    int stored = 0;
    while (run.put(stored) == FOREBAY_OK) ASSERT_LT(++stored, 1000);
    EXPECT_STATUS(FOREBAY_E_NO_SPACE, run.put(stored));
    EXPECT_GT(stored, 100);
    for (int step = stored - 1; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  }
}

// A file system that was full for a moment is not full for good.
TEST(Tiers, AFileSystemThatHasRoomAgainIsUsedAgain) {
  for (const bool first : {true, false}) {
    for (const bool keep : {false, true}) {
      const SmallTmpfs small(0, "size=8m"), other(0, "size=1m");
      if (!small.mounted() || !other.mounted()) GTEST_SKIP() << "cannot mount";
      OptionsOf options;
      if (first) options.pool(small.path(), 100 * kSegment);
      if (!first) options.pool(other.path(), 4 * kSegment).shared(small.path(), 100 * kSegment);
      if (keep) options.keep().process_only();
      States run(options.segments(kSegment));
      ASSERT_STATUS(FOREBAY_OK, run.put(0));
      const std::string filler = small.path() + "/filler";
      {
        const Descriptor file(::open(filler.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        ASSERT_EQ(::posix_fallocate(file.get(), 0, 7 << 20), 0);
      }
      int stored = 1;
      while (run.put(stored) == FOREBAY_OK) ASSERT_LT(++stored, 500);
      for (int i = 0; i < 40; ++i) EXPECT_STATUS(FOREBAY_E_NO_SPACE, run.put(stored));
      ASSERT_EQ(::unlink(filler.c_str()), 0);
      for (int i = 0; i < 400; ++i, ++stored) ASSERT_STATUS(FOREBAY_OK, run.put(stored)) << stored;
      for (int step = stored - 1; step >= 0; --step) ASSERT_TRUE(run.whole(step));
    }
  }
}

TEST(Tiers, AFailingLastTierIsReportedAndTheRunGoesOnWhenItWorksAgain) {
  const Scratch shared("/tmp");
  States run(OptionsOf().dram(4 * kSegment).shared(shared.path(), 100 * kSegment).segments(kSegment));
  int stored = 0;
  for (; stored < 100; ++stored) ASSERT_STATUS(FOREBAY_OK, run.put(stored));
  // The kernel refuses to let any file grow from now on.
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit none { 4096, before.rlim_max };
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &none);
  int status = FOREBAY_OK;
  for (int i = 0; i < 100 && status == FOREBAY_OK; ++i) status = run.put(stored + i);
  const std::string text = forebay_error_get_text();
  std::uint64_t count = run.count();
  for (std::uint64_t step = 0; step < count; ++step) EXPECT_TRUE(run.whole(static_cast<std::int64_t>(step)));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_STATUS(FOREBAY_E_IO, status);
  EXPECT_NE(text.find("File too large"), std::string::npos) << text;
  (void)run.put(static_cast<std::int64_t>(count));  // may still report what happened meanwhile
  for (stored = static_cast<int>(run.count()); stored < 300; ++stored) ASSERT_STATUS(FOREBAY_OK, run.put(stored));
  for (int step = 299; step >= 0; --step) ASSERT_TRUE(run.whole(step));
}

TEST(Tiers, PinningEverythingIsAnErrorNotAHang) {
  const Scratch shared("/tmp");
  States run(OptionsOf().dram(3 * kSegment).shared(shared.path(), 100 * kSegment).segments(kSegment));
  for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  std::vector<int> pinned;
  int status = FOREBAY_OK;
  for (int step = 0; step < 100 && status == FOREBAY_OK; step += 8) {
    const void* memory = nullptr;
    status = forebay_trajectory_get(run, step, 0, &memory);
    if (status == FOREBAY_OK) pinned.push_back(step);
  }
  EXPECT_STATUS(FOREBAY_E_PINNED, status);
  for (const int step : pinned) EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_release(run, step));
  for (int step = 99; step >= 0; --step) ASSERT_TRUE(run.whole(step));
}

TEST(Tiers, DroppingAsTheSweepGoesMakesRoom) {
  const Scratch pool, shared("/tmp");
  States run(OptionsOf()
                 .dram(5 * kSegment)
                 .pool(pool.path(), 5 * kSegment)
                 .shared(shared.path(), 60 * kSegment)
                 .segments(kSegment));
  for (int iteration = 0; iteration < 3; ++iteration) {
    for (int step = 0; step < 400; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    forebay_trajectory_reverse(run, 399);
    for (int step = 399; step >= 0; --step) {
      ASSERT_TRUE(run.whole(step));
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
    }
    EXPECT_EQ(run.count(), 0u);
  }
}

}  // namespace
}  // namespace forebay::tiers_test
