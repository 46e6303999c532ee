"""libforebay.so: the types of its functions (include/forebay/trajectory.h), its statuses and its errors."""

import ctypes
import enum
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

from ._load import declare, load


class Status(enum.IntEnum):
    """What a call can fail with; forebay/trajectory.h says more of each."""

    OK = 0
    INVALID = 1
    NO_SUCH_STEP = 2
    NO_SUCH_FIELD = 3
    STEP_OPEN = 4
    NO_OPEN_STEP = 5
    STEP_EXISTS = 6
    FIELD_CHANGED = 7
    FIELDS_FIXED = 8
    NOT_PINNED = 9
    PINNED = 10
    OUTSIDE = 11
    CLOSED_OPEN = 12
    TOLERANCE = 13
    NO_SUCH_TIER = 14
    FORKED = 15
    NO_SUCH_STORE = 16
    STORE_EXISTS = 17
    NO_SPACE = 20
    NO_MEMORY = 21
    BUSY = 22
    VERSION = 23
    DAMAGED = 24
    READ_ONLY = 25
    IO = 26


class TrajectoryError(Exception):
    """An error of the library, with its `status`."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class TierInfo(ctypes.Structure):
    """As forebay_tier_info."""

    _fields_ = [
        ("medium", c_char_p),
        ("path", c_char_p),
        ("budget", c_uint64),
        ("segment_bytes", c_uint64),
        ("segments", c_uint64),
        ("prepared", c_uint64),
        ("used", c_uint64),
        ("moved_in", c_uint64),
        ("fetched", c_uint64),
    ]


class EncodingInfo(ctypes.Structure):
    """As forebay_encoding_info."""

    _fields_ = [
        ("codec", c_int),
        ("accepted_error", c_double),
        ("achieved_error", c_double),
        ("states", c_uint64),
        ("raw_bytes", c_uint64),
        ("stored_bytes", c_uint64),
        ("fallbacks", c_uint64),
        ("fallback_reason", c_char_p),
        ("decoded_ahead", c_uint64),
    ]


library = load("libforebay.so.0", "FOREBAY_LIBRARY")

declare(library, c_char_p, last_error=[], status_name=[c_int], trajectory_recovery=[c_void_p])
declare(library, c_void_p, trajectory_options_create=[])
declare(library, None, trajectory_options_free=[c_void_p])
declare(
    library,
    c_int,
    trajectory_options_set_name=[c_void_p, c_char_p],
    trajectory_options_set_rank=[c_void_p, c_int, c_int],
    trajectory_options_add_dram=[c_void_p, c_uint64],
    trajectory_options_add_pool=[c_void_p, c_char_p, c_uint64],
    trajectory_options_add_shared=[c_void_p, c_char_p, c_uint64],
    trajectory_options_set_keep=[c_void_p, c_int],
    trajectory_options_set_mode=[c_void_p, c_int],
    trajectory_options_set_survives=[c_void_p, c_int],
    trajectory_options_set_checksum=[c_void_p, c_int],
    trajectory_options_set_encoders=[c_void_p, c_int],
    trajectory_options_set_debug=[c_void_p, c_int],
    trajectory_options_set_segment_bytes=[c_void_p, c_uint64],
    trajectory_open=[c_void_p, POINTER(c_void_p)],
    trajectory_close=[c_void_p],
    trajectory_declare=[c_void_p, c_char_p, c_int, c_uint64, POINTER(c_int)],
    trajectory_field=[c_void_p, c_char_p, POINTER(c_int)],
    trajectory_field_count=[c_void_p, POINTER(c_int)],
    trajectory_field_info=[c_void_p, c_int, POINTER(c_char_p), POINTER(c_int), POINTER(c_uint64)],
    trajectory_set_accepted_error=[c_void_p, c_int, c_double],
    trajectory_set_codec=[c_void_p, c_int, c_int],
    trajectory_encoding=[c_void_p, c_int, POINTER(EncodingInfo), c_size_t],
    trajectory_begin=[c_void_p, c_int64, c_double, POINTER(c_void_p)],
    trajectory_commit=[c_void_p],
    trajectory_cancel=[c_void_p],
    trajectory_put=[c_void_p, c_int64, c_double, POINTER(c_void_p)],
    trajectory_get=[c_void_p, c_int64, c_int, POINTER(c_void_p)],
    trajectory_release=[c_void_p, c_int64],
    trajectory_interp=[c_void_p, c_double, c_int, c_void_p],
    trajectory_reverse=[c_void_p, c_int64],
    trajectory_drop=[c_void_p, c_int64],
    trajectory_move=[c_void_p, c_int64, c_int],
    trajectory_rewind=[c_void_p],
    trajectory_capacity=[c_void_p, POINTER(c_uint64)],
    trajectory_count=[c_void_p, POINTER(c_uint64)],
    trajectory_step_at=[c_void_p, c_uint64, POINTER(c_int64), POINTER(c_double)],
    trajectory_time=[c_void_p, c_int64, POINTER(c_double)],
    trajectory_keep=[c_void_p, c_int],
    trajectory_tier_count=[c_void_p, POINTER(c_int)],
    trajectory_tier_info=[c_void_p, c_int, POINTER(TierInfo), c_size_t],
    trajectory_waited=[c_void_p, POINTER(c_double), POINTER(c_double)],
)


def check(status):
    """Raises what a call returned, in the words of the library."""
    if status == Status.OK:
        return
    known = status in Status._value2member_map_
    words = library.forebay_last_error().decode(errors="replace")
    if status == Status.PINNED:
        words += " (in Python: let go of the arrays that show them)"
    raise TrajectoryError(Status(status) if known else status, words)
