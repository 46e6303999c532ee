// Back-pressure on pools whose free space is told by the test.
#include "run/launch/pressure.h"

#include <gtest/gtest.h>

#include <map>

#include "run/drain/tests/ranks_fixture.h"

namespace forebay::launch {
namespace {

constexpr std::uint64_t mount_size = std::uint64_t{1} << 50;

class PressureTest : public drain::DrainTest {
 protected:
  void SetUp() override {
    DrainTest::SetUp();
    two_pools_ = true;
    pools_.resize(2);
    for (const int rank : {0, 1}) pools_[static_cast<std::size_t>(rank)].path = pool_of(rank);
    pools_[0].budget = 1'000'000'000;
    pools_[1].budget = 100'000;
    limits_.pool.high_water = 0.9;
    limits_.pool.low_water = 0.7;
    open();
    for (const int rank : {0, 1}) write_results(rank, results);
    make_pressure();
  }
  // Of `pools_` as they are now.
  void make_pressure() {
    auto made = Pressure::make(home_ + "/gate", pools_, limits_, clock_, [this](const std::string& path) {
      return Pressure::Room{mount_size - used_[path], any_inodes_};
    });
    ASSERT_TRUE(made) << made.error().text();
    pressure_ = std::move(*made);
  }
  void use(int rank, double part_of_budget) {
    const node::Pool& pool = pools_[static_cast<std::size_t>(rank)];
    used_[pool.path] = static_cast<std::uint64_t>(part_of_budget * static_cast<double>(pool.budget));
  }

  static constexpr int results = 10;
  std::vector<node::Pool> pools_;
  settings::Settings limits_;
  std::map<std::string, std::uint64_t> used_;
  bool any_inodes_ = true;
  std::unique_ptr<Pressure> pressure_;
};

TEST_F(PressureTest, AsMuchRoomIsMadeAsTheFullestPoolNeedsAndThere) {
  use(0, 0.1);
  use(1, 0.95);
  pressure_->act(*drain_);
  EXPECT_TRUE(pressure_->tight());
  // A quarter of 100 kB, in files of 8 KiB; of the other pool's budget it would be all of them.
  EXPECT_EQ(evicted_results(1, results), 4);
  EXPECT_EQ(evicted_results(0, results), 0);
}

TEST_F(PressureTest, APoolWithoutInodesIsFull) {
  pressure_->act(*drain_);
  EXPECT_EQ(drain_->report().trouble, std::nullopt);
  any_inodes_ = false;
  pressure_->act(*drain_);
  EXPECT_TRUE(pressure_->tight());
  EXPECT_EQ(drain_->report().trouble, Code::pool_full);
}

TEST_F(PressureTest, TheFirstPoolCanBeTheFullOneToo) {
  use(0, 0.95);
  use(1, 0.1);
  pressure_->act(*drain_);
  EXPECT_EQ(evicted_results(0, results), results);
  EXPECT_EQ(evicted_results(1, results), 0);
}

TEST_F(PressureTest, RoomIsMadeInEveryPoolThatNeedsIt) {
  use(0, 0.95);
  use(1, 0.91);
  pressure_->act(*drain_);
  EXPECT_EQ(evicted_results(0, results), results);
  EXPECT_EQ(evicted_results(1, results), 3) << "a fifth of 100 kB, in files of 8 KiB";
  EXPECT_TRUE(pressure_->paused()) << "nothing more can go from the fullest pool, but from the other";
  use(1, 0.6);
  const auto goes_on = [&] {
    pressure_->act(*drain_);
    return !pressure_->paused();
  };
  EXPECT_TRUE(drive(goes_on)) << "when the memory of what was replaced is free, waiting makes no more in this pool";
}

TEST_F(PressureTest, NothingIsDoneBelowTheHighMark) {
  use(0, 0.85);
  use(1, 0.85);
  pressure_->act(*drain_);
  EXPECT_FALSE(pressure_->tight() || pressure_->paused());
  EXPECT_EQ(evicted_results(0, results) + evicted_results(1, results), 0);
}

TEST_F(PressureTest, TheNextCheckComesBeforeThePoolThatFillsFirstCanBeNearlyFull) {
  const double cores = static_cast<double>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  pools_[0].budget = static_cast<std::uint64_t>(10e9 * cores);
  pools_[1].budget = static_cast<std::uint64_t>(20e9 * cores);
  make_pressure();
  const auto seconds = [&](double first, double second) {
    use(0, first);
    use(1, second);
    pressure_->act(*drain_);
    return std::chrono::duration<double>(pressure_->next_check() - clock_.now()).count();
  };
  EXPECT_NEAR(seconds(0.5, 0.1), 0.4, 0.05) << "to 0.9, at 10 GB/s";
  EXPECT_NEAR(seconds(0.5, 0.85), 0.1, 0.05);
  EXPECT_NEAR(seconds(0, 0.1), 0.9, 0.05);
  EXPECT_NEAR(seconds(0.5, 0.8999), 0.02, 0.01) << "no sooner, however full";
  EXPECT_LT(seconds(0.95, 0.1), 0) << "tight";
}

TEST_F(PressureTest, LargePoolsAreCheckedTooSinceOthersMayWriteThere) {
  for (node::Pool& pool : pools_) pool.budget = mount_size / 2;
  make_pressure();
  pressure_->act(*drain_);
  const auto until = pressure_->next_check() - clock_.now();
  EXPECT_GT(until, std::chrono::milliseconds(1000));
  EXPECT_LE(until, std::chrono::milliseconds(1250));
}

TEST_F(PressureTest, AProgramIsHeldUntilTheFullestPoolHasRoom) {
  use(1, 0.95);
  pressure_->act(*drain_);
  EXPECT_TRUE(pressure_->paused()) << "more can be evicted";
  use(1, 0.75);
  pressure_->act(*drain_);
  EXPECT_TRUE(pressure_->paused()) << "still above the low mark";
  use(1, 0.6);
  pressure_->act(*drain_);
  EXPECT_FALSE(pressure_->paused());
}

}  // namespace
}  // namespace forebay::launch
