"""Proves: VTK's own reader and h5py read the files of `forebay mesh multiply`, and the steps that a parallel program writes, as
conforming meshes without an inverted cell, of the right volume, with their data; that `forebay mesh multiply` reads the forms of file
that VTK writes; and that shapes of cells are VTK's.

    vtk_test.py FOREBAY [WRITE_STEPS FACE ACCEPTED_SHAPES]     the last three commands, their words separated by ';'
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkGenericCell, vtkUnstructuredGrid
from vtkmodules.vtkFiltersCore import vtkThreshold
from vtkmodules.vtkFiltersGeneral import vtkCellValidator
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOLegacy import vtkUnstructuredGridWriter
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridWriter

FOREBAY, WRITE_STEPS, FACE, ACCEPTED_SHAPES = "", [], [], []
# VTK's numbers of shapes, with the corners of their faces.
FACES = {
    10: [(0, 1, 3), (1, 2, 3), (2, 0, 3), (0, 2, 1)],
    12: [(0, 4, 7, 3), (1, 2, 6, 5), (0, 1, 5, 4), (3, 7, 6, 2), (0, 3, 2, 1), (4, 5, 6, 7)],
    13: [(0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)],
    14: [(0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)],
}
SHAPES = {10: "tetrahedron", 12: "hexahedron", 13: "prism", 14: "pyramid"}


def read(path):
    reader = vtkHDFReader()
    reader.SetFileName(path)
    assert reader.CanReadFile(path), path
    reader.Update()
    return reader.GetOutput()


def points_of(grid):
    return vtk_to_numpy(grid.GetPoints().GetData())


def cell_data(grid, name):
    return vtk_to_numpy(grid.GetCellData().GetArray(name))


def corners_by_type(grid):
    types = vtk_to_numpy(grid.GetCellTypes() if hasattr(grid, "GetCellTypes") else grid.GetCellTypesArray())
    cells = grid.GetCells()
    ends, corners = vtk_to_numpy(cells.GetOffsetsArray()), vtk_to_numpy(cells.GetConnectivityArray())
    for kind in numpy.unique(types):
        first = ends[:-1][types == kind]
        width = ends[1:][types == kind][0] - first[0]
        yield int(kind), corners[first[:, None] + numpy.arange(width)]


def faces_of(grid):
    """Every face of every cell, as its sorted corners; the fourth of a triangle is -1."""
    lists = []
    for kind, corners in corners_by_type(grid):
        for face in FACES[kind]:
            of_all = numpy.full((len(corners), 4), -1)
            of_all[:, : len(face)] = corners[:, list(face)]
            lists.append(numpy.sort(of_all, axis=1))
    return numpy.concatenate(lists)


def volumes(grid):
    sizes = vtkCellSizeFilter()
    sizes.SetInputData(grid)
    sizes.Update()
    return vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Volume"))


def areas(grid):
    sizes = vtkCellSizeFilter()
    sizes.SetInputData(grid)
    sizes.Update()
    return vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Area"))


def invalid_cells(grid):
    validator = vtkCellValidator()
    validator.SetInputData(grid)
    validator.Update()
    states = vtk_to_numpy(validator.GetOutput().GetCellData().GetArray("ValidityState"))
    return int(numpy.count_nonzero(states))


def mixed_grid():
    """A cube, a pyramid on top of it, a prism and a tetrahedron beside them, and two of their faces, in a jumble."""
    points = vtkPoints()
    points.SetDataTypeToDouble()
    for corner in ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)):
        points.InsertNextPoint(corner)
    for other in ((0.5, 0.5, 2), (2, 0, 0), (2, 1, 0), (2, 0.5, 1.5)):
        points.InsertNextPoint(other)
    grid = vtkUnstructuredGrid()
    grid.SetPoints(points)
    cells = [(9, (0, 3, 2, 1)), (12, range(8)), (14, (4, 5, 6, 7, 8)), (5, (1, 9, 5))]
    for kind, corners in [*cells, (13, (1, 9, 5, 2, 10, 6)), (10, (5, 6, 8, 11))]:
        grid.InsertNextCell(kind, len(corners), list(corners))
    data = {
        "CellEntityIds": numpy.array([7, 1, 1, 8, 2, 0], "<i4"),
        "group_side": numpy.array([0, 0, 0, 1, 0, 0], "u1"),
        "p": numpy.linspace(0, 1, 6),
    }
    for name, values in data.items():
        array = numpy_to_vtk(values, deep=True)
        array.SetName(name)
        grid.GetCellData().AddArray(array)
    return grid


def xml(mode, compressor, encode):
    writer = vtkXMLUnstructuredGridWriter()
    writer.SetDataMode(getattr(writer, mode))
    writer.SetCompressorType(getattr(writer, compressor))
    writer.SetEncodeAppendedData(encode)
    return writer


def legacy(version, form):
    writer = vtkUnstructuredGridWriter()
    writer.SetFileVersion(version)
    writer.SetFileType(form)
    return writer


ASCII, BINARY = 1, 2  # VTK_ASCII, VTK_BINARY
FORMS = {
    "ascii.vtu": lambda: xml("Ascii", "NONE", False),
    "binary.vtu": lambda: xml("Binary", "NONE", False),
    "compressed.vtu": lambda: xml("Binary", "ZLIB", False),
    "appended.vtu": lambda: xml("Appended", "ZLIB", True),
    "raw.vtu": lambda: xml("Appended", "ZLIB", False),
    "ascii.vtk": lambda: legacy(42, ASCII),
    "binary.vtk": lambda: legacy(42, BINARY),
    "binary51.vtk": lambda: legacy(51, BINARY),
}


class VtkTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="forebay-vtk-")
        self.addCleanup(self.scratch.cleanup)
        self.directory = self.scratch.name

    def multiply(self, source, levels, *more):
        self.path = os.path.join(self.directory, "mesh.vtkhdf")
        words = ["multiply", source, "--levels", str(levels), "-o", self.path, "--json", "--force", *more]
        done = subprocess.run([FOREBAY, "mesh", *words], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def expect_conforming(self, grid, told):
        _, times = numpy.unique(faces_of(grid), axis=0, return_counts=True)
        self.assertEqual(len(times), told["faces"])
        self.assertEqual(numpy.count_nonzero(times == 1), told["boundary_faces"])
        self.assertEqual(times.max(), 2)

    def test_every_shape_is_a_whole_conforming_mesh_without_an_inverted_cell(self):
        for shapes, levels in (("tetrahedra", 3), ("hexahedra", 3), ("prisms", 2), ("pyramids", 2)):
            with self.subTest(shapes):
                told = self.multiply(f"cavity:{shapes}:2", levels)
                grid = read(self.path)
                self.assertEqual((grid.GetNumberOfCells(), grid.GetNumberOfPoints()), (told["cells"], told["vertices"]))
                counts = {SHAPES[kind]: len(corners) for kind, corners in corners_by_type(grid)}
                self.assertEqual(counts, told["cells_of_shape"])
                self.expect_conforming(grid, told)
                self.assertEqual(invalid_cells(grid), 0)
                sizes = volumes(grid)
                self.assertGreater(sizes.min(), 0)
                self.assertAlmostEqual(sizes.sum(), 1, delta=1e-12)
                self.assertAlmostEqual(told["volume"], 1, delta=1e-12)

    def test_the_boundary_is_that_of_the_cells_and_knows_its_groups(self):
        told = self.multiply("cavity:tetrahedra:3", 2)
        grid, boundary = read(self.path), read(told["boundary"])
        self.assertEqual(boundary.GetNumberOfCells(), told["boundary_faces"])
        numbers = vtk_to_numpy(boundary.GetPointData().GetArray("point"))
        self.assertTrue(numpy.array_equal(points_of(boundary), points_of(grid)[numbers]))
        (_, corners), *others = corners_by_type(boundary)
        self.assertEqual(others, [])
        ((_, cells),) = corners_by_type(grid)
        behind = cells[cell_data(boundary, "cell")]
        for face, cell in zip(numbers[corners], behind, strict=True):
            self.assertTrue(set(face) <= set(cell), f"{face} is no face of {cell}")
        lid = vtkThreshold()
        lid.SetInputData(boundary)
        lid.SetInputArrayToProcess(0, 0, 0, 1, "group_lid")
        lid.SetUpperThreshold(1)
        lid.SetThresholdFunction(vtkThreshold.THRESHOLD_UPPER)
        lid.Update()
        self.assertEqual(lid.GetOutput().GetNumberOfCells(), 2 * 12**2)
        self.assertTrue((points_of(lid.GetOutput())[:, 2] == 1).all())
        self.assertAlmostEqual(areas(lid.GetOutput()).sum(), 1, delta=1e-12)
        self.assertTrue((cell_data(boundary, "group_lid") + cell_data(boundary, "group_walls") == 1).all())

    def test_what_vtk_writes_is_read_in_every_form_with_groups(self):
        for name, writer_of in FORMS.items():
            with self.subTest(name):
                path = os.path.join(self.directory, name)
                writer = writer_of()
                writer.SetInputData(mixed_grid())
                writer.SetFileName(path)
                self.assertTrue(writer.Write())
                told = self.multiply(path, 1)
                self.assertEqual(
                    (told["coarse_cells"], told["cells"], told["left_out"]), (4, 34, [f"{path}: cell data p"])
                )
                self.assertAlmostEqual(told["volume"], 1 + 1 / 3 + 1 / 2 + 1.25 / 6, delta=1e-12)
                self.assertEqual(told["areas"], {"7": 1, "8": 0.5, "side": 0.5})
                groups = [cell_data(read(self.path), f"group_{number}").sum() for number in (1, 2)]
                self.assertEqual(groups, [18, 8])

    def test_a_partition_is_data_of_the_cells(self):
        partition = os.path.join(self.directory, "parts")
        told = self.multiply("cavity:tetrahedra:4", 2, "--parts", "3", "--partition", partition)
        with open(partition) as file:
            coarse = [int(line) for line in file]
        parts = cell_data(read(self.path), "part")
        self.assertTrue(numpy.array_equal(parts, numpy.repeat(coarse, told["cells"] // len(coarse))))
        self.assertEqual(sorted(set(coarse)), [0, 1, 2])

    def test_h5py_sees_the_same_as_vtk(self):
        self.multiply("cavity:hexahedra:2", 2)
        grid = read(self.path)
        with h5py.File(self.path) as file:
            held = file["VTKHDF"]
            self.assertEqual(list(held.attrs["Version"]), [1, 0])
            self.assertEqual(held.attrs["Type"], b"UnstructuredGrid")
            self.assertEqual(held["NumberOfCells"][:].tolist(), [512])
            self.assertEqual(held["Points"][:].tobytes(), points_of(grid).tobytes())
            self.assertEqual(held["Offsets"][:].tolist(), list(range(0, 8 * 512 + 1, 8)))
            ((_, corners),) = corners_by_type(grid)
            self.assertEqual(held["Connectivity"][:].tolist(), corners.ravel().tolist())
            for name in ("Points", "Connectivity", "Offsets", "Types"):
                self.assertIsNone(held[name].chunks)
                self.assertIsNotNone(held[name].id.get_offset())

    def test_steps_of_a_parallel_program_are_read_with_their_fields(self):
        if not WRITE_STEPS:
            self.skipTest("built without MPI")
        subprocess.run([*WRITE_STEPS, self.directory], check=True)
        with open(os.path.join(self.directory, "flow.vtkhdf.series")) as file:
            series = json.load(file)
            mode = os.fstat(file.fileno()).st_mode
        self.assertEqual(series["file-series-version"], "1.0")
        self.assertEqual([each["time"] for each in series["files"]], [0, 0.5, 1])
        for each in series["files"]:
            step = os.path.join(self.directory, each["name"])
            self.assertEqual(os.stat(step).st_mode, mode, "who may read a step may read the list")
            grid = read(step)
            self.assertEqual(grid.GetNumberOfCells(), 150)
            self.assertEqual(invalid_cells(grid), 0)
            self.assertAlmostEqual(volumes(grid).sum(), 100, delta=1e-10)
            self.assertTrue(numpy.array_equal(cell_data(grid, "pressure"), 1 / numpy.arange(1, 151)))
            height = vtk_to_numpy(grid.GetPointData().GetArray("height"))
            x = points_of(grid)[:, 0]
            self.assertTrue(numpy.array_equal(height, numpy.stack([x, 2 * x], axis=1)))

    def test_what_a_face_of_blocks_writes_has_vectors_and_points_that_move(self):
        if not FACE:
            self.skipTest("built without MPI")
        subprocess.run([*FACE, self.directory, "mpi-collective", "duct"], check=True)
        cell, point = numpy.arange(1, 102), numpy.arange(1, 409)
        for step, moved in ((0, 0), (10, 2)):
            grid = read(os.path.join(self.directory, f"duct-{step:06}.vtkhdf"))
            self.assertEqual(invalid_cells(grid), 0)
            numpy.testing.assert_allclose(volumes(grid), numpy.where(cell % 2 == 1, 1, 0.5), rtol=1e-12)
            self.assertEqual(points_of(grid)[:, 2].max(), 1 + moved)
            self.assertTrue(numpy.array_equal(cell_data(grid, "velocity"), cell[:, None] + 0.25 * numpy.arange(3)))
            self.assertTrue(numpy.array_equal(cell_data(grid, "kind"), cell % 7))
            motion = vtk_to_numpy(grid.GetPointData().GetArray("motion"))
            self.assertTrue(numpy.array_equal(motion, 0.5 * point[:, None] + numpy.arange(3)))

    def test_shapes_have_the_vertices_that_vtk_gives_them(self):
        if not ACCEPTED_SHAPES:
            self.skipTest("built without MPI")
        expected = {(0, 1): False}
        for shape in range(1, 256):
            cell = vtkGenericCell.InstantiateCell(shape)
            vertices = cell.GetNumberOfPoints() if cell else 0
            if shape in (2, 4, 6, 7):  # of any number
                expected |= {(shape, 0): False, (shape, 3): True, (shape, 99): True}
            elif shape > 37 or vertices == 0:
                expected |= {(shape, max(vertices, 4)): False}
            else:
                expected |= {(shape, vertices - 1): False, (shape, vertices): True, (shape, vertices + 1): False}
        done = subprocess.run(
            ACCEPTED_SHAPES, input=json.dumps([*expected]), check=True, capture_output=True, text=True
        )
        taken = dict(zip(expected, json.loads(done.stdout), strict=True))
        self.assertEqual(taken, expected)
        self.assertEqual(len({shape for (shape, _), good in taken.items() if good}), 32)


if __name__ == "__main__":
    FOREBAY, *commands = sys.argv[1:]
    if commands:
        WRITE_STEPS, FACE, ACCEPTED_SHAPES = (command.split(";") for command in commands)
    unittest.main(argv=sys.argv[:1])
