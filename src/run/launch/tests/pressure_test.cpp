// Back-pressure on pools of which the test tells what is free, and what the run's files have.
#include "run/launch/pressure.h"

#include <gtest/gtest.h>

#include <map>

#include "run/drain/tests/ranks_fixture.h"

namespace forebay::launch {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t mount_size = std::uint64_t{1} << 50;

// The figures that can be measured of the two pools, which lie on mounts of their own.
struct Told {
  std::map<std::string, std::uint64_t> held, of_neighbours, counts;
  std::map<std::string, std::vector<Claim>> claims;
  std::uint64_t size = mount_size;
  bool any_inodes = true, counts_are_slow = false;
  std::uint64_t free_at(const std::string& path) { return size - held[path] - of_neighbours[path]; }
};

class ToldMeter final : public PoolMeter {
 public:
  ToldMeter(Told& told, std::string path) : told_(told), path_(std::move(path)) {}
  Room room() override { return {told_.free_at(path_), told_.any_inodes}; }
  std::optional<std::uint64_t> count(std::size_t) override {
    if (told_.counts_are_slow) return std::nullopt;
    ++told_.counts[path_];
    return told_.held[path_];
  }
  std::vector<Claim> exchange(const Claim&) override { return told_.claims[path_]; }
  std::uint64_t mount() const override { return std::hash<std::string>()(path_); }

 private:
  Told& told_;
  const std::string path_;
};

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
  // Makes it of `pools_` as they are now.
  void make_pressure() {
    const auto measure = [this](const std::string& path, const auto&) -> Result<std::unique_ptr<PoolMeter>> {
      return std::make_unique<ToldMeter>(told_, path);
    };
    auto made = Pressure::make(home_ + "/gate", pools_, {pool_of(0), pool_of(1)}, limits_, clock_, measure);
    ASSERT_TRUE(made) << made.error().text();
    pressure_ = std::move(*made);
  }
  const std::string& path_of(int rank) const { return pools_[static_cast<std::size_t>(rank)].path; }
  std::uint64_t part_of_budget(int rank, double part) const {
    return static_cast<std::uint64_t>(part * static_cast<double>(pools_[static_cast<std::size_t>(rank)].budget));
  }
  void use(int rank, double part) { told_.held[path_of(rank)] = part_of_budget(rank, part); }
  void neighbour_uses(int rank, double part) { told_.of_neighbours[path_of(rank)] = part_of_budget(rank, part); }
  // Acts as often as the agent does.
  void act_for(std::chrono::milliseconds time) {
    const auto end = clock_.now() + time;
    while (clock_.now() < end) {
      clock_.move(std::clamp<Clock::duration>(pressure_->next_check() - clock_.now(), milliseconds(3),
                                              end - clock_.now() + milliseconds(1)));
      pressure_->act(*drain_);
    }
  }

  static constexpr int results = 10;
  static constexpr std::chrono::milliseconds moment{25};
  std::vector<node::Pool> pools_;
  settings::Settings limits_;
  Told told_;
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
  told_.any_inodes = false;
  pressure_->act(*drain_);
  EXPECT_TRUE(pressure_->tight());
  EXPECT_EQ(drain_->report().trouble, Code::pool_full);
}

TEST_F(PressureTest, BesideAProgramAtRestPoolsThatAreHalfEmptyAreCheckedOnceASecond) {
  use(0, 0.1);
  use(1, 0.1);
  pressure_->act(*drain_, true);
  EXPECT_GE(pressure_->next_check() - clock_.now(), std::chrono::seconds(1));
  pressure_->act(*drain_);
  EXPECT_LT(pressure_->next_check() - clock_.now(), std::chrono::seconds(1)) << "100 kB are written in no time";
  use(1, 0.5);
  pressure_->act(*drain_, true);
  EXPECT_LT(pressure_->next_check() - clock_.now(), std::chrono::seconds(1));
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
    act_for(milliseconds(2000));
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
  act_for(moment);
  EXPECT_TRUE(pressure_->paused()) << "still above the low mark";
  use(1, 0.6);
  act_for(moment);
  EXPECT_FALSE(pressure_->paused());
}

TEST_F(PressureTest, WhatANeighbourFreesIsNoRoomForTheRun) {
  told_.size = 4 * part_of_budget(1, 1);
  neighbour_uses(1, 2);
  use(1, 0.5);
  act_for(milliseconds(1000));
  neighbour_uses(1, 0);
  act_for(milliseconds(1000));
  EXPECT_FALSE(pressure_->tight());
  use(1, 0.95);
  pressure_->act(*drain_);
  EXPECT_TRUE(pressure_->tight()) << "it has 95 % of its budget, though more is free than in the beginning";
  EXPECT_NEAR(pressure_->fill(), 0.95, 0.001);
}

TEST_F(PressureTest, NotEvenWhereItIsFreedWhileTheRunWritesAsMuch) {
  neighbour_uses(1, 0.9);
  pressure_->act(*drain_);
  for (double written = 0; written < 0.9; written += 0.05) {
    use(1, written);
    neighbour_uses(1, 0.9 - written);
    act_for(milliseconds(20));
  }
  use(1, 0.95);
  act_for(milliseconds(1000));
  EXPECT_TRUE(pressure_->tight()) << "no less is free than in the beginning";
}

TEST_F(PressureTest, WhatANeighbourWritesHoldsNobody) {
  use(1, 0.17);
  pressure_->act(*drain_);
  neighbour_uses(1, 1.5);
  pressure_->act(*drain_);
  EXPECT_FALSE(pressure_->tight() || pressure_->paused());
  EXPECT_EQ(evicted_results(1, results), 0);
  EXPECT_NEAR(pressure_->fill(), 0.17, 0.001);
}

TEST_F(PressureTest, UnlessItLeavesTheRunNoRoom) {
  told_.size = part_of_budget(1, 2);
  make_pressure();
  use(1, 0.17);
  pressure_->act(*drain_);
  neighbour_uses(1, 1.82);
  pressure_->act(*drain_);
  EXPECT_TRUE(pressure_->tight()) << "it has 0.17 of the 0.18 that it can have there";
  EXPECT_GT(evicted_results(1, results), 0);
  EXPECT_NEAR(pressure_->fill(), 0.17 / 0.18, 0.001) << "of what it may hold, as the line of progress tells";
}

TEST_F(PressureTest, WhatAnotherRunMayStillTakeIsNotFree) {
  told_.size = part_of_budget(1, 1.5);
  told_.claims[path_of(1)] = {{part_of_budget(1, 1), 0}};
  make_pressure();
  use(1, 0.4);
  pressure_->act(*drain_);
  EXPECT_FALSE(pressure_->tight()) << "the other may take 1 of 1.5";
  use(1, 0.48);
  pressure_->act(*drain_);
  EXPECT_TRUE(pressure_->tight());
  told_.claims[path_of(1)].clear();
  use(1, 0.49);
  act_for(moment);
  EXPECT_FALSE(pressure_->tight()) << "the other has ended";
}

TEST_F(PressureTest, FilesAreCountedRarelyAndOnlyWhereSomethingChanges) {
  const std::uint64_t& counts = told_.counts[path_of(1)];
  act_for(milliseconds(5000));
  EXPECT_EQ(counts, 1U);
  // A program that purges writes, in all, many times what it holds.
  for (int step = 0; step < 250; ++step) {
    use(1, step % 2 == 0 ? 0.2 : 0.1);
    act_for(milliseconds(20));
  }
  EXPECT_LE(counts, 1U + 5 * 4 + 2) << "every 250 ms";
  EXPECT_FALSE(pressure_->paused());
  EXPECT_EQ(evicted_results(1, results), 0);
}

TEST_F(PressureTest, WhileItCountsTheAgentGoesOn) {
  told_.counts_are_slow = true;
  use(1, 0.3);
  pressure_->act(*drain_);
  EXPECT_FALSE(pressure_->tight());
  EXPECT_LE(pressure_->next_check(), clock_.now()) << "it goes on with that";
  use(1, 0.95);
  pressure_->act(*drain_);
  EXPECT_TRUE(pressure_->paused()) << "it may be full";
  told_.counts_are_slow = false;
  neighbour_uses(1, 0.5);
  use(1, 0.45);
  act_for(moment);
  EXPECT_FALSE(pressure_->paused()) << "a neighbour it was that wrote";
}

// The files are carried so slowly that programs are held for seconds.
class StandstillTest : public PressureTest {
 protected:
  StandstillTest() { settings_.mover.bytes_per_second = 1'000'000; }
  void SetUp() override {
    PressureTest::SetUp();
    write(local(1) + "/post/large", std::string(5'000'000, 'x'));
    EXPECT_TRUE(drive([&] { return drain_->progress().active > 0; }));
  }
};

TEST_F(StandstillTest, ItIsToldWhenItLastsAndUntilItIsReallyOver) {
  use(1, 0.95);
  pressure_->act(*drain_);
  EXPECT_TRUE(pressure_->paused());
  EXPECT_FALSE(pressure_->standstill()) << "perhaps it is over at once";
  act_for(milliseconds(700));
  const auto standstill = pressure_->standstill();
  ASSERT_TRUE(standstill);
  EXPECT_EQ(standstill->pool, path_of(1));
  EXPECT_EQ(standstill->held_bytes, part_of_budget(1, 0.95));
  EXPECT_EQ(standstill->limit, pools_[1].budget);
  use(1, 0.5);
  act_for(milliseconds(500));
  EXPECT_FALSE(pressure_->paused());
  EXPECT_TRUE(pressure_->standstill()) << "it may be held again at once";
  act_for(milliseconds(3000));
  EXPECT_FALSE(pressure_->standstill());
}

TEST_F(StandstillTest, ThatAProgramIsLetGoIsToldToo) {
  limits_.drain.patience = milliseconds(1);
  make_pressure();
  use(1, 0.95);
  act_for(milliseconds(200));
  EXPECT_FALSE(pressure_->paused());
  ASSERT_TRUE(pressure_->standstill());
  EXPECT_TRUE(pressure_->standstill()->let_go);
}

}  // namespace
}  // namespace forebay::launch
