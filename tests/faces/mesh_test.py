"""Proves: each face of mesh output, on 1, 2 and 4 ranks and by another method, writes the same bytes, which h5py finds to be
the mesh and its fields, and the list that ParaView opens.

    mesh_test.py MPIEXEC FACE...      each FACE a command, its words separated by ';'
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

MPIEXEC = ""
FACES = []
METHODS = ("staged", "mpi-collective", "serial", "mpi-noncollective", "stdio", "mpi-independent")
CELLS, POINTS = 101, 408


class MeshFacesTest(unittest.TestCase):
    def setUp(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.directory = tempfile.mkdtemp(prefix="forebay-faces-", dir=memory)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def content(self, name):
        with open(os.path.join(self.directory, name), "rb") as file:
            return file.read()

    def test_all_write_the_same_which_is_the_mesh_with_its_fields(self):
        steps = (0, 0.0), (10, 0.5)
        contents = {step: set() for step, _ in steps}
        for place, ranks in enumerate((4, 1, 2)):
            for number, face in enumerate(FACES):
                name, method = f"{number}-{ranks}", METHODS[(place + 2 * number) % len(METHODS)]
                with self.subTest(face=face, ranks=ranks, method=method):
                    words = [MPIEXEC, "-n", str(ranks), *face.split(";"), self.directory, method, name]
                    done = subprocess.run(words, capture_output=True, text=True, timeout=100)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    files = [{"name": f"{name}-{step:06}.vtkhdf", "time": time} for step, time in steps]
                    listed = json.loads(self.content(f"{name}.vtkhdf.series"))
                    self.assertEqual(listed, {"file-series-version": "1.0", "files": files})
                    for step, all_of_step in contents.items():
                        all_of_step.add(self.content(f"{name}-{step:06}.vtkhdf"))
        self.assertEqual([len(all_of_step) for all_of_step in contents.values()], [1, 1])
        for step, moved in ((0, 0), (10, 2)):
            with h5py.File(os.path.join(self.directory, f"0-1-{step:06}.vtkhdf")) as file:
                self.expect_the_duct(file["VTKHDF"], moved)
        self.assertEqual([each for each in os.listdir(self.directory) if each.startswith("none")], [])

    def expect_the_duct(self, grid, moved):
        cell, point = np.arange(1, CELLS + 1), np.arange(1, POINTS + 1)
        square, corner = (point - 1) // 4, (point - 1) % 4
        places = np.stack([square, (corner == 1) | (corner == 2), (corner > 1) + moved], axis=1)
        self.assertEqual(grid["Points"][:].tolist(), places.tolist())
        self.assertEqual(grid["Types"][:].tolist(), [12 if each % 2 == 1 else 13 for each in cell])
        ends = np.concatenate([[0], np.cumsum(np.where(cell % 2 == 1, 8, 6))])
        self.assertEqual(grid["Offsets"][:].tolist(), ends.tolist())
        vertices = [range(4 * s, 4 * s + (4 if s % 2 == 0 else 3)) for s in range(CELLS)]
        vertices = [v + side for square in vertices for side in (0, 4) for v in square]
        self.assertEqual(grid["Connectivity"][:].tolist(), vertices)
        expected = {
            "CellData/velocity": cell[:, np.newaxis] + 0.25 * np.arange(3),
            "CellData/kind": (cell % 7).astype(np.int32),
            "PointData/height": square.astype(float),
            "PointData/motion": (0.5 * point[:, np.newaxis] + np.arange(3)).astype(np.float32),
        }
        for name, values in expected.items():
            self.assertEqual((grid[name].shape, grid[name].dtype), (values.shape, values.dtype), name)
            self.assertEqual(grid[name][:].tolist(), values.tolist(), name)
        self.assertEqual([*grid["CellData"], *grid["PointData"]], [name.split("/")[1] for name in sorted(expected)])


if __name__ == "__main__":
    MPIEXEC, *FACES = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
