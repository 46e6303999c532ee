/* checkpoint_program DIRECTORY METHOD POOL [STEP]: writes a.h5 of that step, or reads it and prints its step. Each rank
 * first prints its number and its process. */
#include <forebay/blocks.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { all = 100000 };
static uint64_t number[all];
static double values[all];

static void check(int status) {
  if (status == FOREBAY_BLOCKS_OK) return;
  fprintf(stderr, "%s\n", forebay_blocks_last_error());
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
  forebay_team* team;
  forebay_plan* plan;
  forebay_checkpoints* store;
  check(forebay_team_create(MPI_COMM_WORLD, 0, &team));
  const forebay_plan_request small = {.least_bytes = 1};
  check(forebay_plan_create(team, number, (uint64_t)count, all, &small, &plan));
  check(forebay_checkpoints_open(team, argv[1], argv[2], NULL, argv[3], &store));
  forebay_array array = {"values", "cells", FOREBAY_ARRAY_FLOAT64, 1, plan, values};
  forebay_head head = {argc > 4 ? atoi(argv[4]) : 0, 0, NULL, NULL};
  if (argc > 4) {
    for (int i = 0; i < count; ++i) values[i] = (double)head.step;
    check(forebay_checkpoints_write(store, "a.h5", &head, &array, 1));
  } else {
    check(forebay_checkpoints_read(store, "a.h5", NULL, &array, 1, &head));
    for (int i = 0; i < count; ++i)
      if (values[i] != (double)head.step) MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) printf("step %d\n", (int)head.step);
  }
  check(forebay_checkpoints_close(store));
  forebay_plan_free(plan);
  forebay_team_free(team);
  MPI_Finalize();
  return 0;
}
