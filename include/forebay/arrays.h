/* Arrays whose items are scattered over the ranks of an MPI program, in one file that any number of ranks
 * reads.
 *
 *     forebay_team *team;                                              // the ranks that write and read together
 *     forebay_team_create(MPI_COMM_WORLD, NULL, &team);
 *     forebay_plan *cells;                                             // number[i]: the global number of local cell i
 *     forebay_plan_create(team, number, local_cells, all_cells, NULL, &cells);
 *
 *     const size_t size = sizeof(forebay_array);
 *     forebay_array arrays[] = {{size, "velocity", "cells", FOREBAY_FLOAT64, 3, cells, u},   // u[3 * i + component]
 *                               {size, "pressure", "cells", FOREBAY_FLOAT64, 1, cells, p}};
 *     forebay_checkpoints *store;
 *     forebay_checkpoints_open(team, "checkpoints", NULL, &store);
 *     forebay_head head = {sizeof head, step, time, "solver 2.1", "cavity"};
 *     forebay_checkpoints_write(store, "restart.h5", &head, arrays, 2);
 *     ...
 *     forebay_checkpoints_read(store, "restart.h5", "cavity", arrays, 2, &head);             // of the next program
 *
 *     forebay_checkpoints_close(store);
 *     forebay_plan_free(cells);
 *     forebay_team_free(team);
 *
 * Collective: all ranks of the team make every call together and in the same order, but for those that are said to be
 * local. A call then returns the same status and leaves the same words on every rank, also where only one of them found
 * something wrong. Handles are given on all ranks alike; a rank that runs out of memory within a call ends the program
 * by MPI_Abort, since the others wait for it.
 *
 * Every function returns FOREBAY_OK or another status (forebay/status.h); forebay_error_get_text() then tells what
 * happened, in words. Options (forebay/options.h) may be NULL: then none is set. Calls for one team, its plans,
 * checkpoints and mesh outputs come from one thread at a time. Structs begin with their size, which the program sets to
 * sizeof, in each element of a table; they may only grow at their end.
 *
 * This library is one of its own (-lforebay_arrays -lforebay): it belongs to the MPI that it was built with. */
#ifndef FOREBAY_ARRAYS_H
#define FOREBAY_ARRAYS_H

#include <forebay/options.h>
#include <forebay/status.h>
#include <forebay/types.h>
/* The classes that MPI gave up in 2012 are left out: they need a library of their own. A program that wants them
 * includes mpi.h first. */
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- the ranks ---------------------------------------------------------------------------------------------------- */

typedef struct forebay_team forebay_team;

/* The ranks of a communicator, which is copied. Ranks that share memory pass their items to each other through it. On
 * failure *team is NULL. */
int forebay_team_create(MPI_Comm communicator, const forebay_options* options, forebay_team** team);
/* The same for the communicators of other languages (MPI_Comm_c2f). */
int forebay_team_create_f(MPI_Fint communicator, const forebay_options* options, forebay_team** team);
/* Makes what one rank found wrong the error of all: FOREBAY_OK where all ranks give it, otherwise the status and
 * the words of the lowest rank that has others. */
int forebay_team_agree(forebay_team* team, int status, const char* words);
/* After its plans, checkpoints and mesh outputs, and before MPI_Finalize. NULL is fine, here and wherever something is
 * freed. */
void forebay_team_free(forebay_team* team);

/* --- the way of items to blocks, and back ------------------------------------------------------------------------- */

/* A block is the range of global numbers that one rank writes, and reads. */
typedef struct forebay_plan forebay_plan;

/* `numbers` are the global numbers of this rank's `count` items, in the order in which its arrays have them; 1-based,
 * in no particular order, and `items` in all. The numbers are not needed afterwards. A number that is out of range,
 * that no rank has, or that comes twice is FOREBAY_E_INVALID, and the message names it and its ranks. A plan
 * serves any number of arrays, of items of any size. On failure *plan is NULL. */
int forebay_plan_create(forebay_team* team, const uint64_t* numbers, uint64_t count, uint64_t items,
                        const forebay_options* options, forebay_plan** plan);
void forebay_plan_free(forebay_plan* plan);

/* The block of this rank: `count` items from the global number `first` on. Local; outputs may be NULL. */
int forebay_plan_get_block(const forebay_plan* plan, uint64_t* first, uint64_t* count);
/* Items of `item_bytes` each from where ranks have them into blocks, in the order of their global numbers; and back.
 * `block` has room for the items of this rank's block. */
int forebay_plan_move_to_block(forebay_plan* plan, const void* items, size_t item_bytes, void* block);
int forebay_plan_move_from_block(forebay_plan* plan, const void* block, size_t item_bytes, void* items);

/* Lists of different lengths, one for each item, such as the vertices of cells. The values of all lists stand behind
 * each other in the order of their items, and are planned like items. number_lists turns the length of each local list
 * into the range of its values, ranges[2 * i] to ranges[2 * i + 1] - 1, counted from 0. It also tells how many values
 * there are in all. Where several ranks have an item, the lengths must agree. */
int forebay_plan_number_lists(forebay_plan* items, const uint64_t* lengths, uint64_t ranges[], uint64_t* values);
/* The plan of the values of this rank's lists, which lie behind each other in the order of its items. A checkpoint
 * keeps two arrays: the ranges, two FOREBAY_INT64 (which Fortran has, too) on the location of the items, and the
 * values, on a location of their own. On reading, the ranges come first, then this plan of them, then the values. */
int forebay_plan_create_lists(forebay_team* team, const uint64_t* ranges, uint64_t lists, uint64_t values,
                              const forebay_options* options, forebay_plan** plan);

/* --- checkpoints -------------------------------------------------------------------------------------------------- */

/* An array as this rank has it; the same table serves writing and reading. */
typedef struct forebay_array {
  size_t size;          /* sizeof(forebay_array) */
  const char* name;     /* "velocity": printable, without '/' */
  const char* location; /* "cells": all arrays on a location have the same number of items */
  forebay_type type;    /* UINT8, INT32, INT64, UINT64, FLOAT32 or FLOAT64 */
  uint32_t components;  /* of an item, that lie together: 3 for a vector */
  forebay_plan* plan;   /* of the location's items */
  void* data;           /* written to by reading only */
} forebay_array;

/* The state that a checkpoint is of. */
typedef struct forebay_head {
  size_t size; /* sizeof(forebay_head) */
  int64_t step;
  double time;
  const char* program; /* that writes: name and version; NULL: "" */
  const char* mesh;    /* whatever tells this mesh from others of the same size; NULL: "" */
} forebay_head;

typedef struct forebay_checkpoints forebay_checkpoints;

/* The checkpoints of a directory, which exists. The bytes of a file do not depend on the method, nor on the number of
 * ranks. The method "staged" first carries what an earlier program left in the pool: see
 * forebay_checkpoints_count_recovered. On failure *checkpoints is NULL. */
int forebay_checkpoints_open(forebay_team* team, const char* directory, const forebay_options* options,
                             forebay_checkpoints** checkpoints);
/* Settles, closes and frees, whatever it returns. */
int forebay_checkpoints_close(forebay_checkpoints* checkpoints);

/* The file `name` in the directory appears whole or not at all, and replaces another one only then: when this returns,
 * or, staged, at the latest when settle returns. Settle and close tell of an earlier file that was damaged in the pool.
 * The arrays may be changed as soon as this returns. The file `name`.json beside it tells how, where and when it was
 * written. */
int forebay_checkpoints_write(forebay_checkpoints* checkpoints, const char* name, const forebay_head* head,
                              const forebay_array* arrays, int count);
/* Staged: waits until everything is carried; FOREBAY_OK at once otherwise. Where the background's last try has failed,
 * it begins anew, and returns what comes of that. A checkpoint that cannot be carried stays in the pool: the background
 * tries again, less and less often (on several nodes not where only the name was missing), and so do the next settle or
 * close and the next program that opens this directory. */
int forebay_checkpoints_settle(forebay_checkpoints* checkpoints);
/* Staged: takes the room for two such checkpoints ahead of the first, which is then as fast as the others. */
int forebay_checkpoints_prepare(forebay_checkpoints* checkpoints, const forebay_array* arrays, int count);

/* Fills the arrays, which may be fewer than the file has, on any number of ranks. Every byte is verified before it is
 * handed on. FOREBAY_E_NO_SUCH_FILE where no file has this name. A file of another mesh, type or number of components
 * is refused, and the message names the difference. `head` may be NULL; its texts are valid until the next call for
 * these checkpoints. */
int forebay_checkpoints_read(forebay_checkpoints* checkpoints, const char* name, const char* mesh,
                             const forebay_array* arrays, int count, forebay_head* head);

/* The content of a file; the functions below it then tell each location and array by its place, from 0 on, in the order
 * of names. They are local; `plan` and `data` of an array are NULL there. Outputs may be NULL; texts are valid until
 * the next call for these checkpoints that is collective. */
int forebay_checkpoints_describe(forebay_checkpoints* checkpoints, const char* name, forebay_head* head, int* locations,
                                 int* arrays);
int forebay_checkpoints_get_location(const forebay_checkpoints* checkpoints, int place, const char** name,
                                     uint64_t* items);
int forebay_checkpoints_get_array(const forebay_checkpoints* checkpoints, int place, forebay_array* array);

/* The number of checkpoints that open found in the pool, staged by an earlier program. get_recovered tells for each the
 * path of its file, and whether that is whole now (1), or a node has lost its part (0). Local. */
int forebay_checkpoints_count_recovered(const forebay_checkpoints* checkpoints, int* count);
int forebay_checkpoints_get_recovered(const forebay_checkpoints* checkpoints, int place, const char** path,
                                      int* carried);

/* --- meshes and fields for ParaView ------------------------------------------------------------------------------- */

/* A mesh as this rank has it. */
typedef struct forebay_mesh {
  size_t size;          /* sizeof(forebay_mesh) */
  forebay_plan* points; /* one with `shared` where several ranks have a point */
  const double* places; /* of each of this rank's points x, y, z */
  forebay_plan* cells;
  const uint8_t* types;     /* of each of this rank's cells VTK's number of its shape (vtkCellType.h): 5 triangle,
                             * 9 quadrilateral, 10 tetrahedron, 12 hexahedron, 13 prism, 14 pyramid, 7 polygon, ...;
                             * all up to the second order, but no polyhedra */
  const uint64_t* lengths;  /* of each cell how many vertices it has */
  const uint64_t* vertices; /* their global numbers, 1-based, cell after cell, each in VTK's order */
} forebay_mesh;

typedef struct forebay_mesh_output forebay_mesh_output;

/* A series of steps of one mesh, each in a file of its own (VTKHDF, docs/format.md), written as the checkpoints of the
 * same directory are: by their method, with the same bytes by any method on any number of ranks, whole or not at all.
 * The files are NAME-000012.vtkhdf of step 12, and so on; NAME.vtkhdf.series lists them with their times, and is what
 * ParaView opens; NAME has no '/'. A list that is there already is gone on with: it gets the steps that are there
 * without, and loses those that are gone. The plan of the mesh is made here, once. A cell of an unknown type, with a
 * wrong number of vertices, or with one that is out of range is FOREBAY_E_INVALID, and the message names it by its
 * global number. `places` are read by every write, so that points may move; the other arrays of the mesh are not needed
 * afterwards. The plans last until the last write, the checkpoints until after close. On failure *output is NULL. */
int forebay_mesh_output_open(forebay_checkpoints* files, const char* name, const forebay_mesh* mesh,
                             forebay_mesh_output** output);
/* The mesh and its fields at a step: the arrays, on the locations "points" and "cells", with the plans of the mesh or
 * others of as many items. Three components make a vector for ParaView, one a scalar. A step that is there already is
 * replaced. Points and arrays may be changed as soon as this returns. */
int forebay_mesh_output_write(forebay_mesh_output* output, const forebay_head* head, const forebay_array* arrays,
                              int count);
/* Staged: waits as forebay_checkpoints_settle does, and only then names the new files in the list. */
int forebay_mesh_output_settle(forebay_mesh_output* output);
/* Settles, closes and frees, whatever it returns; before the checkpoints are closed. */
int forebay_mesh_output_close(forebay_mesh_output* output);

#ifdef __cplusplus
}
#endif

#endif
