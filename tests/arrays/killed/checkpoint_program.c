/* checkpoint_program DIRECTORY METHOD POOL [STEP...]: writes a.h5 of each step, or reads it and prints its step. Each
 * rank first prints its number and its process. RANKS_OF_A_NODE in the environment makes several nodes of this one. */
#include <forebay/arrays.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { all = 100000 };
static uint64_t number[all];
static double values[all];

static double value(int64_t step, uint64_t g) {
  return (double)step + (double)g / all;
}

static void check(int status) {
  if (status == FOREBAY_OK) return;
  fprintf(stderr, "%s\n", forebay_error_get_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int rank, ranks, count = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  printf("rank %d %d\n", rank, (int)getpid());
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int g = 1; g <= all; ++g)
    if (g / 16 % ranks == rank) number[count++] = (uint64_t)g;
  const char* const node = getenv("RANKS_OF_A_NODE");
  forebay_team* team;
  forebay_plan* plan;
  forebay_checkpoints* store;
  forebay_options *nodes = forebay_options_create(), *small = forebay_options_create(), *how = forebay_options_create();
  check(forebay_options_set(nodes, "most-per-node", node));
  check(forebay_team_create(MPI_COMM_WORLD, nodes, &team));
  check(forebay_options_set_integer(small, "least-bytes", 1));
  check(forebay_plan_create(team, number, (uint64_t)count, all, small, &plan));
  check(forebay_options_set(how, "method", argv[2]));
  check(forebay_options_set(how, "pool", argv[3]));
  check(forebay_checkpoints_open(team, argv[1], how, &store));
  forebay_array array = {sizeof array, "values", "cells", FOREBAY_FLOAT64, 1, plan, values};
  forebay_head head = {sizeof head, 0, 0, NULL, NULL};
  for (int each = 4; each < argc; ++each) {
    head.step = atoi(argv[each]);
    for (int i = 0; i < count; ++i) values[i] = value(head.step, number[i]);
    check(forebay_checkpoints_write(store, "a.h5", &head, &array, 1));
  }
  if (argc == 4) {
    check(forebay_checkpoints_read(store, "a.h5", NULL, &array, 1, &head));
    for (int i = 0; i < count; ++i)
      if (values[i] != value(head.step, number[i])) MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) printf("step %d\n", (int)head.step);
  }
  check(forebay_checkpoints_close(store));
  forebay_options_free(how);
  forebay_options_free(small);
  forebay_options_free(nodes);
  forebay_plan_free(plan);
  forebay_team_free(team);
  MPI_Finalize();
  return 0;
}
