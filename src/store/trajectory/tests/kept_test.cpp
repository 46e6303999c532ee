#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "store/segment/directory.h"
#include "store/trajectory/tests/api.h"

namespace forebay::kept_test {
namespace {

constexpr std::uint64_t kSegment = 64 << 10;

TEST(Kept, IsFoundByTheNextOpen) {
  for (const char* where : {"/dev/shm", "/tmp"}) {
    const Scratch scratch(where);
    OptionsOf options;
    options.pool(scratch.path(), 64 * kSegment).segments(kSegment).keep().process_only();
    {
      States run(options);
      for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
      for (int step = 20; step < 60; ++step) ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
    }
    States run(options);
    EXPECT_EQ(run.count(), 60u);
    EXPECT_STREQ(forebay_trajectory_get_recovery(run), "");
    for (int step = 0; step < 20; ++step) ASSERT_TRUE(run.whole(step));
    for (int step = 60; step < 100; ++step) ASSERT_TRUE(run.whole(step));
    double time = 0;
    forebay_trajectory_get_time(run, 70, &time);
    EXPECT_DOUBLE_EQ(time, 7.0);
    for (int step = 20; step < 60; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step)) << "and it goes on";
    for (int step = 0; step < 100; ++step) ASSERT_TRUE(run.whole(step));
  }
}

TEST(Kept, ANewStepFindsRoomWhileOldOnesComeBack) {
  // The spiller makes room for what it brings back, beside the thread that makes it for the writer; in segments that
  // take a while to make, both want the same.
  constexpr std::uint64_t kLarge = 4 * kMiB, kValues = 1 << 16;
  for (int trial = 0; trial < 8; ++trial) {
    const Scratch pool, shared("/tmp");
    const auto with = [&](std::uint64_t segments) {
      OptionsOf options;
      options.pool(pool.path(), segments * kLarge).shared(shared.path(), 100 * kLarge).segments(kLarge).keep();
      options.process_only();
      return options;
    };
    {
      States run(with(4), kValues);
      for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    }
    States run(with(100), kValues);
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(run, 99));
    ASSERT_TRUE(run.whole(60));
    ASSERT_STATUS(FOREBAY_OK, run.put(100 + trial));
    ASSERT_TRUE(run.whole(5));
  }
}

TEST(Kept, OnADiskFileSystemWithASyncForEachCommit) {
  const Scratch scratch("/tmp");
  OptionsOf options;
  options.pool(scratch.path(), 8 * kSegment).segments(kSegment).keep();
  {
    States run(options);
    EXPECT_STREQ(run.tier(0).medium, "file");
    for (int step = 0; step < 20; ++step) ASSERT_STATUS(FOREBAY_OK, step % 2 == 0 ? run.put(step) : run.write(step));
  }
  States run(options);
  EXPECT_EQ(run.count(), 20u);
  for (int step = 0; step < 20; ++step) ASSERT_TRUE(run.whole(step));
}

TEST(Kept, OverAllTiers) {
  const Scratch pool, shared("/tmp");
  OptionsOf options;
  options.pool(pool.path(), 5 * kSegment).shared(shared.path(), 100 * kSegment).segments(kSegment).keep();
  {
    States run(options);
    for (int step = 0; step < 300; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    EXPECT_GT(run.tier(1).used, 10u);
    for (int step = 0; step < 10; ++step) ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
  }
  States run(options);
  EXPECT_STREQ(forebay_trajectory_get_recovery(run), "");
  EXPECT_EQ(run.count(), 290u);
  forebay_trajectory_reverse(run, 299);
  for (int step = 299; step >= 10; --step) ASSERT_TRUE(run.whole(step));
}

TEST(Kept, WithFieldsAndRanksThatAreChecked) {
  const Scratch scratch;
  OptionsOf options;
  options.pool(scratch.path(), 64 * kSegment).keep();
  {
    States run(options);
    ASSERT_STATUS(FOREBAY_OK, run.put(0));
  }
  forebay_trajectory* t = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_open(options.get(), &t));
  int fields = 0;
  const char* name = nullptr;
  std::uint64_t values = 0;
  forebay_trajectory_count_fields(t, &fields);
  EXPECT_EQ(fields, 1);
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_get_field(t, 0, &name, nullptr, &values));
  EXPECT_STREQ(name, "u");
  EXPECT_EQ(values, 1000u);
  EXPECT_STATUS(FOREBAY_E_FIELD_CHANGED, forebay_trajectory_declare(t, "u", FOREBAY_FLOAT64, 10, nullptr));
  forebay_trajectory_close(t);
  options.rank(0, 2);
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_open(options.get(), &t));
}

TEST(Kept, WithTheShapesOfItsFields) {
  const Scratch scratch;
  OptionsOf options;
  options.pool(scratch.path(), 64 * kSegment).keep();
  const std::uint64_t shape[] = {4, 5, 50}, other[] = {5, 4, 50}, list[] = {1000}, wrong[] = {3, 1000};
  const std::uint64_t wraps[] = {65536, 65536, 65536, 65536}, deep[] = {1, 1, 1, 1, 1, 1, 1, 1, 1000};
  {
    States run(options);
    EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_set_shape(run, 0, 2, wrong));
    EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_set_shape(run, 0, 4, wraps));
    EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_set_shape(run, 0, 9, deep));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_set_shape(run, 0, 3, shape));
    ASSERT_STATUS(FOREBAY_OK, run.put(0));
    EXPECT_STATUS(FOREBAY_E_FIELDS_FIXED, forebay_trajectory_set_shape(run, 0, 3, other));
  }
  forebay_trajectory* t = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_open(options.mode("read-only").get(), &t));
  int dimensions = 0;
  std::uint64_t found[FOREBAY_MOST_EXTENTS] = {};
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_get_shape(t, 0, &dimensions, found));
  EXPECT_EQ(std::vector<std::uint64_t>(found, found + dimensions), (std::vector<std::uint64_t>{4, 5, 50}));
  EXPECT_STATUS(FOREBAY_E_FIELD_CHANGED, forebay_trajectory_set_shape(t, 0, 3, other));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_set_shape(t, 0, 3, shape));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_set_shape(t, 0, 1, list));
  forebay_trajectory_close(t);
}

// On two tiers, so that some lie on the second.
OptionsOf two_tiers(const Scratch& pool, const Scratch& shared) {
  OptionsOf options;
  options.pool(pool.path(), 5 * kSegment).shared(shared.path(), 100 * kSegment).segments(kSegment);
  return options;
}

void expect_a_store_as_new(const Scratch& pool, const Scratch& shared, const std::string& recovery) {
  for (const char* mode : {"must-exist", "read-only"}) {
    auto options = two_tiers(pool, shared);
    options.keep().mode(mode);
    forebay_trajectory* none = nullptr;
    EXPECT_STATUS(FOREBAY_E_NO_SUCH_STORE, forebay_trajectory_open(options.get(), &none));
  }
  auto options = two_tiers(pool, shared);
  options.keep();
  {
    States run(options);
    EXPECT_EQ(run.count(), 0u);
    EXPECT_NE(std::string(forebay_trajectory_get_recovery(run)).find(recovery), std::string::npos)
        << forebay_trajectory_get_recovery(run);
    for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  }
  States run(options);
  EXPECT_EQ(run.count(), 100u);
  EXPECT_STREQ(forebay_trajectory_get_recovery(run), "");
  for (int step = 0; step < 100; ++step) ASSERT_TRUE(run.whole(step));
}

TEST(Kept, AProcessThatDiesInKeepHasKeptNothing) {
  const Scratch pool, shared("/tmp");
  const pid_t child = ::fork();
  if (child == 0) {
    // No other thread has anything to write.
    States run(OptionsOf().pool(pool.path(), 5 * kSegment).segments(kSegment));
    for (int step = 0; step < 3; ++step) (void)run.put(step);
    // The first file that it writes from now on ends it.
    const struct rlimit none {};
    (void)::setrlimit(RLIMIT_CORE, &none);
    (void)::setrlimit(RLIMIT_FSIZE, &none);
    ::signal(SIGXFSZ, SIG_DFL);
    (void)forebay_trajectory_keep(run, 1);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) << status;
  expect_a_store_as_new(pool, shared, "");
}

// All names are there, and no head tells an epoch yet.
class NearlyKept : public testing::Test {
 protected:
  void SetUp() override {
    auto options = two_tiers(pool_, shared_);
    {
      States run(options);
      for (int step = 0; step < 200; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, 1));
    }
    for (const Scratch* tier : {&pool_, &shared_}) {
      auto home = segment::StoreDirectory::open(tier->path(), "trajectory-0", segment::StoreDirectory::How::named);
      ASSERT_TRUE(home);
      const auto head = home->read_head();
      ASSERT_TRUE(head && *head);
      ASSERT_TRUE(home->write_epoch((*head)->head.store, 0));
    }
  }
  const Scratch pool_, shared_{"/tmp"};
};

TEST_F(NearlyKept, IsNotKeptAndTold) {
  expect_a_store_as_new(pool_, shared_, "a process ended before it had kept the states here");
}

void expect_fifty_states(OptionsOf& options) {
  options.keep();
  States run(options);
  EXPECT_EQ(run.count(), 50u);
  EXPECT_STREQ(forebay_trajectory_get_recovery(run), "");
}

TEST_F(NearlyKept, StandsInNobodysWayWhoKeepsLater) {
  auto options = two_tiers(pool_, shared_);
  {
    States run(options);
    for (int step = 0; step < 50; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, 1));
  }
  expect_fifty_states(options);
}

TEST(Kept, WhatAnotherProcessHasKeptStays) {
  const Scratch pool, shared("/tmp");
  auto options = two_tiers(pool, shared);
  for (const auto& [expected, steps] : {std::pair{FOREBAY_OK, 50}, std::pair{FOREBAY_E_IO, 60}}) {
    States run(options);
    for (int step = 0; step < steps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    ASSERT_STATUS(expected, forebay_trajectory_keep(run, 1));
  }
  expect_fifty_states(options);
}

TEST(Kept, NowhereWhereOneTierCannotBeKept) {
  const Scratch pool, shared("/tmp");
  std::ofstream(shared.path() + "/trajectory-0") << "in the way";
  States run(two_tiers(pool, shared));
  for (int step = 0; step < 200; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  EXPECT_NE(forebay_trajectory_keep(run, 1), FOREBAY_OK);
  EXPECT_TRUE(list_directory(pool.path())->empty());
  EXPECT_TRUE(run.whole(100));
}

TEST(Kept, LaterThanOpened) {
  const Scratch pool, shared("/tmp");
  OptionsOf options;
  options.pool(pool.path(), 5 * kSegment).shared(shared.path(), 100 * kSegment).segments(kSegment);
  {
    States run(options);
    for (int step = 0; step < 200; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    for (int step = 0; step < 200; step += 5) ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
    EXPECT_TRUE(list_directory(pool.path())->empty());
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, 1));
    ASSERT_STATUS(FOREBAY_OK, run.put(200));
  }
  options.keep();
  States run(options);
  EXPECT_EQ(run.count(), 161u);
  for (int step = 1; step <= 200; ++step) {
    if (step % 5 != 0) {
      ASSERT_TRUE(run.whole(step));
    }
  }
  EXPECT_TRUE(run.whole(200));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_keep(run, 0));
  EXPECT_TRUE(list_directory(pool.path())->empty());
  EXPECT_TRUE(list_directory(shared.path())->empty());
}

TEST(NotKept, VanishesEvenWhenTheProcessIsKilled) {
  const Scratch pool, shared("/tmp");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    OptionsOf options;
    options.pool(pool.path(), 4 * kSegment).shared(shared.path(), 100 * kSegment).segments(kSegment);
    States run(options);
    for (int step = 0; step < 100; ++step) run.put(step);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(list_directory(pool.path())->empty());
  EXPECT_TRUE(list_directory(shared.path())->empty());
}

TEST(Kept, ReportsDamageWithItsPlaceAndKeepsTheRest) {
  const Scratch scratch;
  OptionsOf options;
  options.pool(scratch.path(), 64 * kSegment).segments(kSegment).keep();
  {
    States run(options);
    for (int step = 0; step < 40; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  }
  {
    std::fstream file(scratch.path() + "/trajectory-0/segments", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(128 + 2 * 64 + 17);  // the header of the third record of the first segment
    file.put('x');
  }
  States run(options);
  EXPECT_EQ(run.count(), 39u);
  const std::string text = forebay_trajectory_get_recovery(run);
  EXPECT_NE(text.find("segment 0 is damaged between its bytes 256 and 320"), std::string::npos) << text;
  EXPECT_FALSE(run.whole(2));
  for (int step = 3; step < 40; ++step) ASSERT_TRUE(run.whole(step));
}

TEST(Kept, AChecksumFindsADamagedPayload) {
  const Scratch scratch;
  OptionsOf options;
  options.pool(scratch.path(), 64 * kSegment).segments(kSegment).keep().checksum(true);
  {
    States run(options);
    for (int step = 0; step < 20; ++step) ASSERT_STATUS(FOREBAY_OK, step % 2 == 0 ? run.put(step) : run.write(step));
  }
  {
    std::fstream file(scratch.path() + "/trajectory-0/segments", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kSegment - 8000 + 100);  // the payload of the first record
    file.put('x');
  }
  States run(options);
  const void* memory = nullptr;
  EXPECT_STATUS(FOREBAY_E_DAMAGED, forebay_trajectory_get(run, 0, 0, &memory));
  for (int step = 1; step < 20; ++step) EXPECT_TRUE(run.whole(step));
}

TEST(Kept, ASegmentThatIsCutOffCostsItsStepsOnly) {
  const Scratch pool, shared("/tmp");
  OptionsOf options;
  options.pool(pool.path(), 4 * kSegment).shared(shared.path(), 100 * kSegment).segments(kSegment).keep();
  {
    States run(options);
    for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  }
  const std::string file = shared.path() + "/trajectory-0/segments";
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_size % static_cast<off_t>(kSegment), 0) << "it ends with a whole segment";
  ASSERT_EQ(::truncate(file.c_str(), 3 * kSegment + 50000), 0);
  States run(options);
  const std::string text = forebay_trajectory_get_recovery(run);
  EXPECT_NE(text.find("segment 3 is cut off at byte 50000"), std::string::npos) << text;
  const void* memory = nullptr;
  for (int step = 0; step < 24; ++step) EXPECT_TRUE(run.whole(step));
  for (int step = 24; step < 32; ++step) {
    EXPECT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_get(run, step, 0, &memory));
  }
  for (int step = 96; step < 100; ++step) EXPECT_TRUE(run.whole(step));
}

TEST(Kept, AMillionStepsReopenQuickly) {
  const Scratch scratch;
  OptionsOf options;
  options.pool(scratch.path(), 512 * kMiB).keep();
  constexpr int kSteps = 1000000;
  {
    States run(options, 8);
    for (int step = 0; step < kSteps; ++step) ASSERT_EQ(run.put(step), FOREBAY_OK);
  }
  States run(options, 8);
  EXPECT_EQ(run.count(), static_cast<std::uint64_t>(kSteps));
  EXPECT_TRUE(run.whole(kSteps - 1));
  EXPECT_TRUE(run.whole(0));
}

}  // namespace
}  // namespace forebay::kept_test
