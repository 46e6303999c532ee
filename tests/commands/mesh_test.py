"""Proves: `forebay mesh multiply` tells what it made, refuses what it should before it writes anything, and leaves nothing behind."""

import json
import os
import signal
import struct
import subprocess
import time

import commandcase

MESH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
1
2 5 "floor"
$EndPhysicalNames
$Nodes
4
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
$EndNodes
$Elements
2
1 2 2 5 1 1 2 3
2 4 2 0 1 1 2 3 4
$EndElements
"""


WRITE_MESH = """
import json, sys, meshio, numpy
points = numpy.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
cells = [("tetra", [[0, 1, 2, 3]]), ("triangle", [[0, 1, 2], [0, 1, 3]])]
data = {name: [numpy.array(values[:1]), numpy.array(values[1:])] for name, values in json.loads(sys.argv[2]).items()}
mesh = meshio.Mesh(points, cells, cell_data=data)
mesh.point_tags, mesh.cell_tags = {}, {-1: ["fluid"], -2: ["lid", "wall"]}  # the families of MED
mesh.write(sys.argv[1])
"""


def binary_of_gmsh():
    """MESH in the binary form of version 4.1 (the Gmsh reference manual, MSH file format)."""
    box = struct.pack("<6d", 0, 0, 0, 1, 1, 1)
    floor = struct.pack("<i", 1) + box + struct.pack("<QiQ", 1, 5, 0)
    volume = struct.pack("<i", 1) + box + struct.pack("<QiQi", 1, 6, 1, 1)
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    sections = {
        "MeshFormat": b"4.1 1 8\n" + struct.pack("<i", 1),
        "PhysicalNames": b'2\n2 5 "floor"\n3 6 "fluid"',
        "Entities": struct.pack("<4Q", 0, 0, 1, 1) + floor + volume,
        "Nodes": struct.pack("<4Q3iQ4Q", 1, 4, 1, 4, 3, 1, 0, 4, 1, 2, 3, 4)
        + b"".join(struct.pack("<3d", *point) for point in points),
        "Elements": struct.pack("<4Q", 2, 2, 1, 2)
        + struct.pack("<3iQ4Q", 2, 1, 2, 1, 1, 1, 2, 3)
        + struct.pack("<3iQ5Q", 3, 1, 4, 1, 2, 1, 2, 3, 4),
    }
    return b"".join(b"$%s\n%s\n$End%s\n" % (name.encode(), sections[name], name.encode()) for name in sections)


class MeshTest(commandcase.CommandCase):
    def setUp(self):
        super().setUp()
        self.out = os.path.join(self.case, "out.vtkhdf")

    def multiply(self, source, levels, *more):
        self.status = self.call("mesh", "multiply", source, "--levels", str(levels), "-o", self.out, *more)
        return self.status

    def files(self):
        return sorted(name for name in os.listdir(self.case) if name not in ("system", "coarse.msh"))

    def test_a_binary_file_of_gmsh_is_the_same_mesh(self):
        text, binary = (os.path.join(self.case, name) for name in ("coarse.msh", "binary.msh"))
        with open(text, "w", encoding="utf-8") as file:
            file.write(MESH)
        with open(binary, "wb") as file:
            file.write(binary_of_gmsh())
        told = []
        for source in (text, binary):
            self.assertEqual(self.multiply(source, 1, "--json", "--force"), 0, self.output)
            told.append(json.loads(self.done.stdout))
        self.assertAlmostEqual(told[1]["areas"]["floor"], 0.5, delta=1e-12)
        for key in ("cells", "vertices", "boundary_faces", "volume", "areas", "quality"):
            self.assertEqual(told[0][key], told[1][key], key)

    def test_tells_what_it_made(self):
        self.assertEqual(self.multiply("cavity:tetrahedra:2", 2, "--json"), 0, self.output)
        told = json.loads(self.done.stdout)
        self.assertEqual((told["cells"], told["coarse_cells"], told["vertices"]), (48 * 64, 48, 9**3))
        self.assertAlmostEqual(told["volume"], 1, delta=1e-12)
        self.assertEqual(sum(told["quality"]["histogram"]), told["cells"])
        self.assertEqual([level["cells"] for level in told["by_level"]], [48, 48 * 8, 48 * 64])
        for level in told["by_level"]:
            self.assertAlmostEqual(level["volume"], 1, delta=1e-12)
            self.assertGreater(level["quality"]["least"], 0.4)
        self.assertAlmostEqual(told["areas"]["lid"], 1, delta=1e-12)
        self.assertAlmostEqual(told["areas"]["walls"], 5, delta=1e-12)
        self.assertEqual(self.files(), ["out-boundary.vtkhdf", "out.vtkhdf"])

        self.assertEqual(self.multiply("cavity:pyramids:1", 1, "--force"), 0, self.output)
        for part in ("60 cells of 6, 1 level\n", "pyramid ", "tetrahedron ", "vertices", "faces", "quality"):
            self.assertIn(part, self.done.stdout)
        self.assertEqual(self.multiply("cavity:pyramids:1", 1, "--force", "--quiet"), 0)
        self.assertEqual(self.output, "")

    def test_a_mesh_from_a_file_keeps_its_groups(self):
        self.write("coarse.msh", MESH)
        words = ("multiply", "coarse.msh", "--levels", "3", "-o", self.out, "--json")
        self.assertEqual(self.call("mesh", *words, cwd=self.case, command=self.in_build_tree()), 0, self.output)
        told = json.loads(self.done.stdout)
        self.assertEqual(told["cells"], 512)
        self.assertAlmostEqual(told["areas"]["floor"], 0.5, delta=1e-12)

    def write_boxes(self, name, points, cells):
        """Hexahedra as Gmsh writes them in version 2.2."""
        nodes = "".join(f"{i + 1} {x} {y} {z}\n" for i, (x, y, z) in enumerate(points))
        elements = "".join(f"{i + 1} 5 2 0 1 {' '.join(str(c + 1) for c in cell)}\n" for i, cell in enumerate(cells))
        sections = {
            "MeshFormat": "2.2 0 8\n",
            "Nodes": f"{len(points)}\n{nodes}",
            "Elements": f"{len(cells)}\n{elements}",
        }
        self.write(name, "".join(f"${each}\n{text}$End{each}\n" for each, text in sections.items()))

    def multiply_here(self, name, *more):
        words = ("mesh", "multiply", name, "--levels", "1", "-o", self.out, *more)
        return self.call(*words, cwd=self.case, command=self.forebay)

    def test_a_torn_mesh_is_told_and_merged(self):
        self.forebay = self.in_build_tree()
        cube = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
        corners = [0, 1, 3, 2, 4, 5, 7, 6]
        other = [(x + 1 + 1e-9, y, z) for x, y, z in cube]
        self.write_boxes("torn.msh", cube + other, [corners, [c + 8 for c in corners]])
        self.assertEqual(self.multiply_here("torn.msh", "--quiet"), 0, self.output)
        for part in (
            "warning: 2 bodies that have no face in common",
            "warning: 1 face at the boundary on top of others",
        ):
            self.assertIn(part, self.done.stderr)
        self.assertEqual(self.multiply_here("torn.msh", "--force", "--json"), 0, self.output)
        told = json.loads(self.done.stdout)
        self.assertEqual((len(told["warnings"]), told["boundary_faces"]), (2, 48))
        self.assertEqual(self.multiply_here("torn.msh", "--force", "--merge", "1e-6", "--json"), 0, self.output)
        told = json.loads(self.done.stdout)
        self.assertEqual((told["warnings"], told["boundary_faces"], told["vertices"]), ([], 40, 45))
        self.assertIn("4 points that lay within 1e-06 of others", self.done.stderr)
        self.assertEqual(self.multiply_here("torn.msh", "--force", "--merge", "1"), 2, self.output)
        self.assertIn("choose a smaller", self.output)
        for misspelt in (("--merg", "0"), ("--merge", "-1"), ("--merge", "nan"), ("--merged", "0")):
            self.assertEqual(self.multiply_here("torn.msh", "--force", *misspelt), 2, self.output)

    def test_what_cannot_conform_is_refused(self):
        self.forebay = self.in_build_tree()
        points = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
        points += [(2, 0, 0), (2, 1, 0), (2, 0, 1), (2, 1, 1), (1, 0, 0.5), (1, 1, 0.5), (2, 0, 0.5), (2, 1, 0.5)]
        cells = [[0, 1, 3, 2, 4, 5, 7, 6], [1, 8, 9, 3, 12, 14, 15, 13], [12, 14, 15, 13, 5, 10, 11, 7]]
        self.write_boxes("hanging.msh", points, cells)
        self.assertEqual(self.multiply_here("hanging.msh"), 2, self.output)
        self.assertIn("2 points hang on an edge, at (1, 0, 0.5), (1, 1, 0.5)", self.output)
        self.assertFalse(os.path.exists(self.out))

    def test_a_flat_cell_is_refused(self):
        self.write("coarse.msh", MESH.replace("4 0 0 1", "4 0 0 0"))
        words = ("multiply", "coarse.msh", "--levels", "3", "-o", self.out)
        self.assertEqual(self.call("mesh", *words, cwd=self.case, command=self.in_build_tree()), 2, self.output)
        self.assertIn("flat or inside out in coarse.msh", self.output)
        self.assertEqual(self.files(), [])

    def test_its_files_are_verified_and_compared_by_inspect(self):
        self.assertEqual(self.multiply("cavity:prisms:2", 2, "--threads", "1"), 0, self.output)
        other = os.path.join(self.case, "other.vtkhdf")
        os.rename(self.out, other)
        self.assertEqual(self.multiply("cavity:prisms:2", 2, "--threads", "3", "--force"), 0, self.output)
        self.assertEqual(self.call("inspect", self.out, other), 0, self.output)
        self.assertIn("cells/Types: equal", self.output)
        with open(other, "r+b") as file:
            file.seek(-1000, os.SEEK_END)
            flipped = bytes([file.read(1)[0] ^ 1])
            file.seek(-1000, os.SEEK_END)
            file.write(flipped)
        self.assertEqual(self.call("inspect", other), 4, self.output)

    def no_locks(self, told="ENOSYS"):
        fault = {"FOREBAY_FAULT_PREFIX": self.directory, "FOREBAY_FAULT": f"lock:{told}"}
        return {"LD_PRELOAD": os.environ["FAULT_LIBRARY"], **fault}

    def test_a_file_system_without_locks_will_do(self):
        for told in ("ENOSYS", "EOPNOTSUPP", "ENOLCK"):
            with self.subTest(told):
                output = os.path.join(self.directory, f"{told}.vtkhdf")
                words = ("mesh", "multiply", "cavity:tetrahedra:2", "--levels", "1", "-o", output)
                self.assertEqual(self.call(*words, **self.no_locks(told)), 0, self.output)
                self.assertEqual(self.call("inspect", output, **self.no_locks(told)), 0, self.output)

    def test_the_librarys_own_locks_do_not_find_ours(self):
        words = ("mesh", "multiply", "cavity:tetrahedra:2", "--levels", "1", "-o", self.out)
        self.assertEqual(self.call(*words, HDF5_USE_FILE_LOCKING="TRUE"), 0, self.output)

    def test_without_locks_the_later_one_of_a_name_writes_it_whole(self):
        first, _ = self.begun(**self.no_locks())
        first.send_signal(signal.SIGSTOP)
        second, begun = self.begun(**self.no_locks())
        second.send_signal(signal.SIGSTOP)
        first.send_signal(signal.SIGCONT)
        self.assertEqual(first.wait(), 7)
        self.assertEqual(self.files(), sorted(begun), "half of it has its name, or the other one's work is gone")
        second.send_signal(signal.SIGCONT)
        self.assertEqual(second.wait(), 0)
        self.assertEqual(self.call("inspect", self.out), 0, self.output)

    def write_mesh(self, name, **cell_data):
        """A tetrahedron, and two of its faces after it, as meshio writes it in the format of the name."""
        path = os.path.join(self.case, name)
        # As our own reader of files does: that Python has the Debian package.
        subprocess.run(["/usr/bin/python3", "-c", WRITE_MESH, path, json.dumps(cell_data)], check=True)
        return path

    def test_groups_of_med_come_along(self):
        path = self.write_mesh("in.med", cell_tags=[-1, -2, 0])
        self.assertEqual(self.multiply(path, 1, "--json"), 0, self.output)
        told = json.loads(self.done.stdout)
        self.assertEqual((told["areas"], told["left_out"]), ({"lid": 0.5, "wall": 0.5}, []))

    def test_several_meshes_become_one_where_their_groups_meet(self):
        self.write("one.msh", MESH)
        below = MESH.replace("4 0 0 1\n", "4 0 0 -1\n").replace("floor", "top")
        below = below.replace("2 4 2 0 1 1 2 3 4", "2 4 2 0 1 1 3 2 4")
        self.write("other.msh", below.replace("2 1 0 0\n", "2 1.001 0 0\n"))
        words = ("mesh", "multiply", "one.msh", "other.msh", "--join", "floor", "top", "-l", "1", "-o", self.out)
        where = {"cwd": self.case, "command": self.in_build_tree()}
        self.assertEqual(self.call(*words, **where), 2, self.output)
        self.assertIn("meets none of", self.output)
        self.assertEqual(self.call(*words, "--tolerance", "0.01", "--json", **where), 0, self.output)
        told = json.loads(self.done.stdout)
        self.assertEqual((told["coarse_cells"], told["boundary_faces"], told["areas"]), (2, 6 * 4, {}))
        self.assertAlmostEqual(told["volume"], 1 / 3, delta=1e-12)

    def test_what_is_left_out_of_a_file_is_told(self):
        path = self.write_mesh("in.vtu", zone=[1, 0, 2], pressure=[1.5, 1.5, 1.5])
        self.assertEqual(self.multiply(path, 1), 0, self.output)
        for each in ("cell data pressure", "cell data zone (--groups zone takes it as groups)"):
            self.assertIn(f"forebay: left out of {path}: {each}\n", self.done.stderr)
            self.assertIn(f"  left out of {path}: {each}\n", self.done.stdout)
        self.assertEqual(self.multiply(path, 1, "--groups", "zone", "--force"), 0, self.output)
        self.assertIn("area of 2: 0.5", self.output)
        self.assertNotIn("zone", self.output)

    def test_bad_input_is_refused_before_anything_is_written(self):
        for words, status, part in (
            (("cavity:tetrahedra:2", 21), 2, "0 to 20"),
            (("cavity:tetrahedra:2", 15), 2, "no room"),
            (("cavity:cubes:2", 1), 2, "tetrahedra, hexahedra"),
            (("nosuch.msh", 1), 1, "nosuch.msh"),
            (("cavity:tetrahedra:2", 1, "--partition", os.path.join(self.case, "p")), 2, "no number of parts"),
            (("cavity:tetrahedra:2", 1, "-o", "x.vtk"), 2, ""),
            (("cavity:tetrahedra:2", 1, "--threads", "0"), 2, "--threads: a number of at least 1 is wanted, not 0"),
            (("cavity:tetrahedra:2", 1, "--merge", "-1"), 2, "--merge: a number of at least 0 is wanted, not -1"),
            (("cavity:tetrahedra:2", 1, "--tolerance", "nan"), 2, "a number of at least 0 is wanted, not nan"),
        ):
            with self.subTest(words):
                self.assertEqual(self.multiply(*words), status, self.output)
                self.assertIn(part, self.output)
                self.assertEqual(self.files(), [])

    def test_results_are_for_whom_the_mask_lets(self):
        partition = os.path.join(self.case, "partition")
        before = os.umask(0o027)
        self.addCleanup(os.umask, before)
        self.assertEqual(
            self.multiply("cavity:tetrahedra:2", 1, "--partition", partition, "--parts", "2"), 0, self.output
        )
        for name in ("out.vtkhdf", "out-boundary.vtkhdf", "partition"):
            self.assertEqual(os.stat(os.path.join(self.case, name)).st_mode & 0o777, 0o640, name)

    def test_what_is_there_stays_without_force(self):
        self.write("out.vtkhdf", "precious")
        self.assertEqual(self.multiply("cavity:tetrahedra:2", 1), 2)
        self.assertIn("--force", self.output)
        self.assertEqual(self.read("out.vtkhdf"), "precious")
        self.assertEqual(self.files(), ["out.vtkhdf"])

    def begun(self, **environment):
        """A multiplication that is at work on its file: (process, the temporary files)."""
        words = ["mesh", "multiply", "cavity:hexahedra:4", "-l", "6", "-o", self.out, "-q"]
        before = self.unnamed()
        process = subprocess.Popen([commandcase.FOREBAY, *words], env=self.environment(**environment))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        end = time.monotonic() + 10
        while time.monotonic() < end:  # without a pause: it must hold its files from the first instant on
            begun = self.unnamed()
            if len(begun) == 2 and not begun.keys() & before.keys():
                return process, list(begun.values())
        self.fail("it does not begin")

    def unnamed(self):
        """Files without their names yet, by their numbers."""
        with os.scandir(self.case) as entries:
            return {entry.inode(): entry.name for entry in entries if entry.name.startswith(".fb-")}

    def test_killed_it_leaves_no_file_of_the_name_and_the_next_one_clears_up(self):
        process, begun = self.begun()
        process.send_signal(signal.SIGSTOP)
        self.assertEqual(self.multiply("cavity:hexahedra:2", 1), 7, self.output)
        self.assertIn("another program writes", self.output)
        process.kill()
        process.wait()
        self.assertEqual(self.files(), sorted(begun))
        self.assertEqual(self.multiply("cavity:hexahedra:2", 1), 0, self.output)
        self.assertEqual(self.files(), ["out-boundary.vtkhdf", "out.vtkhdf"])


if __name__ == "__main__":
    commandcase.main()
