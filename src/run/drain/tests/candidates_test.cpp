#include "run/drain/candidates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace forebay::drain {
namespace {

// Times as OpenFOAM names them, of a run with a small time step.
std::string name_of_step(int step) {
  return fmt::format("{:g}", step * 0.005);
}

Candidates after(int steps) {
  Candidates candidates;
  for (int step = 1; step <= steps; ++step) candidates.add(name_of_step(step));
  return candidates;
}

// Steps between the newest time that both hold and the newest of the slower node; -1: none.
int age_of_common(const Candidates& slow, int slow_steps, const Candidates& fast) {
  for (int step = slow_steps; step > 0; --step)
    if (slow.contains(name_of_step(step)) && fast.contains(name_of_step(step))) return slow_steps - step;
  return -1;
}

TEST(CandidatesTest, NeverHoldsMoreThanTheBound) {
  Candidates candidates;
  std::size_t all = 0;
  for (int step = 1; step <= 20'000; ++step) {
    candidates.add(name_of_step(step));
    ASSERT_LE(candidates.times().size(), Candidates::most);
    all += candidates.times().size();
  }
  EXPECT_LT(static_cast<double>(all) / 20'000, 12) << "on average";
}

TEST(CandidatesTest, TheTwoNewestAreAlwaysHeld) {
  for (int steps = 2; steps < 500; ++steps) {
    const Candidates candidates = after(steps);
    EXPECT_TRUE(candidates.contains(name_of_step(steps)));
    EXPECT_TRUE(candidates.contains(name_of_step(steps - 1))) << "after " << steps;
  }
}

TEST(CandidatesTest, TwoNodesThatAreStepsApartAlwaysShareATimeThatIsNotOld) {
  for (const int apart : {1, 2, 5, 20, 60}) {
    double worst = 0;
    for (int steps = 600; steps < 700; ++steps) {
      const int age = age_of_common(after(steps), steps, after(steps + apart));
      ASSERT_GE(age, 0) << "nothing in common at step " << steps << ", " << apart << " apart";
      worst = std::max(worst, static_cast<double>(age));
    }
    EXPECT_LE(worst, 16 * apart + 8) << apart << " steps apart";
  }
}

TEST(CandidatesTest, ATimeToldTwiceIsHeldOnce) {
  Candidates candidates;
  candidates.add("1");
  candidates.add("1");
  EXPECT_EQ(candidates.times(), std::vector<std::string>{"1"});
}

}  // namespace
}  // namespace forebay::drain
