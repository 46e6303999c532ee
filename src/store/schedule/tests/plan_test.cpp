#include <gtest/gtest.h>

#include <cmath>

#include "store/schedule/binomial.h"
#include "store/schedule/schedule.h"

namespace forebay::schedule {
namespace {

Question question() {
  return {.steps = 1000,
          .bytes_per_step = 1000,
          .forward_seconds = 1,
          .adjoint_seconds = 2,
          .dram = {.budget = 10'000, .write_seconds = 0.01, .read_seconds = 0.01},
          .pool = {.budget = 0, .write_seconds = 0.1, .read_seconds = 0.1},
          .overlapped = false};
}

TEST(Plan, stores_everything_when_it_fits) {
  Question q = question();
  q.dram.budget = 999'000;
  const auto answer = plan(q);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->store_all);
  EXPECT_EQ(answer->slots.dram, 999);
  EXPECT_EQ(answer->forward_steps, 999);
  EXPECT_NEAR(answer->predicted_seconds, 1000 * 1 + 1000 * 2 + 999 * 0.02, 1e-9);
}

TEST(Plan, recomputes_when_one_state_too_few_fits) {
  Question q = question();
  q.dram.budget = 998'999;
  const auto answer = plan(q);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->store_all);
  EXPECT_EQ(answer->slots.dram, 998);
  EXPECT_EQ(answer->forward_steps, 1000);
}

TEST(Plan, predicts_what_executing_the_schedule_costs) {
  Question q = question();
  q.pool.budget = 20'000;
  const auto answer = plan(q);
  ASSERT_TRUE(answer);
  Schedule schedule(q.steps, answer->slots);
  double seconds = 0;
  while (const auto action = schedule.next()) {
    const auto tier = [&](Storage storage) { return storage == Storage::dram ? q.dram : q.pool; };
    if (const auto* f = std::get_if<Forward>(&*action)) {
      if (!f->keep_dependencies) seconds += static_cast<double>(f->n1 - f->n0) * q.forward_seconds;
      if (f->n1 == q.steps) seconds += q.forward_seconds;
      if (f->keep_state) seconds += tier(f->storage).write_seconds;
    }
    if (const auto* c = std::get_if<Copy>(&*action)) seconds += tier(c->from).read_seconds;
    if (const auto* m = std::get_if<Move>(&*action)) seconds += tier(m->from).read_seconds;
    if (std::holds_alternative<Reverse>(*action)) seconds += q.adjoint_seconds;
  }
  EXPECT_NEAR(answer->predicted_seconds, seconds, 1e-6 * seconds);
}

TEST(Plan, leaves_a_pool_alone_whose_states_cost_more_than_the_steps_they_save) {
  Question q = question();
  q.dram.budget = 100'000;
  q.pool = {.budget = 10'000'000, .write_seconds = 40, .read_seconds = 40};
  const auto answer = plan(q);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->slots.pool, 0);
  EXPECT_EQ(answer->slots.dram, 100);
}

// With two repetitions a slot more saves one forward step, so storing all pays exactly while writing and reading a
// state takes less than a step.
TEST(Plan, uses_the_pool_exactly_while_a_slot_costs_less_than_a_forward_step) {
  Question q = question();
  q.dram = {.budget = 500'000, .write_seconds = 0, .read_seconds = 0};
  q.pool = {.budget = 10'000'000, .write_seconds = 0.49, .read_seconds = 0.49};
  const auto cheap = plan(q);
  q.pool = {.budget = 10'000'000, .write_seconds = 0.52, .read_seconds = 0.52};
  const auto dear = plan(q);
  ASSERT_TRUE(cheap && dear);
  EXPECT_TRUE(cheap->store_all);
  EXPECT_FALSE(dear->store_all);
  EXPECT_EQ(dear->slots.pool, 0);
}

TEST(Plan, charges_only_what_exceeds_a_step_when_transfers_are_overlapped) {
  Question q = question();
  q.overlapped = true;
  q.pool = {.budget = 10'000'000, .write_seconds = 0.9, .read_seconds = 2.5};
  q.dram.budget = 0;
  const auto answer = plan(q);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->store_all);
  EXPECT_NEAR(answer->predicted_seconds, 3000 + 999 * 0.5, 1e-9);
}

TEST(Plan, refuses_what_makes_no_sense) {
  Question q = question();
  q.steps = 0;
  EXPECT_EQ(plan(q).error().code, Code::bad_input);
  q = question();
  q.forward_seconds = std::nan("");
  EXPECT_EQ(plan(q).error().code, Code::bad_input);
  q = question();
  q.bytes_per_step = 0;
  EXPECT_EQ(plan(q).error().code, Code::bad_input);
  q = question();
  q.dram.budget = 999;
  EXPECT_EQ(plan(q).error().text(),
            "a state of 1.00 kB fits into no tier (999 B of dram, 0 B of pool); give one of "
            "them room for one state at least");
}

TEST(Plan, answers_for_long_runs_within_moments) {
  Question q = question();
  q.steps = 50'000;
  q.dram.budget = 50'000;
  q.pool = {.budget = 1'000'000, .write_seconds = 0.1, .read_seconds = 0.1};
  const auto answer = plan(q);
  ASSERT_TRUE(answer);
  EXPECT_LE(answer->slots.total(), 1100);
  EXPECT_EQ(answer->forward_steps, forward_steps(50'000, answer->slots.total()));
}

TEST(Plan, needs_no_slot_for_a_single_step) {
  Question q = question();
  q.steps = 1;
  q.dram.budget = 0;
  const auto answer = plan(q);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->store_all);
  EXPECT_NEAR(answer->predicted_seconds, 3, 1e-12);
}

}  // namespace
}  // namespace forebay::schedule
