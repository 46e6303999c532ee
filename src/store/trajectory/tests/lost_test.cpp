// Proves: a kept store that has lost a part offers what is left, and lists what is lost.
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
  EXPECT_NE(recovery(again).find("tier 0 has lost steps before"), std::string::npos) << recovery(again);
  EXPECT_TRUE(again.whole(500));
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_rewind(again));
  again.close();
  States anew(options());
  EXPECT_EQ(recovery(anew), "") << "what was forgotten is no loss";
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

// Nothing of the files that are left is damaged; the heads tell what was there.
TEST_F(Lost, TheSegmentsOfATier) {
  for (const std::string& tier : {first_, second_}) {
    for (const std::string how : {"gone", "emptied", "cut behind a segment", "zeros"}) {
      (void)remove_tree(first_);
      (void)remove_tree(second_);
      fill(options());
      const std::string file = tier + "/segments";
      if (how == "gone") {
        ASSERT_EQ(::unlink(file.c_str()), 0);
      } else if (how == "zeros") {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << std::string(read_file(file)->size(), '\0');
      } else {
        ASSERT_EQ(::truncate(file.c_str(), how == "emptied" ? 0 : kSegment), 0);
      }
      std::size_t left = 0;
      for (const char* mode : {"read-only", "any", "any", "must-exist"}) {
        States run(options().mode(mode));
        EXPECT_NE(recovery(run).find(tier.substr(0, tier.rfind('/'))), std::string::npos) << how << recovery(run);
        left = offered(run).size();
        EXPECT_LT(left, static_cast<std::size_t>(kSteps));
      }
      {
        States run(options());
        for (int step = kSteps; step < kSteps + 20; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
      }
      States run(options());
      EXPECT_NE(recovery(run).find("lost steps before, " + std::to_string(kSteps - left)), std::string::npos)
          << how << ": " << recovery(run);
    }
  }
}

// While the store is open: whatever it is asked for, it tells, and does not end the process (SIGBUS).
TEST_F(Lost, TheEndOfAFileUnderAnOpenStore) {
  for (const auto& [length, disk] : {std::pair<off_t, bool>(0, false), {kSegment + 100, false}, {0, true}}) {
    const Scratch pool(disk ? "/tmp" : "/dev/shm");
    OptionsOf options;
    options.pool(pool.path(), 20 * kSegment).shared(shared_.path(), 50 * kSegment).segments(kSegment).keep();
    options.process_only();
    {
      States run(options);
      for (int step = 0; step < kSteps; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
      EXPECT_TRUE(run.whole(kSteps - 1));
      ASSERT_EQ(::truncate((pool.path() + "/trajectory-0/segments").c_str(), length), 0);
      const double* u = nullptr;
      for (const int step : {kSteps - 1, kSteps - 20, 0}) EXPECT_STATUS(FOREBAY_E_DAMAGED, get_values(run, step, u));
      for (int step = kSteps; step < kSteps + 20; ++step) EXPECT_STATUS(FOREBAY_E_DAMAGED, run.put(step));
      EXPECT_STATUS(FOREBAY_E_DAMAGED, run.write(kSteps));
      EXPECT_STATUS(FOREBAY_E_DAMAGED, forebay_trajectory_drop(run, 50));
      EXPECT_STATUS(FOREBAY_E_DAMAGED, forebay_trajectory_move(run, kSteps - 1, 1));
      EXPECT_NE(std::string(forebay_error_get_text()).find("was cut to"), std::string::npos);
      EXPECT_STATUS(FOREBAY_E_DAMAGED, run.close());
    }
    {
      States run(options);
      EXPECT_NE(recovery(run).find(pool.path()), std::string::npos) << recovery(run);
      (void)offered(run);
      EXPECT_STATUS(FOREBAY_OK, run.put(500));
    }
    (void)remove_tree(second_);
  }
}

class LostOfThree : public Lost {
 protected:
  const Scratch middle_;
  OptionsOf with(bool first, bool middle, bool last, const char* mode) const {
    OptionsOf options;
    options.keep().process_only().mode(mode);
    if (first) options.pool(pool_.path(), 4 * kSegment);
    if (middle) options.pool(middle_.path(), 4 * kSegment);
    if (last) options.shared(shared_.path(), 50 * kSegment);
    return options;
  }
};

TEST_F(LostOfThree, WhatIsLeftOutOfAPartialOpeningIsNamed) {
  fill(with(true, true, true, "any").segments(kSegment));
  const auto partial = [&](bool first, bool middle, bool last, const char* missing) {
    States run(with(first, middle, last, "partial"));
    EXPECT_NE(recovery(run).find(missing), std::string::npos) << recovery(run);
    EXPECT_NE(recovery(run).find("steps that it held, up to step"), std::string::npos) << recovery(run);
    return offered(run).size();
  };
  const std::size_t two_of_three = partial(true, true, false, "tier 2 of 3") +
                                   partial(true, false, true, "tier 1 of 3") +
                                   partial(false, true, true, "tier 0 of 3");
  EXPECT_EQ(two_of_three, 2u * kSteps) << "each state is offered by two of them";
  const std::size_t one_of_three = partial(true, false, false, "tier 1 of 3") +
                                   partial(false, true, false, "tier 0 of 3") +
                                   partial(false, false, true, "tier 1 of 3");
  EXPECT_EQ(one_of_three, static_cast<std::size_t>(kSteps));
  States whole(with(true, true, true, "partial"));
  EXPECT_EQ(recovery(whole), "");
  EXPECT_EQ(offered(whole).size(), static_cast<std::size_t>(kSteps));
}

// A tier that was away holds the older states of steps that were put again meanwhile.
class Away : public Lost {
 protected:
  static int put_newer(States& run, std::int64_t step) {
    std::vector<double> u(1000, -1.0 - static_cast<double>(step));
    const void* memory = u.data();
    return forebay_trajectory_put(run, step, 0, &memory, 1);
  }
  // No step that was put again has its older state.
  static void expect_none_older(States& run, const std::vector<std::int64_t>& again) {
    for (const std::int64_t step : again) {
      const double* u = nullptr;
      if (get_values(run, step, u) != FOREBAY_OK) continue;
      EXPECT_EQ(u[7], -1.0 - static_cast<double>(step)) << "step " << step << " is the older one";
      forebay_trajectory_release(run, step);
    }
  }
  static void rename(const std::string& from, const std::string& to) {
    ASSERT_EQ(::rename(from.c_str(), to.c_str()), 0);
  }
};

TEST_F(Away, AndBackItHandsOutNoOlderStates) {
  for (const std::string& tier : {first_, second_}) {
    (void)remove_tree(first_);
    (void)remove_tree(second_);
    fill(options());
    const std::string away = (tier == first_ ? pool_ : shared_).path() + "/aside";
    ASSERT_TRUE(remove_tree(away));
    rename(tier, away);
    std::vector<std::int64_t> again;
    {
      States run(options());
      const void* memory = nullptr;
      for (std::int64_t step = 0; step < kSteps && again.size() < 15; ++step) {
        if (forebay_trajectory_get(run, step, 0, &memory) == FOREBAY_OK) {
          forebay_trajectory_release(run, step);
        } else {
          again.push_back(step);
        }
      }
      ASSERT_GE(again.size(), 12u);
      for (const std::int64_t step : again) ASSERT_STATUS(FOREBAY_OK, put_newer(run, step));
      // Into the new tier, if that is the second.
      for (const std::int64_t step : again) (void)forebay_trajectory_move(run, step, tier == first_ ? 0 : 1);
    }
    ASSERT_TRUE(remove_tree(tier));
    rename(away, tier);
    for (const char* mode : {"any", "must-exist", "read-only", "create"}) {
      forebay_trajectory* t = nullptr;
      EXPECT_STATUS(FOREBAY_E_DAMAGED, forebay_trajectory_open(options().mode(mode).get(), &t));
      EXPECT_NE(std::string(forebay_error_get_text()).find(tier + " was away"), std::string::npos)
          << forebay_error_get_text();
    }
    States run(options().mode("partial"));
    EXPECT_NE(recovery(run).find(tier + ": this was away"), std::string::npos) << recovery(run);
    expect_none_older(run, again);
  }
}

TEST_F(Away, AndBackBeforeAnythingWasWrittenItIsAsIfNothingHadBeen) {
  fill(options());
  for (const std::string& tier : {first_, second_}) {
    const std::string away = tier + "-away";
    rename(tier, away);
    for (const char* mode : {"any", "read-only"}) {
      States run(options().mode(mode));
      EXPECT_NE(recovery(run).find("steps that it held, up to step"), std::string::npos) << recovery(run);
      EXPECT_LT(run.count(), static_cast<std::uint64_t>(kSteps));
    }
    ASSERT_TRUE(remove_tree(tier));
    rename(away, tier);
    States run(options());
    EXPECT_EQ(recovery(run), "");
    EXPECT_EQ(offered(run).size(), static_cast<std::size_t>(kSteps));
  }
}

// A directory that was mistyped is no tier that was lost.
TEST_F(Lost, NothingWhereADirectoryWasMistyped) {
  fill(options());
  const Scratch mistyped;
  const auto with = [&](bool first, const char* mode) {
    return std::move(OptionsOf()
                         .pool(first ? mistyped.path() : pool_.path(), 4 * kSegment)
                         .shared(first ? shared_.path() : mistyped.path(), 50 * kSegment)
                         .keep()
                         .process_only()
                         .mode(mode));
  };
  for (const bool first : {true, false}) {
    forebay_trajectory* t = nullptr;
    EXPECT_STATUS(FOREBAY_E_NO_SUCH_STORE, forebay_trajectory_open(with(first, "must-exist").get(), &t));
    EXPECT_NE(std::string(forebay_error_get_text()).find(mistyped.path()), std::string::npos)
        << forebay_error_get_text();
    EXPECT_TRUE(list_directory(mistyped.path())->empty()) << "nothing was made";
    States run(with(first, "partial"));
    EXPECT_NE(recovery(run).find(mistyped.path()), std::string::npos) << recovery(run);
    EXPECT_GT(run.count(), 0u);
  }
  {
    States run(with(false, "any"));
    for (int step = 200; step < 300; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  }
  forebay_trajectory* t = nullptr;
  EXPECT_STATUS(FOREBAY_E_DAMAGED, forebay_trajectory_open(options().get(), &t)) << "the store went on elsewhere";
  States run(with(false, "must-exist"));
  EXPECT_NE(recovery(run).find("tier 1 has lost steps before"), std::string::npos) << recovery(run);
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
    // A segment that was used and is free again has two headers.
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
