/* The trajectory: keep the state of every time step of a forward run, read it backwards at the speed of memory.
 *
 *     forebay_trajectory_options *options = forebay_trajectory_options_create();
 *     forebay_trajectory_options_add_pool(options, "/dev/shm", 4e9);            // first tier: 4 GB beside the socket
 *     forebay_trajectory_open(options, &t);
 *     forebay_trajectory_declare(t, "velocity", FOREBAY_FLOAT64, 3 * n, NULL);  // field 0
 *     for (step = 0; step < steps; ++step) {                                    // forward
 *       double *u;
 *       forebay_trajectory_begin(t, step, time, (void **)&u);                   // memory to write in place
 *       ...
 *       forebay_trajectory_commit(t);
 *     }
 *     forebay_trajectory_reverse(t, steps - 1);                                 // the adjoint begins: fetch ahead
 *     for (step = steps - 1; step >= 0; --step) {
 *       const double *u;
 *       forebay_trajectory_get(t, step, 0, (const void **)&u);                  // no copy
 *       ...
 *       forebay_trajectory_release(t, step);
 *     }
 *     forebay_trajectory_close(t);
 *
 * Every rank opens a trajectory of its own and talks to no other. A step is one integer key with a time and all fields
 * that the rank has declared; steps may come in any order and may be skipped; field sizes may differ between ranks.
 *
 * Tiers are filled in the order in which they are added. The newest states stay in the first; when it runs full the
 * oldest move on in the background, and come back before a reverse sweep asks for them.
 *
 * Unless it is to be kept, a trajectory vanishes with the process, also after a crash.
 *
 * Every function returns FOREBAY_OK or one of the codes below; forebay_last_error() then tells what happened, in words.
 * Calls for one trajectory come from one thread at a time; different trajectories do not know of each other. A forked
 * child may open its own, but every call for its parent's returns FOREBAY_E_FORKED and changes nothing; memory that it
 * has of one, it may read and must not write. The layout
 * of no structure is part of this interface, except forebay_tier_info and forebay_encoding_info, which may only grow at
 * their end. */
#ifndef FOREBAY_TRAJECTORY_H
#define FOREBAY_TRAJECTORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum forebay_status {
  FOREBAY_OK = 0,
  FOREBAY_E_INVALID = 1,        /* an argument makes no sense; nothing was changed */
  FOREBAY_E_NO_SUCH_STEP = 2,   /* the step was never committed, or was dropped */
  FOREBAY_E_NO_SUCH_FIELD = 3,  /* no field has this number or name */
  FOREBAY_E_STEP_OPEN = 4,      /* begin, put, rewind, declare ... while a step is open: commit or cancel it first */
  FOREBAY_E_NO_OPEN_STEP = 5,   /* commit or cancel without begin; so also the second commit of a step */
  FOREBAY_E_STEP_EXISTS = 6,    /* the step is stored already: drop it or rewind first */
  FOREBAY_E_FIELD_CHANGED = 7,  /* the field has another type or size than the one that is stored under its name */
  FOREBAY_E_FIELDS_FIXED = 8,   /* a new field after the first step */
  FOREBAY_E_NOT_PINNED = 9,     /* release of a step that no get has pinned */
  FOREBAY_E_PINNED = 10,        /* steps that are pinned stand in the way: release them first */
  FOREBAY_E_OUTSIDE = 11,       /* interpolation at a time that lies outside of the stored ones */
  FOREBAY_E_CLOSED_OPEN = 12,   /* closed with an open step; the step is lost, everything committed is as usual */
  FOREBAY_E_TOLERANCE = 13,     /* an accepted error that is negative, NaN, or 1 and more */
  FOREBAY_E_NO_SUCH_TIER = 14,  /* no tier has this number */
  FOREBAY_E_FORKED = 15,        /* used by a forked child: a trajectory is its opener's alone */
  FOREBAY_E_NO_SUCH_STORE = 16, /* no store is kept under this name and rank, and it had to exist */
  FOREBAY_E_STORE_EXISTS = 17,  /* a store is kept under this name and rank, and it had not to */
  FOREBAY_E_NO_SPACE = 20,      /* every tier is full; what is stored stays readable */
  FOREBAY_E_NO_MEMORY = 21,     /* the process can have no more memory */
  FOREBAY_E_BUSY = 22,          /* another process uses the store */
  FOREBAY_E_VERSION = 23,       /* the store was written by another version of the format */
  FOREBAY_E_DAMAGED = 24,       /* the store is damaged; the message says where */
  FOREBAY_E_READ_ONLY = 25,     /* a tier cannot be written: permissions, or a read-only file system */
  FOREBAY_E_IO = 26             /* the system reported an error; the message says which, and where */
} forebay_status;

/* What a field holds. Real and complex numbers of 32 or 64 bits may be stored with an accepted error and interpolated;
 * the others come back as they were. */
typedef enum forebay_type {
  FOREBAY_BYTES = 0,
  FOREBAY_FLOAT32 = 1,
  FOREBAY_FLOAT64 = 2,
  FOREBAY_INT8 = 3,
  FOREBAY_INT16 = 4,
  FOREBAY_INT32 = 5,
  FOREBAY_INT64 = 6,
  FOREBAY_UINT8 = 7,
  FOREBAY_UINT16 = 8,
  FOREBAY_UINT32 = 9,
  FOREBAY_UINT64 = 10,
  FOREBAY_COMPLEX64 = 11, /* two FLOAT32 each */
  FOREBAY_COMPLEX128 = 12,
  FOREBAY_FLOAT16 = 13,
  FOREBAY_BFLOAT16 = 14,
  FOREBAY_BOOL = 15, /* of one byte */
  FOREBAY_TYPE_LARGEST = 0x7fffffff
} forebay_type;
/* Items of so many bytes (1 to 65535) that mean something to the program alone. */
#define FOREBAY_OPAQUE(bytes) ((forebay_type)((bytes) << 8))

/* What the last failing call of this thread has to say, in one line; "" if none has failed. Valid until the thread's
 * next call of this library. */
const char* forebay_last_error(void);
/* The name of a status, for example "FOREBAY_E_NO_SPACE". */
const char* forebay_status_name(int status);

/* --- options ------------------------------------------------------------------------------------------------------ */

typedef struct forebay_trajectory_options forebay_trajectory_options;

forebay_trajectory_options* forebay_trajectory_options_create(void); /* NULL without memory */
void forebay_trajectory_options_free(forebay_trajectory_options* options);

/* A name for the store, "trajectory" without; letters, digits, '.', '_' and '-'. Trajectories that are kept in one
 * directory need different names. */
int forebay_trajectory_options_set_name(forebay_trajectory_options* options, const char* name);
/* Which part of a parallel run this is; 0 of 1 without. Parts with different numbers share directories freely. */
int forebay_trajectory_options_set_rank(forebay_trajectory_options* options, int rank, int ranks);

/* Tiers, fastest first. `bytes` is the most that this rank may use there; it is used in segments of equal size.
 * Memory of the process: */
int forebay_trajectory_options_add_dram(forebay_trajectory_options* options, uint64_t bytes);
/* A directory on tmpfs, on a file system with DAX, or on any other local file system; or a device of persistent memory
 * without one, /dev/daxX.Y, of which the trajectory takes a range of `bytes`: */
int forebay_trajectory_options_add_pool(forebay_trajectory_options* options, const char* directory, uint64_t bytes);
/* A directory on the shared file system; the last tier. Reached by large sequential reads and writes only: */
int forebay_trajectory_options_add_shared(forebay_trajectory_options* options, const char* directory, uint64_t bytes);

/* With keep = 1 the trajectory stays on disk for a later process, and open finds what an earlier one kept under this
 * name and rank. All tiers must then be directories or devices. */
int forebay_trajectory_options_set_keep(forebay_trajectory_options* options, int keep);
/* What open expects of a store that is to be kept, and what it may do with it: */
typedef enum forebay_mode {
  FOREBAY_MODE_ANY = 0,        /* the default: it is found, or begun */
  FOREBAY_MODE_CREATE = 1,     /* it is begun; FOREBAY_E_STORE_EXISTS where there is one */
  FOREBAY_MODE_MUST_EXIST = 2, /* it is found; FOREBAY_E_NO_SUCH_STORE where there is none, and nothing is made */
  FOREBAY_MODE_READ_ONLY = 3,  /* found, and read: by many at once, also on a file system that is mounted so. Tiers must
                                  be directories. What would change it returns FOREBAY_E_READ_ONLY */
  FOREBAY_MODE_PARTIAL = 4 /* the same, also where tiers are left out, or hold another store: what is whole is read */
} forebay_mode;
int forebay_trajectory_options_set_mode(forebay_trajectory_options* options, forebay_mode mode);
/* What a kept and committed step outlives: */
typedef enum forebay_survives {
  FOREBAY_SURVIVES_POWER_CUT = 0, /* as far as the medium can; the default. On a disk file system each commit syncs. */
  FOREBAY_SURVIVES_PROCESS_ONLY = 1 /* the death of the process, not that of the machine */
} forebay_survives;
int forebay_trajectory_options_set_survives(forebay_trajectory_options* options, forebay_survives what);
/* 1: XXH3-64 over every step, compared when a step is read the first time after it came to a tier, or from another
 * process; 0: none; -1, the default: on tiers that are not plain memory (dram, tmpfs). FOREBAY_E_DAMAGED tells. They
 * are made where the bytes pass anyway: by put, with the copy; by what moves a segment to such a tier; by commit only
 * in a first tier that is not plain memory. */
int forebay_trajectory_options_set_checksum(forebay_trajectory_options* options, int checksum);
/* Threads that encode beside the solver, where a field has an accepted error: -1, the default, for one a field, as far
 * as the process has cores to spare, and one at least; 0: commit encodes. In a sweep from reverse() on, one thread
 * decodes ahead; with 0, get does. */
int forebay_trajectory_options_set_encoders(forebay_trajectory_options* options, int threads);
/* 1: finds uses of memory that is no longer valid. What begin returns is then memory beside the tiers, which commit
 * copies: from then on a write is a fault of the program (SIGSEGV, at the line that writes), and from the next begin or
 * put on every byte of it is 0xfb. */
int forebay_trajectory_options_set_debug(forebay_trajectory_options* options, int debug);
/* Size of a segment; 0, the default, chooses one from the budgets and the size of a step. */
int forebay_trajectory_options_set_segment_bytes(forebay_trajectory_options* options, uint64_t bytes);

/* --- a trajectory ------------------------------------------------------------------------------------------------- */

typedef struct forebay_trajectory forebay_trajectory;

/* The options may be freed afterwards. On failure *trajectory is NULL. */
int forebay_trajectory_open(const forebay_trajectory_options* options, forebay_trajectory** trajectory);
/* Always closes and frees, whatever it returns, but in a forked child. Memory from begin and get is gone afterwards.
 * NULL is fine. */
int forebay_trajectory_close(forebay_trajectory* trajectory);

/* Fields, numbered from 0 in the order of their declaration, which must be complete before the first step. In a kept
 * trajectory that was found, declaring again is allowed and checks type and size. A count of 0 is a field that this
 * rank has nothing of: its address is never read or written. `field` may be NULL. */
int forebay_trajectory_declare(forebay_trajectory* trajectory, const char* name, forebay_type type, uint64_t count,
                               int* field);
int forebay_trajectory_field(forebay_trajectory* trajectory, const char* name, int* field);
int forebay_trajectory_field_count(forebay_trajectory* trajectory, int* fields);
/* Any of the outputs may be NULL. The name is valid until close. */
int forebay_trajectory_field_info(forebay_trajectory* trajectory, int field, const char** name, forebay_type* type,
                                  uint64_t* count);

/* The error that is accepted of a field of numbers, before the first step: of each state, the L2 norm of what reading
 * gives minus what was written, over the norm of what was written. 0, the default, keeps every bit. A state that holds
 * NaN or Inf is kept as it is. Then a codec is chosen from the first states of the run, and now and then again;
 * set_codec names one. In a kept trajectory that was found, only the error that it was kept with is taken.
 *
 * An accepted error costs memory beside the tiers' budgets: two states for each of up to three that are on their way
 * into the store; and for reading one for each state that is pinned, three that were, and one that is decoded ahead. */
int forebay_trajectory_set_accepted_error(forebay_trajectory* trajectory, int field, double error);
typedef enum forebay_codec {
  FOREBAY_CODEC_CHOSEN = -1,    /* set_codec only: the default */
  FOREBAY_CODEC_RAW = 0,        /* as it is */
  FOREBAY_CODEC_FLOAT32 = 1,    /* doubles rounded to float */
  FOREBAY_CODEC_TRUNCATION = 2, /* mantissas rounded, bits shuffled, lz4 */
  FOREBAY_CODEC_ZFP = 3,        /* zfp, fixed accuracy */
  FOREBAY_CODEC_DIFFERENCE = 4  /* rounded to a grid, difference to the step before, shuffled, zstd */
} forebay_codec;
/* The codec of a field that has an accepted error; before the first step. What it cannot do within that error is stored
 * as it is. Runs that must be equal to the last bit name one, since the choice depends on what each codec takes. */
int forebay_trajectory_set_codec(forebay_trajectory* trajectory, int field, forebay_codec codec);

typedef struct forebay_encoding_info {
  forebay_codec codec; /* of the last state; as is all below, of what was committed since open, and is stored */
  double accepted_error;
  double achieved_error; /* the largest that was measured; each state is */
  uint64_t states;
  uint64_t raw_bytes;          /* of these states, */
  uint64_t stored_bytes;       /* and what they take */
  uint64_t fallbacks;          /* states that were kept as they are, since no codec could serve */
  const char* fallback_reason; /* why, of the last of them; "" when there are none */
  uint64_t decoded_ahead;      /* states that a sweep had decoded before get asked for them */
} forebay_encoding_info;
/* How a field is stored. `bytes` is sizeof(forebay_encoding_info) as the caller knows it. */
int forebay_trajectory_encoding(forebay_trajectory* trajectory, int field, forebay_encoding_info* info, size_t bytes);

/* Opens a step: `memory` receives one address per field, aligned to 64 bytes, to be written in place. It waits when the
 * first tier is full until older states have moved on. Where a field has an accepted error, this memory does not lie in
 * a tier, and begin also waits when two states are still being encoded.
 *
 * The memory may be written until commit or cancel. It can be read, and holds what was written, until the next begin or
 * put of this trajectory, or until the step itself is dropped, moved or rewound; a multistep scheme that needs more
 * than that keeps copies, or gets the stored step. A write after commit would change the stored state: set_debug finds
 * those who do either. */
int forebay_trajectory_begin(forebay_trajectory* trajectory, int64_t step, double time, void* memory[]);
/* The open step is stored: it can be read from now on, and a crash will not lose it (see set_survives). So in a kept
 * trajectory commit waits for the codecs; else they work beside the solver. */
int forebay_trajectory_commit(forebay_trajectory* trajectory);
/* Forgets the open step. */
int forebay_trajectory_cancel(forebay_trajectory* trajectory);
/* begin, copy from one address per field, commit. */
int forebay_trajectory_put(forebay_trajectory* trajectory, int64_t step, double time, const void* const memory[]);

/* The field of a stored step, without a copy (a field with an accepted error is decoded into memory of the process); it
 * stays where it is until release, which undoes one get. */
int forebay_trajectory_get(forebay_trajectory* trajectory, int64_t step, int field, const void** memory);
int forebay_trajectory_release(forebay_trajectory* trajectory, int64_t step);

/* The field at any time between the first and the last stored one: linear between the two neighbouring steps, written
 * to `memory`. Where steps are stored with falling or equal times it is an error. */
int forebay_trajectory_interp(forebay_trajectory* trajectory, double time, int field, void* memory);

/* A sweep towards lower steps begins at `from`: states on slow tiers are fetched ahead of it, and fields with an
 * accepted error are decoded ahead, one step, until the next begin or put. Any other order remains right. */
int forebay_trajectory_reverse(forebay_trajectory* trajectory, int64_t from);

/* Forgets a step; its room is used again. */
int forebay_trajectory_drop(forebay_trajectory* trajectory, int64_t step);
/* Moves the segment in which the step lies, with all its steps, to a tier (0: the first), and returns when it is there:
 * down, to make room above for what is needed sooner, or up. It counts as any other there: the oldest may move on when
 * the tier runs full. The segment that is being written ends with it. A step that a sweep has fetched into the first
 * tier lies there already. Errors that only this call has: FOREBAY_E_NO_SUCH_TIER; FOREBAY_E_PINNED, a step of that
 * segment is pinned; FOREBAY_E_STEP_OPEN, a step is being written there; FOREBAY_E_NO_SPACE, that tier is full (nothing
 * is moved on to make room). Then everything is where it was. */
int forebay_trajectory_move(forebay_trajectory* trajectory, int64_t step, int tier);
/* Forgets all steps, for the next iteration of an optimisation; fields and warm memory stay. */
int forebay_trajectory_rewind(forebay_trajectory* trajectory);

/* How many states fit on all tiers, once the fields are declared: exactly so many, also where some were dropped in
 * between, or at least so many where a field has an accepted error (there the room of dropped states is used again when
 * all of a segment were). Budgets are filled with states; headers come on top of them, up to one segment or a
 * twentieth, and one segment for moving states together. Reading states that were carried to a tier without mapped
 * memory takes up to four segments beside the budgets. */
int forebay_trajectory_capacity(forebay_trajectory* trajectory, uint64_t* states);
/* Number of stored steps, and the one at a position (0: lowest step). Outputs may be NULL. */
int forebay_trajectory_count(forebay_trajectory* trajectory, uint64_t* steps);
int forebay_trajectory_step_at(forebay_trajectory* trajectory, uint64_t position, int64_t* step, double* time);
int forebay_trajectory_time(forebay_trajectory* trajectory, int64_t step, double* time);

/* From now on as if opened with set_keep(keep). Refused (FOREBAY_E_INVALID) while a tier is memory of the process. With
 * 0 its names are removed at once, and the rest vanishes with the process. */
int forebay_trajectory_keep(forebay_trajectory* trajectory, int keep);

/* What open found in a kept trajectory and could not take over, one line each, "" if nothing; valid until close. What
 * is whole is offered, whatever else is lost: the store is refused (FOREBAY_E_DAMAGED) only where no tier tells what
 * its segments hold, and then nothing of it is touched. */
const char* forebay_trajectory_recovery(forebay_trajectory* trajectory);

typedef struct forebay_tier_info {
  const char* medium;     /* "dram", "tmpfs", "fsdax", "devdax", "file" or "shared" */
  const char* path;       /* "" for dram; valid until close */
  uint64_t budget;        /* bytes that the rank may use */
  uint64_t segment_bytes; /* of one segment; 0 before the first step */
  uint64_t segments;      /* that may be used, */
  uint64_t prepared;      /* that exist, allocated and touched, */
  uint64_t used;          /* that hold states */
  uint64_t moved_in;      /* segments that came from the tier above */
  uint64_t fetched;       /* segments that a tier below gave back */
} forebay_tier_info;

int forebay_trajectory_tier_count(forebay_trajectory* trajectory, int* tiers);
/* `bytes` is sizeof(forebay_tier_info) as the caller knows it. */
int forebay_trajectory_tier_info(forebay_trajectory* trajectory, int tier, forebay_tier_info* info, size_t bytes);
/* Seconds that begin has waited for room, and get for states on slow tiers, since open. Outputs may be NULL. */
int forebay_trajectory_waited(forebay_trajectory* trajectory, double* begin, double* get);

#ifdef __cplusplus
}
#endif

#endif
