// The bytes of a run's files in a pool, and the claims of other runs there, by real files.
#include "run/launch/pool_meter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/tests/scratch.h"

namespace forebay::launch {
namespace {

constexpr std::uint64_t kB = 1024;

class PoolMeterTest : public testing::Test {
 protected:
  void SetUp() override { make_meter("run1"); }
  std::string home_of(const std::string& run) const { return user_directory_in(pool_.path()) + "/" + run + "/s0"; }
  std::unique_ptr<PoolMeter> meter_of(const std::string& run) const {
    EXPECT_TRUE(make_private_directory(home_of(run)));
    auto meter = measure_pool(pool_.path(), {home_of(run)});
    EXPECT_TRUE(meter);
    return std::move(*meter);
  }
  void make_meter(const std::string& run) { meter_ = meter_of(run); }
  std::string path(const std::string& name) const {
    const std::string made = home_of("run1") + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(made).parent_path());
    return made;
  }
  void write(const std::string& name, std::uint64_t bytes) const {
    const auto file = open_file(path(name), O_WRONLY | O_CREAT | O_APPEND);
    ASSERT_TRUE(file && write_all(file->get(), std::string(bytes, 'x'), name));
  }
  // The growth since the last call.
  std::uint64_t more() {
    std::optional<std::uint64_t> now;
    while (!now) now = meter_->count(3);
    return *now - std::exchange(last_, *now);
  }

  // In memory, where directories have no blocks.
  Scratch pool_{"/dev/shm"};
  std::unique_ptr<PoolMeter> meter_;
  std::uint64_t last_ = 0;
};

TEST_F(PoolMeterTest, CountsAllocatedBytesWhereverTheyLieInTheRunsDirectory) {
  more();
  EXPECT_EQ(more(), 0U);
  write("tree/case/processor0/0.1/U", 40 * kB);
  write("keep/processor0/0.1%2Fp", 20 * kB);
  EXPECT_EQ(more(), 60 * kB);
  write("tree/case/processor0/0.1/U", 4 * kB);
  EXPECT_EQ(more(), 4 * kB) << "the file grows where it is";
}

TEST_F(PoolMeterTest, OnlyBlocksOfFilesWithHoles) {
  more();
  write("tree/case/sparse", 4 * kB);
  ASSERT_EQ(::truncate(path("tree/case/sparse").c_str(), 100'000'000), 0);
  EXPECT_EQ(more(), 4 * kB);
}

TEST_F(PoolMeterTest, OnceWhatHasSeveralNames) {
  write("tree/case/a", 40 * kB);
  more();
  std::filesystem::create_hard_link(path("tree/case/a"), path("tree/case/b"));
  std::filesystem::create_hard_link(path("tree/case/a"), path("keep/serial/a"));
  EXPECT_EQ(more(), 0U);
  std::filesystem::remove(path("tree/case/a"));
  std::filesystem::remove(path("tree/case/b"));
  EXPECT_EQ(more(), 0U) << "the kept one still holds it";
}

TEST_F(PoolMeterTest, NothingThatLinksLeadTo) {
  Scratch elsewhere("/dev/shm");
  std::filesystem::create_directory(elsewhere.path() + "/directory");
  const auto file = open_file(elsewhere.path() + "/directory/file", O_WRONLY | O_CREAT);
  ASSERT_TRUE(write_all(file->get(), std::string(40 * kB, 'x'), ""));
  more();
  std::filesystem::create_symlink(elsewhere.path() + "/directory", path("tree/case/directory"));
  std::filesystem::create_symlink(elsewhere.path() + "/directory/file", path("tree/case/file"));
  EXPECT_EQ(more(), 0U);
}

TEST_F(PoolMeterTest, RunsKnowOfEachOther) {
  const Claim own{1000, 10}, other{500, 20};
  auto second = meter_of("run2");
  second->exchange(other);
  EXPECT_EQ(meter_->exchange(own), std::vector<Claim>{other});
  EXPECT_EQ(second->exchange(other), std::vector<Claim>{own});
  second->exchange({500, 30});
  EXPECT_EQ(meter_->exchange(own), (std::vector<Claim>{{500, 30}}));
}

TEST_F(PoolMeterTest, ADeadRunClaimsNothingThoughItsFilesAreThere) {
  const Claim other{500, 20};
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto second = meter_of("run2");
    second->exchange(other);
    (void)!::write(told[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char word = 0;
  ASSERT_EQ(::read(told[0], &word, 1), 1);
  EXPECT_EQ(meter_->exchange({}), std::vector<Claim>{other});
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(home_of("run2") + "/claim"));
  EXPECT_TRUE(meter_->exchange({}).empty());
}

TEST_F(PoolMeterTest, WarmFilesBesideTheRunsAreNobodysClaim) {
  const std::string warm = user_directory_in(pool_.path()) + "/warm-0123456789abcdef/s0";
  ASSERT_TRUE(make_private_directory(warm));
  auto second = measure_pool(pool_.path(), {warm});
  ASSERT_TRUE(second);
  (*second)->exchange({500, 20});
  EXPECT_TRUE(meter_->exchange({}).empty());
}

}  // namespace
}  // namespace forebay::launch
