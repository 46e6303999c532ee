#!/usr/bin/python3
"""Reads a mesh in any format that meshio knows and writes it to standard output, for src/mesh/reader.cpp.

First a line of JSON that says how much follows, then the arrays as they lie in memory: coordinates, the corners of each block
of cells, the corners of each group's faces (four each), the cells of each group, periodic faces (eight corners each).
"""

import contextlib
import io
import json
import os
import resource
import sys

import numpy

SHAPES = {"tetra": "tetrahedron", "pyramid": "pyramid", "wedge": "prism", "hexahedron": "hexahedron"}
FACES = {"triangle": 3, "quad": 4}
LOWER = {"vertex", "line"}
NONE = 0xFFFFFFFF


def limit_memory(path: str) -> None:
    """A file that lies about its counts must not take the machine's memory: text is never 64 times as large in memory."""
    room = (4 << 30) + 64 * os.path.getsize(path)
    resource.setrlimit(resource.RLIMIT_AS, (room, room))


def load(path: str):
    """The mesh. Where meshio only warns, though it left cells out or the file ends too early, there is none."""
    import meshio

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        mesh = meshio.read(path)
    warning = " ".join(said.getvalue().split())
    if "cannot handle" in warning or "not closed" in warning:
        raise ValueError(warning)
    return mesh


class Reader:
    """Sorts a meshio mesh into cells, groups of faces and cells, and periodic faces."""

    def __init__(self, mesh):
        self.mesh = mesh
        self.names = {(int(dim), int(tag)): name for name, (tag, dim) in mesh.field_data.items()}
        self.blocks, self.face_groups, self.cell_groups, self.periodic = [], {}, {}, []
        self.points = numpy.asarray(mesh.points, dtype="<f8")
        if self.points.ndim != 2 or self.points.shape[1] != 3:
            raise ValueError("the points do not have three coordinates")
        self.sort_blocks()
        self.find_periodic()
        self.drop_unused_points()

    def tags(self, kind: str, block: int):
        data = self.mesh.cell_data.get(kind)
        return None if data is None else numpy.asarray(data[block])

    def sort_blocks(self) -> None:
        cells_before = 0
        for number, block in enumerate(self.mesh.cells):
            corners = numpy.asarray(block.data)
            if block.type in LOWER:
                continue
            if block.type not in SHAPES and block.type not in FACES:
                raise ValueError(f"cells of type {block.type} are not known here; known: {', '.join(SHAPES)}")
            if corners.size and (corners.min() < 0 or corners.max() >= len(self.points)):
                raise ValueError(f"a {block.type} has a corner that is not among the {len(self.points)} points")
            tags = self.tags("gmsh:physical", number)
            if block.type in FACES:
                faces = numpy.full((len(corners), 4), NONE, dtype="<u4")
                faces[:, : FACES[block.type]] = corners
                self.group(self.face_groups, 2, tags, faces)
            else:
                self.group(self.cell_groups, 3, tags, cells_before + numpy.arange(len(corners), dtype="<u4"))
                self.blocks.append((SHAPES[block.type], corners))
                cells_before += len(corners)

    def group(self, groups: dict, dimension: int, tags, members) -> None:
        """Members of the same tag become a group of its name; 0 is no tag."""
        for tag in numpy.unique(tags) if tags is not None else []:
            if tag == 0:
                continue
            name = self.names.get((dimension, int(tag)), str(tag))
            groups.setdefault(name, []).append(members[tags == tag])

    def find_periodic(self) -> None:
        for dimension, (copy, _), _, pairs in getattr(self.mesh, "gmsh_periodic", None) or []:
            if dimension != 2:
                continue
            behind = numpy.full(len(self.points), NONE, dtype="<u4")
            pairs = numpy.asarray(pairs)
            behind[pairs[:, 0]] = pairs[:, 1]
            for number, block in enumerate(self.mesh.cells):
                entities = self.tags("gmsh:geometrical", number)
                if block.type in FACES and entities is not None:
                    self.add_periodic(numpy.asarray(block.data)[entities == copy], behind)

    def add_periodic(self, faces, behind) -> None:
        pairs = numpy.full((len(faces), 8), NONE, dtype="<u4")
        pairs[:, : faces.shape[1]] = faces
        pairs[:, 4 : 4 + faces.shape[1]] = behind[faces]
        if len(faces) and (behind[faces] == NONE).any():
            raise ValueError("a periodic face has a corner without a counterpart")
        self.periodic.append(pairs)

    def drop_unused_points(self) -> None:
        used = numpy.zeros(len(self.points), dtype=bool)
        for _, corners in self.blocks:
            used[corners] = True
        number = numpy.append(numpy.cumsum(used, dtype="<i8") - 1, NONE)
        number[:-1][~used] = NONE - 1  # of a face that no cell has: refused when it is looked for
        self.points = numpy.ascontiguousarray(self.points[used])

        def follow(corners):
            return number[numpy.minimum(corners, len(used))].astype("<u4")

        self.blocks = [(shape, follow(corners)) for shape, corners in self.blocks]
        self.face_groups = {name: follow(numpy.concatenate(parts)) for name, parts in self.face_groups.items()}
        self.cell_groups = {name: numpy.concatenate(parts) for name, parts in self.cell_groups.items()}
        self.periodic = follow(numpy.concatenate(self.periodic)) if self.periodic else numpy.empty((0, 8), "<u4")

    def write(self, out) -> None:
        def sizes(groups):
            return [{"name": name, "count": len(members)} for name, members in groups.items()]

        header = {
            "points": len(self.points),
            "blocks": [{"shape": shape, "count": len(corners)} for shape, corners in self.blocks],
            "face_groups": sizes(self.face_groups),
            "cell_groups": sizes(self.cell_groups),
            "periodic": len(self.periodic),
        }
        out.write(json.dumps(header).encode() + b"\n")
        arrays = [self.points, *(corners for _, corners in self.blocks)]
        arrays += [*self.face_groups.values(), *self.cell_groups.values(), self.periodic]
        for array in arrays:
            out.write(array.tobytes())


def main() -> int:
    path = sys.argv[1]
    try:
        limit_memory(path)
        reader = Reader(load(path))
    except ImportError as missing:
        print(f"{missing}; install python3-meshio", file=sys.stderr)
        return 1
    except MemoryError:
        print("it announces more than it holds", file=sys.stderr)
        return 1
    except (Exception, SystemExit) as wrong:  # meshio raises what the numbers of a damaged file lead to, and also exits
        print(f"{type(wrong).__name__}: {wrong}" if str(wrong) else "it is damaged", file=sys.stderr)
        return 1
    reader.write(sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
