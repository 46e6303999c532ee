#include <forebay/schedule.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "store/schedule/schedule.h"
#include "store/trajectory/tests/api.h"

namespace {

forebay_schedule_question question() {
  return {.size = sizeof(forebay_schedule_question),
          .steps = 100,
          .bytes_per_step = 1000,
          .forward_seconds = 1,
          .adjoint_seconds = 2,
          .dram_budget = 5000,
          .dram_write_seconds = 0.01,
          .dram_read_seconds = 0.01,
          .pool_budget = 20000,
          .pool_write_seconds = 0.1,
          .pool_read_seconds = 0.1,
          .overlapped = 0};
}

TEST(CSchedule, answers_what_the_plan_answers) {
  const auto q = question();
  auto answer = forebay::sized<forebay_schedule_answer>();
  ASSERT_EQ(forebay_schedule_plan(&q, &answer), FOREBAY_OK);
  const auto plan = forebay::schedule::plan({.steps = 100,
                                             .bytes_per_step = 1000,
                                             .forward_seconds = 1,
                                             .adjoint_seconds = 2,
                                             .dram = {5000, 0.01, 0.01},
                                             .pool = {20000, 0.1, 0.1},
                                             .overlapped = false});
  ASSERT_TRUE(plan);
  EXPECT_EQ(answer.store_all, 0);
  EXPECT_EQ(answer.dram_slots, plan->slots.dram);
  EXPECT_EQ(answer.pool_slots, plan->slots.pool);
  EXPECT_EQ(answer.forward_steps, plan->forward_steps);
  EXPECT_EQ(answer.predicted_seconds, plan->predicted_seconds);
}

TEST(CSchedule, a_loop_that_follows_it_finds_every_state) {
  forebay_schedule* schedule = nullptr;
  ASSERT_EQ(forebay_schedule_create(50, 2, 3, &schedule), FOREBAY_OK);
  std::vector<std::vector<bool>> kept(4, std::vector<bool>(50));
  std::int64_t at = 0, to_reverse = 50;
  bool end_of_forward = false, end_of_reverse = false;
  auto action = forebay::sized<forebay_action>();
  while (forebay_schedule_advance(schedule, &action) == FOREBAY_OK && action.kind != FOREBAY_ACTION_NONE) {
    const auto n0 = static_cast<std::size_t>(action.n0);
    switch (action.kind) {
      case FOREBAY_ACTION_FORWARD:
        ASSERT_EQ(action.n0, at);
        if (action.keep_state) kept[static_cast<std::size_t>(action.to)][n0] = true;
        if (action.keep_dependencies) {
          ASSERT_EQ(action.n1, to_reverse);
        }
        at = action.n1;
        break;
      case FOREBAY_ACTION_REVERSE:
        ASSERT_EQ(action.n1, to_reverse);
        ASSERT_EQ(at, action.n1);
        to_reverse = action.n0;
        break;
      case FOREBAY_ACTION_COPY:
      case FOREBAY_ACTION_MOVE:
        ASSERT_TRUE(kept[static_cast<std::size_t>(action.from)][n0]);
        ASSERT_EQ(action.to, FOREBAY_STORAGE_WORK);
        if (action.kind == FOREBAY_ACTION_MOVE) kept[static_cast<std::size_t>(action.from)][n0] = false;
        at = action.n0;
        break;
      case FOREBAY_ACTION_END_FORWARD:
        end_of_forward = at == 50;
        break;
      case FOREBAY_ACTION_END_REVERSE:
        end_of_reverse = to_reverse == 0;
        break;
      default:
        FAIL() << "an unknown action " << action.kind;
    }
  }
  EXPECT_TRUE(end_of_forward && end_of_reverse);
  EXPECT_EQ(forebay_schedule_advance(schedule, &action), FOREBAY_OK);
  EXPECT_EQ(action.kind, FOREBAY_ACTION_NONE);
  forebay_schedule_free(schedule);
}

TEST(CSchedule, more_slots_than_steps_are_as_good_as_enough) {
  forebay_schedule* schedule = nullptr;
  ASSERT_EQ(forebay_schedule_create(3, INT64_MAX, INT64_MAX, &schedule), FOREBAY_OK);
  auto action = forebay::sized<forebay_action>();
  ASSERT_EQ(forebay_schedule_advance(schedule, &action), FOREBAY_OK);
  EXPECT_EQ(action.kind, FOREBAY_ACTION_FORWARD);
  EXPECT_EQ(action.n1, 1);
  forebay_schedule_free(schedule);
}

TEST(CSchedule, refuses_what_makes_no_sense) {
  auto q = question();
  q.forward_seconds = std::nan("");
  auto answer = forebay::sized<forebay_schedule_answer>();
  EXPECT_EQ(forebay_schedule_plan(&q, &answer), FOREBAY_E_INVALID);
  EXPECT_NE(std::string(forebay_error_get_text()).find("measured times"), std::string::npos)
      << forebay_error_get_text();
  q = question();
  q.bytes_per_step = 30000;
  EXPECT_EQ(forebay_schedule_plan(&q, &answer), FOREBAY_E_INVALID);
  EXPECT_EQ(forebay_schedule_plan(nullptr, &answer), FOREBAY_E_INVALID);
  forebay_schedule* schedule = nullptr;
  EXPECT_EQ(forebay_schedule_create(0, 1, 1, &schedule), FOREBAY_E_INVALID);
  EXPECT_EQ(forebay_schedule_create(2, 0, 0, &schedule), FOREBAY_E_INVALID);
  EXPECT_EQ(forebay_schedule_create(2, -1, 3, &schedule), FOREBAY_E_INVALID);
  EXPECT_EQ(schedule, nullptr);
}

}  // namespace
