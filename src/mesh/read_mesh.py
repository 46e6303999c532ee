#!/usr/bin/python3
"""Reads a mesh in any format that meshio knows and writes it to standard output, for src/mesh/reader.cpp.

    read_mesh.py FILE [ARRAY]      ARRAY: whose values are groups, where that is not one of KNOWN

First a line of JSON that says how much follows, and what of the file is left out; then the arrays as they lie in memory:
coordinates, the corners of each block of cells, the corners of each group's faces (four each), the cells of each group,
periodic faces (eight corners each).
"""

import contextlib
import io
import json
import os
import re
import resource
import sys

import numpy

SHAPES = {"tetra": "tetrahedron", "pyramid": "pyramid", "wedge": "prism", "hexahedron": "hexahedron"}
FACES = {"triangle": 3, "quad": 4}
LOWER = {"vertex", "line"}
NONE = 0xFFFFFFFF
# Cell arrays that tell each cell its group: as meshio calls those of its formats, and as Gmsh calls its own in VTK files.
KNOWN = ["gmsh:physical", "cell_tags", "medit:ref", "nastran:ref", "netgen:index", "su2:tag", "tetgen:ref", "ugrid:ref"]
KNOWN += ["avsucd:material", "CellEntityIds"]
MEMBERS = "group_"  # and a name: an array that is not 0 where a cell is a member, as in our own files
READ_OTHERWISE = {"gmsh:geometrical", "gmsh:dim_tags"}


def limit_memory(path: str) -> None:
    """A file that lies about its counts must not take the machine's memory: text is never 64 times as large in memory."""
    room = (4 << 30) + 64 * os.path.getsize(path)
    resource.setrlimit(resource.RLIMIT_AS, (room, room))


def load(path: str):
    """The mesh, and what meshio warns of. Where it only warns, though it left cells out or the file ends too early, there is
    no mesh."""
    import meshio

    with contextlib.suppress(ImportError, AttributeError):
        # In VTK files of version 5.1 meshio 5.0 takes an `int` for 64 bits and knows no `unsigned_char`; in older ones it does.
        from meshio.vtk import _vtk_42, _vtk_51

        _vtk_51.vtk_to_numpy_dtype_name.update(_vtk_42.vtk_to_numpy_dtype_name)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        mesh = meshio.read(path)
    warning = " ".join(said.getvalue().split())
    if "cannot handle" in warning or "not closed" in warning:
        raise ValueError(warning)
    if path.endswith(".vtu") and pieces_of(path) > 1:
        raise ValueError("it has several pieces, of which meshio keeps the last only; write it as one")
    return mesh, warning


def pieces_of(path: str) -> int:
    with open(path, "rb") as file:
        return len(re.findall(rb"<Piece\s", file.read().partition(b"<AppendedData")[0]))


class Groups:
    """The names of the groups that each cell or face of a meshio mesh belongs to."""

    def __init__(self, mesh, chosen: str | None):
        self.mesh = mesh
        tells = [name for name in mesh.cell_data if self.is_whole(name)]
        if chosen and chosen not in tells:
            raise ValueError(f"no cell data {chosen} of whole numbers is there; there is: {', '.join(tells) or 'none'}")
        self.array = chosen or next((name for name in KNOWN if name in tells), None)
        self.members = [name for name in tells if name.startswith(MEMBERS) and name not in (MEMBERS, self.array)]
        # Gmsh's and Netgen's names stand beside a number and a dimension, MED's are several for a number.
        self.named = {}
        if any(name.startswith(("gmsh:", "netgen:")) for name in (*mesh.cell_data, *mesh.point_data)):
            self.named = {name: about for name, about in mesh.field_data.items() if numpy.size(about) == 2}
        self.names = {(int(dim), int(tag)): [name] for name, (tag, dim) in self.named.items()}
        if self.array == "cell_tags":
            families = getattr(mesh, "cell_tags", {})
            self.names = {(dim, tag): names for tag, names in families.items() for dim in (2, 3)}

    def is_whole(self, name: str) -> bool:
        blocks = [numpy.asarray(block) for block in self.mesh.cell_data[name]]
        return all(block.dtype.kind in "iu" and block.size == len(block) for block in blocks)

    def values(self, name: str, block: int):
        return numpy.asarray(self.mesh.cell_data[name][block]).ravel()

    def of(self, block: int, dimension: int):
        """Each group that cells of the block belong to, and which of them: 0 is no group."""
        if self.array:
            values = self.values(self.array, block)
            for tag in numpy.unique(values[values != 0]):
                for name in self.names.get((dimension, int(tag)), [str(tag)]):
                    yield name, values == tag
        for name in self.members:
            member = self.values(name, block) != 0
            if member.any():
                yield name[len(MEMBERS) :], member

    def left_out(self):
        """What the file holds besides, by names for people."""
        taken = {self.array, *self.members, *READ_OTHERWISE}
        for name in sorted(self.mesh.cell_data.keys() - taken):
            yield f"cell data {name}" + (f" (--groups {name} takes it as groups)" if self.is_whole(name) else "")
        yield from (f"point data {name}" for name in sorted(self.mesh.point_data.keys() - READ_OTHERWISE))
        yield from (f"set of points {name}" for name in self.mesh.point_sets)
        for name in self.mesh.cell_sets:  # meshio makes them of Gmsh's names, too, which are groups already
            if name not in self.named and not name.startswith("gmsh:"):
                yield f"set of cells {name}"
        yield from (f"group of edges or points {name}" for name, (_, dim) in self.named.items() if dim < 2)
        yield from (f"field data {name}" for name in self.mesh.field_data if name not in self.named)
        if numpy.size((self.mesh.info or {}).get("netgen:identifications", ())):
            yield "periodic points of Netgen"


class Reader:
    """Sorts a meshio mesh into cells, groups of faces and cells, and periodic faces."""

    def __init__(self, mesh, groups: Groups):
        self.mesh, self.groups = mesh, groups
        self.blocks, self.face_groups, self.cell_groups, self.periodic = [], {}, {}, []
        self.points = numpy.asarray(mesh.points, dtype="<f8")
        if self.points.ndim != 2 or self.points.shape[1] != 3:
            raise ValueError("the points do not have three coordinates")
        self.sort_blocks()
        self.find_periodic()
        self.drop_unused_points()

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
            if block.type in FACES:
                faces = numpy.full((len(corners), 4), NONE, dtype="<u4")
                faces[:, : FACES[block.type]] = corners
                for name, member in self.groups.of(number, 2):
                    self.face_groups.setdefault(name, []).append(faces[member])
            else:
                cells = cells_before + numpy.arange(len(corners), dtype="<u4")
                for name, member in self.groups.of(number, 3):
                    self.cell_groups.setdefault(name, []).append(cells[member])
                self.blocks.append((SHAPES[block.type], corners))
                cells_before += len(corners)

    def find_periodic(self) -> None:
        for dimension, (copy, _), _, pairs in getattr(self.mesh, "gmsh_periodic", None) or []:
            if dimension != 2:
                continue
            behind = numpy.full(len(self.points), NONE, dtype="<u4")
            pairs = numpy.asarray(pairs)
            behind[pairs[:, 0]] = pairs[:, 1]
            entities = self.mesh.cell_data.get("gmsh:geometrical", [])
            for block, entity in zip(self.mesh.cells, entities, strict=False):
                if block.type in FACES:
                    self.add_periodic(numpy.asarray(block.data)[numpy.asarray(entity) == copy], behind)

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

    def write(self, left_out: list, out) -> None:
        def sizes(groups):
            return [{"name": name, "count": len(members)} for name, members in groups.items()]

        header = {
            "points": len(self.points),
            "blocks": [{"shape": shape, "count": len(corners)} for shape, corners in self.blocks],
            "face_groups": sizes(self.face_groups),
            "cell_groups": sizes(self.cell_groups),
            "periodic": len(self.periodic),
            "left_out": left_out,
        }
        out.write(json.dumps(header).encode() + b"\n")
        arrays = [self.points, *(corners for _, corners in self.blocks)]
        arrays += [*self.face_groups.values(), *self.cell_groups.values(), self.periodic]
        for array in arrays:
            out.write(array.tobytes())


def main() -> int:
    path, chosen = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    try:
        limit_memory(path)
        mesh, warning = load(path)
        groups = Groups(mesh, chosen)
        reader = Reader(mesh, groups)
        left_out = [*groups.left_out(), *([f"what meshio says of it: {warning}"] if warning else [])]
    except ImportError as missing:
        print(f"{missing}; install python3-meshio", file=sys.stderr)
        return 1
    except MemoryError:
        print("it announces more than it holds", file=sys.stderr)
        return 1
    except (Exception, SystemExit) as wrong:  # meshio raises what the numbers of a damaged file lead to, and also exits
        unknown = "it is damaged, or in a form that meshio does not know"
        print(f"{type(wrong).__name__}: {wrong}" if str(wrong) else unknown, file=sys.stderr)
        return 1
    reader.write(left_out, sys.stdout.buffer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
