"""libforebay.so: the types of its functions (include/forebay/trajectory.h, options.h), and its errors."""

import ctypes
import operator
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

import numpy as np

from ._load import declare, load
from ._status import Error, Status
from ._version import __version__


class TrajectoryError(Error):
    """An error of a trajectory or a schedule."""


class TierInfo(ctypes.Structure):
    """As forebay_tier_info."""

    _fields_ = [
        ("size", c_size_t),
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
        ("size", c_size_t),
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

declare(library, c_char_p, version=[], error_get_text=[], status_get_name=[c_int], trajectory_get_recovery=[c_void_p])
declare(library, c_void_p, options_create=[])
declare(library, None, options_free=[c_void_p])
declare(
    library,
    c_int,
    options_set=[c_void_p, c_char_p, c_char_p],
    options_add_dram=[c_void_p, c_uint64],
    options_add_pool=[c_void_p, c_char_p, c_uint64],
    options_add_shared=[c_void_p, c_char_p, c_uint64],
    trajectory_open=[c_void_p, POINTER(c_void_p)],
    trajectory_close=[c_void_p],
    trajectory_declare=[c_void_p, c_char_p, c_int, c_uint64, POINTER(c_int)],
    trajectory_count_fields=[c_void_p, POINTER(c_int)],
    trajectory_get_field=[c_void_p, c_int, POINTER(c_char_p), POINTER(c_int), POINTER(c_uint64)],
    trajectory_set_accepted_error=[c_void_p, c_int, c_double],
    trajectory_set_codec=[c_void_p, c_int, c_int],
    trajectory_describe_encoding=[c_void_p, c_int, POINTER(EncodingInfo)],
    trajectory_begin=[c_void_p, c_int64, c_double, POINTER(c_void_p)],
    trajectory_commit=[c_void_p],
    trajectory_cancel=[c_void_p],
    trajectory_put=[c_void_p, c_int64, c_double, POINTER(c_void_p)],
    trajectory_get=[c_void_p, c_int64, c_int, POINTER(c_void_p)],
    trajectory_release=[c_void_p, c_int64],
    trajectory_interpolate=[c_void_p, c_double, c_int, c_void_p],
    trajectory_reverse=[c_void_p, c_int64],
    trajectory_drop=[c_void_p, c_int64],
    trajectory_move=[c_void_p, c_int64, c_int],
    trajectory_rewind=[c_void_p],
    trajectory_get_capacity=[c_void_p, POINTER(c_uint64)],
    trajectory_count_steps=[c_void_p, POINTER(c_uint64)],
    trajectory_get_step=[c_void_p, c_uint64, POINTER(c_int64), POINTER(c_double)],
    trajectory_get_time=[c_void_p, c_int64, POINTER(c_double)],
    trajectory_keep=[c_void_p, c_int],
    trajectory_count_tiers=[c_void_p, POINTER(c_int)],
    trajectory_describe_tier=[c_void_p, c_int, POINTER(TierInfo)],
    trajectory_get_waited=[c_void_p, POINTER(c_double), POINTER(c_double)],
)
_found = library.forebay_version().decode()
if _found.split(".")[:2] != __version__.split(".")[:2]:
    raise ImportError(f"the Python package is forebay {__version__}, the library that was found {_found}")


def check(status, kind=TrajectoryError):
    """Raises what a call of a library returned, in its words."""
    if status == Status.OK:
        return
    words = library.forebay_error_get_text().decode(errors="replace")
    if status == Status.PINNED:
        words += " (in Python: let go of the arrays that show them)"
    raise kind(status, words)


def whole(what, value, kind=TrajectoryError):
    """A number that is whole, also where it is written 4e9."""
    if not isinstance(value, float | np.floating):
        return operator.index(value)
    if not value.is_integer():
        raise kind(Status.INVALID, f"{what} cannot be {value}: a whole number is wanted")
    return int(value)


class Options:
    """The options of the C interface; for a `with` block. What is None is not set."""

    def __init__(self, kind=TrajectoryError, **values):
        self._kind = kind
        self.pointer = library.forebay_options_create()
        if not self.pointer:
            raise MemoryError
        try:
            for key, value in values.items():
                self.set(key.replace("_", "-"), value)
        except BaseException:
            self.__exit__()
            raise

    def set(self, key, value):
        if value is None:
            return
        if isinstance(value, bool | np.bool_):
            value = "on" if value else "off"
        if not isinstance(value, str | os.PathLike):
            value = str(whole(f"the option {key}", value, self._kind))
        check(library.forebay_options_set(self.pointer, key.encode(), os.fsencode(value)), self._kind)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        library.forebay_options_free(self.pointer)
