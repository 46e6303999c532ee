// Of a kept store that has lost a part, what is left is offered, and what is lost is listed.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "store/segment/format.h"
#include "store/trajectory/tests/api.h"

namespace forebay::lost_test {
namespace {

constexpr std::uint64_t kSegment = 64 << 10;  // 8 steps of 1000 doubles
constexpr int kSteps = 100;

class Lost : public testing::Test {
 protected:
  const Scratch pool_, shared_{"/tmp"};
  const std::string first_ = pool_.path() + "/trajectory-0", second_ = shared_.path() + "/trajectory-0";

  OptionsOf options() const {
    return std::move(OptionsOf()
                         .pool(pool_.path(), 4 * kSegment)
                         .shared(shared_.path(), 50 * kSegment)
                         .segments(kSegment)
                         .keep()
                         .process_only());
  }
  OptionsOf one_tier() const {
    return std::move(OptionsOf().pool(pool_.path(), 50 * kSegment).segments(kSegment).keep().process_only());
  }
  static void fill(const OptionsOf& options, int iterations = 1) {
    States run(options);
    for (int iteration = 0; iteration < iterations; ++iteration) {
      ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
      for (int step = 0; step < kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    }
  }
  // Steps that are offered; each must be whole.
  static std::vector<std::int64_t> offered(States& run) {
    std::vector<std::int64_t> steps(run.count());
    for (std::uint64_t i = 0; i < steps.size(); ++i) {
      EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_get_step(run, i, &steps[i], nullptr));
      EXPECT_TRUE(run.whole(steps[i]));
    }
    return steps;
  }
  static void overwrite(const std::string& path, std::uint64_t at, const std::string& bytes) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  static std::string recovery(States& run) { return forebay_trajectory_get_recovery(run); }
};

TEST_F(Lost, TheFirstTier) {
  fill(options(), 3);
  ASSERT_TRUE(remove_tree(first_));
  {
    States run(options());
    EXPECT_NE(recovery(run).find(pool_.path()), std::string::npos) << recovery(run);
    const auto steps = offered(run);
    EXPECT_GT(steps.size(), 60u);
    EXPECT_EQ(steps.front(), 0);
    EXPECT_STATUS(FOREBAY_OK, run.put(500)) << "and it goes on";
  }
  States again(options());
  EXPECT_EQ(recovery(again), "");
  EXPECT_TRUE(again.whole(500));
}

TEST_F(Lost, TheFirstTierAfterARewind) {
  {
    States run(options());
    for (int step = 0; step < kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(run));
    ASSERT_STATUS(FOREBAY_OK, run.put(7));
  }
  ASSERT_TRUE(remove_tree(first_));
  States run(options());
  EXPECT_EQ(run.count(), 0u) << "states that were forgotten stay so";
}

TEST_F(Lost, TheSecondTier) {
  fill(options());
  ASSERT_TRUE(remove_tree(second_));
  States run(options());
  EXPECT_NE(recovery(run).find(shared_.path()), std::string::npos) << recovery(run);
  EXPECT_EQ(offered(run).back(), kSteps - 1);
}

TEST_F(Lost, AHeadOfOneTier) {
  for (const std::string& tier : {first_, second_}) {
    for (const bool damaged : {false, true}) {
      (void)remove_tree(first_);
      (void)remove_tree(second_);
      fill(options(), 2);
      if (damaged) {
        overwrite(tier + "/store", 20, "damage");
      } else {
        ASSERT_EQ(::unlink((tier + "/store").c_str()), 0);
      }
      {
        States run(options());
        EXPECT_NE(recovery(run).find(tier), std::string::npos) << recovery(run);
        EXPECT_EQ(offered(run).size(), static_cast<std::size_t>(kSteps));
      }
      States again(options());
      EXPECT_EQ(recovery(again), "");
      EXPECT_EQ(again.count(), static_cast<std::uint64_t>(kSteps));
    }
  }
}

TEST_F(Lost, TheOnlyHead) {
  fill(one_tier());
  const std::string segments = first_ + "/segments";
  const auto before = read_file(segments);
  const auto head = read_file(first_ + "/store");
  ASSERT_TRUE(before && head);
  ASSERT_EQ(::unlink((first_ + "/store").c_str()), 0);
  for (const auto mode : {"any", "create", "must-exist", "partial"}) {
    forebay_trajectory* t = nullptr;
    EXPECT_STATUS(FOREBAY_E_DAMAGED, forebay_trajectory_open(one_tier().mode(mode).get(), &t));
    EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_close(t));
    EXPECT_EQ(*read_file(segments), *before) << "nothing was touched";
  }
  std::ofstream(first_ + "/store", std::ios::binary) << *head;
  States run(one_tier());
  EXPECT_EQ(offered(run).size(), static_cast<std::size_t>(kSteps));
}

TEST_F(Lost, AHeaderPage) {
  for (const bool in_the_second : {false, true}) {
    (void)remove_tree(first_);
    (void)remove_tree(second_);
    fill(options());
    const std::string& tier = in_the_second ? second_ : first_;
    overwrite(tier + "/segments", kSegment, std::string(4096, '\0'));
    States run(options());
    EXPECT_NE(recovery(run).find(tier + ": the header of segment 1 is damaged (byte 65536 of the file)"),
              std::string::npos)
        << recovery(run);
    const std::size_t left = offered(run).size();
    EXPECT_GE(left, static_cast<std::size_t>(kSteps) - 8);
    // In the first tier it may have been free.
    if (in_the_second) {
      EXPECT_LT(left, static_cast<std::size_t>(kSteps));
    }
  }
}

TEST_F(Lost, TheFirstTierBeforeAnythingMovedDown) {
  {
    States run(options());
    ASSERT_STATUS(FOREBAY_OK, run.put(0));
  }
  ASSERT_TRUE(remove_tree(first_));
  States run(options());
  EXPECT_NE(recovery(run).find(pool_.path()), std::string::npos) << recovery(run);
  EXPECT_EQ(run.count(), 0u);
}

// A process that dies before all tiers have heads has stored nothing.
TEST_F(Lost, NothingWhereAStoreWasNeverBegun) {
  const std::string in_the_way = first_ + "/store.new";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    States run(options());
    ::_exit(::mkdir(in_the_way.c_str(), 0700) == 0 && run.put(0) != FOREBAY_OK ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(::rmdir(in_the_way.c_str()), 0);
  ASSERT_TRUE(read_file(second_ + "/store")) << "it died too early";
  {
    forebay_trajectory* t = nullptr;
    EXPECT_STATUS(FOREBAY_E_NO_SUCH_STORE, forebay_trajectory_open(options().mode("must-exist").get(), &t));
    EXPECT_STATUS(FOREBAY_E_NO_SUCH_STORE, forebay_trajectory_open(options().mode("read-only").get(), &t));
    States run(options().mode("create"));
    EXPECT_EQ(recovery(run), "");
    EXPECT_EQ(run.count(), 0u);
    EXPECT_STATUS(FOREBAY_OK, run.put(3));
  }
  ASSERT_TRUE(remove_tree(first_));
  States run(options());
  EXPECT_NE(recovery(run).find(pool_.path()), std::string::npos) << "now one was: " << recovery(run);
}

// A process that dies in a rewind has told some tiers of it: the store is rewound, and the others hear of it.
TEST_F(Lost, NothingMoreWhereARewindWasCutShort) {
  for (const std::string& told : {first_, second_}) {
    (void)remove_tree(first_);
    (void)remove_tree(second_);
    fill(options());
    const auto head = segment::decode_head(*read_file(told + "/store"), told);
    ASSERT_TRUE(head);
    const segment::EpochLine line = segment::epoch_line(head->head.store, head->epoch + 1);
    overwrite(told + "/store", line.at, {reinterpret_cast<const char*>(&line.line), sizeof(line.line)});
    {
      States run(options());
      EXPECT_EQ(recovery(run), "");
      EXPECT_EQ(run.count(), 0u);
      for (int step = 0; step < kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    }
    ASSERT_TRUE(remove_tree(first_));
    States run(options());
    EXPECT_GT(offered(run).size(), 60u) << "what lies in the second tier counts";
  }
}

// A process that dies with the first header of a segment half written had nothing in it yet.
TEST_F(Lost, NothingWithATornFirstHeader) {
  fill(one_tier());
  const auto bytes = read_file(first_ + "/segments")->size();
  ASSERT_EQ(::truncate((first_ + "/segments").c_str(), static_cast<off_t>(bytes + kSegment)), 0);
  overwrite(first_ + "/segments", bytes + 8, std::string(40, '\x5a'));
  {
    States run(one_tier());
    EXPECT_EQ(recovery(run), "");
    EXPECT_EQ(offered(run).size(), static_cast<std::size_t>(kSteps));
    // One that was used and is free again has two headers.
    for (int step = 0; step < kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
  }
  for (std::uint64_t at = 0; at < bytes; at += kSegment) {
    overwrite(first_ + "/segments", at + (at / kSegment % 2) * segment::kLine, std::string(40, '\x5a'));
  }
  States run(one_tier());
  EXPECT_EQ(recovery(run), "");
  EXPECT_EQ(run.count(), 0u);
}

TEST_F(Lost, NothingWhereSegmentsAreFreeOrWereNeverUsed) {
  {
    States run(one_tier());
    for (int step = 0; step < kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
    for (int step = 10; step < 60; ++step) ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_drop(run, step));
  }
  States run(one_tier());
  EXPECT_EQ(recovery(run), "");
  EXPECT_EQ(offered(run).size(), 50u);
}

}  // namespace
}  // namespace forebay::lost_test
