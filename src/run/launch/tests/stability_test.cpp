// How steady a run was: what is told does not grow with the run, and a long step is told with what forebay did then.
#include "run/launch/stability.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace forebay::launch {
namespace {

std::uint64_t steps_in(const std::vector<Span>& course) {
  return std::accumulate(course.begin(), course.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Span& span) { return sum + span.steps; });
}

TEST(Stability, OfAMillionStepsNoMoreIsToldThanOfAThousand) {
  Stability stability;
  double now = 0;
  for (int step = 0; step <= 1'000'000; ++step) {
    now += step == 700'000 ? 5 : 0.1 + 0.01 * (step % 10);
    stability.sample(now, {0, static_cast<std::uint64_t>(step) * 1000, 0}, 0.5, false);
    stability.begun(std::to_string(step), now, false);
  }
  const StabilityReport& told = stability.report();
  EXPECT_EQ(told.steps, 1'000'000u);
  EXPECT_LE(told.course.size(), Spans::most);
  EXPECT_GE(told.course.size(), Spans::most / 2);
  EXPECT_EQ(steps_in(told.course), 1'000'000u);
  EXPECT_NEAR(told.median, 0.15, 0.01);
  EXPECT_NEAR(told.p99, 0.19, 0.19 * 0.01);
  EXPECT_NEAR(told.shortest, 0.1, 1e-6);
  EXPECT_NEAR(told.longest, 5, 1e-6);
  EXPECT_NEAR(told.mean, 0.145, 0.001);
  ASSERT_EQ(told.worst.size(), Stability::worst_told);
  EXPECT_EQ(told.worst.front().time, "700000");
  double longest = 0, end = 0;
  std::uint64_t written = 0;
  for (const Span& span : told.course) {
    EXPECT_NEAR(span.begin, end, 1e-9) << "a gap";
    end = span.end;
    longest = std::max(longest, span.longest);
    written += span.written_bytes;
  }
  EXPECT_NEAR(longest, 5, 1e-6) << "merging hides no long step";
  EXPECT_EQ(written, 1'000'000'000u);
}

TEST(Stability, TheCourseIsToldAsFinelyAtItsBeginningAsAtItsEnd) {
  Stability stability;
  for (int sample = 1; sample <= 20'000; ++sample) stability.sample(1.3 * sample, {}, 0, false);
  const StabilityReport& told = stability.report();
  double narrowest = 1e9, widest = 0;
  for (std::size_t i = 0; i + 1 < told.course.size(); ++i) {
    narrowest = std::min(narrowest, told.course[i].seconds());
    widest = std::max(widest, told.course[i].seconds());
  }
  EXPECT_LE(widest, 4 * narrowest);
}

TEST(Stability, ALongStepIsToldWithWhatForebayDidThen) {
  Stability stability;
  // A step of 0.1 s each; before time 30 programs are held for 2 s while the drain carries 6 MB.
  double now = 0, held = 0;
  std::uint64_t written = 0, carried = 0;
  for (int step = 1; step <= 60; ++step) {
    if (step == 30)
      for (int sample = 0; sample < 100; ++sample) {
        held += 0.02;
        carried += 60'000;
        stability.sample(now += 0.02, {held, written, carried}, 0.9, true);
      }
    for (int sample = 0; sample < 5; ++sample) stability.sample(now += 0.02, {held, written, carried}, 0.4, false);
    stability.begun(std::to_string(step), now - 0.01, false);
    written += 500;
  }
  const StabilityReport& told = stability.report();
  const auto& [time, span] = told.worst.front();
  EXPECT_EQ(time, "30");
  EXPECT_NEAR(span.seconds(), 2.1, 1e-6);
  EXPECT_NEAR(span.held, 2, 1e-6);
  EXPECT_NEAR(span.busy, 2, 1e-6);
  EXPECT_NEAR(static_cast<double>(span.carried_bytes), 6e6, 1e5);
  EXPECT_EQ(span.fill, 0.9);
  const Span& other = told.worst.back().span;
  EXPECT_NEAR(other.seconds(), 0.1, 1e-6);
  EXPECT_EQ(other.held, 0) << "of its neighbour";
  EXPECT_EQ(other.fill, 0.4);
  EXPECT_NEAR(static_cast<double>(other.written_bytes), 500, 60);
}

TEST(Stability, BeforeTheSecondTimeThereIsNoStep) {
  Stability stability;
  EXPECT_EQ(stability.report().steps, 0u);
  stability.sample(1, {}, 0, false);
  stability.begun("1", 0.5, false);
  const StabilityReport& told = stability.report();
  EXPECT_EQ(told.steps, 0u);
  EXPECT_TRUE(told.worst.empty());
  EXPECT_EQ(told.median, 0);
  EXPECT_EQ(told.course.size(), 1u);
}

TEST(Stability, StepsThatWereNoticedTogetherAreCounted) {
  Stability stability;
  stability.sample(10, {}, 0, false);
  stability.begun("1", 1, false);
  for (const int step : {2, 3, 4}) stability.begun(std::to_string(step), step, true);
  EXPECT_EQ(stability.report().steps, 3u);
  EXPECT_EQ(stability.report().steps_together, 3u);
}

TEST(Quantiles, AreWithinOnePerCentFromMicrosecondsToDays) {
  for (const double scale : {1e-6, 1e-3, 1.0, 1e5}) {
    Quantiles quantiles;
    for (int i = 1; i <= 1000; ++i) quantiles.add(scale * i);
    for (const double part : {0.5, 0.9, 0.99}) EXPECT_NEAR(quantiles.at(part) / (scale * 1000 * part), 1, 0.011);
  }
}

}  // namespace
}  // namespace forebay::launch
