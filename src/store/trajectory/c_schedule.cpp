// The C interface of forebay/schedule.h over Schedule.
#include "forebay/schedule.h"

#include <algorithm>
#include <variant>

#include "api/api.h"
#include "base/text.h"
#include "store/schedule/schedule.h"

using forebay::api::Done;
using forebay::api::fail;
using forebay::api::fill;
using forebay::api::missing;
using forebay::api::Outcome;
using forebay::api::run;
using forebay::api::unfit;
using forebay::api::unreadable;
namespace schedule = forebay::schedule;

struct forebay_schedule {
  schedule::Schedule value;
};

namespace {

int storage_of(schedule::Storage storage) {
  switch (storage) {
    case schedule::Storage::none:
      return FOREBAY_STORAGE_NONE;
    case schedule::Storage::dram:
      return FOREBAY_STORAGE_DRAM;
    case schedule::Storage::pool:
      return FOREBAY_STORAGE_POOL;
    case schedule::Storage::work:
      return FOREBAY_STORAGE_WORK;
  }
  return FOREBAY_STORAGE_NONE;
}

struct InC {
  forebay_action operator()(const schedule::Forward& f) const {
    return {0,
            FOREBAY_ACTION_FORWARD,
            f.n0,
            f.n1,
            f.keep_state,
            f.keep_dependencies,
            FOREBAY_STORAGE_NONE,
            storage_of(f.storage)};
  }
  forebay_action operator()(const schedule::Reverse& r) const {
    return {0, FOREBAY_ACTION_REVERSE, r.n0, r.n1, 0, 0, FOREBAY_STORAGE_NONE, FOREBAY_STORAGE_NONE};
  }
  forebay_action operator()(const schedule::Copy& c) const {
    return {0, FOREBAY_ACTION_COPY, c.n, c.n, 0, 0, storage_of(c.from), storage_of(c.to)};
  }
  forebay_action operator()(const schedule::Move& m) const {
    return {0, FOREBAY_ACTION_MOVE, m.n, m.n, 0, 0, storage_of(m.from), storage_of(m.to)};
  }
  forebay_action operator()(const schedule::EndForward&) const { return only(FOREBAY_ACTION_END_FORWARD); }
  forebay_action operator()(const schedule::EndReverse&) const { return only(FOREBAY_ACTION_END_REVERSE); }
  static forebay_action only(forebay_action_kind kind) { return {0, kind, 0, 0, 0, 0, 0, 0}; }
};

}  // namespace

extern "C" {

int forebay_schedule_plan(const forebay_schedule_question* question, forebay_schedule_answer* answer) {
  if (const int refused = unreadable(question, "forebay_schedule_question")) return refused;
  if (const int refused = unfit(answer, "forebay_schedule_answer")) return refused;
  const auto& q = *question;
  return run(
      [&]() -> Outcome<schedule::Plan> {
        const auto plan = schedule::plan({.steps = q.steps,
                                          .bytes_per_step = q.bytes_per_step,
                                          .forward_seconds = q.forward_seconds,
                                          .adjoint_seconds = q.adjoint_seconds,
                                          .dram = {q.dram_budget, q.dram_write_seconds, q.dram_read_seconds},
                                          .pool = {q.pool_budget, q.pool_write_seconds, q.pool_read_seconds},
                                          .overlapped = q.overlapped != 0});
        if (!plan) return fail(FOREBAY_E_INVALID, "{}", plan.error().text());
        return *plan;
      },
      [&](const schedule::Plan& plan) {
        fill(answer, forebay_schedule_answer{0, plan.store_all, plan.slots.dram, plan.slots.pool, plan.forward_steps,
                                             plan.predicted_seconds});
      });
}

int forebay_schedule_create(int64_t steps, int64_t dram_slots, int64_t pool_slots, forebay_schedule** created) {
  if (created == nullptr) return missing("place for the schedule");
  *created = nullptr;
  return run([&]() -> Done {
    if (steps < 1 || dram_slots < 0 || pool_slots < 0) {
      return fail(FOREBAY_E_INVALID, "a schedule needs at least one step, and no number of slots is below 0");
    }
    if (steps > 1 && dram_slots == 0 && pool_slots == 0) {
      return fail(FOREBAY_E_INVALID, "a schedule of {} needs room for one state at least",
                  forebay::plural(steps, "step"));
    }
    // More than one for each step are of no use, and their sum may not overflow.
    *created = new forebay_schedule{
        schedule::Schedule(steps, {.dram = std::min(dram_slots, steps), .pool = std::min(pool_slots, steps)})};
    return {};
  });
}

int forebay_schedule_advance(forebay_schedule* schedule, forebay_action* action) {
  if (schedule == nullptr) return missing("schedule");
  if (const int refused = unfit(action, "forebay_action")) return refused;
  return run([&]() -> Done {
    const auto next = schedule->value.next();
    fill(action, next ? std::visit(InC{}, *next) : InC::only(FOREBAY_ACTION_NONE));
    return {};
  });
}

void forebay_schedule_free(forebay_schedule* schedule) {
  delete schedule;
}

}  // extern "C"
