"""Proves: a mesh file with flipped bits, or cut off, is read or refused in one line that says what it is; the reader never
fails with an error of Python's, nor goes on for ever.

    damage_test.py READ_MESH
"""

import contextlib
import importlib.util
import io
import os
import random
import signal
import sys
import tempfile
import unittest

SKIPPED = 77
FLIPS, CUTS, SECONDS = 60, 20, 20
# As meshio calls them, with what names of files end in.
FORMATS = {
    "gmsh": ".msh",
    "gmsh22": ".msh",
    "vtu": ".vtu",
    "vtk": ".vtk",
    "med": ".med",
    "abaqus": ".inp",
    "medit": ".mesh",
}
try:
    import meshio
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)


def reader():
    spec = importlib.util.spec_from_file_location("read_mesh", READ_MESH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Out(io.StringIO):
    """A text file and the bytes below it."""

    def __init__(self):
        super().__init__()
        self.buffer = io.BytesIO()


class DamageTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="forebay-damage-")
        self.addCleanup(self.directory.cleanup)
        self.reader = reader()
        self.reader.limit_memory(__file__)
        self.reader.limit_memory = lambda path: None  # a process has one limit
        self.chance = random.Random(31)

    def whole(self, form, ending):
        points = numpy.array(
            [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], float
        )
        cells = [("hexahedron", [[0, 1, 2, 3, 4, 5, 6, 7]]), ("quad", [[0, 3, 2, 1], [4, 5, 6, 7]])]
        data = {}
        if form in ("vtu", "vtk", "med"):
            data = {"cell_tags" if form == "med" else "zone": [numpy.array([7]), numpy.array([8, 9])]}
        if form == "gmsh":  # meshio writes cells of one type only
            cells = cells[:1]
        mesh = meshio.Mesh(points, cells, cell_data=data)
        mesh.point_tags, mesh.cell_tags = {}, {}
        path = os.path.join(self.directory.name, "whole" + ending)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            mesh.write(path, file_format=form)
        with open(path, "rb") as file:
            return file.read()

    def read(self, content, ending):
        """The exit status and what was said."""
        path = os.path.join(self.directory.name, "damaged" + ending)
        with open(path, "wb") as file:
            file.write(content)
        out, said, sys.argv = Out(), io.StringIO(), ["read_mesh.py", path]
        signal.alarm(SECONDS)  # ends the test
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            status = self.reader.main()
        signal.alarm(0)
        return status, said.getvalue()

    def test_damaged_files_are_read_or_refused(self):
        for form, ending in FORMATS.items():
            content = self.whole(form, ending)
            self.assertEqual(self.read(content, ending), (0, ""), f"the whole file of {form}")
            damaged = [bytearray(content) for _ in range(FLIPS)]
            for each in damaged:
                each[self.chance.randrange(len(each))] ^= 1 << self.chance.randrange(8)
            damaged += [content[: self.chance.randrange(len(content))] for _ in range(CUTS)]
            for number, each in enumerate(damaged):
                with self.subTest(form=form, number=number):
                    status, said = self.read(each, ending)
                    if status:
                        self.assertRegex(said, r"\Ait is [^\n]*; expected [^\n]*\n\Z")


if __name__ == "__main__":
    READ_MESH = os.path.abspath(sys.argv.pop(1))
    unittest.main()
