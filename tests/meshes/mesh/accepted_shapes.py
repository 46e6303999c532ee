"""accepted_shapes.py: reads [[shape, vertices], ...] as JSON and tells of each whether mesh output takes a cell of that shape
with so many vertices."""

import json
import sys
import tempfile

import forebay.arrays
import numpy as np

MOST = 100


def is_taken(store, points, cells, shape, vertices):
    places = np.zeros((MOST, 3))
    try:
        store.mesh_output(
            "none",
            points=points,
            places=places,
            cells=cells,
            types=[shape],
            lengths=[vertices],
            vertices=np.arange(1, vertices + 1),
        ).close()
    except forebay.arrays.ArraysError as error:
        assert str(error).startswith("cell 1 of rank 0 "), error
        return False
    return True


with tempfile.TemporaryDirectory(prefix="forebay-shapes-") as directory, forebay.arrays.Team() as team:
    plans = team.plan(np.arange(1, MOST + 1), MOST), team.plan([1], 1)
    files = team.checkpoints(directory, "stdio")
    print(json.dumps([is_taken(files, *plans, *each) for each in json.load(sys.stdin)]))
