#include "store/schedule/schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "store/schedule/binomial.h"

namespace forebay::schedule {
namespace {

// Does what a solver would do, and checks that it could.
struct PretendSolver {
  Step steps;
  Slots slots;
  std::optional<Step> at = 0, dependencies;
  std::map<Step, Storage> kept;
  std::map<Storage, Step> in_use, most_in_use;
  Step forward_steps = 0, times_kept = 0, to_reverse;
  bool forward_ended = false, reverse_ended = false;

  PretendSolver(Step l, Slots s) : steps(l), slots(s), to_reverse(l) {}

  void follow() {
    Schedule schedule(steps, slots);
    while (const auto action = schedule.next()) {
      ASSERT_FALSE(reverse_ended) << text(*action);
      std::visit(*this, *action);
      if (testing::Test::HasFatalFailure()) FAIL() << "in " << text(*action);
    }
    EXPECT_TRUE(forward_ended && reverse_ended);
    EXPECT_EQ(to_reverse, 0);
    EXPECT_TRUE(kept.empty());
    EXPECT_LE(most_in_use[Storage::dram], slots.dram);
    EXPECT_LE(most_in_use[Storage::pool], slots.pool);
  }
  void operator()(const Forward& f) {
    ASSERT_EQ(at, f.n0);
    ASSERT_LT(f.n0, f.n1);
    ASSERT_LE(f.n1, to_reverse);
    if (f.keep_state) {
      ASSERT_TRUE(kept.emplace(f.n0, f.storage).second) << "kept twice";
      ++times_kept;
      most_in_use[f.storage] = std::max(most_in_use[f.storage], ++in_use[f.storage]);
    }
    dependencies.reset();
    if (f.keep_dependencies) {
      ASSERT_EQ(f.n1, f.n0 + 1);
      dependencies = f.n0;
    } else {
      forward_steps += f.n1 - f.n0;
    }
    at = f.n1;
  }
  void operator()(const EndForward&) {
    ASSERT_FALSE(forward_ended);
    ASSERT_EQ(at, steps);
    forward_ended = true;
  }
  void operator()(const Reverse& r) {
    ASSERT_TRUE(forward_ended);
    ASSERT_EQ(r.n1, to_reverse);
    ASSERT_EQ(r.n0, to_reverse - 1);
    ASSERT_EQ(dependencies, r.n0);
    dependencies.reset();
    at.reset();
    to_reverse = r.n0;
  }
  void operator()(const Copy& c) {
    ASSERT_TRUE(kept.contains(c.n));
    ASSERT_EQ(kept[c.n], c.from);
    ASSERT_EQ(c.to, Storage::work);
    at = c.n;
  }
  void operator()(const Move& m) {
    (*this)(Copy{m.n, m.from, m.to});
    kept.erase(m.n);
    --in_use[m.from];
  }
  void operator()(const EndReverse&) { reverse_ended = true; }
};

// Forward steps first, then how often a state is kept, of l steps from a state that is kept already in one of s slots:
// the best that any schedule can do, by trying every first advance.
using Cost = std::pair<Step, Step>;
Cost least(Step l, Step s, std::map<std::pair<Step, Step>, Cost>& known) {
  if (l <= 1) return {0, 0};
  if (s == 1) return {l * (l - 1) / 2, 0};
  if (const auto found = known.find({l, s}); found != known.end()) return found->second;
  Cost best{l * l, 0};
  for (Step m = 1; m < l; ++m) {
    const Cost after = least(l - m, s - 1, known), before = least(m, s, known);
    // The last step needs no slot: its state is used at once.
    best = std::min(best, {m + after.first + before.first, (l - m > 1 ? 1 : 0) + after.second + before.second});
  }
  return known[{l, s}] = best;
}

TEST(Schedule, takes_as_many_forward_steps_as_the_formula_says_and_finds_every_state) {
  for (Step l = 1; l <= 70; ++l)
    for (Step s = 1; s <= 20; ++s) {
      PretendSolver solver(l, {s, 0});
      solver.follow();
      ASSERT_FALSE(HasFailure()) << l << " steps, " << s << " slots";
      ASSERT_EQ(solver.forward_steps, forward_steps(l, s)) << l << " steps, " << s << " slots";
    }
}

TEST(Schedule, holds_at_sizes_of_real_runs) {
  for (const auto& [l, s] : std::vector<std::pair<Step, Step>>{{12500, 100}, {12500, 10}, {100000, 3}, {1000, 1}}) {
    PretendSolver solver(l, {s, 0});
    solver.follow();
    ASSERT_FALSE(HasFailure()) << l << " steps, " << s << " slots";
    EXPECT_EQ(solver.forward_steps, forward_steps(l, s)) << l << " steps, " << s << " slots";
  }
}

TEST(Schedule, cannot_be_beaten_in_steps_nor_among_the_best_in_states_kept) {
  std::map<std::pair<Step, Step>, Cost> known;
  for (Step l = 2; l <= 60; ++l)
    for (Step s = 1; s <= 12; ++s) {
      PretendSolver solver(l, {s, 0});
      solver.follow();
      ASSERT_FALSE(HasFailure());
      const Cost best = least(l, s, known);
      EXPECT_EQ(solver.forward_steps, best.first) << l << " steps, " << s << " slots";
      EXPECT_EQ(solver.times_kept, best.second + 1) << l << " steps, " << s << " slots";
    }
}

TEST(Schedule, agrees_with_figures_of_the_literature) {
  EXPECT_EQ(forward_steps(10, 3), 15);  // r = 2: 2 * 10 - C(5, 1)
  EXPECT_EQ(forward_steps(12500, 12499), 12499);
  EXPECT_EQ(forward_steps(12500, 100), 3 * 12500 - 103 * 102 / 2);  // r = 3
  EXPECT_EQ(forward_steps(1, 5), 0);
  EXPECT_EQ(reach(3, 2), 10);
  EXPECT_EQ(repetitions(10, 3), 2);
  EXPECT_EQ(repetitions(11, 3), 3);
}

TEST(Schedule, uses_each_tier_only_as_far_as_it_has_slots) {
  for (Step l : {2, 7, 50, 333})
    for (Step dram : {0, 1, 3, 10})
      for (Step pool : {0, 1, 4, 400}) {
        if (dram + pool == 0) continue;
        PretendSolver solver(l, {dram, pool});
        solver.follow();
        ASSERT_FALSE(HasFailure()) << l << " steps, " << dram << " + " << pool << " slots";
        EXPECT_EQ(solver.forward_steps, forward_steps(l, dram + pool));
      }
}

TEST(Schedule, keeps_the_busiest_slots_in_dram) {
  std::map<Storage, int> uses;
  Schedule schedule(500, {4, 4});
  while (const auto action = schedule.next()) {
    if (const auto* f = std::get_if<Forward>(&*action); f && f->keep_state) ++uses[f->storage];
    if (const auto* c = std::get_if<Copy>(&*action)) ++uses[c->from];
    if (const auto* m = std::get_if<Move>(&*action)) ++uses[m->from];
  }
  EXPECT_GT(uses[Storage::dram], uses[Storage::pool]);
}

TEST(Schedule, stores_the_newest_states_nearest_when_everything_fits) {
  Schedule schedule(10, {4, 5});
  std::map<Step, Storage> kept;
  while (const auto action = schedule.next())
    if (const auto* f = std::get_if<Forward>(&*action); f && f->keep_state) kept[f->n0] = f->storage;
  EXPECT_EQ(kept.size(), 9U);
  for (const auto& [n, storage] : kept) EXPECT_EQ(storage, n < 5 ? Storage::pool : Storage::dram) << n;
}

TEST(Schedule, reads_as_the_actions_of_checkpoint_schedules) {
  Schedule schedule(3, {1, 0});
  std::vector<std::string> lines;
  while (const auto action = schedule.next()) lines.push_back(text(*action));
  const std::vector<std::string> expected{"Forward(0, 2, keep state in dram)",
                                          "Forward(2, 3, keep dependencies)",
                                          "EndForward()",
                                          "Reverse(3, 2)",
                                          "Copy(0, dram to work)",
                                          "Forward(0, 1)",
                                          "Forward(1, 2, keep dependencies)",
                                          "Reverse(2, 1)",
                                          "Move(0, dram to work)",
                                          "Forward(0, 1, keep dependencies)",
                                          "Reverse(1, 0)",
                                          "EndReverse()"};
  EXPECT_EQ(lines, expected);
}

TEST(Schedule, saturates_instead_of_overflowing) {
  const Step huge = Step{1} << 62;
  EXPECT_EQ(reach(huge, 3), std::numeric_limits<Step>::max());
  EXPECT_EQ(forward_steps(huge, 1), std::numeric_limits<Step>::max());
  EXPECT_GT(advance(huge, 50), 0);
}

}  // namespace
}  // namespace forebay::schedule
