/* The trajectory: keep the state of every time step of a forward run, read it backwards at the speed of memory.
 *
 *     forebay_options *options = forebay_options_create();
 *     forebay_options_add_pool(options, "/dev/shm", 4000000000);                // first tier: 4 GB beside the socket
 *     forebay_trajectory_open(options, &t);
 *     forebay_trajectory_declare(t, "velocity", FOREBAY_FLOAT64, 3 * n, NULL);  // field 0
 *     for (step = 0; step < steps; ++step) {                                    // forward
 *       void *memory[1];                                                        // one address for each field
 *       forebay_trajectory_begin(t, step, time, memory, 1);                     // to be written in place:
 *       double *u = memory[0];
 *       ...
 *       forebay_trajectory_commit(t);
 *     }
 *     forebay_trajectory_reverse(t, steps - 1);                                 // the adjoint begins: fetch ahead
 *     for (step = steps - 1; step >= 0; --step) {
 *       const void *stored;
 *       forebay_trajectory_get(t, step, 0, &stored);                            // no copy
 *       const double *u = stored;
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
 * Every function returns FOREBAY_OK or another status (forebay/status.h); forebay_error_get_text() then tells what
 * happened, in words. Calls for one trajectory come from one thread at a time; different trajectories do not know of
 * each other. A forked child may open its own, but every call for its parent's returns FOREBAY_E_FORKED and changes
 * nothing; memory that it has of one, it may read and must not write. Structs begin with their size, which the program
 * sets to sizeof; they may only grow at their end. */
#ifndef FOREBAY_TRAJECTORY_H
#define FOREBAY_TRAJECTORY_H

#include <forebay/options.h>
#include <forebay/status.h>
#include <forebay/types.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct forebay_trajectory forebay_trajectory;

/* The options may be freed afterwards. On failure *trajectory is NULL. */
int forebay_trajectory_open(const forebay_options* options, forebay_trajectory** trajectory);
/* Always closes and frees, whatever it returns, but in a forked child. Memory from begin and get is gone afterwards.
 * NULL is fine. */
int forebay_trajectory_close(forebay_trajectory* trajectory);

/* Fields, numbered from 0 in the order of their declaration, which must be complete before the first step. In a kept
 * trajectory that was found, declaring again is allowed and checks type and size. A count of 0 is a field that this
 * rank has nothing of: its address is never read or written. `field` may be NULL. */
int forebay_trajectory_declare(forebay_trajectory* trajectory, const char* name, forebay_type type, uint64_t count,
                               int* field);
int forebay_trajectory_find_field(forebay_trajectory* trajectory, const char* name, int* field);
int forebay_trajectory_count_fields(forebay_trajectory* trajectory, int* fields);
/* Any of the outputs may be NULL. The name is valid until close. */
int forebay_trajectory_get_field(forebay_trajectory* trajectory, int field, const char** name, forebay_type* type,
                                 uint64_t* count);

/* The extents of a field, of which the last one runs fastest (Fortran's from the last to the first); their product is
 * its count. Before the first step; without, a field is a list. The store keeps them: in one that was found, another
 * shape of several extents is FOREBAY_E_FIELD_CHANGED, and as a list it may be read in any case. */
#define FOREBAY_MOST_EXTENTS 8
int forebay_trajectory_set_shape(forebay_trajectory* trajectory, int field, int dimensions, const uint64_t extents[]);
/* Any of the outputs may be NULL; extents have room for FOREBAY_MOST_EXTENTS. */
int forebay_trajectory_get_shape(forebay_trajectory* trajectory, int field, int* dimensions, uint64_t extents[]);

/* The error that is accepted of a field of numbers, before the first step: of each state, the L2 norm of what reading
 * gives minus what was written, over the norm of what was written. 0, the default, keeps every bit. A state that holds
 * NaN or Inf is kept as it is. Then a codec is chosen from the first states of the run, and now and then
 * again, unless set_codec names one. In a kept trajectory that was found, only the error that it was kept with is
 * taken.
 *
 * An accepted error costs memory beside the tiers' budgets: two states for each of up to three that are on their way
 * into the store; and for reading one for each state that is pinned, three that were, and one that is decoded ahead. */
int forebay_trajectory_set_accepted_error(forebay_trajectory* trajectory, int field, double error);
typedef enum forebay_codec {
  FOREBAY_CODEC_RAW = 0,        /* as it is */
  FOREBAY_CODEC_FLOAT32 = 1,    /* doubles rounded to float */
  FOREBAY_CODEC_TRUNCATION = 2, /* mantissas rounded, bits shuffled, lz4 */
  FOREBAY_CODEC_ZFP = 3,        /* zfp, fixed accuracy */
  FOREBAY_CODEC_DIFFERENCE = 4  /* rounded to a grid, difference to the step before, shuffled, zstd */
} forebay_codec;
/* The codec of a field that has an accepted error; before the first step. Values that it cannot encode within that
 * error are stored as they are. Runs that must be equal to the last bit name one, since the choice depends on what each
 * codec takes. */
int forebay_trajectory_set_codec(forebay_trajectory* trajectory, int field, forebay_codec codec);

typedef struct forebay_encoding_info {
  size_t size;         /* sizeof(forebay_encoding_info) */
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
/* The way in which a field is stored. */
int forebay_trajectory_describe_encoding(forebay_trajectory* trajectory, int field, forebay_encoding_info* info);

/* Opens a step: `memory` receives one address per field, aligned to 64 bytes, to be written in place. `fields` is how
 * many the program has room for: another number than were declared is FOREBAY_E_INVALID. It waits when the
 * first tier is full until older states have moved on. Where a field has an accepted error, this memory does not lie in
 * a tier, and begin also waits when two states are still being encoded.
 *
 * The memory may be written until commit or cancel. It can be read, and holds what was written, until the next begin or
 * put of this trajectory, or until the step itself is dropped, moved or rewound. A multistep scheme that needs more
 * than that keeps copies, or gets the stored step. A write after commit would change the stored state: the option
 * "debug" finds those who do either. */
int forebay_trajectory_begin(forebay_trajectory* trajectory, int64_t step, double time, void* memory[], int fields);
/* The open step is stored: it can be read from now on, and a crash will not lose it (see the option "survives"). So in
 * a kept trajectory commit waits for the codecs; else they work beside the solver. */
int forebay_trajectory_commit(forebay_trajectory* trajectory);
/* Forgets the open step. */
int forebay_trajectory_cancel(forebay_trajectory* trajectory);
/* begin, copy from one address per field, commit. */
int forebay_trajectory_put(forebay_trajectory* trajectory, int64_t step, double time, const void* const memory[],
                           int fields);

/* The field of a stored step, without a copy (a field with an accepted error is decoded into memory of the process); it
 * stays where it is until release, which undoes one get. */
int forebay_trajectory_get(forebay_trajectory* trajectory, int64_t step, int field, const void** memory);
int forebay_trajectory_release(forebay_trajectory* trajectory, int64_t step);

/* The field at any time between the first and the last stored one: linear between the two neighbouring steps, written
 * to `memory`. Where steps are stored with falling or equal times it is an error. */
int forebay_trajectory_interpolate(forebay_trajectory* trajectory, double time, int field, void* memory);

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

/* The number of states that fit on all tiers, once the fields are declared: exactly so many, also where some were
 * dropped in between. Where a field has an accepted error, at least so many fit: there the room of dropped states is
 * used again when all of a segment were. Budgets are filled with states; headers come on top of them, up to one segment
 * or a twentieth, and one segment for moving states together. Reading states that were carried to a tier without mapped
 * memory takes up to four segments beside the budgets. */
int forebay_trajectory_get_capacity(forebay_trajectory* trajectory, uint64_t* states);
/* Number of stored steps, and the one at a position (0: lowest step). Outputs may be NULL. */
int forebay_trajectory_count_steps(forebay_trajectory* trajectory, uint64_t* steps);
int forebay_trajectory_get_step(forebay_trajectory* trajectory, uint64_t position, int64_t* step, double* time);
int forebay_trajectory_get_time(forebay_trajectory* trajectory, int64_t step, double* time);

/* From now on as if opened with the option "keep" on (1) or off (0). Refused (FOREBAY_E_INVALID) while a tier is memory
 * of the process. A process that dies before this has returned may have kept nothing. With 0 its names are removed at
 * once, and the rest vanishes with the process. */
int forebay_trajectory_keep(forebay_trajectory* trajectory, int keep);

/* The parts of a kept trajectory that open found and could not take over, one line each, "" if none; valid until close.
 * Whole states are offered, whatever else is lost: the store is refused (FOREBAY_E_DAMAGED) only where no tier tells
 * what its segments hold, and then nothing of it is touched. */
const char* forebay_trajectory_get_recovery(forebay_trajectory* trajectory);

/* The same in the caller's own memory, as forebay_error_copy_text does it; `length` may be NULL. */
int forebay_trajectory_copy_recovery(forebay_trajectory* trajectory, char* buffer, size_t bytes, size_t* length);

typedef struct forebay_tier_info {
  size_t size;            /* sizeof(forebay_tier_info) */
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

int forebay_trajectory_count_tiers(forebay_trajectory* trajectory, int* tiers);
int forebay_trajectory_describe_tier(forebay_trajectory* trajectory, int tier, forebay_tier_info* info);
/* Seconds that begin has waited for room, and get for states on slow tiers, since open. Outputs may be NULL. */
int forebay_trajectory_get_waited(forebay_trajectory* trajectory, double* begin, double* get);

#ifdef __cplusplus
}
#endif

#endif
