#include <gtest/gtest.h>

#include "store/codec/codec.h"
#include "store/codec/tests/fields.h"

namespace forebay::codec::test {
namespace {

const std::vector<Trial> kTrials = {
    {.codec = Codec::raw, .ratio = 1, .encode_rate = 10e9, .decode_rate = 10e9},
    {.codec = Codec::float32, .ratio = 2, .encode_rate = 4e9, .decode_rate = 8e9},
    {.codec = Codec::truncation, .ratio = 4, .encode_rate = 1e9, .decode_rate = 2e9},
    {.codec = Codec::zfp, .ratio = 6, .encode_rate = 0.1e9, .decode_rate = 0.3e9},
    {.codec = Codec::difference, .fallback = Fallback::error, .ratio = 100, .encode_rate = 9e9, .decode_rate = 9e9},
};

Codec chosen(const Rates& rates) {
  return kTrials[choose(kTrials, rates)].codec;
}

TEST(Choose, AFastMediumWithRoomNeedsNoCodec) {
  EXPECT_EQ(chosen({.write = 10e9, .read = 10e9}), Codec::raw);
}

TEST(Choose, ASlowMediumIsWorthWork) {
  EXPECT_EQ(chosen({.write = 0.1e9, .read = 0.1e9}), Codec::truncation);
  EXPECT_EQ(chosen({.write = 0.001e9, .read = 0.001e9}), Codec::zfp);
}

TEST(Choose, ThreadsMakeWorkCheaper) {
  EXPECT_EQ(chosen({.write = 1.5e9, .read = 1.5e9, .threads = 1}), Codec::float32);
  EXPECT_EQ(chosen({.write = 1.5e9, .read = 1.5e9, .threads = 8}), Codec::truncation);
}

TEST(Choose, WhatMakesTheTrajectoryFitComesFirst) {
  EXPECT_EQ(chosen({.write = 10e9, .read = 10e9, .needed_ratio = 3}), Codec::truncation);
}

TEST(Choose, WhereNothingMakesItFitTheGreatestRatioIsTaken) {
  EXPECT_EQ(chosen({.write = 10e9, .read = 10e9, .needed_ratio = 50}), Codec::zfp);
}

TEST(Choose, ACodecThatFellBackIsNotChosen) {
  EXPECT_NE(chosen({.write = 1, .read = 1, .needed_ratio = 100}), Codec::difference);
}

TEST(Choose, MeasuringReportsRatioErrorAndRatesOfEveryCodec) {
  std::vector<std::vector<double>> fields;
  for (int step = 0; step < 4; ++step) fields.push_back(smooth<double>(8 * 50 * 50, 1e-5 * step));
  const std::vector<std::span<const double>> steps(fields.begin(), fields.end());
  Workspace workspace;
  const auto trials =
      measure(std::span<const std::span<const double>>(steps), {.accepted = 1e-4, .shape = {50, 50, 8}}, workspace);
  ASSERT_TRUE(trials);
  ASSERT_EQ(trials->size(), is_built(Codec::zfp) ? 5U : 4U);
  for (const Trial& trial : *trials) {
    EXPECT_EQ(trial.fallback, Fallback::none) << named(trial.codec);
    EXPECT_LE(trial.error, 1e-4);
    EXPECT_GT(trial.encode_rate, 0);
    EXPECT_GT(trial.decode_rate, 0);
    EXPECT_GE(trial.ratio, trial.codec == Codec::raw ? 1 : 1.5) << named(trial.codec);
  }
}

TEST(Choose, AnAcceptedErrorOfZeroLeadsToRaw) {
  const auto field = smooth<double>(1000);
  const std::vector<std::span<const double>> steps = {field, field};
  Workspace workspace;
  const auto trials = measure(std::span<const std::span<const double>>(steps), {.accepted = 0}, workspace);
  ASSERT_TRUE(trials);
  EXPECT_EQ((*trials)[choose(*trials, {.write = 1, .read = 1, .needed_ratio = 50})].codec, Codec::raw);
}

TEST(Choose, MeasuringRefusesWhatEncodingRefuses) {
  const auto field = smooth<double>(1000), shorter = smooth<double>(999);
  Workspace workspace;
  const std::vector<std::span<const double>> one = {field}, uneven = {field, shorter};
  const auto refusal = [&](const std::vector<std::span<const double>>& steps, const Settings& settings) {
    const auto trials = measure(std::span<const std::span<const double>>(steps), settings, workspace);
    return trials ? Failure{} : trials.error();
  };
  EXPECT_EQ(refusal(one, {.accepted = -1}), Failure::bad_tolerance);
  EXPECT_EQ(refusal(one, {.accepted = 0.1, .shape = {10, 10, 11}}), Failure::bad_shape);
  EXPECT_EQ(refusal(uneven, {.accepted = 0.1}), Failure::other_count);
}

}  // namespace
}  // namespace forebay::codec::test
