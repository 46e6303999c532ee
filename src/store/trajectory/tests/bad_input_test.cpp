// Each mistake has its own status, and changes nothing.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <array>
#include <cmath>
#include <fstream>

#include "store/segment/format.h"
#include "store/trajectory/tests/api.h"

namespace forebay {
namespace {

class BadInput : public testing::Test {
 protected:
  States run_{OptionsOf().dram(4 * kMiB)};
};

TEST_F(BadInput, SecondCommitOfAStep) {
  ASSERT_STATUS(FOREBAY_OK, run_.write(1));
  EXPECT_STATUS(FOREBAY_E_NO_OPEN_STEP, forebay_trajectory_commit(run_));
  EXPECT_STATUS(FOREBAY_E_NO_OPEN_STEP, forebay_trajectory_cancel(run_));
  EXPECT_TRUE(run_.whole(1));
}

TEST_F(BadInput, AStepThatIsStoredAlready) {
  ASSERT_STATUS(FOREBAY_OK, run_.put(1));
  EXPECT_STATUS(FOREBAY_E_STEP_EXISTS, run_.put(1));
  EXPECT_STATUS(FOREBAY_E_STEP_EXISTS, run_.write(1));
  EXPECT_TRUE(run_.whole(1));
}

TEST_F(BadInput, AnUnknownStep) {
  const void* memory = &memory;
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_get(run_, 5, 0, &memory));
  EXPECT_EQ(memory, nullptr);
  ASSERT_STATUS(FOREBAY_OK, run_.put(1));
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_get(run_, 5, 0, &memory));
  EXPECT_NE(std::string(forebay_error_get_text()).find("step 5"), std::string::npos) << forebay_error_get_text();
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_drop(run_, 5));
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_release(run_, 5));
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_get_time(run_, 5, nullptr));
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_get_step(run_, 1, nullptr, nullptr));
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_STEP, forebay_trajectory_reverse(run_, 0));
}

TEST_F(BadInput, AnUnknownField) {
  const void* memory = nullptr;
  int field = 0;
  ASSERT_STATUS(FOREBAY_OK, run_.put(1));
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_FIELD, forebay_trajectory_get(run_, 1, 1, &memory));
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_FIELD, forebay_trajectory_get(run_, 1, -1, &memory));
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_FIELD, forebay_trajectory_find_field(run_, "p", &field));
}

TEST_F(BadInput, BeginWhileAnotherStepIsOpen) {
  void* memory = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_begin(run_, 1, 0, &memory, 1));
  EXPECT_STATUS(FOREBAY_E_STEP_OPEN, run_.write(2));
  EXPECT_STATUS(FOREBAY_E_STEP_OPEN, run_.put(2));
  EXPECT_STATUS(FOREBAY_E_STEP_OPEN, forebay_trajectory_rewind(run_));
  EXPECT_STATUS(FOREBAY_E_STEP_OPEN, forebay_trajectory_declare(run_, "p", FOREBAY_BYTES, 1, nullptr));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_cancel(run_));
  EXPECT_STATUS(FOREBAY_OK, run_.put(2));
  EXPECT_EQ(run_.count(), 1u);
}

TEST_F(BadInput, AFieldWhoseSizeChanged) {
  EXPECT_STATUS(FOREBAY_E_FIELD_CHANGED, forebay_trajectory_declare(run_, "u", FOREBAY_FLOAT64, 999, nullptr));
  EXPECT_STATUS(FOREBAY_E_FIELD_CHANGED, forebay_trajectory_declare(run_, "u", FOREBAY_FLOAT32, 1000, nullptr));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_declare(run_, "u", FOREBAY_FLOAT64, 1000, nullptr));
  ASSERT_STATUS(FOREBAY_OK, run_.put(1));
  EXPECT_STATUS(FOREBAY_E_FIELDS_FIXED, forebay_trajectory_declare(run_, "p", FOREBAY_FLOAT64, 1000, nullptr));
}

TEST(BadInputOfAStore, ThatCannotBeginLeavesTheFieldsAsTheyCanBeChanged) {
  States run(OptionsOf().dram(4096));
  EXPECT_STATUS(FOREBAY_E_INVALID, run.put(1));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_set_accepted_error(run, 0, 1e-3));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_set_codec(run, 0, FOREBAY_CODEC_TRUNCATION));
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_declare(run, "p", FOREBAY_FLOAT64, 1, nullptr));
}

TEST_F(BadInput, ClosingWithAnOpenStep) {
  void* memory = nullptr;
  ASSERT_STATUS(FOREBAY_OK, forebay_trajectory_begin(run_, 1, 0, &memory, 1));
  EXPECT_STATUS(FOREBAY_E_CLOSED_OPEN, run_.close());
}

TEST_F(BadInput, ReleaseWithoutGet) {
  ASSERT_STATUS(FOREBAY_OK, run_.put(1));
  EXPECT_STATUS(FOREBAY_E_NOT_PINNED, forebay_trajectory_release(run_, 1));
}

TEST_F(BadInput, AnotherNumberOfFieldsThanAreDeclared) {
  std::array<void*, 3> memory{};
  std::array<const void*, 3> from{&memory, &memory, &memory};
  for (const int fields : {-1, 0, 2, 3}) {
    EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_begin(run_, 1, 0, memory.data(), fields));
    EXPECT_NE(std::string(forebay_error_get_text()).find("the trajectory has 1 field, and"), std::string::npos);
    EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_put(run_, 1, 0, from.data(), fields));
  }
  EXPECT_EQ(memory, (std::array<void*, 3>{})) << "nothing is written";
  EXPECT_STATUS(FOREBAY_OK, run_.put(1)) << "and no step is open";
}

TEST_F(BadInput, ArgumentsThatMakeNoSense) {
  void* memory = nullptr;
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_begin(run_, 1, std::nan(""), &memory, 1));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_begin(run_, 1, 0, nullptr, 1));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_put(run_, 1, 0, nullptr, 1));
  const void* nothing = nullptr;
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_put(run_, 1, 0, &nothing, 1));
  EXPECT_STATUS(FOREBAY_OK, run_.put(1)) << "and the step is not open";
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_declare(run_, "", FOREBAY_BYTES, 1, nullptr));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_declare(run_, "x", static_cast<forebay_type>(16), 1, nullptr));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_declare(run_, "x", static_cast<forebay_type>(257), 1, nullptr));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_declare(run_, "x", FOREBAY_FLOAT64, ~std::uint64_t{0}, nullptr));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_get(run_, 1, 0, nullptr));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_commit(nullptr));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_describe_tier(run_, 1, nullptr));
  auto info = sized<forebay_tier_info>();
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_TIER, forebay_trajectory_describe_tier(run_, 1, &info));
  info.size = 0;
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_describe_tier(run_, 0, &info)) << "its size is not set";
  EXPECT_STATUS(FOREBAY_OK, forebay_trajectory_close(nullptr));
}

TEST(BadOptions, AreRefusedBeforeAnythingIsTouched) {
  OptionsOf options;
  forebay_trajectory* t = nullptr;
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_open(options.get(), &t)) << "no tier";
  EXPECT_EQ(t, nullptr);
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_options_add_dram(options.get(), 0));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_options_add_pool(options.get(), "", 5));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_options_set_integer(options.get(), "ranks", 0));
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_options_set_integer(options.get(), "rank", -1));
  for (const char* name : {"", "a/b", "..", "a b"}) {
    EXPECT_STATUS(FOREBAY_E_INVALID, forebay_options_set(options.get(), "name", name)) << name;
  }
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_options_set(options.get(), "checksum", "2"));
  options.dram(kMiB).rank(4, 4);
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_open(options.get(), &t)) << "ranks count from 0";
  options.rank(3, 4).keep();
  EXPECT_STATUS(FOREBAY_E_INVALID, forebay_trajectory_open(options.get(), &t)) << "memory of the process is not kept";
}

TEST(BadOptions, ABudgetThatHoldsNoStepIsRefusedAtTheFirstStep) {
  States run(OptionsOf().dram(4096));
  EXPECT_STATUS(FOREBAY_E_INVALID, run.put(0));
  EXPECT_NE(std::string(forebay_error_get_text()).find("4096"), std::string::npos) << forebay_error_get_text();
}

TEST(BadStore, InUseByAnotherTrajectory) {
  const Scratch scratch;
  OptionsOf options;
  options.pool(scratch.path(), 8 * kMiB).keep();
  States run(options);
  forebay_trajectory* second = nullptr;
  EXPECT_STATUS(FOREBAY_E_BUSY, forebay_trajectory_open(options.get(), &second));
  EXPECT_EQ(second, nullptr);
}

TEST(BadStore, OfAnotherVersionOrDamaged) {
  const Scratch scratch;
  OptionsOf options;
  options.pool(scratch.path(), 8 * kMiB).keep();
  {
    States run(options);
    ASSERT_STATUS(FOREBAY_OK, run.put(0));
  }
  const std::string file = scratch.path() + "/trajectory-0/store";
  const auto change = [&](std::streamoff at, char value) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(at);
    stream.put(value);
  };
  forebay_trajectory* t = nullptr;
  change(8, 1);
  EXPECT_STATUS(FOREBAY_E_VERSION, forebay_trajectory_open(options.get(), &t));
  change(8, 4);
  change(30, 77);
  EXPECT_STATUS(FOREBAY_E_DAMAGED, forebay_trajectory_open(options.get(), &t));
  EXPECT_NE(std::string(forebay_error_get_text()).find("byte"), std::string::npos) << forebay_error_get_text();
}

TEST(BadMedium, ThatDoesNotExistOrIsReadOnly) {
  forebay_trajectory* t = nullptr;
  OptionsOf nowhere;
  nowhere.pool("/nonexistent/pool", kMiB);
  EXPECT_STATUS(FOREBAY_E_NO_SUCH_FILE, forebay_trajectory_open(nowhere.get(), &t));
  const SmallTmpfs scratch(MS_RDONLY, "");
  if (!scratch.mounted()) GTEST_SKIP() << "cannot mount";
  for (const bool keep : {false, true}) {
    OptionsOf options;
    options.pool(scratch.path(), kMiB);
    if (keep) options.keep();
    EXPECT_STATUS(FOREBAY_E_READ_ONLY, forebay_trajectory_open(options.get(), &t));
  }
}

TEST(BadMedium, ThatIsFullBeforeItsBudgetIsNoSpace) {
  const SmallTmpfs scratch(0, "size=1m");
  if (!scratch.mounted()) GTEST_SKIP() << "cannot mount";
  {
    States run(OptionsOf().pool(scratch.path(), 100 * kMiB).segments(256 << 10));
    int stored = 0;
    while (run.put(stored) == FOREBAY_OK) ASSERT_LT(++stored, 1000);
    EXPECT_STATUS(FOREBAY_E_NO_SPACE, run.put(stored));
    EXPECT_GT(stored, 60);
    for (int step = 0; step < stored; ++step) ASSERT_TRUE(run.whole(step));
  }
}

}  // namespace
}  // namespace forebay
