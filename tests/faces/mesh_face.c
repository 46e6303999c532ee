/* mesh_face DIRECTORY METHOD NAME: the C face of mesh output writes two steps of a duct, NAME-000000.vtkhdf and
 * NAME-000010.vtkhdf, and tells what it refuses. Mesh and fields are those of mesh_face.f90 and mesh_face.py. */
#include <forebay/arrays.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Along x between squares of four points; every second cell is half a cube, a prism. */
enum { all_cells = 101, all_points = 4 * (all_cells + 1), hexahedron = 12, prism = 13, tetrahedron = 10 };

static int rank, ranks;

static void check(int good, const char* words) {
  if (good) return;
  fprintf(stderr, "rank %d: not true: %s (%s)\n", rank, words, forebay_error_get_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define OK(call) check((call) == FOREBAY_OK, #call)

static uint64_t cell[all_cells], point[all_points], lengths[all_cells], vertices[8 * all_cells];
static uint8_t types[all_cells];
static double places[all_points][3], velocity[all_cells][3], height[all_points];
static float motion[all_points][3];
static int32_t kind[all_cells];

static int is_own(int g) {
  return g >= 1 && g <= all_cells && (g * 31 + g / 8 * 17) % ranks == rank;
}

/* The items of this rank, the last first. */
static uint64_t own_cells(void) {
  uint64_t count = 0, corner = 0;
  for (int g = all_cells; g > 0; --g) {
    if (!is_own(g)) continue;
    const uint64_t corners = g % 2 == 1 ? 4 : 3, square = 4 * (uint64_t)(g - 1) + 1;
    cell[count] = (uint64_t)g;
    types[count] = g % 2 == 1 ? hexahedron : prism;
    lengths[count] = 2 * corners;
    for (uint64_t side = 0; side < 2; ++side)
      for (uint64_t k = 0; k < corners; ++k) vertices[corner++] = square + 4 * side + k;
    for (int k = 0; k < 3; ++k) velocity[count][k] = g + 0.25 * k;
    kind[count++] = g % 7;
  }
  return count;
}
static uint64_t own_points(void) { /* those of its cells */
  uint64_t count = 0;
  for (int p = all_points; p > 0; --p) {
    const int square = (p - 1) / 4, corner = (p - 1) % 4;
    if (!is_own(square) && !is_own(square + 1)) continue;
    point[count] = (uint64_t)p;
    places[count][0] = height[count] = square;
    places[count][1] = corner == 1 || corner == 2;
    places[count][2] = corner > 1;
    for (int k = 0; k < 3; ++k) motion[count][k] = 0.5F * (float)p + (float)k;
    ++count;
  }
  return count;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const uint64_t cells = own_cells(), points = own_points();

  forebay_team* team;
  forebay_plan *of_cells, *of_points;
  forebay_checkpoints* store;
  forebay_options* shared = forebay_options_create();
  OK(forebay_options_set(shared, "shared", "on"));
  OK(forebay_team_create(MPI_COMM_WORLD, NULL, &team));
  OK(forebay_plan_create(team, cell, cells, all_cells, NULL, &of_cells));
  OK(forebay_plan_create(team, point, points, all_points, shared, &of_points));
  forebay_options* options = forebay_options_create();
  OK(forebay_options_set(options, "method", argv[2]));
  OK(forebay_options_set(options, "pool", argv[1]));
  OK(forebay_checkpoints_open(team, argv[1], options, &store));

  forebay_mesh_output* output;
  const forebay_mesh mesh = {sizeof mesh, of_points, places[0], of_cells, types, lengths, vertices};
  const size_t size = sizeof(forebay_array);
  forebay_array fields[] = {{size, "velocity", "cells", FOREBAY_FLOAT64, 3, of_cells, velocity},
                            {size, "kind", "cells", FOREBAY_INT32, 1, of_cells, kind},
                            {size, "height", "points", FOREBAY_FLOAT64, 1, of_points, height},
                            {size, "motion", "points", FOREBAY_FLOAT32, 3, of_points, motion}};
  OK(forebay_mesh_output_open(store, argv[3], &mesh, &output));
  const forebay_head first = {sizeof first, 0, 0, "mesh_face", "duct"},
                     second = {sizeof second, 10, 0.5, "mesh_face", "duct"};
  OK(forebay_mesh_output_write(output, &first, fields, 4));
  OK(forebay_mesh_output_settle(output));
  for (uint64_t i = 0; i < points; ++i) places[i][2] += 2;
  OK(forebay_mesh_output_write(output, &second, fields, 4));

  /* What is refused, on every rank alike. */
  forebay_mesh_output* none;
  const int last = rank == ranks - 1;
  fields[1].location = "edges";
  check(forebay_mesh_output_write(output, &second, fields, 4) == FOREBAY_E_INVALID &&
            strstr(forebay_error_get_text(), "edges") != NULL,
        "fields are on points and cells");
  OK(forebay_mesh_output_close(output));
  if (last) types[0] = 99;
  check(forebay_mesh_output_open(store, "none", &mesh, &none) == FOREBAY_E_INVALID && none == NULL &&
            strstr(forebay_error_get_text(), "has type 99") != NULL,
        "an unknown shape is refused");
  if (last) types[0] = tetrahedron;
  check(forebay_mesh_output_open(store, "none", &mesh, &none) == FOREBAY_E_INVALID &&
            strstr(forebay_error_get_text(), "tetrahedron (type 10) with") != NULL,
        "a shape has its vertices");
  forebay_mesh without = mesh;
  if (last) without.places = NULL;
  check(forebay_mesh_output_open(store, "none", &without, &none) == FOREBAY_E_INVALID &&
            strstr(forebay_error_get_text(), "places") != NULL,
        "what one rank forgets is told to all");
  without = mesh;
  if (last) without.vertices = NULL;
  uint64_t corners = 0;
  for (uint64_t i = 0; i < cells; ++i) corners += lengths[i];
  char words[80];
  snprintf(words, sizeof words, "vertices of cells are missing (NULL) where there are %llu",
           (unsigned long long)corners);
  check(forebay_mesh_output_open(store, "none", &without, &none) == FOREBAY_E_INVALID &&
            (!last || strstr(forebay_error_get_text(), words) != NULL),
        "the vertices that are missing are counted");

  OK(forebay_checkpoints_close(store));
  forebay_plan_free(of_points);
  forebay_plan_free(of_cells);
  forebay_options_free(options);
  forebay_options_free(shared);
  forebay_team_free(team);
  MPI_Finalize();
  return 0;
}
