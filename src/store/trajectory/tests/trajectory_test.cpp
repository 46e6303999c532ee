#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <map>
#include <thread>

#include "store/trajectory/tests/api.h"

namespace forebay {
namespace {

TEST(Trajectory, GivesBackEveryStepInReverse) {
  for (const std::uint64_t values : {1u, 32u, 512u, 20000u}) {
    States run(OptionsOf().dram(64 * kMiB), values);
    for (int step = 0; step < 300; ++step) ASSERT_STATUS(FOREBAY_OK, step % 2 == 0 ? run.put(step) : run.write(step));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, 299));
    for (int step = 299; step >= 0; --step) ASSERT_TRUE(run.whole(step));
    EXPECT_STATUS(FOREBAY_OK, run.close());
  }
}

TEST(Trajectory, MakesSegmentsNoLargerThanTheirRecords) {
  constexpr std::uint64_t kState = 11 * kMiB / 2;
  States run(OptionsOf().dram(256 * kMiB), kState / sizeof(double));
  ASSERT_STATUS(FOREBAY_OK, run.put(0));
  EXPECT_LT(run.tier(0).segment_bytes, kState + kState / 50);
  EXPECT_EQ(run.tier(0).segments, 256 * kMiB / kState);
}

TEST(Trajectory, KeepsSeveralFieldsOfDifferentSizesInOneStep) {
  const OptionsOf options = std::move(OptionsOf().dram(kMiB));
  forebay_trajectory* t = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_open(options.get(), &t));
  int velocity = -1, flags = -1, found = -1;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_declare(t, "velocity", FOREBAY_FLOAT64, 3, &velocity));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_declare(t, "flags", FOREBAY_BYTES, 5, &flags));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_find_field(t, "flags", &found));
  EXPECT_EQ(found, flags);
  void* memory[2];
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_begin(t, -4, 2.5, memory, 2));
  std::memset(memory[velocity], 1, 24);
  std::memset(memory[flags], 2, 5);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_commit(t));
  const void* read = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_get(t, -4, flags, &read));
  EXPECT_EQ(read, memory[flags]) << "the memory that was written is the memory that is read";
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read) % 64, 0u);
  double time = 0;
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_get_time(t, -4, &time));
  EXPECT_EQ(time, 2.5);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_release(t, -4));
  forebay_trajectory_close(t);
}

TEST(Trajectory, TakesStepsInAnyOrderAndWithGaps) {
  States run(OptionsOf().dram(4 * kMiB).segments(64 << 10));
  for (const int step : {100, 5, 50, -3, 1000, 51}) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  std::int64_t previous = -1000;
  for (std::uint64_t i = 0; i < run.count(); ++i) {
    std::int64_t step = 0;
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_get_step(run, i, &step, nullptr));
    EXPECT_GT(step, previous);
    EXPECT_TRUE(run.whole(step));
    previous = step;
  }
}

TEST(Trajectory, InterpolatesBetweenSteps) {
  States run(OptionsOf().dram(kMiB), 10);
  for (const int step : {0, 10, 30}) ASSERT_STATUS(FOREBAY_OK, run.put(step));  // times 0, 1, 3
  std::vector<double> u(10);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_interpolate(run, 2.0, 0, u.data()));
  EXPECT_DOUBLE_EQ(u[3], 0.5 * States::value(10, 3) + 0.5 * States::value(30, 3));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_interpolate(run, 3.0, 0, u.data()));
  EXPECT_DOUBLE_EQ(u[3], States::value(30, 3));
  EXPECT_STATUS(FOREBAY_E_OUTSIDE, forebay_trajectory_interpolate(run, 3.1, 0, u.data()));
  EXPECT_STATUS(FOREBAY_E_OUTSIDE, forebay_trajectory_interpolate(run, -0.1, 0, u.data()));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run)) << "nothing stays pinned";
}

TEST(Trajectory, UsesTheRoomOfDroppedStepsAgain) {
  // Room for 8 segments of 8 steps.
  States run(OptionsOf().dram(8 * 68 * 1024).segments(68 << 10));
  for (int round = 0; round < 20; ++round) {
    for (int step = 0; step < 50; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step)) << "round " << round;
    for (int step = 49; step >= 0; --step) {
      ASSERT_TRUE(run.whole(step));
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
    }
  }
}

TEST(Trajectory, RunsACheckpointScheduleInLittleRoom) {
  // Steps dropped and stored again, newest first, as a binomial schedule does: one segment is enough.
  States run(OptionsOf().dram(2 * 68 * 1024).segments(68 << 10));
  ASSERT_STATUS(FOREBAY_OK, run.put(0));
  for (int step = 1; step < 1000; ++step) {
    ASSERT_STATUS(FOREBAY_OK, run.put(step));
    ASSERT_STATUS(FOREBAY_OK, run.put(step + 100000));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step + 100000));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
  }
  EXPECT_TRUE(run.whole(0));
}

TEST(Trajectory, RewindsOntoWarmSegments) {
  States run(OptionsOf().dram(8 * kMiB).segments(kMiB));
  for (int iteration = 0; iteration < 5; ++iteration) {
    for (int step = 0; step < 900; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step + 1000 * iteration));
    EXPECT_GE(run.tier(0).prepared, 7u);
    EXPECT_LE(run.tier(0).prepared, 8u);
    for (int step = 899; step >= 0; --step) ASSERT_TRUE(run.whole(step + 1000 * iteration));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
    EXPECT_EQ(run.count(), 0u);
    EXPECT_EQ(run.tier(0).used, 0u);
  }
}

TEST(Trajectory, PreparesASegmentWhenHalfOfTheOneBeforeIsFull) {
  States run(OptionsOf().dram(64 * kMiB).segments(4 * kMiB));
  const auto prepared_soon = [&](std::uint64_t segments) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (run.tier(0).prepared < segments && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return run.tier(0).prepared;
  };
  const int half = 2 * kMiB / (1000 * sizeof(double));
  ASSERT_STATUS(FOREBAY_OK, run.put(0));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(run.tier(0).prepared, 1u) << "a run that ends soon takes no memory that it does not need";
  for (int step = 1; step <= half; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  EXPECT_EQ(prepared_soon(2), 2u);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(run.tier(0).prepared, 2u);
}

TEST(Trajectory, SaysWithFiguresWhenNothingHasRoomAndLosesNothing) {
  States run(OptionsOf().dram(4 * 64 * 1024).segments(64 << 10));
  int stored = 0;
  while (run.put(stored) == FOREBAY_OK) ASSERT_LT(++stored, 100);
  const std::string text = forebay_error_get_text();
  EXPECT_NE(text.find("262144"), std::string::npos) << text;
  EXPECT_STATUS(FOREBAY_E_NO_SPACE, run.put(stored));
  EXPECT_GE(stored, 4 * 8 - 4);
  for (int step = 0; step < stored; ++step) ASSERT_TRUE(run.whole(step));
  for (int step = 0; step < 16; ++step) ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
  EXPECT_STATUS(FOREBAY_OK, run.put(stored)) << "the run goes on where room was made";
}

TEST(Trajectory, PinnedMemoryStaysWhereItIs) {
  const Scratch scratch;
  States run(OptionsOf().dram(4 * 64 * 1024).pool(scratch.path(), 100 * 64 * 1024).segments(64 << 10));
  for (int step = 0; step < 10; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  const double* pinned = nullptr;
  ASSERT_STATUS(FOREBAY_OK, get_values(run, 2, pinned));
  for (int step = 10; step < 400; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(pinned[i], States::value(2, i));
  EXPECT_STATUS(FOREBAY_E_PINNED, forebay_trajectory_drop(run, 2));
  EXPECT_STATUS(FOREBAY_E_PINNED, forebay_trajectory_rewind(run));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_release(run, 2));
  for (int step = 399; step >= 0; --step) ASSERT_TRUE(run.whole(step));
}

}  // namespace
}  // namespace forebay
