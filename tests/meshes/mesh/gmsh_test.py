"""Proves: of files of Gmsh, in every version and as text and binary, all groups of every element come, under their names,
with every cell once and the right way round; what cannot be kept is named; markers of SU2 keep their names.

gmsh_test.py SOURCES
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(sys.argv.pop())
READER = SOURCES / "src/meshes/mesh/read_mesh.py"
LINE, QUAD, HEXAHEDRON = 1, 3, 5
DIMENSION = {LINE: 1, QUAD: 2, HEXAHEDRON: 3}

# Two cubes side by side along x; the numbers of points have gaps.
POINTS = {7 + 3 * (x + 3 * (y + 2 * z)): (x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1, 2)}
TAG = {place: tag for tag, place in POINTS.items()}


def cube(x):
    square = [(x, 0), (x + 1, 0), (x + 1, 1), (x, 1)]
    return [TAG[at, y, z] for z in (0, 1) for at, y in square]


def across(x):
    return [TAG[x, 0, 0], TAG[x, 1, 0], TAG[x, 1, 1], TAG[x, 0, 1]]


def top(x):
    return [TAG[x, 0, 1], TAG[x + 1, 0, 1], TAG[x + 1, 1, 1], TAG[x, 1, 1]]


# By type and entity the groups, negative where they are reversed, and the elements.
ELEMENTS = {
    (LINE, 1): ((3,), [[TAG[0, 0, 0], TAG[1, 0, 0]]]),
    (QUAD, 1): ((1, 2), [across(0)]),
    (QUAD, 2): ((1, 3), [top(0), top(1)]),
    (QUAD, 3): ((1, -4, 9), [across(2)]),
    (QUAD, 4): ((7,), [across(1)]),
    (HEXAHEDRON, 1): ((1, 2), [cube(0)]),
    (HEXAHEDRON, 2): ((1, -5), [cube(1)]),
}
NAMES = {(1, 3): "seam", (2, 1): "boundary", (2, 2): "inlet", (2, 3): "top", (2, 4): "outlet", (2, 9): "top"}
NAMES |= {(3, 1): "fluid", (3, 2): "inlet", (3, 5): "back wards", (3, 6): "of nothing"}
FACES = {"boundary": 4, "inlet": 1, "top": 3, "outlet": 1, "7": 1}
CELLS = {"fluid": [0, 1], "inlet": [0], "back wards": [1]}


class Writer:
    """Numbers as text or as they lie in memory: i 4 bytes, q 8 bytes, d a double."""

    def __init__(self, binary):
        self.binary, self.content = binary, b""

    def put(self, kinds, *values):
        if self.binary:
            self.content += struct.pack("<" + kinds, *values)
        else:
            self.content += " ".join(map(str, values)).encode() + b"\n"

    def line(self, text):
        self.content += text.encode() + b"\n"

    def section(self, name):
        writer = self

        class Section:
            def __enter__(self):
                writer.line("$" + name)

            def __exit__(self, *exception):
                writer.line(("\n" if writer.binary else "") + "$End" + name)

        return Section()


def turned(corners):
    """As Gmsh turns a hexahedron or a quadrilateral round."""
    return [corners[i] for i in ((2, 1, 0, 3, 6, 5, 4, 7) if len(corners) == 8 else (0, 3, 2, 1))]


def msh(version, binary, elements=ELEMENTS, save_all=False):
    out = Writer(binary)
    with out.section("MeshFormat"):
        out.line(f"{version} {int(binary)} 8")
        if binary:
            out.put("i", 1)
    out.line(f"$PhysicalNames\n{len(NAMES)}")
    for (dimension, tag), name in NAMES.items():
        out.line(f'{dimension} {tag} "{name}"')
    out.line("$EndPhysicalNames")
    if version == "2.2":
        old(out, elements, save_all)
    else:
        new(out, version == "4", elements)
    return out.content


def old(out, elements, save_all):
    rows = []
    for (kind, entity), (groups, some) in elements.items():
        for corners in some:
            for group in (0,) if save_all else groups:
                rows.append((kind, abs(group), entity, turned(corners) if group < 0 else corners))
    out.line(f"$Nodes\n{len(POINTS)}")
    for tag, place in POINTS.items():
        out.put("iddd", tag, *place)
    out.line(f"$EndNodes\n$Elements\n{len(rows)}")
    for number, (kind, group, entity, corners) in enumerate(rows, 1):
        if out.binary:
            out.put(f"iiiiii{len(corners)}i", kind, 1, 2, number, group, entity, *corners)
        else:
            out.put("", number, kind, 2, group, entity, *corners)
    out.line("$EndElements")


def new(out, first, elements):
    """Version 4.1, or its first, 4.0."""
    integer = "i" if first else "q"

    def block(dimension, entity, number):
        out.put("iii", *((entity, dimension) if first else (dimension, entity)), number)

    with out.section("Entities"):
        of = [
            [(each, groups) for (kind, each), (groups, _) in elements.items() if DIMENSION[kind] == d] for d in range(4)
        ]
        of[0] = [(1, ())]
        out.put("qqqq", *map(len, of))
        for dimension, entities in enumerate(of):
            for tag, groups in entities:
                box = (0.0,) * (3 if dimension == 0 and not first else 6)
                bounds = ("q", 0) if dimension else ("",)
                kinds = f"i{len(box)}dq{len(groups)}i" + bounds[0]
                out.put(kinds, tag, *box, len(groups), *groups, *bounds[1:])
    with out.section("Nodes"):
        out.put("qq" if first else "qqqq", 2, len(POINTS), *(() if first else (min(POINTS), max(POINTS))))
        tags = list(POINTS)
        for here, parametric in ((tags[:5], 1), (tags[5:], 0)):
            block(2, 1, parametric)
            out.put("q", len(here))
            places = [(*POINTS[tag], *(0.5, 0.5)[: 2 * parametric]) for tag in here]
            if first:
                for tag, place in zip(here, places, strict=True):
                    out.put(f"i{len(place)}d", tag, *place)
            else:
                out.put(f"{len(here)}q", *here)
                for place in places:
                    out.put(f"{len(place)}d", *place)
    with out.section("Elements"):
        count = sum(len(some) for _, some in elements.values())
        out.put("qq" if first else "qqqq", len(elements), count, *(() if first else (1, count)))
        number = 0
        for (kind, entity), (_, some) in elements.items():
            block(DIMENSION[kind], entity, kind)
            out.put("q", len(some))
            for corners in some:
                number += 1
                out.put(f"{1 + len(corners)}{integer}", number, *corners)


FORMS = [(version, binary) for version in ("2.2", "4", "4.1") for binary in (False, True)]


class GmshTest(unittest.TestCase):
    def call(self, content, *words, ending=".msh"):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "mesh" + ending)
            pathlib.Path(path).write_bytes(content)
            return subprocess.run(["/usr/bin/python3", READER, path, *words], capture_output=True, timeout=60)

    def read(self, content, *words, ending=".msh"):
        """Points, cells, faces and cells of groups, and what is left out."""
        done = self.call(content, *words, ending=ending)
        self.assertEqual(done.returncode, 0, done.stderr)
        line, _, rest = done.stdout.partition(b"\n")
        header = json.loads(line)

        def take(count, kind):
            nonlocal rest
            size = struct.calcsize("<" + kind)
            found = [struct.unpack_from("<" + kind, rest, i * size) for i in range(count)]
            rest = rest[count * size :]
            return found

        points = take(header["points"], "3d")
        corners = {"hexahedron": "8I", "tetrahedron": "4I"}
        cells = [cell for block in header["blocks"] for cell in take(block["count"], corners[block["shape"]])]
        faces = {group["name"]: take(group["count"], "4I") for group in header["face_groups"]}
        members = {group["name"]: [i for (i,) in take(group["count"], "I")] for group in header["cell_groups"]}
        return points, cells, faces, members, header["left_out"]

    def test_every_group_of_every_element_comes_under_its_name(self):
        for version, binary in FORMS:
            with self.subTest(version=version, binary=binary):
                points, cells, faces, members, left_out = self.read(msh(version, binary))
                self.assertEqual(
                    [[points[i] for i in cell] for cell in cells], [[POINTS[t] for t in cube(x)] for x in (0, 1)]
                )
                self.assertEqual({name: len(some) for name, some in faces.items()}, FACES)
                self.assertEqual({points[i] for i in faces["inlet"][0]}, {POINTS[tag] for tag in across(0)})
                self.assertEqual({points[i] for i in faces["outlet"][0]}, {POINTS[tag] for tag in across(2)})
                self.assertEqual(members, CELLS)
                said = "; ".join(left_out)
                self.assertIn("group of edges or points seam", said)
                self.assertIn("group of cells of nothing, which the file gives no cells", said)
                self.assertIn("which of the groups 3, 9, all called top, faces are of", said)
                if version != "2.2":  # where nothing tells
                    self.assertIn("that the faces of group outlet are reversed", said)

    def test_a_group_that_is_there_only_reversed_has_its_cells_the_right_way_round(self):
        backwards = {**ELEMENTS, (HEXAHEDRON, 1): ((-1,), [cube(0)]), (HEXAHEDRON, 2): ((-1,), [cube(1)])}
        for version, binary in FORMS:
            with self.subTest(version=version, binary=binary):
                points, cells, _, members, _ = self.read(msh(version, binary, backwards))
                self.assertEqual(members, {"fluid": [0, 1]})
                for cell in cells:
                    (x, y, z), ends = points[cell[0]], [points[cell[i]] for i in (1, 3, 4)]
                    a, b, c = ([end[0] - x, end[1] - y, end[2] - z] for end in ends)
                    cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
                    self.assertEqual(sum(p * q for p, q in zip(cross, c, strict=True)), 1)

    def test_elements_of_no_group_come_too(self):
        without = {
            key: (() if key in ((HEXAHEDRON, 2), (QUAD, 4)) else groups, some)
            for key, (groups, some) in ELEMENTS.items()
        }
        for binary in (False, True):
            for version in ("4", "4.1"):
                _, cells, faces, members, _ = self.read(msh(version, binary, without))
                self.assertEqual((len(cells), "7" in faces, members), (2, False, {"fluid": [0], "inlet": [0]}))
            _, cells, faces, members, left_out = self.read(msh("2.2", binary, save_all=True))
            self.assertEqual((len(cells), faces, members), (2, {}, {}))
            self.assertIn("group of faces inlet, which the file gives no faces", left_out)

    def test_entities_are_groups_where_that_is_asked_for(self):
        for version in ("2.2", "4.1"):
            *_, faces, members, left_out = self.read(msh(version, True), "gmsh:geometrical")
            self.assertEqual((sorted(faces), members), (["1", "2", "3", "4"], {"1": [0], "2": [1]}))
            self.assertIn("gmsh:physical", left_out[0])
        self.assertIn(b"there is: gmsh:physical, gmsh:geometrical", self.call(msh("4.1", False), "zone").stderr)

    def test_data_and_sections_that_nobody_knows_are_named(self):
        more = b'$NodeData\n1\n"heat"\n0\n0\n$EndNodeData\n$Novelty\n1 2 3\n$EndNovelty\n'
        *_, left_out = self.read(msh("4.1", False) + more)
        self.assertEqual(left_out[:2], ["point data heat", "section $Novelty"])

    def test_a_file_that_is_cut_off_is_refused_in_one_line(self):
        for version, binary in FORMS:
            whole = msh(version, binary)
            for at in range(60, len(whole) - 2, len(whole) // 5):
                done = self.call(whole[:at])
                self.assertEqual(
                    (done.returncode, done.stderr.count(b"\n")), (1, 1), (version, binary, at, done.stderr)
                )
                self.assertNotIn(b"Traceback", done.stderr)

    def test_markers_of_su2_keep_their_names(self):
        points = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
        markers = "MARKER_TAG= {}\nMARKER_ELEMS= 1\n5 0 1 2\nMARKER_TAG= {}\nMARKER_ELEMS= 2\n5 0 1 3\n5 0 2 3\n"
        mesh = f"NDIME= 3\nNELEM= 1\n10 0 1 2 3\nNPOIN= 4\n{points}NMARK= 2\n" + markers
        for names in (("wall", "far field"), ("0", "5"), ("0", "symmetry"), ("two", "one")):
            *_, faces, _, left_out = self.read(mesh.format(*names).encode(), ending=".su2")
            self.assertEqual({name: len(some) for name, some in faces.items()}, dict(zip(names, (1, 2), strict=True)))
            self.assertEqual(left_out, [])
        done = self.call((mesh.replace("NMARK= 2", "NMARK= 3") + markers.partition("MARKER_TAG= {}\nMARKER_ELEMS= 2")[0])
                         .format("3", "wall", "4").encode(), ending=".su2")  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"its markers wall and 4 cannot be told apart", done.stderr)


if __name__ == "__main__":
    unittest.main()
