/* arrays_face DIRECTORY METHOD FILE [FILE...]: the C face of arrays writes the first file and reads it and all others,
 * which programs in other languages and on other numbers of ranks have written; and tells what it refuses. The fields
 * are those of arrays_face.f90 and arrays_face.py. */
#include <forebay/arrays.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { cells = 1000, vertices = 300, most_corners = 4 * cells };

static int rank, ranks;

static void check(int good, const char* words) {
  if (good) return;
  fprintf(stderr, "rank %d: not true: %s (%s)\n", rank, words, forebay_error_get_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define OK(call) check((call) == FOREBAY_OK, #call)

/* The items of this rank, the last first. */
static uint64_t own_cells(uint64_t* number) {
  uint64_t count = 0;
  for (int g = cells; g > 0; --g)
    if ((g * 31 + g / 8 * 17) % ranks == rank) number[count++] = (uint64_t)g;
  return count;
}
static uint64_t own_vertices(uint64_t* number) { /* some on two ranks */
  uint64_t count = 0;
  for (int g = vertices; g > 0; --g)
    if (g % ranks == rank || g / 10 % ranks == rank) number[count++] = (uint64_t)g;
  return count;
}

typedef struct {
  double velocity[cells][3];
  float pressure[cells];
  int32_t kind[cells];
  int64_t id[vertices];
  uint64_t ranges[cells][2];
  int64_t corners[most_corners];
} Fields;

static Fields written, found;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  static uint64_t cell[cells], vertex[vertices], length[cells];
  const uint64_t own = own_cells(cell), seen = own_vertices(vertex);
  uint64_t corner = 0;
  for (uint64_t i = 0; i < own; ++i) {
    for (int c = 0; c < 3; ++c) written.velocity[i][c] = (double)cell[i] + 0.25 * c;
    written.pressure[i] = 0.5F * (float)cell[i];
    written.kind[i] = (int32_t)(cell[i] % 7);
    length[i] = cell[i] % 5;
    for (uint64_t k = 0; k < length[i]; ++k) written.corners[corner++] = (int64_t)(10 * cell[i] + k);
  }
  for (uint64_t i = 0; i < seen; ++i) written.id[i] = 1000003 * (int64_t)vertex[i];

  forebay_team* team;
  forebay_plan *of_cells, *of_vertices, *of_corners;
  uint64_t all_corners;
  OK(forebay_team_create(MPI_COMM_WORLD, NULL, &team));
  forebay_options *small = forebay_options_create(), *shared = forebay_options_create();
  OK(forebay_options_set_integer(small, "least-bytes", 1));
  OK(forebay_options_set(shared, "shared", "on"));
  OK(forebay_plan_create(team, cell, own, cells, small, &of_cells));
  OK(forebay_plan_create(team, vertex, seen, vertices, shared, &of_vertices));
  OK(forebay_plan_number_lists(of_cells, length, written.ranges[0], &all_corners));
  OK(forebay_plan_create_lists(team, written.ranges[0], own, all_corners, NULL, &of_corners));

  /* Into blocks and back. */
  uint64_t first, count;
  OK(forebay_plan_get_block(of_cells, &first, &count));
  double(*block)[3] = calloc(cells, sizeof *block);
  OK(forebay_plan_move_to_block(of_cells, written.velocity, sizeof *block, block));
  for (uint64_t i = 0; i < count; ++i) check(block[i][2] == (double)(first + i) + 0.5, "blocks are in order");
  OK(forebay_plan_move_from_block(of_cells, block, sizeof *block, found.velocity));
  check(memcmp(found.velocity, written.velocity, sizeof found.velocity) == 0, "what comes back is what went");
  free(block);

  const size_t size = sizeof(forebay_array);
  forebay_array arrays[] = {{size, "velocity", "cells", FOREBAY_FLOAT64, 3, of_cells, written.velocity},
                            {size, "pressure", "cells", FOREBAY_FLOAT32, 1, of_cells, written.pressure},
                            {size, "kind", "cells", FOREBAY_INT32, 1, of_cells, written.kind},
                            {size, "ranges", "cells", FOREBAY_INT64, 2, of_cells, written.ranges},
                            {size, "id", "vertices", FOREBAY_INT64, 1, of_vertices, written.id},
                            {size, "corners", "corners", FOREBAY_INT64, 1, of_corners, written.corners}};
  void* const to_fill[] = {found.velocity, found.pressure, found.kind, found.ranges, found.id, found.corners};
  forebay_checkpoints* store;
  forebay_options* options = forebay_options_create();
  OK(forebay_options_set(options, "method", argv[2]));
  OK(forebay_options_set(options, "pool", argv[1]));
  OK(forebay_checkpoints_open(team, argv[1], options, &store));
  OK(forebay_checkpoints_prepare(store, arrays, 6));
  const forebay_head head = {sizeof head, 42, 0.125, "arrays_face", "cube"};
  OK(forebay_checkpoints_write(store, argv[3], &head, arrays, 6));
  OK(forebay_checkpoints_settle(store));
  for (int i = 0; i < 6; ++i) arrays[i].data = to_fill[i];
  for (int file = 3; file < argc; ++file) {
    memset(&found, 0, sizeof found);
    forebay_head read = {.size = sizeof read};
    OK(forebay_checkpoints_read(store, argv[file], "cube", arrays, 6, &read));
    check(memcmp(&found, &written, sizeof found) == 0, argv[file]);
    check(read.step == 42 && read.time == 0.125 && strcmp(read.program, "arrays_face") == 0, "the head comes back");
  }

  /* What a file holds. */
  int locations, held, recovered;
  const char* name;
  uint64_t items;
  forebay_array last = {.size = sizeof last};
  OK(forebay_checkpoints_describe(store, argv[3], NULL, &locations, &held));
  check(locations == 3 && held == 6, "all locations and arrays are told");
  OK(forebay_checkpoints_get_location(store, 1, &name, &items));
  check(strcmp(name, "corners") == 0 && items == all_corners, "locations are in the order of their names");
  OK(forebay_checkpoints_get_array(store, 5, &last));
  check(strcmp(last.location, "vertices") == 0 && last.type == FOREBAY_INT64 && last.components == 1, "arrays too");
  check(forebay_checkpoints_get_array(store, 6, &last) == FOREBAY_E_INVALID, "there are no more");
  OK(forebay_checkpoints_count_recovered(store, &recovered));
  check(recovered == 0, "nobody has left anything");

  /* What is refused, on every rank alike. */
  const uint64_t twice[] = {1, 1};
  forebay_plan* none;
  check(forebay_plan_create(team, twice, 2, 2 * (uint64_t)ranks, NULL, &none) == FOREBAY_E_INVALID && none == NULL &&
            strstr(forebay_error_get_text(), "global number") != NULL,
        "a number that is missing or comes twice is named");
  check(forebay_checkpoints_read(store, argv[3], "sphere", arrays, 6, NULL) == FOREBAY_E_INVALID &&
            strstr(forebay_error_get_text(), "another mesh") != NULL,
        "another mesh is refused");
  arrays[5].size = 0;
  check(forebay_checkpoints_write(store, argv[3], &head, arrays, 6) == FOREBAY_E_INVALID &&
            strstr(forebay_error_get_text(), "size of forebay_array") != NULL,
        "a struct has its size");
  arrays[5].size = size;
  check(forebay_plan_create(team, cell, own, cells, rank == 0 ? options : NULL, &none) == FOREBAY_E_INVALID &&
            strstr(forebay_error_get_text(), "method") != NULL,
        "options of another call are refused, and by all ranks");
  if (rank == ranks - 1) arrays[2].data = NULL;
  check(forebay_checkpoints_write(store, argv[3], &head, arrays, 6) == FOREBAY_E_INVALID &&
            strstr(forebay_error_get_text(), "kind") != NULL,
        "what one rank forgets is told to all");
  check(forebay_plan_move_to_block(of_cells, found.velocity, rank == ranks - 1 ? 0 : 24, found.corners) ==
            FOREBAY_E_INVALID,
        "items have bytes");
  check(forebay_team_agree(team, rank == 0 ? FOREBAY_E_BUSY : FOREBAY_OK, "later") == FOREBAY_E_BUSY &&
            strcmp(forebay_error_get_text(), "later") == 0,
        "a program's own error becomes that of all");
  check(strcmp(forebay_status_get_name(FOREBAY_E_STAGED), "FOREBAY_E_STAGED") == 0, "statuses have names");

  OK(forebay_checkpoints_close(store));
  forebay_plan_free(of_corners);
  forebay_plan_free(of_vertices);
  forebay_plan_free(of_cells);
  forebay_options_free(options);
  forebay_options_free(shared);
  forebay_options_free(small);
  forebay_team_free(team);
  MPI_Finalize();
  return 0;
}
