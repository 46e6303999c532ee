"""libforebay_arrays.so: the types of its functions (include/forebay/arrays.h), and its errors."""

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

# Before the library: it brings the MPI that both use.
from mpi4py import MPI  # noqa: F401

from . import _library
from ._load import declare, load
from ._status import Error


class ArraysError(Error):
    """An error of arrays, the same on every rank."""


class Array(ctypes.Structure):
    """As forebay_array."""

    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("location", c_char_p),
        ("type", c_int),
        ("components", c_uint32),
        ("plan", c_void_p),
        ("data", c_void_p),
    ]


class Head(ctypes.Structure):
    """As forebay_head."""

    _fields_ = [("size", c_size_t), ("step", c_int64), ("time", c_double), ("program", c_char_p), ("mesh", c_char_p)]


class Mesh(ctypes.Structure):
    """As forebay_mesh."""

    _fields_ = [
        ("size", c_size_t),
        *((name, c_void_p) for name in ("points", "places", "cells", "types", "lengths", "vertices")),
    ]


library = load("libforebay_arrays.so.0", "FOREBAY_ARRAYS_LIBRARY")

declare(library, None, team_free=[c_void_p], plan_free=[c_void_p])
declare(
    library,
    c_int,
    team_create_f=[c_int, c_void_p, POINTER(c_void_p)],
    team_agree=[c_void_p, c_int, c_char_p],
    plan_create=[c_void_p, c_void_p, c_uint64, c_uint64, c_void_p, POINTER(c_void_p)],
    plan_create_lists=[c_void_p, c_void_p, c_uint64, c_uint64, c_void_p, POINTER(c_void_p)],
    plan_get_block=[c_void_p, POINTER(c_uint64), POINTER(c_uint64)],
    plan_move_to_block=[c_void_p, c_void_p, c_size_t, c_void_p],
    plan_move_from_block=[c_void_p, c_void_p, c_size_t, c_void_p],
    plan_number_lists=[c_void_p, c_void_p, c_void_p, POINTER(c_uint64)],
    checkpoints_open=[c_void_p, c_char_p, c_void_p, POINTER(c_void_p)],
    checkpoints_close=[c_void_p],
    checkpoints_write=[c_void_p, c_char_p, POINTER(Head), POINTER(Array), c_int],
    checkpoints_settle=[c_void_p],
    checkpoints_prepare=[c_void_p, POINTER(Array), c_int],
    checkpoints_read=[c_void_p, c_char_p, c_char_p, POINTER(Array), c_int, POINTER(Head)],
    checkpoints_describe=[c_void_p, c_char_p, POINTER(Head), POINTER(c_int), POINTER(c_int)],
    checkpoints_get_location=[c_void_p, c_int, POINTER(c_char_p), POINTER(c_uint64)],
    checkpoints_get_array=[c_void_p, c_int, POINTER(Array)],
    checkpoints_count_recovered=[c_void_p, POINTER(c_int)],
    checkpoints_get_recovered=[c_void_p, c_int, POINTER(c_char_p), POINTER(c_int)],
    mesh_output_open=[c_void_p, c_char_p, POINTER(Mesh), POINTER(c_void_p)],
    mesh_output_write=[c_void_p, POINTER(Head), POINTER(Array), c_int],
    mesh_output_settle=[c_void_p],
    mesh_output_close=[c_void_p],
)


def check(status):
    """Raises what a call returned, in the words of the library."""
    _library.check(status, ArraysError)


def sized(kind, *values):
    """A struct of the interface, which begins with its size."""
    return kind(ctypes.sizeof(kind), *values)
