"""mesh_face.py DIRECTORY METHOD NAME: the Python face of mesh output, as mesh_face.c the C face, with the same mesh and
fields."""

import sys

import forebay.arrays
import numpy as np
from forebay.arrays import Status
from mpi4py import MPI

# Along x between squares of four points; every second cell is half a cube, a prism.
CELLS = 101
HEXAHEDRON, PRISM, TETRAHEDRON = 12, 13, 10
RANK, RANKS = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size


def check(good, words):
    if not good:
        print(f"rank {RANK}: not true: {words}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)


def refused(call, words):
    try:
        call()
    except forebay.arrays.ArraysError as error:
        check(error.status == Status.INVALID and words in str(error), f"{words!r}, not {error}")
    else:
        check(False, f"refused: {words}")


def main(directory, method, name):
    g = np.arange(CELLS, 0, -1)
    cell = g[(g * 31 + g // 8 * 17) % RANKS == RANK]
    corners = np.where(cell % 2 == 1, 4, 3)
    squares = [4 * (each - 1) + 1 + np.arange(count) for each, count in zip(cell, corners, strict=True)]
    mesh = {
        "types": np.where(cell % 2 == 1, HEXAHEDRON, PRISM),
        "lengths": 2 * corners,
        "vertices": np.concatenate([np.concatenate([square, square + 4]) for square in squares]),
    }
    p = np.arange(4 * (CELLS + 1), 0, -1)
    point = p[np.isin((p - 1) // 4, cell) | np.isin((p - 1) // 4 + 1, cell)]
    square, corner = (point - 1) // 4, (point - 1) % 4
    places = np.stack([square, (corner == 1) | (corner == 2), corner > 1], axis=1).astype(float)

    with forebay.arrays.Team() as team:
        cells = team.plan(cell, CELLS)
        points = team.plan(point, len(p), shared=True)
        mesh |= {"points": points, "places": places, "cells": cells}
        fields = [
            ("velocity", "cells", cells, cell[:, np.newaxis] + 0.25 * np.arange(3)),
            ("kind", "cells", cells, (cell % 7).astype(np.int32)),
            ("height", "points", points, square.astype(float)),
            ("motion", "points", points, (0.5 * point[:, np.newaxis] + np.arange(3)).astype(np.float32)),
        ]
        store = team.checkpoints(directory, method, pool=directory)
        output = store.mesh_output(name, **mesh)
        of = {"program": "mesh_face", "mesh": "duct"}
        output.write(fields, step=0, time=0, **of)
        output.settle()
        places[:, 2] += 2
        output.write(fields, step=10, time=0.5, **of)

        last = RANK == RANKS - 1
        refused(lambda: output.write([("kind", "edges", *fields[1][2:])], step=10, time=0.5, **of), "edges")

        def wrong(**change):
            return lambda: store.mesh_output("none", **(mesh | change if last else mesh))

        refused(wrong(types=[99, *mesh["types"][1:]]), "has type 99")
        refused(wrong(types=[TETRAHEDRON, *mesh["types"][1:]]), "tetrahedron (type 10) with")
        refused(wrong(types=mesh["types"] + 256), "numbers of VTK")
        refused(wrong(vertices=mesh["vertices"][1:]), "do not fit")
        refused(wrong(places=places[1:]), "places have the shape")
        refused(wrong(places=places.astype(np.float32)), "float64")
        points.close()
        refused(lambda: output.write(fields, step=20, time=1, **of), "closed")


main(*sys.argv[1:])
