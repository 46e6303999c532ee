/* The status that a call of any of the libraries returns: FOREBAY_OK or what kept it from doing what it was asked. The
 * numbers are grouped by whom to ask, and have nothing to do with the exit statuses of commands:
 *     1 ... 99      the call does not fit: what was asked is changed in the program. Nothing was done.
 *     101 ... 199   memory, file systems, devices and other processes
 *     201 ... 299   what is stored */
#ifndef FOREBAY_STATUS_H
#define FOREBAY_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum forebay_status {
  FOREBAY_OK = 0,

  FOREBAY_E_INVALID = 1,        /* an argument, an option or a number does not fit */
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

  FOREBAY_E_NO_SPACE = 101,     /* every tier is full, or a file system is; what is stored stays readable */
  FOREBAY_E_NO_MEMORY = 102,    /* the process can have no more memory */
  FOREBAY_E_BUSY = 103,         /* another process uses the store, or stages for the same directory */
  FOREBAY_E_READ_ONLY = 104,    /* it cannot be written: opened to be read, or a read-only file system */
  FOREBAY_E_IO = 105,           /* the system reported another error; the message says which, and where */
  FOREBAY_E_STAGED = 106,       /* a checkpoint is whole, but could not be carried: it stays in the pool */
  FOREBAY_E_NO_SUCH_FILE = 107, /* there is no checkpoint, file or directory of this name */
  FOREBAY_E_DENIED = 108,       /* permissions do not allow it */

  FOREBAY_E_VERSION = 201, /* written by another version of the format */
  FOREBAY_E_DAMAGED = 202  /* cut off, or it does not fit its checksums; the message says where */
} forebay_status;

/* The name of a status, for example "FOREBAY_E_NO_SPACE". */
const char* forebay_status_get_name(int status);

/* The message of this thread's last failing call, of whichever library, in one line; "" if none has failed. Valid until
 * the thread's next call of a library. */
const char* forebay_error_get_text(void);
/* Copies this message into the caller's own memory: as much as there is room for, always with a NUL at its end (`bytes`
 * 0: nothing). The result is the length of the text, without the NUL. */
size_t forebay_error_copy_text(char* buffer, size_t bytes);
/* For libraries on top of these: makes `text` the last error of this thread, and returns the status. */
int forebay_error_set(forebay_status status, const char* text);

#ifdef __cplusplus
}
#endif

#endif
