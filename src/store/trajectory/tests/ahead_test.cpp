// Fields with an accepted error in a sweep: decoded ahead of it, by a thread, and right in any order.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <random>

#include "store/segment/format.h"
#include "store/trajectory/tests/flow.h"

namespace forebay::ahead_test {
namespace {

constexpr std::uint64_t kSegment = 64 << 10;
constexpr std::uint64_t kValues = 2000;

void fill(Flow& run, int steps) {
  for (int step = 0; step < steps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
}

std::size_t threads() {
  return list_directory("/proc/self/task")->size();
}

TEST(Ahead, TheNextStepIsDecodedWhileTheSolverWorks) {
  Flow run(OptionsOf().dram(80 * kSegment).segments(kSegment), kValues, 1e-5);
  fill(run, 100);
  for (int step = 99; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  EXPECT_EQ(run.encoding().decoded_ahead, 0u) << "no sweep has begun";
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, 99));
  for (int step = 99; step >= 0; --step) {
    ASSERT_TRUE(run.whole(step));
    ::usleep(2000);
  }
  const std::uint64_t ahead = run.encoding().decoded_ahead;
  EXPECT_GT(ahead, 0u);
  EXPECT_LE(ahead, 99u) << "each step once, the first one never";
  ASSERT_STATUS(FOREBAY_OK, run.put(100));
  for (int step = 99; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  EXPECT_EQ(run.encoding().decoded_ahead, ahead) << "a put ends the sweep";
}

TEST(Ahead, NoThreadWorksWhereNoneIsWanted) {
  Flow run(OptionsOf().dram(80 * kSegment).segments(kSegment).encoders(0), kValues, 1e-5);
  fill(run, 50);
  const std::size_t before = threads();
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, 49));
  for (int step = 49; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  EXPECT_EQ(run.encoding().decoded_ahead, 0u);
  EXPECT_EQ(threads(), before);
}

TEST(Ahead, NoThreadIsThereWhereNothingIsEncoded) {
  States run(OptionsOf().dram(kMiB).encoders(4));
  for (int step = 0; step < 50; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  const std::size_t before = threads();
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, 49));
  for (int step = 49; step >= 0; --step) ASSERT_TRUE(run.whole(step));
  EXPECT_EQ(threads(), before);
}

TEST(Ahead, InterpolationsAreASweepToo) {
  Flow run(OptionsOf().dram(80 * kSegment).segments(kSegment), kValues, 1e-6);
  fill(run, 60);
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, 59));
  std::vector<double> u(kValues);
  for (double time = 5.9; time > 0; time -= 0.03) {
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_interpolate(run, time, 0, u.data()));
    const auto low = static_cast<std::int64_t>(time / 0.1);
    const auto below = Flow::state(kValues, low, 0), above = Flow::state(kValues, low + 1, 0);
    for (std::size_t i = 0; i < kValues; i += 97) {
      ASSERT_GE(u[i], std::min(below[i], above[i]) - 1e-4);
      ASSERT_LE(u[i], std::max(below[i], above[i]) + 1e-4);
    }
    ::usleep(200);
  }
  EXPECT_GT(run.encoding().decoded_ahead, 0u);
}

// Any call that follows a get finds the thread in the middle of the next step.
TEST(Ahead, AnythingMayFollowAGet) {
  constexpr std::uint64_t values = 4000;
  constexpr std::uint64_t segment = 256 << 10;
  std::mt19937 random(11);
  for (const forebay_codec codec : {FOREBAY_CODEC_DIFFERENCE, FOREBAY_CODEC_TRUNCATION}) {
    for (int what = 0; what < 8; ++what) {
      const Scratch pool;
      OptionsOf options;
      options.pool(pool.path(), 16 * segment).segments(segment);
      Flow run(options, values, 1e-6, codec);
      fill(run, 24);
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, 23));
      for (int step = 23; step > 16; --step) {
        ASSERT_TRUE(run.whole(step));
        ::usleep(static_cast<useconds_t>(random() % 300));
        const int below = step - 1;
        if (what == 0) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
        } else if (what == 1) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, below));
          ASSERT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_drop(run, below));
          ASSERT_STATUS(FOREBAY_OK, run.put(below, 3));
          ASSERT_TRUE(run.whole(below, 3));
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, below));
          ASSERT_STATUS(FOREBAY_OK, run.put(below));
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, below));
        } else if (what == 2) {
          ASSERT_STATUS(FOREBAY_OK, run.put(100 + step));
        } else if (what == 3) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, step > 19 ? 1 : 0));
        } else if (what == 4) {
          ASSERT_TRUE(run.whole(static_cast<int>(random() % 24)));
        } else if (what == 5) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
          fill(run, 24);
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, below));
        } else if (what == 6) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, 23));
          ASSERT_TRUE(run.whole(23));
        } else {
          break;  // and closes
        }
      }
    }
  }
}

TEST(Ahead, SweepsThroughTiersAreRight) {
  const Scratch pool, shared("/tmp");
  for (const std::uint64_t first : {2u, 4u, 7u}) {
    Flow run(OptionsOf()
                 .dram(first * kSegment)
                 .pool(pool.path(), 3 * kSegment)
                 .shared(shared.path(), 100 * kSegment)
                 .segments(kSegment),
             kValues, 1e-7, FOREBAY_CODEC_TRUNCATION);
    for (int iteration = 0; iteration < 2; ++iteration) {
      fill(run, 200);
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, 199));
      for (int step = 199; step >= 0; --step) ASSERT_TRUE(run.whole(step)) << first << " segments of dram";
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
    }
  }
}

// The payload of a step in the file of segments that a kept store has left: where it begins, and its bytes.
std::pair<std::uint64_t, std::uint64_t> payload_of(const std::string& segments, std::int64_t step) {
  for (std::uint64_t at = 0; at + kSegment <= segments.size(); at += kSegment) {
    for (std::uint32_t record = 0; segment::header_place(record) < kSegment; ++record) {
      segment::RecordHeader header;
      std::memcpy(&header, segments.data() + at + segment::header_place(record), sizeof(header));
      if (header.record != record || header.payload_bytes == 0) break;
      if (header.step == step) return {at + segment::payload_place(header.payload), header.payload_bytes};
    }
  }
  return {};
}

TEST(Ahead, DamageIsToldByTheGetOfItsStepOnly) {
  constexpr int kSteps = 60, kDamaged = 30;
  for (const int checksum : {0, 1}) {
    const Scratch pool;
    OptionsOf options;
    options.pool(pool.path(), 64 * kSegment).segments(kSegment).keep().checksum(checksum);
    {
      Flow run(options, kValues, 1e-5, FOREBAY_CODEC_TRUNCATION);
      fill(run, kSteps);
    }
    const std::string path = pool.path() + "/trajectory-0/segments";
    std::string bytes = *read_file(path);
    const auto [begin, size] = payload_of(bytes, kDamaged);
    ASSERT_GT(size, 1000u);
    // With a checksum it is the numbers that are damaged, else what tells how they are encoded.
    const std::uint64_t from = checksum == 1 ? begin + size / 2 : begin;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), 64, '\xEE');
    std::ofstream(path, std::ios::binary | std::ios::in) << bytes;
    Flow run(options, kValues, 1e-5);
    ASSERT_EQ(run.count(), static_cast<std::uint64_t>(kSteps));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, kSteps - 1));
    for (int step = kSteps - 1; step >= 0; --step) {
      if (step != kDamaged) {
        ASSERT_TRUE(run.whole(step)) << "checksum " << checksum;
        ::usleep(500);
        continue;
      }
      const void* memory = nullptr;
      ASSERT_STATUS(FOREBAY_E_DAMAGED, forebay_trajectory_get(run, step, 0, &memory));
      EXPECT_NE(std::string(forebay_error_get_text()).find("step 30"), std::string::npos) << forebay_error_get_text();
    }
    EXPECT_GT(run.encoding().decoded_ahead, 0u);
  }
}

}  // namespace
}  // namespace forebay::ahead_test
