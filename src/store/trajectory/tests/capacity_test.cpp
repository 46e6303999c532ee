// A budget holds what it says, and room that was freed is used.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "store/trajectory/tests/api.h"

namespace forebay::capacity_test {
namespace {

std::uint64_t fill(States& run, std::int64_t from, std::uint64_t at_most = 100000) {
  std::uint64_t stored = 0;
  while (stored < at_most && run.put(from + static_cast<std::int64_t>(stored)) == FOREBAY_OK) ++stored;
  return stored;
}

struct Shape {
  std::uint64_t values;
  std::uint64_t states;  // that the first budget has bytes for
  std::optional<std::uint64_t> segment_bytes;
};

class Capacity : public testing::TestWithParam<Shape> {
 protected:
  const Scratch pool_, shared_{"/tmp"};
};

// Fills, drops every second, fills again, and so at random; counts must be those that were told.
void use(const OptionsOf& options, const Shape& shape, std::uint64_t tiers) {
  States run(options, shape.values);
  const std::uint64_t told = run.capacity();
  EXPECT_GE(told, tiers * shape.states - tiers * shape.states / 20);
  ASSERT_EQ(fill(run, 0), told);
  EXPECT_EQ(run.capacity(), told);
  for (std::uint64_t step = 1; step < told; step += 2) {
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, static_cast<std::int64_t>(step)));
  }
  ASSERT_EQ(fill(run, 100000), told / 2);
  for (std::uint64_t step = 0; step < told; step += 2) ASSERT_TRUE(run.whole(static_cast<std::int64_t>(step)));
  std::mt19937_64 random(7);
  std::set<std::int64_t> stored;
  for (std::uint64_t i = 0; i < run.count(); ++i) {
    std::int64_t step = 0;
    forebay_trajectory_get_step(run, i, &step, nullptr);
    stored.insert(step);
  }
  for (std::int64_t round = 0; round < 5; ++round) {
    std::uint64_t dropped = 0;
    for (auto at = stored.begin(); at != stored.end();) {
      if (random() % 3 != 0) {
        ++at;
        continue;
      }
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, *at));
      at = stored.erase(at);
      ++dropped;
    }
    ASSERT_EQ(fill(run, 200000 + 10000 * round), dropped) << "round " << round;
    for (std::uint64_t i = 0; i < dropped; ++i) {
      stored.insert(200000 + 10000 * round + static_cast<std::int64_t>(i));
    }
  }
  for (const std::int64_t step : stored) ASSERT_TRUE(run.whole(step));
}

TEST_P(Capacity, IsExactInMemory) {
  const auto [values, states, segment] = GetParam();
  use(OptionsOf().dram(states * 8 * values).segments(segment), GetParam(), 1);
}

TEST_P(Capacity, IsExactOverTwoMappedTiers) {
  const auto [values, states, segment] = GetParam();
  const std::uint64_t bytes = states * 8 * values;
  use(OptionsOf().dram(bytes).pool(pool_.path(), bytes).segments(segment), GetParam(), 2);
}

TEST_P(Capacity, IsExactWhereStatesAreFetchedBack) {
  const auto [values, states, segment] = GetParam();
  const std::uint64_t bytes = states * 8 * values;
  use(OptionsOf().pool(pool_.path(), bytes).shared(shared_.path(), bytes).segments(segment), GetParam(), 2);
}

TEST_P(Capacity, IsExactInAKeptStoreThatIsFoundAgain) {
  const auto [values, states, segment] = GetParam();
  OptionsOf options;
  options.pool(pool_.path(), states * 8 * values).segments(segment).keep().process_only();
  use(options, GetParam(), 1);
  States again(options, values);
  EXPECT_EQ(again.count(), again.capacity());
  EXPECT_STREQ(forebay_trajectory_get_recovery(again), "");
}

INSTANTIATE_TEST_SUITE_P(OfStates, Capacity,
                         testing::Values(Shape{125000, 40, {}}, Shape{1000, 100, {}}, Shape{1000, 40, 64 << 10},
                                         Shape{4096, 37, {}}, Shape{1000, 4, {}}));

TEST(CapacityOf, AnythingElse) {
  States run(OptionsOf().dram(40 * 8000));
  EXPECT_EQ(run.capacity(), 40u) << "before the first step";
  const OptionsOf options = std::move(OptionsOf().dram(kMiB));
  forebay_trajectory* none = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_open(options.get(), &none));
  std::uint64_t states = 0;
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_get_capacity(none, &states)) << "of no fields";
  forebay_trajectory_close(none);
}

TEST(CapacityOf, StatesWithAnAcceptedErrorIsAtLeast) {
  States run(OptionsOf().dram(2 * kMiB));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_set_accepted_error(run, 0, 1e-6));
  const std::uint64_t told = run.capacity();
  EXPECT_GE(told, 200u);
  EXPECT_GE(fill(run, 0, 5000), told);
}

TEST(CapacityOf, ASegmentThatHoldsDamageIsCleanedOfTheRest) {
  const Scratch shared("/tmp");
  constexpr std::uint64_t kSegment = 64 << 10;  // 8 states
  States run(OptionsOf().dram(2 * kSegment).shared(shared.path(), 4 * kSegment).segments(kSegment));
  const std::uint64_t told = run.capacity();
  ASSERT_EQ(fill(run, 0), told);
  for (std::uint64_t step = 0; step < told; step += 2) {
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, static_cast<std::int64_t>(step)));
  }
  EXPECT_EQ(fill(run, 1000), told / 2);
  for (std::uint64_t step = 1; step < told; step += 2) ASSERT_TRUE(run.whole(static_cast<std::int64_t>(step)));
}

// A solver that goes on from the state that it stored last pins it: that holds a segment, and the others must do.
TEST(CapacityOf, SmallTiersLeavesRoomBesideAPinnedState) {
  for (const std::uint64_t values : {625u, 1000u, 3072u, 40000u}) {
    for (const std::uint64_t states : {3u, 4u, 5u, 7u, 13u, 40u}) {
      const Scratch shared("/tmp");
      States run(std::move(OptionsOf().dram(states * values * 8).shared(shared.path(), 200 * values * 8)), values);
      for (std::int64_t step = 0; step < 100; ++step) {
        ASSERT_STATUS(FOREBAY_OK, run.write(step)) << values << " values, " << states << " states";
        const void* memory = nullptr;
        ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_get(run, step, 0, &memory));
        if (step > 0) {
          ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_release(run, step - 1));
        }
      }
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_release(run, 99));
      ASSERT_TRUE(run.whole(0));
    }
  }
}

}  // namespace
}  // namespace forebay::capacity_test
