"""Arrays whose items are scattered over the ranks of an MPI program, in one file that any number of ranks reads.

    with forebay.arrays.Team() as team:                    # MPI.COMM_WORLD
        cells = team.plan(number, all_cells)               # number[i]: the global number of cell i
        store = team.checkpoints("checkpoints")
        arrays = [("velocity", "cells", cells, u), ("pressure", "cells", cells, p)]     # u: (n, 3), p: (n,)
        store.write("restart.h5", arrays, step=step, time=time, mesh="cavity")
        ...
        head = store.read("restart.h5", arrays, mesh="cavity")                          # of the next program

This module needs mpi4py, built with the same MPI as the library. All ranks of the team make every call together and in
the same order, and an error is that of all of them. Plans and checkpoints end with their team, if not before. The
header forebay/arrays.h says what each call promises."""

import contextlib
import ctypes
import os
import typing

import numpy as np
from mpi4py import MPI

from . import _declarations as c
from ._arrays_library import ArraysError, check, library
from ._library import Options
from ._status import Status
from ._values import from_text
from ._words import plural

__all__ = [
    "Array",
    "ArraysError",
    "Checkpoints",
    "Description",
    "Head",
    "MeshOutput",
    "Plan",
    "Recovered",
    "Status",
    "Team",
]

# The types that files of arrays have, with the numbers of forebay_type.
_NUMBERS = {"u1": 7, "i4": 5, "i8": 6, "u8": 10, "f4": 1, "f8": 2}
_TYPES = {number: np.dtype(name) for name, number in _NUMBERS.items()}


class Array(typing.NamedTuple):
    """An array of a checkpoint; a tuple serves as well. `values` is C-contiguous, one row for each item, and what
    reading fills."""

    name: str
    location: str
    plan: "Plan"
    values: np.ndarray


class Head(typing.NamedTuple):
    """The state that a checkpoint is of."""

    step: int
    time: float
    program: str
    mesh: str


class Description(typing.NamedTuple):
    """The content of a file: how many items on each location; location, name, type and components of each array."""

    head: Head
    locations: dict
    arrays: list


class Recovered(typing.NamedTuple):
    """A checkpoint that an earlier program had staged: whether its file is whole now, or a node has lost its part."""

    path: str
    carried: bool


class _Handle:
    """A handle of the library. It ends when it is closed, never by itself: all ranks do that together."""

    def __init__(self, owner, free, call, create, *arguments):
        pointer = ctypes.c_void_p()
        call(create, *arguments, ctypes.byref(pointer))
        self._pointer = pointer.value
        self._free = free
        self._owned = []
        if owner is not None:
            owner._owned.append(self)

    @property
    def pointer(self):
        if self._pointer is None:
            raise ArraysError(Status.INVALID, f"the {type(self).__name__} is closed")
        return self._pointer

    def close(self):
        """Ends its own handles first, the youngest before the others. All of it ends, whatever fails."""
        pointer, self._pointer = self._pointer, None
        with contextlib.ExitStack() as ends:
            if pointer is not None:
                ends.callback(lambda: check(self._free(pointer) or Status.OK))
            for owned in self._owned:
                ends.callback(owned.close)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        # An exception of one rank alone must not wait here for the others.
        if kind is None or issubclass(kind, ArraysError):
            self.close()


class Team(_Handle):
    """The ranks of a communicator, MPI.COMM_WORLD if none is given. `most_per_node` cuts those that share memory into
    groups."""

    def __init__(self, communicator=None, most_per_node=None):
        communicator = MPI.COMM_WORLD if communicator is None else communicator
        options, failure = None, None
        try:
            options = Options(ArraysError, most_per_node=most_per_node)
        except Exception as raised:  # there is no team yet that could agree about it
            failure = f"{raised}"
        for told in communicator.allgather(failure):
            if told is not None:
                raise ArraysError(Status.INVALID, told)

        def call(create, *arguments):
            check(create(*arguments))

        with options:
            create, free = library.forebay_team_create_f, library.forebay_team_free
            super().__init__(None, free, call, create, communicator.py2f(), options.pointer)

    def plan(self, numbers, items, **request):
        """The way of items to blocks: `numbers` are the global numbers, from 1 on, of this rank's items, and `items` how
        many there are in all. With shared=True several ranks may have an item: the lowest of them writes it, all read
        it. Other options: least_bytes, rank_step, most_blocks; see forebay/options.h."""
        numbers = self._agreed(lambda: _integers("numbers", numbers, 1))
        return Plan(self, library.forebay_plan_create, numbers, len(numbers), items, request)

    def plan_of_lists(self, ranges, values, **request):
        """The plan of the values of this rank's lists: `ranges` is what Plan.number_lists gave, or what was read from a
        file, and `values` how many there are in all."""
        ranges = self._agreed(lambda: _integers("ranges", ranges, 2))
        local = int((ranges[:, 1] - ranges[:, 0]).sum())
        return Plan(self, library.forebay_plan_create_lists, ranges, local, values, request)

    def checkpoints(self, directory, method=None, hints=None, pool=None, verify=None):
        """The checkpoints of a directory; `method` is one of forebay/options.h, `hints` a dictionary for MPI-IO, `pool` a
        directory of the node for "staged", `verify` "read-back" where files are read again before they get their names."""
        return Checkpoints(self, directory, method, hints, pool, verify)

    def _agreed(self, look):
        """The result of `look`, unless it raises on any rank: that is then the error of all."""
        found, failure = None, None
        try:
            found = look()
        except Exception as raised:  # whatever it is, the others wait
            failure = raised
        status = Status.OK if failure is None else Status.INVALID
        words = str(failure).replace("\0", "\\0")
        check(library.forebay_team_agree(self.pointer, status, words))
        return found

    def _call(self, function, *arguments):
        """A call that all ranks make together: what one of them cannot pass on is the error of all."""
        check(function.raw(*self._agreed(lambda: function.ready(*arguments))))


def _integers(what, values, rank):
    given = np.asarray(values)
    if given.size > 0 and given.dtype.kind not in "iu":
        raise TypeError(f"{what} are not integers but {given.dtype}")
    if given.size > 0 and int(given.max()) > np.iinfo(np.int64).max:
        raise ValueError(f"{what} go to {given.max()}, and the largest that there can be is {np.iinfo(np.int64).max}")
    array = np.ascontiguousarray(given, dtype=np.int64)
    if array.ndim != rank or (rank == 2 and array.shape[1] != 2):
        raise ValueError(f"{what} have the shape {array.shape}")
    return array


class Plan(_Handle):
    """Team.plan() and Team.plan_of_lists() make it; it serves any number of arrays."""

    def __init__(self, team, create, numbers, local, items, request):
        self.team = team
        self.local = local
        with team._agreed(lambda: Options(ArraysError, **request)) as options:
            given = team.pointer, numbers.ctypes.data, len(numbers), items, options.pointer
            super().__init__(team, library.forebay_plan_free, team._call, create, *given)

    @property
    def block(self):
        """The global numbers of this rank's block."""
        first, count = ctypes.c_uint64(), ctypes.c_uint64()
        check(library.forebay_plan_get_block(self.pointer, ctypes.byref(first), ctypes.byref(count)))
        return range(first.value, first.value + count.value)

    def to_block(self, values):
        """The items of this rank's block, in the order of their global numbers."""
        return self._moved(library.forebay_plan_move_to_block, values, self.local, len(self.block))

    def from_block(self, block):
        """The items of this rank, from the blocks of all ranks."""
        return self._moved(library.forebay_plan_move_from_block, block, len(self.block), self.local)

    def _moved(self, move, values, count, count_after):
        def look():
            array = np.ascontiguousarray(values)
            if array.ndim == 0 or len(array) != count:
                raise ValueError(
                    f"as many as {plural(count, 'item')} must be given, not an array of the shape {array.shape}"
                )
            return array

        array = self.team._agreed(look)
        moved = np.empty((count_after, *array.shape[1:]), array.dtype)
        item_bytes = array.itemsize * int(np.prod(array.shape[1:]))
        check(move(self.pointer, array.ctypes.data, item_bytes, moved.ctypes.data))
        return moved

    def number_lists(self, lengths):
        """Lists of different lengths, one for each item, behind each other in the order of the items: the ranges of
        their values, an array (n, 2), counted from 0; and how many values there are in all."""

        def look():
            array = _integers("lengths", lengths, 1)
            if len(array) != self.local:
                raise ValueError(f"{plural(len(array), 'length')} for {plural(self.local, 'item')}")
            return array

        array = self.team._agreed(look)
        ranges, values = np.empty((self.local, 2), np.int64), ctypes.c_uint64()
        into = ranges.ctypes.data_as(ctypes.POINTER(ctypes.c_uint64))
        check(library.forebay_plan_number_lists(self.pointer, array.ctypes.data, into, ctypes.byref(values)))
        return ranges, values.value


class Checkpoints(_Handle):
    """Team.checkpoints() makes it."""

    def __init__(self, team, directory, method, hints, pool, verify):
        self.team = team

        def look():
            words = ",".join(f"{name}={value}" for name, value in hints.items()) if hints else None
            return Options(ArraysError, method=method, hints=words, pool=pool, verify=verify)

        create = library.forebay_checkpoints_open
        with team._agreed(look) as options:
            given = team.pointer, directory, options.pointer
            super().__init__(team, library.forebay_checkpoints_close, team._call, create, *given)

    def write(self, name, arrays, *, step, time, program="", mesh=""):
        """The file appears whole or not at all; staged, at the latest when settle() returns. The arrays may be changed
        as soon as this returns."""
        head = self.team._agreed(lambda: library.struct(c.Head, step, time, program, mesh))
        table = _table(self.team, arrays)
        write = library.forebay_checkpoints_write
        self.team._call(write, self.pointer, name, ctypes.byref(head), table, len(table))

    def settle(self):
        """Staged: waits until everything is carried."""
        check(library.forebay_checkpoints_settle(self.pointer))

    def prepare(self, arrays):
        """Staged: takes the room for two such checkpoints ahead of the first."""
        table = _table(self.team, arrays)
        check(library.forebay_checkpoints_prepare(self.pointer, table, len(table)))

    def mesh_output(self, name, *, points, places, cells, types, lengths, vertices):
        """Steps of a mesh with fields in the same directory, for ParaView: NAME-000012.vtkhdf of step 12, ..., listed in
        NAME.vtkhdf.series. `points` and `cells` are plans, `places` an array (n, 3) of float64, which is read by every
        write where it lies. Of each cell `types` has VTK's number of its shape, `lengths` how many vertices it has;
        `vertices` their global numbers, from 1 on, cell after cell, each in VTK's order. See forebay_mesh."""
        return MeshOutput(self, name, points, places, cells, types, lengths, vertices)

    def read(self, name, arrays, *, mesh=""):
        """Fills the arrays, and tells what the checkpoint is of."""
        head = library.struct(c.Head)
        table = _table(self.team, arrays, to_fill=True)
        read = library.forebay_checkpoints_read
        self.team._call(read, self.pointer, name, mesh, table, len(table), ctypes.byref(head))
        return _head(head)

    def describe(self, name):
        """The content of a file."""
        head, locations, arrays = library.struct(c.Head), ctypes.c_int(), ctypes.c_int()
        outputs = [ctypes.byref(each) for each in (head, locations, arrays)]
        self.team._call(library.forebay_checkpoints_describe, self.pointer, name, *outputs)
        places = (self._location(place) for place in range(locations.value))
        return Description(_head(head), dict(places), [self._array(place) for place in range(arrays.value)])

    @property
    def recovered(self):
        """The checkpoints that an earlier program had staged, and what became of them."""
        count, path, carried = ctypes.c_int(), ctypes.c_char_p(), ctypes.c_int()
        check(library.forebay_checkpoints_count_recovered(self.pointer, ctypes.byref(count)))
        found = []
        for place in range(count.value):
            tell = library.forebay_checkpoints_get_recovered
            check(tell(self.pointer, place, ctypes.byref(path), ctypes.byref(carried)))
            found.append(Recovered(os.fsdecode(path.value), carried.value == 1))
        return found

    def _location(self, place):
        name, items = ctypes.c_char_p(), ctypes.c_uint64()
        check(library.forebay_checkpoints_get_location(self.pointer, place, ctypes.byref(name), ctypes.byref(items)))
        return from_text(name.value), items.value

    def _array(self, place):
        array = library.struct(c.Array)
        check(library.forebay_checkpoints_get_array(self.pointer, place, ctypes.byref(array)))
        return from_text(array.location), from_text(array.name), _TYPES[array.type], array.components


class MeshOutput(_Handle):
    """Checkpoints.mesh_output() makes it."""

    def __init__(self, store, name, points, places, cells, types, lengths, vertices):
        self.team = store.team
        # The library uses these at every step.
        self._plans = points, cells
        self._places = places

        def look():
            if not isinstance(places, np.ndarray) or places.dtype != np.float64 or not places.flags.c_contiguous:
                raise TypeError("places must be a C-contiguous numpy array of float64")
            if places.shape != (points.local, 3):
                raise ValueError(f"places have the shape {places.shape}, where the plan wants {(points.local, 3)}")
            of_cells = [
                _integers(*each, 1) for each in (("types", types), ("lengths", lengths), ("vertices", vertices))
            ]
            counts = [len(each) for each in of_cells]
            if counts != [cells.local, cells.local, of_cells[1].sum()]:
                raise ValueError(
                    f"types, lengths and vertices, {counts} of them, do not fit {plural(cells.local, 'cell')}, or each other"
                )
            if ((of_cells[0] < 0) | (of_cells[0] > 255)).any():
                raise ValueError("types of cells are numbers of VTK, 0 .. 255")
            of_cells[0] = of_cells[0].astype(np.uint8)
            return of_cells

        arrays = self.team._agreed(look)
        addresses = [array.ctypes.data for array in arrays]
        mesh = library.struct(c.Mesh, points.pointer, places.ctypes.data, cells.pointer, *addresses)
        create, free = library.forebay_mesh_output_open, library.forebay_mesh_output_close
        super().__init__(store, free, self.team._call, create, store.pointer, name, ctypes.byref(mesh))

    def write(self, arrays, *, step, time, program="", mesh=""):
        """The mesh with fields, a table of arrays on "points" and "cells": of the shape (n, 3) for a vector, (n,) for a
        scalar. The places of points are those of now."""
        if None in (plan._pointer for plan in self._plans):
            raise ArraysError(Status.INVALID, "a plan of the mesh is closed")
        head = self.team._agreed(lambda: library.struct(c.Head, step, time, program, mesh))
        table = _table(self.team, arrays)
        check(library.forebay_mesh_output_write(self.pointer, ctypes.byref(head), table, len(table)))

    def settle(self):
        """Staged: waits until everything is carried, and then names it in the list."""
        check(library.forebay_mesh_output_settle(self.pointer))


def _table(team, arrays, to_fill=False):
    table = team._agreed(lambda: [_one(Array(*array), to_fill) for array in arrays])
    return (c.Array * len(table))(*table)


def _one(array, to_fill):
    values = array.values
    if not isinstance(values, np.ndarray) or values.dtype not in _TYPES.values() or not values.flags.c_contiguous:
        known = ", ".join(dtype.name for dtype in _TYPES.values())
        raise TypeError(f"{array.name}: its values must be a C-contiguous numpy array of {known}")
    if to_fill and not values.flags.writeable:
        raise TypeError(f"{array.name}: its values are read-only")
    if values.ndim == 0 or len(values) != array.plan.local:
        raise ValueError(
            f"{array.name}: its plan has {plural(array.plan.local, 'item')}, its values the shape {values.shape}"
        )
    components = int(np.prod(values.shape[1:], dtype=object))
    number = _NUMBERS[values.dtype.str[1:]]
    return library.struct(
        c.Array, array.name, array.location, number, components, array.plan.pointer, values.ctypes.data
    )


def _head(head):
    return Head(head.step, head.time, from_text(head.program), from_text(head.mesh))
