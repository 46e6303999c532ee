"""libforebay_blocks.so: the types of its functions (include/forebay/blocks.h), its statuses and its errors."""

import ctypes
import enum
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

# Before the library: it brings the MPI that both use.
from mpi4py import MPI  # noqa: F401

from ._load import declare, load


class Status(enum.IntEnum):
    """What a call can fail with; forebay/blocks.h says more of each."""

    OK = 0
    FAILED = 1
    INVALID = 2
    STAGED = 3
    DAMAGED = 4
    VERSION = 5
    BUSY = 7


class BlocksError(Exception):
    """An error of the library, the same on every rank, with its `status`."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class PlanRequest(ctypes.Structure):
    """As forebay_plan_request."""

    _fields_ = [("least_bytes", c_uint64), ("rank_step", c_int), ("most_blocks", c_int), ("shared", c_int)]


class Array(ctypes.Structure):
    """As forebay_array."""

    _fields_ = [
        ("name", c_char_p),
        ("location", c_char_p),
        ("type", c_int),
        ("components", c_uint32),
        ("plan", c_void_p),
        ("data", c_void_p),
    ]


class Head(ctypes.Structure):
    """As forebay_head."""

    _fields_ = [("step", c_int64), ("time", c_double), ("program", c_char_p), ("mesh", c_char_p)]


class Mesh(ctypes.Structure):
    """As forebay_mesh."""

    _fields_ = [(name, c_void_p) for name in ("points", "places", "cells", "types", "lengths", "vertices")]


library = load("libforebay_blocks.so.0", "FOREBAY_BLOCKS_LIBRARY")

declare(library, c_char_p, blocks_last_error=[], blocks_status_name=[c_int])
declare(library, None, team_free=[c_void_p], plan_free=[c_void_p])
declare(
    library,
    c_int,
    team_create_f=[c_int, c_int, POINTER(c_void_p)],
    team_agree=[c_void_p, c_int, c_char_p],
    plan_create=[c_void_p, c_void_p, c_uint64, c_uint64, POINTER(PlanRequest), POINTER(c_void_p)],
    plan_create_lists=[c_void_p, c_void_p, c_uint64, c_uint64, POINTER(PlanRequest), POINTER(c_void_p)],
    plan_block=[c_void_p, POINTER(c_uint64), POINTER(c_uint64)],
    plan_to_block=[c_void_p, c_void_p, c_size_t, c_void_p],
    plan_from_block=[c_void_p, c_void_p, c_size_t, c_void_p],
    plan_number_lists=[c_void_p, c_void_p, c_void_p, POINTER(c_uint64)],
    checkpoints_open=[c_void_p, c_char_p, c_char_p, c_char_p, c_char_p, POINTER(c_void_p)],
    checkpoints_close=[c_void_p],
    checkpoints_write=[c_void_p, c_char_p, POINTER(Head), POINTER(Array), c_int],
    checkpoints_settle=[c_void_p],
    checkpoints_prepare=[c_void_p, POINTER(Array), c_int],
    checkpoints_read=[c_void_p, c_char_p, c_char_p, POINTER(Array), c_int, POINTER(Head)],
    checkpoints_describe=[c_void_p, c_char_p, POINTER(Head), POINTER(c_int), POINTER(c_int)],
    checkpoints_location=[c_void_p, c_int, POINTER(c_char_p), POINTER(c_uint64)],
    checkpoints_array=[c_void_p, c_int, POINTER(Array)],
    checkpoints_recovered=[c_void_p, POINTER(c_int)],
    checkpoints_recovered_at=[c_void_p, c_int, POINTER(c_char_p), POINTER(c_int)],
    mesh_output_open=[c_void_p, c_char_p, POINTER(Mesh), POINTER(c_void_p)],
    mesh_output_write=[c_void_p, POINTER(Head), POINTER(Array), c_int],
    mesh_output_settle=[c_void_p],
    mesh_output_close=[c_void_p],
)


def check(status):
    """Raises what a call returned, in the words of the library."""
    if status == Status.OK:
        return
    known = status in Status._value2member_map_
    words = library.forebay_blocks_last_error().decode(errors="replace")
    raise BlocksError(Status(status) if known else status, words)
