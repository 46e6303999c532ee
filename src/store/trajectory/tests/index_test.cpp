#include "store/trajectory/index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace forebay::trajectory {
namespace {

TEST(Index, SaysWhatAMapSays) {
  Index index;
  std::map<std::int64_t, double> model;
  std::mt19937 random(7);
  for (int round = 0; round < 30000; ++round) {
    const std::int64_t step = static_cast<std::int64_t>(random() % 3000) - 1500;
    Entry* known = index.find(step);
    ASSERT_EQ(known != nullptr, model.count(step) != 0);
    if (known == nullptr) {
      Entry* const made = index.insert(step);
      ASSERT_NE(made, nullptr);
      made->time = round;
      model[step] = round;
    } else {
      ASSERT_EQ(known->time, model[step]);
      if (random() % 2 == 0) {
        index.erase(known);
        model.erase(step);
      }
    }
  }
  ASSERT_EQ(index.size(), model.size());
  std::size_t position = 0;
  for (const auto& [step, time] : model) {
    EXPECT_EQ(index[position].step, step);
    EXPECT_EQ(index.position(step), position);
    ++position;
  }
}

TEST(Index, TakesAtMost64BytesAStep) {
  Index index;
  constexpr std::int64_t kSteps = 1000000;
  for (std::int64_t step = 0; step < kSteps; ++step) index.insert(step);
  EXPECT_LE(index.memory_bytes(), 64u * kSteps);
  for (std::int64_t step = 0; step < kSteps; ++step) index.erase(index.find(step));
  EXPECT_EQ(index.size(), 0u);
  EXPECT_NE(index.insert(5), nullptr);
}

TEST(Index, FindsTheEndsOfTheNumbers) {
  Index index;
  for (const std::int64_t step : {INT64_MAX, INT64_MIN, std::int64_t{0}}) index.insert(step);
  EXPECT_NE(index.find(INT64_MAX), nullptr);
  EXPECT_NE(index.find(INT64_MIN), nullptr);
  EXPECT_EQ(index.find(1), nullptr);
}

}  // namespace
}  // namespace forebay::trajectory
