/* Options of what is opened or created, by key. A key that is not set leaves the choice to the library.
 *
 *     forebay_options *options = forebay_options_create();
 *     forebay_options_add_pool(options, "/dev/shm", 4000000000);
 *     forebay_options_set(options, "keep", "on");
 *     forebay_options_set_integer(options, "rank", rank);
 *     forebay_trajectory_open(options, &trajectory);
 *     forebay_options_free(options);                                       // once they have been used
 *
 * Options of forebay_trajectory_open:
 *   "name"           of the store, "trajectory" if not set: letters, digits, '.', '_' and '-'. Trajectories that
 *                    are kept in one directory need different names.
 *   "rank", "ranks"  which part of a parallel run this is, counted from 0, and of how many. Parts with different
 *                    numbers share directories freely.
 *   "keep"           "on": the trajectory stays on disk for a later process, and open finds what an earlier one
 *                    kept under this name and rank. All tiers must then be directories or devices.
 *   "mode"           what open expects of a store that is to be kept, and what it may do with it:
 *                    "any": it is found, or begun; as if not set
 *                    "create": it is begun; FOREBAY_E_STORE_EXISTS where there is one
 *                    "must-exist": it is found, on every tier; else FOREBAY_E_NO_SUCH_STORE, and nothing is made
 *                    "read-only": found, and read: by many at once, also on a file system that is mounted so.
 *                    Tiers must be directories. A call that would change it returns FOREBAY_E_READ_ONLY
 *                    "partial": the same, also where tiers are left out, or hold another store: what is whole is
 *                    read
 *   "survives"       what a kept and committed step outlives: "power-cut", as far as the medium can, as if not set
 *                    (on a disk file system each commit syncs); "process": the death of the process, not that of
 *                    the machine
 *   "checksum"       "on": XXH3-64 over every step, compared when a step is read the first time after it came to a
 *                    tier, or from another process; "off": none; not set: on tiers that are not plain memory
 *                    (dram, tmpfs). FOREBAY_E_DAMAGED tells. They are made where the bytes pass anyway: by put,
 *                    with the copy; by what moves a segment to such a tier; by commit only in a first tier that is
 *                    not plain memory. Each stored step tells whether it has one, and is then compared unless this
 *                    is "off". "on" is refused for a kept store that has steps without
 *   "compare"        "every-read", as if not set: a step in a mapped file of a disk is compared with its checksum
 *                    whenever it is read, since its pages may come back from the disk damaged; "first-read": once
 *   "encoders"       threads that encode beside the solver, where a field has an accepted error; 0: commit
 *                    encodes; not set: one a field, as far as the process has cores to spare, and one at least. In
 *                    a sweep from reverse on, one thread decodes ahead; with 0, get does.
 *   "debug"          "on": finds uses of memory that is no longer valid. begin and get then give memory
 *                    beside the tiers: a write after commit, or to a state that was got, is a fault of the program
 *                    (SIGSEGV, at the line that writes), and what is no longer valid reads 0xfb in every byte. It
 *                    costs copies. States with an accepted error are got as without it.
 *   "segment-bytes"  size of a segment; not set: chosen from the budgets and the size of a step
 *   and tiers, see below
 *
 * Options of forebay_team_create:
 *   "most-per-node"  cuts the ranks of a machine into groups of at most so many, a socket's for example, which
 *                    then count as nodes; not set: one group
 *
 * Options of forebay_plan_create and forebay_plan_create_lists:
 *   "least-bytes"    of a block, in items of 8 bytes, as far as there are items; not set: 1 MiB
 *   "rank-step"      at most every so many-th rank owns a block; not set: every rank may
 *   "most-blocks"    1 for serial libraries; not set: as many as there are ranks
 *   "shared"         "on": several ranks may have an item (ghosts, interfaces): the lowest of them writes it, all
 *                    read it; "off", as if not set: that is an error
 *
 * Options of forebay_checkpoints_open. The environment wins where it has FOREBAY_ARRAYS_METHOD, FOREBAY_ARRAYS_HINTS,
 * FOREBAY_ARRAYS_POOL or FOREBAY_ARRAYS_VERIFY:
 *   "method"         how files are written and read:
 *                    "serial": all blocks pass through rank 0, standard C I/O
 *                    "stdio": every rank writes its own block, standard C I/O
 *                    "mpi-independent": MPI-IO, each rank opens the file for itself
 *                    "mpi-noncollective": MPI-IO, opened by all together, written by each for itself
 *                    "mpi-collective": MPI-IO, opened and written by all together; as if not set
 *                    "staged": into memory or a disk of the node, the pool; carried to the file while the program
 *                    goes on
 *   "hints"          for MPI-IO, "striping_factor=8,cb_nodes=4"; on Lustre, striping_factor and striping_unit are
 *                    also set for the directory
 *   "pool"           a directory of the node for "staged"; not set: /dev/shm
 *   "verify"         "read-back": a file is read again before it gets its name; "written", as if not set: it is
 *                    not
 */
#ifndef FOREBAY_OPTIONS_H
#define FOREBAY_OPTIONS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct forebay_options forebay_options;

forebay_options* forebay_options_create(void); /* NULL without memory */
void forebay_options_free(forebay_options* options);

/* FOREBAY_E_INVALID where there is no such key, or the option cannot have the value; the message says which there are,
 * and what was set stays. NULL for a value: not set. set_integer does for numbers what set does for their digits. */
int forebay_options_set(forebay_options* options, const char* key, const char* value);
int forebay_options_set_integer(forebay_options* options, const char* key, int64_t value);
/* The value that an option was set to; NULL if it was not. Valid until it is set again. */
const char* forebay_options_get(const forebay_options* options, const char* key);
/* For libraries on top of these, and what open and create do first: FOREBAY_E_INVALID where something is set that is
 * not of `user`, for example "trajectory". NULL for options: nothing is. */
int forebay_options_check(const forebay_options* options, const char* user);

/* Tiers of a trajectory, fastest first. `bytes` is the most that this rank may use there; it is used in segments of
 * equal size, in which each field of a step is rounded up to 64 bytes. Memory of the process: */
int forebay_options_add_dram(forebay_options* options, uint64_t bytes);
/* A directory on tmpfs, on a file system with DAX, or on any other local file system; or a device of persistent memory
 * without one, /dev/daxX.Y, of which the trajectory takes a range of `bytes`: */
int forebay_options_add_pool(forebay_options* options, const char* directory, uint64_t bytes);
/* A directory on the shared file system; the last tier. Reached by large sequential reads and writes only: */
int forebay_options_add_shared(forebay_options* options, const char* directory, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
