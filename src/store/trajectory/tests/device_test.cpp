// Trajectories on a device of persistent memory, FOREBAY_TEST_DEVICE=/dev/daxX.Y, which loses what it holds. The tests
// nvdimm/ have one.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "store/trajectory/tests/api.h"

namespace forebay::device_test {
namespace {

constexpr std::uint64_t kSegment = 64 << 10;

class OnADevice : public testing::Test {
 protected:
  void SetUp() override {
    if (device_ == nullptr) GTEST_SKIP() << "FOREBAY_TEST_DEVICE names no device";
  }
  // The device for itself.
  OptionsOf options(std::uint64_t bytes, int rank = 0, int ranks = 1) const {
    return std::move(OptionsOf().pool(device_, bytes).segments(kSegment).rank(rank, ranks));
  }

  const char* device_ = std::getenv("FOREBAY_TEST_DEVICE");
};

TEST_F(OnADevice, EveryRankFindsWhatItHasKept) {
  constexpr int kRanks = 3;
  for (int rank = 0; rank < kRanks; ++rank) {
    States run(std::move(options((rank + 20) * kSegment, rank, kRanks).keep()), 1000);
    EXPECT_STREQ(run.tier(0).medium, "devdax");
    for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, step % 2 == 0 ? run.put(step) : run.write(step));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, 50 + rank));
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    States run(std::move(options(kMiB, rank, kRanks).keep()), 1000);
    EXPECT_STREQ(forebay_trajectory_get_recovery(run), "");
    EXPECT_EQ(run.count(), 99u);
    for (int step = 99; step >= 0; --step) {
      if (step != 50 + rank) {
        ASSERT_TRUE(run.whole(step));
      }
    }
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, 0));
  }
}

TEST_F(OnADevice, WhatOtherStoresHaveLeftIsNoLostState) {
  for (const int rank : {0, 1}) {
    States run(std::move(options(100 * kSegment, rank, 2).keep()), 1000);
    for (int step = 0; step < 500; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, 0));
  }
  OptionsOf larger = options(120 * kSegment);
  larger.segments(2 * kSegment).keep();
  {
    States run(larger);
    ASSERT_STATUS(FOREBAY_OK, run.put(7));
  }
  States run(larger);
  EXPECT_STREQ(forebay_trajectory_get_recovery(run), "");
  EXPECT_EQ(run.count(), 1u);
  EXPECT_TRUE(run.whole(7));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, 0));
}

TEST_F(OnADevice, OldStatesMoveOnToAFileSystem) {
  const Scratch below("/tmp");
  OptionsOf both = options(4 * kSegment);
  both.shared(below.path(), 100 * kSegment).keep();
  {
    States run(both);
    for (int step = 0; step < 300; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    EXPECT_GT(run.tier(1).moved_in, 0u);
  }
  States run(both);
  EXPECT_EQ(run.count(), 300u);
  forebay_trajectory_reverse(run, 299);
  for (int step = 299; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, 0));
}

TEST_F(OnADevice, WhatAKilledRunHasLeftIsReclaimed) {
  constexpr std::uint64_t kMost = 150 * kMiB;  // no two of this size have room
  for (int trial = 0; trial < 3; ++trial) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      States run(options(kMost));
      for (int step = 0; step < 100; ++step) run.put(step);
      if (run.count() != 100) ::_exit(1);
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "trial " << trial;
  }
  States run(options(kMost));
  forebay_trajectory* second = nullptr;
  EXPECT_STATUS(FOREBAY_E_NO_SPACE, forebay_trajectory_open(options(kMost).get(), &second));
}

TEST_F(OnADevice, InUseByAnotherProcessIsRefused) {
  OptionsOf kept = options(kMiB);
  kept.keep();
  States run(kept);
  ASSERT_STATUS(FOREBAY_OK, run.put(0));
  forebay_trajectory* second = nullptr;
  EXPECT_STATUS(FOREBAY_E_BUSY, forebay_trajectory_open(kept.get(), &second));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, 0));
}

}  // namespace
}  // namespace forebay::device_test
