#include <gtest/gtest.h>

#include "base/tests/scratch.h"
#include "forebay/trajectory.hpp"

namespace forebay {
namespace {

TEST(CppFace, WritesInPlaceAndReadsInReverse) {
  Trajectory states({.tiers = {dram(1 << 22)}});
  const int u = states.declare<double>("u", 100);
  const int p = states.declare<float>("p", 7);
  for (int k = 0; k < 50; ++k) {
    auto step = states.begin(k, 0.1 * k);
    for (double& value : step.field<double>(u)) value = k;
    for (float& value : step.field<float>(p)) value = static_cast<float>(-k);
    step.commit();
  }
  int expected = 49;
  for (const auto& state : states.reverse()) {
    EXPECT_EQ(state.step(), expected);
    EXPECT_EQ(state.field<double>(u).size(), 100u);
    EXPECT_EQ(state.field<double>(u)[99], expected);
    EXPECT_EQ(state.field<float>(p)[6], -expected);
    --expected;
  }
  EXPECT_EQ(expected, -1);
  int from = 20;
  for (const auto& state : states.reverse(20)) EXPECT_EQ(state.step(), from--);
  EXPECT_EQ(from, -1);
  std::vector<double> between(100);
  states.interpolate<double>(0.25, u, between);
  EXPECT_NEAR(between[0], 2.5, 1e-12);
  states.rewind();
  EXPECT_EQ(states.size(), 0u);
  states.close();
}

TEST(CppFace, ForgetsAStepThatIsNotCommitted) {
  Trajectory states({.tiers = {dram(1 << 20)}});
  states.declare<std::byte>("state", 10);
  { auto step = states.begin(1, 0); }
  EXPECT_EQ(states.size(), 0u);
  const std::vector<std::byte> bytes(10, std::byte{3});
  states.put<std::byte>(1, 0, bytes);
  EXPECT_EQ(states.state(1).field<std::byte>(0)[9], std::byte{3});
}

TEST(CppFace, KnowsTheTypesThatTheOtherLanguagesDeclare) {
  Trajectory states({.tiers = {dram(1 << 20)}});
  int field = -1;
  check(forebay_trajectory_declare(states.get(), "marks", FOREBAY_UINT8, 3, &field));
  const auto type_of = [&](int number) {
    forebay_type type = FOREBAY_TYPE_LARGEST;
    check(forebay_trajectory_get_field(states.get(), number, nullptr, &type, nullptr));
    return type;
  };
  EXPECT_EQ(states.declare<std::uint8_t>("marks", 3), field);
  EXPECT_EQ(type_of(states.declare<std::int8_t>("signed", 3)), FOREBAY_INT8);
  EXPECT_EQ(type_of(states.declare<char>("letters", 3)), FOREBAY_BYTES);
  EXPECT_EQ(type_of(states.declare<std::byte>("bytes", 3)), FOREBAY_BYTES);
  EXPECT_EQ(type_of(states.declare<bool>("flags", 3)), FOREBAY_BOOL);
  EXPECT_EQ(type_of(states.declare<std::uint64_t>("numbers", 3)), FOREBAY_UINT64);
  auto step = states.begin(1, 0);
  step.field<std::uint8_t>(field)[2] = 200;
  step.commit();
  EXPECT_EQ(states.state(1).field<std::uint8_t>(field)[2], 200);
  EXPECT_THROW((void)states.state(1).field<std::byte>(field), TrajectoryError);
}

TEST(CppFace, StoresAFieldWithinAnError) {
  Trajectory states({.tiers = {dram(1 << 22)}, .encoders = 1});
  const int u = states.declare<float>("u", 1000, {.accepted_error = 1e-3, .codec = FOREBAY_CODEC_DIFFERENCE});
  for (int k = 0; k < 20; ++k) {
    auto step = states.begin(k, k);
    for (float& value : step.field<float>(u)) value = static_cast<float>(3 + 0.01 * k);
    step.commit();
  }
  for (const auto& state : states.reverse()) {
    const double exact = 3 + 0.01 * static_cast<double>(state.step());
    for (const float value : state.field<float>(u)) ASSERT_NEAR(value, exact, 1e-3 * exact);
  }
  const forebay_encoding_info info = states.encoding(u);
  EXPECT_EQ(info.codec, FOREBAY_CODEC_DIFFERENCE);
  EXPECT_LT(10 * info.stored_bytes, info.raw_bytes);
  EXPECT_THROW(states.declare<float>("v", 10, {.accepted_error = -1}), TrajectoryError);
}

TEST(CppFace, MovesAStepToATier) {
  const Scratch scratch;
  Trajectory states({.tiers = {dram(1 << 22), pool(scratch.path(), 1 << 22)}});
  states.declare<double>("u", 10);
  states.put<double>(1, 0, std::vector<double>(10, 3.0));
  states.move(1, 1);
  EXPECT_EQ(states.state(1).field<double>(0)[9], 3.0);
  try {
    states.move(1, 2);
    FAIL();
  } catch (const TrajectoryError& error) {
    EXPECT_EQ(error.status(), FOREBAY_E_NO_SUCH_TIER);
  }
}

TEST(CppFace, KnowsTheShapesOfFields) {
  Trajectory states({.tiers = {dram(1 << 20)}});
  const int field = states.declare<double>("u", 12);
  EXPECT_EQ(states.shape(field), std::vector<std::uint64_t>{12});
  const std::vector<std::uint64_t> shape = {3, 4};
  states.set_shape(field, shape);
  EXPECT_EQ(states.shape(field), shape);
  EXPECT_THROW(states.set_shape(field, std::vector<std::uint64_t>{5, 2}), TrajectoryError);
}

TEST(CppFace, ThrowsWhatTheCFunctionsReturn) {
  Trajectory states({.tiers = {dram(1 << 20)}});
  states.declare<double>("u", 10);
  try {
    (void)states.state(5);
    FAIL();
  } catch (const TrajectoryError& error) {
    EXPECT_EQ(error.status(), FOREBAY_E_NO_SUCH_STEP);
    EXPECT_NE(std::string(error.what()).find("step 5"), std::string::npos);
  }
  auto step = states.begin(0, 0);
  EXPECT_THROW((void)step.field<float>(0), TrajectoryError);
}

}  // namespace
}  // namespace forebay
