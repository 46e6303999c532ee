"""arrays_face.py DIRECTORY METHOD FILE [FILE...]: the Python face of arrays, as arrays_face.c the C face, with the same
fields."""

import sys

import forebay.arrays
import numpy as np
from forebay.arrays import Status
from mpi4py import MPI

CELLS, VERTICES = 1000, 300
RANK, RANKS = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size


def check(good, words):
    if not good:
        print(f"rank {RANK}: not true: {words}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)


def refused(call, status, words):
    try:
        call()
    except forebay.arrays.ArraysError as error:
        check(error.status == status and words in str(error), f"{status!r} with {words!r}, not {error}")
    else:
        check(False, f"refused: {words}")


def main(directory, method, *files):
    g = np.arange(CELLS, 0, -1)
    cell = g[(g * 31 + g // 8 * 17) % RANKS == RANK]
    g = np.arange(VERTICES, 0, -1)
    vertex = g[(g % RANKS == RANK) | (g // 10 % RANKS == RANK)]
    velocity = cell[:, np.newaxis] + 0.25 * np.arange(3)
    pressure = (0.5 * cell).astype(np.float32)
    kind = (cell % 7).astype(np.int32)
    corners = np.array([10 * each + k for each in cell for k in range(each % 5)], np.int64)

    few = 0 if RANK == RANKS - 1 else 1
    refused(lambda: forebay.arrays.Team(MPI.COMM_WORLD, few), Status.INVALID, "most-per-node")
    with forebay.arrays.Team(MPI.COMM_WORLD) as team:
        of_cells = team.plan(cell, CELLS, least_bytes=1)
        of_vertices = team.plan(vertex, VERTICES, shared=True)
        ranges, all_corners = of_cells.number_lists(cell % 5)
        of_corners = team.plan_of_lists(ranges, all_corners)

        block = of_cells.to_block(velocity)
        check(np.array_equal(block[:, 2], np.array(of_cells.block) + 0.5), "blocks are in order")
        check(np.array_equal(of_cells.from_block(block), velocity), "what comes back is what went")

        arrays = [
            forebay.arrays.Array("velocity", "cells", of_cells, velocity),
            ("pressure", "cells", of_cells, pressure),
            ("kind", "cells", of_cells, kind),
            ("ranges", "cells", of_cells, ranges),
            ("id", "vertices", of_vertices, 1000003 * vertex),
            ("corners", "corners", of_corners, corners),
        ]
        store = team.checkpoints(directory, method, pool=directory)
        store.prepare(arrays)
        head = {"step": 42, "time": 0.125, "program": "arrays_face", "mesh": "cube"}
        store.write(files[0], arrays, **head)
        store.settle()
        for file in files:
            filled = [(*array[:3], np.zeros_like(array[3])) for array in arrays]
            check(store.read(file, filled, mesh="cube") == forebay.arrays.Head(**head), "the head comes back")
            for (name, *_, values), wanted in zip(filled, arrays, strict=True):
                check(np.array_equal(values, wanted[3]), f"{name} of {file}")

        told = store.describe(files[0])
        check(
            told.locations == {"cells": CELLS, "corners": all_corners, "vertices": VERTICES}, "all locations are told"
        )
        check(told.arrays[-1] == ("vertices", "id", np.int64, 1) and len(told.arrays) == 6, "all arrays are told")
        check(store.recovered == [], "nobody has left anything")

        refused(lambda: team.plan([1, 1], 2 * RANKS), Status.INVALID, "global number")
        refused(lambda: store.read(files[0], arrays, mesh="sphere"), Status.INVALID, "another mesh")
        last = RANK == RANKS - 1
        refused(lambda: of_cells.to_block(velocity[1 if last else 0 :]), Status.INVALID, "items must be given")
        for numbers in ([1.5, 2.0], [2**70]):  # neither is cut to fit
            refused(lambda given=numbers: team.plan(given if last else [1], RANKS), Status.INVALID, "not integers")
        refused(
            lambda: team.plan(cell, CELLS, **{"shard" if last else "shared": True}),
            Status.INVALID,
            'did you mean "shared"?',
        )
        refused(lambda: team.plan(cell, CELLS, sorted=True), Status.INVALID, 'no option "sorted"')
        refused(lambda: team.plan(cell, 3.5 if last else CELLS), Status.INVALID, "items cannot be 3.5")
        refused(lambda: team.plan(np.where(cell == cell[0], -3, cell), CELLS), Status.INVALID, "global number -3 at")
        for items in (-5, 2**64 + CELLS):
            refused(lambda given=items: team.plan(cell, given), Status.INVALID, f"items cannot be {items}")
        huge = np.where(cell == cell[0], np.uint64(2**63), cell.astype(np.uint64))
        refused(lambda: team.plan(huge if last else cell, CELLS), Status.INVALID, "numbers go to")
        for step in ("7", 2**63, -(2**63) - 1, 2**64 + 7, 0.5):
            one_is_wrong = {"step": step if last else 7, "time": 0}
            refused(lambda given=one_is_wrong: store.write("never.h5", arrays, **given), Status.INVALID, "whole number")
        for which in ("program", "mesh"):
            one_is_wrong = {which: "a\0b" if last else "ab"}
            refused(
                lambda given=one_is_wrong: store.write("never.h5", arrays, step=0, time=0, **given),
                Status.INVALID,
                "ends at a NUL",
            )
        for file in (files[0] + "\0.h5", 7):
            refused(
                lambda given=file: store.write(given if last else "never.h5", arrays, step=0, time=0),
                Status.INVALID,
                "text",
            )
            refused(lambda given=file: store.describe(given if last else files[0]), Status.INVALID, "text")
            refused(lambda given=file: store.read(given if last else files[0], arrays), Status.INVALID, "text")
        for file in (files[0] + ".json", "flow.vtkhdf.series", ".fb-0123456789abcdef"):
            refused(
                lambda given=file: store.write(given, arrays, step=0, time=0),
                Status.INVALID,
                "a checkpoint cannot be named",
            )
        wrong = [(7 if last else "kind", "cells", of_cells, kind)]
        refused(lambda: store.write("never.h5", wrong, step=0, time=0), Status.INVALID, "name: a text is wanted")
        wrong = [("ki\0nd" if last else "kind", "cells", of_cells, kind)]
        refused(lambda: store.write("never.h5", wrong, step=0, time=0), Status.INVALID, "ends at a NUL")
        refused(
            lambda: team.checkpoints(directory + "\0/elsewhere" if last else directory), Status.INVALID, "ends at a NUL"
        )
        wrong = [("kind", "cells", of_cells, kind.astype(">i4") if last else kind)]
        refused(lambda: store.write("never.h5", wrong, step=0, time=0), Status.INVALID, "kind: its values must be")
        kind.flags.writeable = False
        refused(lambda: store.read(files[0], arrays, mesh="cube"), Status.INVALID, "read-only")
        refused(lambda: team.plan(cell, CELLS, leastbytes=1), Status.INVALID, 'did you mean "least-bytes"')
        refused(lambda: team.plan(cell, CELLS, rank_step=0 if last else 1), Status.INVALID, "rank-step")
        refused(lambda: team.checkpoints(directory, "stagged"), Status.INVALID, 'did you mean "staged"')
    refused(lambda: of_cells.block, Status.INVALID, "closed")


main(*sys.argv[1:])
