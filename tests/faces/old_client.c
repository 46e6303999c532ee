/* A program of series 0.1, as it lies about compiled: what it knows of libforebay is written out here, and does not
 * change when the headers do. It prints "served" where the library still serves it. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct trajectory;
struct options;
struct schedule;
struct tier_info {
  size_t size;
  const char *medium, *path;
  uint64_t budget, segment_bytes, segments, prepared, used, moved_in, fetched;
};
struct encoding_info {
  size_t size;
  int codec;
  double accepted_error, achieved_error;
  uint64_t states, raw_bytes, stored_bytes, fallbacks;
  const char* fallback_reason;
  uint64_t decoded_ahead;
};
struct question {
  size_t size;
  int64_t steps;
  uint64_t bytes_per_step;
  double forward_seconds, adjoint_seconds;
  uint64_t dram_budget;
  double dram_write_seconds, dram_read_seconds;
  uint64_t pool_budget;
  double pool_write_seconds, pool_read_seconds;
  int overlapped;
};
struct answer {
  size_t size;
  int store_all;
  int64_t dram_slots, pool_slots, forward_steps;
  double predicted_seconds;
};
struct action {
  size_t size;
  int kind;
  int64_t n0, n1;
  int keep_state, keep_dependencies, from, to;
};

const char* forebay_version(void);
const char* forebay_status_get_name(int status);
const char* forebay_error_get_text(void);
size_t forebay_error_copy_text(char* buffer, size_t bytes);
struct options* forebay_options_create(void);
void forebay_options_free(struct options* options);
int forebay_options_set(struct options* options, const char* key, const char* value);
int forebay_options_set_integer(struct options* options, const char* key, int64_t value);
int forebay_options_add_dram(struct options* options, uint64_t bytes);
int forebay_trajectory_open(const struct options* options, struct trajectory** trajectory);
int forebay_trajectory_close(struct trajectory* trajectory);
int forebay_trajectory_declare(struct trajectory* trajectory, const char* name, int type, uint64_t count, int* field);
int forebay_trajectory_set_accepted_error(struct trajectory* trajectory, int field, double error);
int forebay_trajectory_set_shape(struct trajectory* trajectory, int field, int dimensions, const uint64_t extents[]);
int forebay_trajectory_get_shape(struct trajectory* trajectory, int field, int* dimensions, uint64_t extents[]);
int forebay_trajectory_begin(struct trajectory* trajectory, int64_t step, double time, void* memory[], int fields);
int forebay_trajectory_commit(struct trajectory* trajectory);
int forebay_trajectory_put(struct trajectory* trajectory, int64_t step, double time, const void* const memory[],
                           int fields);
int forebay_trajectory_get(struct trajectory* trajectory, int64_t step, int field, const void** memory);
int forebay_trajectory_release(struct trajectory* trajectory, int64_t step);
int forebay_trajectory_reverse(struct trajectory* trajectory, int64_t from);
int forebay_trajectory_interpolate(struct trajectory* trajectory, double time, int field, void* memory);
int forebay_trajectory_count_steps(struct trajectory* trajectory, uint64_t* steps);
int forebay_trajectory_describe_tier(struct trajectory* trajectory, int tier, struct tier_info* info);
int forebay_trajectory_describe_encoding(struct trajectory* trajectory, int field, struct encoding_info* info);
int forebay_schedule_plan(const struct question* question, struct answer* answer);
int forebay_schedule_create(int64_t steps, int64_t dram_slots, int64_t pool_slots, struct schedule** schedule);
int forebay_schedule_advance(struct schedule* schedule, struct action* action);
void forebay_schedule_free(struct schedule* schedule);

enum {
  ok = 0,
  invalid = 1,
  no_such_step = 2,
  step_exists = 6,
  float64 = 2,
  int32 = 5,
  fields = 2,
  n = 100,
  steps = 20
};

#define NEEDS(what)                                                             \
  if (!(what)) {                                                                \
    printf("line %d: not %s: %s\n", __LINE__, #what, forebay_error_get_text()); \
    return 1;                                                                   \
  }

static int stores_and_finds(void) {
  struct options* options = forebay_options_create();
  NEEDS(forebay_options_add_dram(options, 16 << 20) == ok);
  NEEDS(forebay_options_set(options, "name", "old") == ok && forebay_options_set_integer(options, "rank", 0) == ok);
  struct trajectory* states;
  NEEDS(forebay_trajectory_open(options, &states) == ok);
  forebay_options_free(options);
  int u = -1, kind = -1, dimensions = 0;
  uint64_t extents[8] = {10, 10}, count = 0;
  NEEDS(forebay_trajectory_declare(states, "u", float64, n, &u) == ok && u == 0);
  NEEDS(forebay_trajectory_set_shape(states, u, 2, extents) == ok);
  NEEDS(forebay_trajectory_set_accepted_error(states, u, 1e-6) == ok);
  NEEDS(forebay_trajectory_declare(states, "kind", int32, 3, &kind) == ok && kind == 1);
  NEEDS(forebay_trajectory_get_shape(states, u, &dimensions, extents) == ok && dimensions == 2);
  for (int step = 0; step < steps; ++step) {
    void* memory[fields];
    NEEDS(forebay_trajectory_begin(states, step, 0.5 * step, memory, fields) == ok);
    for (int i = 0; i < n; ++i) ((double*)memory[u])[i] = step + 1;
    for (int i = 0; i < 3; ++i) ((int32_t*)memory[kind])[i] = step;
    NEEDS(forebay_trajectory_commit(states) == ok);
  }
  double one[n] = {0}, between[n];
  const int32_t kinds[3] = {0};
  const void* const memory[fields] = {one, kinds};
  NEEDS(forebay_trajectory_put(states, 3, 0, memory, fields) == step_exists);
  NEEDS(forebay_trajectory_put(states, steps, 0, memory, 1) == invalid);
  NEEDS(strcmp(forebay_status_get_name(step_exists), "FOREBAY_E_STEP_EXISTS") == 0);
  char words[200];
  NEEDS(forebay_error_copy_text(words, sizeof words) > 0 && words[0] != 0);
  NEEDS(forebay_trajectory_reverse(states, steps - 1) == ok);
  for (int step = steps - 1; step >= 0; --step) {
    const void *got, *other;
    NEEDS(forebay_trajectory_get(states, step, u, &got) == ok &&
          forebay_trajectory_get(states, step, kind, &other) == ok);
    const double error = ((const double*)got)[n - 1] - (step + 1);
    NEEDS(error < 1e-3 && error > -1e-3 && ((const int32_t*)other)[2] == step);
    NEEDS(forebay_trajectory_release(states, step) == ok && forebay_trajectory_release(states, step) == ok);
  }
  NEEDS(forebay_trajectory_interpolate(states, 0.25, u, between) == ok && between[0] > 1.4 && between[0] < 1.6);
  NEEDS(forebay_trajectory_release(states, 99) == no_such_step);
  NEEDS(forebay_trajectory_count_steps(states, &count) == ok && count == steps);
  struct {
    struct tier_info info;
    unsigned char behind[64];
  } tier;
  memset(&tier, 7, sizeof tier);
  tier.info.size = sizeof tier.info;
  NEEDS(forebay_trajectory_describe_tier(states, 0, &tier.info) == ok && strcmp(tier.info.medium, "dram") == 0);
  NEEDS(tier.info.size == sizeof tier.info && tier.info.budget == 16 << 20 && tier.behind[0] == 7);
  struct encoding_info encoding = {.size = sizeof encoding};
  NEEDS(forebay_trajectory_describe_encoding(states, u, &encoding) == ok && encoding.states == steps);
  NEEDS(forebay_trajectory_close(states) == ok);
  return 0;
}

static int follows_a_schedule(void) {
  const struct question question = {.size = sizeof question,
                                    .steps = 100,
                                    .bytes_per_step = 1000,
                                    .forward_seconds = 1,
                                    .adjoint_seconds = 2,
                                    .dram_budget = 5000};
  struct answer answer = {.size = sizeof answer};
  struct action action = {.size = sizeof action};
  struct schedule* schedule;
  NEEDS(forebay_schedule_plan(&question, &answer) == ok && answer.dram_slots == 5 && answer.store_all == 0);
  NEEDS(forebay_schedule_create(100, answer.dram_slots, answer.pool_slots, &schedule) == ok);
  int actions = 0;
  do {
    NEEDS(forebay_schedule_advance(schedule, &action) == ok && ++actions < 10000);
  } while (action.kind != 0);
  forebay_schedule_free(schedule);
  NEEDS(actions > 100);
  return 0;
}

int main(void) {
  if (stores_and_finds() || follows_a_schedule()) return 1;
  printf("served by %s\n", forebay_version());
  return 0;
}
