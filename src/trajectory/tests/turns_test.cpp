// Who writes into a pool of persistent memory waits for his turn, where that is worth it.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "segment/turn.h"
#include "trajectory/tests/api.h"

namespace forebay {
namespace {

constexpr std::uint64_t kLarge = kMiB / sizeof(double);

// libpmem2 takes any file for persistent memory when it is told to.
class Turns : public testing::Test {
 protected:
  Turns() { ::setenv("PMEM2_FORCE_GRANULARITY", "BYTE", 1); }
  ~Turns() override { ::unsetenv("PMEM2_FORCE_GRANULARITY"); }
  OptionsOf options(int writers) const {
    return std::move(OptionsOf().pool(pool_.path(), 64 * kMiB).segments(4 * kMiB).writers(writers));
  }
  const Scratch pool_{"/tmp"};
};

TEST_F(Turns, ALargePutWaitsForOne) {
  States run(options(1), kLarge);
  if (std::string(run.tier(0).medium) != "fsdax") GTEST_SKIP() << "built without libpmem2";
  ASSERT_STATUS(FOREBAY_OK, run.put(0));
  auto turn = segment::Turn::take(pool_.path(), 1);
  ASSERT_TRUE(turn);
  std::atomic<bool> stored = false;
  std::thread solver([&] {
    EXPECT_STATUS(FOREBAY_OK, run.put(1));
    stored = true;
  });
  ::usleep(50000);
  EXPECT_FALSE(stored);
  turn.reset();
  solver.join();
  EXPECT_TRUE(run.whole(0) && run.whole(1));
  EXPECT_TRUE(segment::Turn::take(pool_.path(), 1)) << "and gives it back";
}

TEST_F(Turns, WhatIsNotWorthOneOrWantsNoneDoesNotWait) {
  const auto turn = segment::Turn::take(pool_.path(), 1);
  ASSERT_TRUE(turn);
  States small(options(1), 1000);
  EXPECT_STATUS(FOREBAY_OK, small.put(0));
  States free(options(0), kLarge);
  EXPECT_STATUS(FOREBAY_OK, free.put(0));
  States in_place(options(1), kLarge);
  EXPECT_STATUS(FOREBAY_OK, in_place.write(0));
}

TEST_F(Turns, AreForPersistentMemoryOnly) {
  ::unsetenv("PMEM2_FORCE_GRANULARITY");
  const Scratch memory;
  for (const std::string& path : {memory.path(), pool_.path()}) {
    const auto turn = segment::Turn::take(path, 1);
    ASSERT_TRUE(turn);
    States run(OptionsOf().pool(path, 64 * kMiB).writers(1), kLarge);
    EXPECT_STATUS(FOREBAY_OK, run.put(0)) << path;
  }
}

}  // namespace
}  // namespace forebay
