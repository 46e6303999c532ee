// Proves what open expects of a store that is kept, and what it may do with it.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/trajectory/tests/api.h"

namespace forebay::modes_test {
namespace {

constexpr std::uint64_t kSegment = 64 << 10;  // 8 steps of 1000 doubles

class Modes : public testing::Test {
 protected:
  const Scratch pool_, shared_{"/tmp"};
  OptionsOf options(const char* mode = "any") const {
    return std::move(OptionsOf()
                         .pool(pool_.path(), 4 * kSegment)
                         .shared(shared_.path(), 50 * kSegment)
                         .segments(kSegment)
                         .keep()
                         .process_only()
                         .mode(mode));
  }
  void fill() const {
    States run(options());
    for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  }
  static int open(const OptionsOf& options) {
    forebay_trajectory* t = nullptr;
    const int status = forebay_trajectory_open(options.get(), &t);
    forebay_trajectory_close(t);
    return status;
  }
};

TEST_F(Modes, WhatMustExistIsNotMade) {
  for (const auto mode : {"must-exist", "read-only", "partial"}) {
    EXPECT_STATUS(FOREBAY_E_NO_SUCH_STORE, open(options(mode)));
    EXPECT_TRUE(list_directory(pool_.path())->empty());
    EXPECT_TRUE(list_directory(shared_.path())->empty());
  }
  fill();
  auto other = options("must-exist");
  other.rank(1, 2);
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_STORE, open(other));
  EXPECT_EQ(list_directory(pool_.path())->size(), 1u);
  States run(options("must-exist"));
  EXPECT_EQ(run.count(), 100u);
  EXPECT_STATUS(FOREBAY_OK, run.put(100));
}

TEST_F(Modes, WhatIsCreatedMustNotExist) {
  {
    States run(options("create"));
    ASSERT_STATUS(FOREBAY_OK, run.put(0));
  }
  EXPECT_STATUS(FOREBAY_E_STORE_EXISTS, open(options("create")));
  States run(options());
  EXPECT_EQ(run.count(), 1u);
}

TEST_F(Modes, WhatIsRefusedLeavesNothingBehind) {
  fill();
  const Scratch elsewhere;
  const auto with = [&] {
    return std::move(
        OptionsOf().pool(pool_.path(), 4 * kSegment).shared(elsewhere.path(), 50 * kSegment).keep().process_only());
  };
  EXPECT_STATUS(FOREBAY_E_STORE_EXISTS, open(with().mode("create")));
  EXPECT_STATUS(FOREBAY_E_INVALID, open(with().rank(0, 2)));
  EXPECT_STATUS(FOREBAY_E_INVALID, open(with().segments(2 * kSegment)));
  {
    States run(options());
    EXPECT_STATUS(FOREBAY_E_BUSY, open(OptionsOf()
                                           .pool(elsewhere.path(), 4 * kSegment)
                                           .shared(shared_.path(), 50 * kSegment)
                                           .keep()
                                           .process_only()));
  }
  EXPECT_TRUE(list_directory(elsewhere.path())->empty());
}

TEST_F(Modes, AnotherUsersStoreIsDenied) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  fill();
  for (const Scratch* const pool : {&pool_, &shared_}) ASSERT_EQ(::chmod(pool->path().c_str(), 0755), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool denied = ::setresuid(65534, 65534, 65534) == 0;
    for (const char* mode : {"any", "create", "must-exist", "read-only", "partial"}) {
      denied = denied && open(options(mode)) == FOREBAY_E_DENIED;
    }
    ::_exit(denied ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Modes, OfWhatIsNotKeptMakeNoSense) {
  EXPECT_STATUS(FOREBAY_E_INVALID, open(OptionsOf().dram(kMiB).mode("create")));
  OptionsOf options;
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_options_set(options.get(), "mode", "append"));
}

TEST_F(Modes, ManyReadAndNobodyWrites) {
  fill();
  States first(options("read-only")), second(options("read-only"));
  EXPECT_STATUS(FOREBAY_E_BUSY, open(options())) << "while others read";
  for (States* run : {&first, &second}) {
    EXPECT_EQ(run->count(), 100u);
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_reverse(*run, 99));
    for (int step = 99; step >= 0; --step) ASSERT_TRUE(run->whole(step));
    for (int step = 0; step < 100; step += 7) ASSERT_TRUE(run->whole(step));
    void* memory = nullptr;
    EXPECT_STATUS(FOREBAY_E_READ_ONLY, run->put(200));
    EXPECT_STATUS(FOREBAY_E_READ_ONLY, forebay_trajectory_begin(*run, 200, 0, &memory, 1));
    EXPECT_STATUS(FOREBAY_E_READ_ONLY, forebay_trajectory_drop(*run, 5));
    EXPECT_STATUS(FOREBAY_E_READ_ONLY, forebay_trajectory_move(*run, 5, 1));
    EXPECT_STATUS(FOREBAY_E_READ_ONLY, forebay_trajectory_rewind(*run));
    EXPECT_STATUS(FOREBAY_E_READ_ONLY, forebay_trajectory_keep(*run, 0));
    std::vector<double> u(1000);
    EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_interpolate(*run, 3.25, 0, u.data()));
  }
  first.close();
  second.close();
  States writer(options());
  EXPECT_EQ(writer.count(), 100u);
  EXPECT_STATUS(FOREBAY_E_BUSY, open(options("read-only"))) << "while another writes";
}

TEST_F(Modes, AReaderNeedsNoRightToWrite) {
  const SmallTmpfs memory(0, "");
  if (!memory.mounted()) GTEST_SKIP() << "cannot mount";
  const auto with = [&](const char* mode) {
    OptionsOf options;
    options.pool(memory.path(), 4 * kSegment).shared(shared_.path(), 50 * kSegment).segments(kSegment).keep();
    options.process_only().mode(mode);
    return options;
  };
  {
    States run(with("any"));
    for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  }
  ASSERT_EQ(::mount(nullptr, memory.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  EXPECT_STATUS(FOREBAY_E_READ_ONLY, open(with("any")));
  States run(with("read-only"));
  for (int step = 0; step < 100; ++step) ASSERT_TRUE(run.whole(step));
}

TEST_F(Modes, WhatWasKeptWithAnErrorIsReadToo) {
  const auto with = [&](const char* mode) {
    return std::move(OptionsOf().pool(pool_.path(), 8 * kSegment).segments(kSegment).keep().process_only().mode(mode));
  };
  {
    States run(with("create"));
    ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_set_accepted_error(run, 0, 1e-3));
    for (int step = 0; step < 30; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  }
  States run(with("read-only"));
  const double* u = nullptr;
  ASSERT_STATUS(FOREBAY_OK, get_values(run, 20, u));
  EXPECT_NEAR(u[5], States::value(20, 5), 1e-3 * States::value(20, 5) + 2e4);
  EXPECT_STATUS(FOREBAY_E_READ_ONLY, run.put(99));
}

TEST_F(Modes, APartIsReadWhereTheRestIsMissingOrAnothers) {
  fill();
  const auto one_tier = [&](const char* mode) {
    return std::move(OptionsOf().pool(pool_.path(), 4 * kSegment).keep().mode(mode));
  };
  EXPECT_STATUS(FOREBAY_E_INVALID, open(one_tier("any")));
  {
    States run(one_tier("partial"));
    EXPECT_GT(run.count(), 8u);
    EXPECT_TRUE(run.whole(99));
  }
  // The second tier of another store.
  const Scratch elsewhere;
  {
    OptionsOf other;
    other.pool(elsewhere.path(), 4 * kSegment).shared(shared_.path(), 50 * kSegment).segments(kSegment).keep();
    ASSERT_TRUE(remove_tree(shared_.path() + "/trajectory-0"));
    States run(other);
    for (int step = 0; step < 100; ++step) ASSERT_STATUS(FOREBAY_OK, run.put(step));
  }
  EXPECT_STATUS(FOREBAY_E_DAMAGED, open(options()));
  States run(options("partial"));
  EXPECT_NE(std::string(forebay_trajectory_get_recovery(run)).find(shared_.path()), std::string::npos);
  EXPECT_LT(run.count(), 60u);
  EXPECT_TRUE(run.whole(99));
  EXPECT_STATUS(FOREBAY_E_READ_ONLY, run.put(100));
}

}  // namespace
}  // namespace forebay::modes_test
