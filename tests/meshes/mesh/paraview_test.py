"""Proves: ParaView reads the files of `forebay mesh multiply`, and the steps that a parallel program writes by their list, and
its filters find in them the cells, sizes and fields that were written. What lies in the cells vtk_test.py looks at closer."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

FOREBAY, WRITE_STEPS = "", []
LOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "paraview_look.py")
CAVITIES = ("tetrahedra", "hexahedra", "prisms", "pyramids")
SHAPES = {"10": "tetrahedron", "12": "hexahedron", "13": "prism", "14": "pyramid"}


class ParaViewTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="forebay-paraview-")
        self.addCleanup(scratch.cleanup)
        self.directory = scratch.name

    def multiply(self, shapes, *more):
        path = os.path.join(self.directory, f"{shapes}.vtkhdf")
        words = ["multiply", f"cavity:{shapes}:2", "--levels", "2", "-o", path, "--json", *more]
        done = subprocess.run([FOREBAY, "mesh", *words], check=True, capture_output=True, text=True)
        return path, json.loads(done.stdout)

    # pvpython is itself a rank of MPI, so no program that has ranks can be started from there.
    def look(self, *paths):
        done = subprocess.run(["pvpython", LOOK, *paths], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("ERR|", done.stderr)  # a reader that fails says so, and pvpython goes on
        told = json.loads(done.stdout)
        self.version = tuple(told["version"])
        return [told["files"][path] for path in paths]

    def volume(self, seen):
        """Before 6.2 (VTK 9.7) ParaView takes the volume of a prism whose first triangle looks inwards for negative."""
        sign = {"13": 1 if self.version >= (6, 2) else -1}
        return sum(sign.get(shape, 1) * size for shape, size in seen["sizes"].items())

    def test_every_shape_has_its_cells_and_fills_the_cavity(self):
        told = dict(self.multiply(shapes, "--parts", "3") for shapes in CAVITIES)
        for (path, mesh), (seen,) in zip(told.items(), self.look(*told), strict=True):
            with self.subTest(os.path.basename(path)):
                self.assertEqual((seen["points"], seen["cells"]), (mesh["vertices"], mesh["cells"]))
                counts = {SHAPES[each]: count for each, count in seen["counts"].items()}
                self.assertEqual(counts, mesh["cells_of_shape"])
                self.assertAlmostEqual(self.volume(seen), 1, delta=1e-9)
                self.assertAlmostEqual(seen["cut"]["Area"][0], 1, delta=1e-9)
                self.assertEqual(seen["ranges"], {"part": [[0, 2]]})

    def test_the_boundary_has_the_areas_of_its_groups(self):
        told = [self.multiply(shapes)[1] for shapes in CAVITIES]
        for mesh, (seen,) in zip(told, self.look(*(mesh["boundary"] for mesh in told)), strict=True):
            self.assertEqual(seen["cells"], mesh["boundary_faces"])
            self.assertAlmostEqual(sum(seen["sizes"].values()), 6, delta=1e-9)
            for group, area in (("group_lid", 1), ("group_walls", 5)):
                self.assertEqual(seen["ranges"][group], [[0, 1]])
                self.assertAlmostEqual(seen["integrals"][group][0], area, delta=1e-9)
            self.assertLess(seen["ranges"]["cell"][0][1], mesh["cells"])
            self.assertLess(seen["ranges"]["point"][0][1], mesh["vertices"])

    def test_a_list_of_steps_has_their_times_and_fields(self):
        if not WRITE_STEPS:
            self.skipTest("built without MPI")
        subprocess.run([*WRITE_STEPS, self.directory], check=True)
        (steps,) = self.look(os.path.join(self.directory, "flow.vtkhdf.series"))
        self.assertEqual([seen["time"] for seen in steps], [0, 0.5, 1])
        for seen in steps:
            self.assertEqual((seen["points"], seen["counts"]), (404, {"12": 50, "13": 100}))
            self.assertAlmostEqual(self.volume(seen), 100, delta=1e-9)
            self.assertEqual(seen["ranges"], {"height": [[0, 100], [0, 200]], "pressure": [[1 / 150, 1]]})
            # x = 30.5 is in the middle of cell 46, a cube.
            self.assertAlmostEqual(seen["cut"]["pressure"][0], 1 / 46, delta=1e-9)
            self.assertAlmostEqual(seen["cut"]["height"][0], 30.5, delta=1e-4)
            self.assertAlmostEqual(seen["cut"]["height"][1], 61, delta=1e-4)


if __name__ == "__main__":
    if not shutil.which("pvpython"):
        print("skipped: no pvpython, ParaView's own Python (Debian: python3-paraview)")
        sys.exit(77)
    FOREBAY, *WRITE_STEPS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
