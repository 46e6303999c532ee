/* The schedule: which states of a forward run to keep when not all fit, and when to recompute the others, so that an
 * adjoint that runs backwards finds each. State n is the one before step n: step n leads from state n to state n + 1.
 *
 *     forebay_schedule_question question = {.size = sizeof question, .steps = 12500, .bytes_per_step = ..., ...};
 *     forebay_schedule_answer answer = {.size = sizeof answer};
 *     forebay_schedule_plan(&question, &answer);                 // how many states to keep in which tier
 *     forebay_schedule_create(question.steps, answer.dram_slots, answer.pool_slots, &schedule);
 *     forebay_action action = {.size = sizeof action};
 *     while (forebay_schedule_advance(schedule, &action) == FOREBAY_OK && action.kind != FOREBAY_ACTION_NONE) ...
 *     forebay_schedule_free(schedule);
 *
 * Names and meanings of actions are those of the Python package checkpoint_schedules. Functions return a status
 * (forebay/status.h), and forebay_error_get_text() tells what happened. Structs begin with their size, which the
 * program sets to sizeof; they may only grow at their end. */
#ifndef FOREBAY_SCHEDULE_H
#define FOREBAY_SCHEDULE_H

#include <forebay/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Budgets in bytes; times in seconds, measured, of one step or one state. With overlapped = 1, writing and reading run
 * beside the solver and cost only what exceeds its step. */
typedef struct forebay_schedule_question {
  size_t size; /* sizeof(forebay_schedule_question) */
  int64_t steps;
  uint64_t bytes_per_step;
  double forward_seconds;
  double adjoint_seconds;
  uint64_t dram_budget;
  double dram_write_seconds;
  double dram_read_seconds;
  uint64_t pool_budget;
  double pool_write_seconds;
  double pool_read_seconds;
  int overlapped;
} forebay_schedule_question;

typedef struct forebay_schedule_answer {
  size_t size;              /* sizeof(forebay_schedule_answer) */
  int store_all;            /* 1: every state is kept, nothing is recomputed */
  int64_t dram_slots;       /* states to be kept at once in memory, */
  int64_t pool_slots;       /* and in the pool */
  int64_t forward_steps;    /* without the last of each part, whose adjoint follows at once */
  double predicted_seconds; /* forward, adjoint, writing and reading */
} forebay_schedule_answer;

/* The schedule with the least predicted time that the budgets allow. FOREBAY_E_INVALID where a number makes no sense,
 * or not even one state fits. */
int forebay_schedule_plan(const forebay_schedule_question* question, forebay_schedule_answer* answer);

typedef enum forebay_storage {
  FOREBAY_STORAGE_NONE = 0,
  FOREBAY_STORAGE_DRAM = 1,
  FOREBAY_STORAGE_POOL = 2,
  FOREBAY_STORAGE_WORK = 3 /* the solver's own memory */
} forebay_storage;

typedef enum forebay_action_kind {
  FOREBAY_ACTION_NONE = 0,        /* the schedule has ended */
  FOREBAY_ACTION_FORWARD = 1,     /* run steps n0 .. n1 - 1 from state n0, which is at hand */
  FOREBAY_ACTION_REVERSE = 2,     /* run the adjoint of step n0 = n1 - 1, whose dependencies are at hand */
  FOREBAY_ACTION_COPY = 3,        /* bring state n0 from storage `from` to `to`; it stays where it was */
  FOREBAY_ACTION_MOVE = 4,        /* the same, and its slot is free */
  FOREBAY_ACTION_END_FORWARD = 5, /* the forward run has reached its end */
  FOREBAY_ACTION_END_REVERSE = 6  /* the adjoint has reached step 0 */
} forebay_action_kind;

typedef struct forebay_action {
  size_t size; /* sizeof(forebay_action) */
  int kind;    /* forebay_action_kind */
  int64_t n0, n1;
  int keep_state;        /* of forward: keep state n0 in storage `to` first */
  int keep_dependencies; /* of forward: n1 = n0 + 1, and what the adjoint of this step needs stays at hand */
  int from, to;          /* forebay_storage */
} forebay_action;

typedef struct forebay_schedule forebay_schedule;

/* A schedule has at least one step and, for more than one, at least one slot. On failure *schedule is NULL. */
int forebay_schedule_create(int64_t steps, int64_t dram_slots, int64_t pool_slots, forebay_schedule** schedule);
int forebay_schedule_advance(forebay_schedule* schedule, forebay_action* action);
void forebay_schedule_free(forebay_schedule* schedule);

#ifdef __cplusplus
}
#endif

#endif
