#!/usr/bin/env python3
"""Reads a mesh in any format that meshio knows and writes it to standard output, for src/meshes/mesh/reader.cpp.

    read_mesh.py FILE [ARRAY]      ARRAY: whose values are groups, where that is not one of KNOWN

First a line of JSON that says how much follows, and what of the file is left out; then the arrays as they lie in
memory: coordinates, the corners of each block of cells, the corners of each group's faces (four each), the cells of
each group, periodic faces (eight corners each). A file that cannot be read is told in one line on standard error, with
exit status 1."""

import contextlib
import io
import json
import mmap
import os
import re
import resource
import sys

try:
    import numpy
except ImportError:
    sys.exit("the Python module numpy is missing; install python3-numpy")

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import read_gmsh as gmsh_files  # noqa: E402

SHAPES = {"tetra": "tetrahedron", "pyramid": "pyramid", "wedge": "prism", "hexahedron": "hexahedron"}
FACES = {"triangle": 3, "quad": 4}
LOWER = {"vertex", "line"}
NONE = 0xFFFFFFFF
# Cell arrays that tell each cell its group: as meshio calls those of its formats, and as Gmsh calls its own in VTK.
KNOWN = ["gmsh:physical", "cell_tags", "medit:ref", "nastran:ref", "netgen:index", "su2:tag", "tetgen:ref", "ugrid:ref"]
KNOWN += ["avsucd:material", "CellEntityIds"]
MEMBERS = "group_"  # and a name: an array that is not 0 where a cell is a member, as in our own files
READ_OTHERWISE = {"gmsh:geometrical", "gmsh:dim_tags"}
EXPECTED = "a mesh of tetrahedra, pyramids, prisms or hexahedra in a format that meshio reads"
ADVICE = "write it as Gmsh .msh, VTU or MED; `gmsh FILE -save -o mesh.msh` turns many formats into the first"
VOLUME = "mesh the volume, not its surface alone (`gmsh -3`)"
NOT_READ = "that is not read here"
# Files in a case of OpenFOAM, in a rank's part of one, in its directory constant, and in that of a mesh.
OF_FOAM = ("system/controlDict", "constant/polyMesh", "polyMesh", "owner", "owner.gz", "faces", "faces.gz")
# How a file begins; what it is; why it is not even tried, if so; and what to do where its cells cannot be had.
KINDS = [
    (rb"\$NOD\b", "a Gmsh file of version 1", NOT_READ, "open it in Gmsh, and save it in version 4.1"),
    (rb"\$MeshFormat\s+([\d.]+)", "a Gmsh file of version {}", None, None),
    (
        rb"\s*\((0|1|2|10|12|13|39|45)\s",
        "a mesh of Ansys Fluent, whose cells meshio does not make of their faces",
        None,
        "fluentMeshToFoam and foamToVTK, of OpenFOAM, turn it into VTU",
    ),
    (rb"MFEM ", "a mesh of MFEM", NOT_READ, "Mesh::PrintVTU of MFEM writes it as VTU"),
    (rb"\s*-1\s+\d{2,4}\s", "a UNV file", NOT_READ, "`gmsh FILE -save -o mesh.msh` turns it into a file of Gmsh"),
    (rb"(?s).*\bFoamFile\b", "a file of an OpenFOAM case", NOT_READ, "foamToVTK writes the mesh of the case as VTU"),
    (rb"(?s).*<VTKFile[^>]*\stype=.(\w+)", "a VTK file of the type {}", None, None),
    (rb"# vtk DataFile", "a legacy VTK file", None, None),
    (rb"\x89HDF", "a file of HDF5", None, None),
]


class Refused(Exception):
    def __init__(self, trouble: str, advice: str | None = None, expected: str = EXPECTED):
        super().__init__(trouble)
        self.trouble, self.advice, self.expected = trouble.strip(" ."), advice, expected

    def text(self, path: str) -> str:
        what, _, advice = kind_of(path)
        parts = [f"it is {what}: {self.trouble}", self.expected and f"expected {self.expected}"]
        return " ".join("; ".join(filter(None, [*parts, advice or self.advice or ADVICE])).split())


def kind_of(path: str):
    """The kind of a file, why it is not even tried (None: it is), and what to do where its cells cannot be had."""
    foam = any(os.path.exists(os.path.join(path, name)) for name in OF_FOAM)
    if foam or path.endswith(".foam"):
        return "an OpenFOAM case", NOT_READ, "foamToVTK writes its mesh as VTU"
    if os.path.isdir(path):
        return "a directory", "meshes are files", None
    with open(path, "rb") as file:
        beginning = file.read(1024)
    if not beginning:
        return "an empty file", "it holds no mesh", "write it anew"
    for pattern, what, why, advice in KINDS:
        if found := re.match(pattern, beginning):
            return what.format(*(each.decode() for each in found.groups())), why, advice
    _, dot, ending = os.path.basename(path).rpartition(".")
    return (
        f"a file that ends in .{ending}" if dot else "a file whose name has no ending, by which formats are known",
        None,
        None,
    )


def limit_memory(path: str) -> None:
    """A file that lies about its counts must not take the machine's memory: text is never 64 times as large in memory."""
    room = (4 << 30) + 64 * os.path.getsize(path)
    resource.setrlimit(resource.RLIMIT_AS, (room, room))


def load(path: str):
    """The mesh, and what meshio warns of. Where it only warns, though it left cells out or the file ends too early, there is
    no mesh."""
    why = kind_of(path)[1]
    if why:
        raise Refused(why)
    pieces = pieces_of(path) if path.endswith(".vtu") else []
    if len(pieces) > 1:
        raise Refused("it has several pieces, of which meshio keeps the last only", "write it as one piece")
    if any(re.search(rb"\sNumberOfCells\s*=\s*[\"']0+[\"']", piece) for piece in pieces):
        raise Refused("it has no cells")
    import meshio

    with contextlib.suppress(ImportError, AttributeError):
        # In VTK files of version 5.1 meshio 5.0 takes an `int` for 64 bits and knows no `unsigned_char`; in older ones
        # it does.
        from meshio.vtk import _vtk_42, _vtk_51

        _vtk_51.vtk_to_numpy_dtype_name.update(_vtk_42.vtk_to_numpy_dtype_name)
    said = io.StringIO()
    mesh = None
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
        mesh = meshio.read(path)
    warning = " ".join(said.getvalue().split())
    if mesh is None:
        raise Refused(warning.partition("Error: ")[0] or "it is damaged, or of another format than its name says")
    if "cannot handle" in warning or "not closed" in warning:
        raise Refused(warning)
    return mesh, warning


def is_partitioned(path: str) -> bool:
    """Whether the elements of a Gmsh file are numbered by parts, whose groups meshio takes for those of others."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content[:11] == b"$MeshFormat" and content.find(b"$PartitionedEntities") >= 0


def is_of_gmsh(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(11) == b"$MeshFormat"


def read_gmsh(path: str, chosen):
    """A mesh of Gmsh, and its groups."""
    if chosen not in (None, *gmsh_files.GROUPS):
        raise Refused(
            f"no cell data {chosen} is there; there is: {', '.join(gmsh_files.GROUPS)}", "name one of them", ""
        )
    if is_partitioned(path):
        advice = "let gmsh.model.mesh.unpartition() of Gmsh's Python undo that, and save it again"
        raise Refused("it is partitioned", advice, "a mesh in one part")
    try:
        found = gmsh_files.Gmsh(path)
        mesh = gmsh_files.Mesh(found)
    except gmsh_files.Wrong as wrong:
        raise Refused(str(wrong)) from None
    return mesh, gmsh_files.Groups(found, mesh, chosen)


def pieces_of(path: str) -> list:
    with open(path, "rb") as file:
        return re.findall(rb"<Piece\s[^>]*", file.read().partition(b"<AppendedData")[0])


def markers_of_su2(path: str) -> dict:
    """The names of markers by the numbers that meshio gives them, which are its own where they are no numbers."""
    number, names = 0, {}
    with open(path, errors="replace") as file:
        for name in re.findall(r"^\s*MARKER_TAG\s*=(.*)$", file.read(), re.M):
            name = name.strip()
            number = int(name) if re.fullmatch(r"[+-]?\d+", name) else number + 1
            if names.setdefault((2, number), [name]) != [name]:
                both = " and ".join((*names[2, number], name))
                raise Refused(
                    f"its markers {both} cannot be told apart", "let all be named by words, or all by numbers"
                )
    return names


class Groups:
    """The names of the groups that each cell or face of a meshio mesh belongs to."""

    def __init__(self, mesh, chosen: str | None, markers: dict):
        self.mesh = mesh
        tells = [name for name in mesh.cell_data if self.is_whole(name)]
        if chosen and chosen not in tells:
            there = ", ".join(tells) or "none"
            raise Refused(f"no cell data {chosen} of whole numbers is there; there is: {there}", "name one of them", "")
        self.array = chosen or next((name for name in KNOWN if name in tells), None)
        self.members = [name for name in tells if name.startswith(MEMBERS) and name not in (MEMBERS, self.array)]
        # Gmsh's and Netgen's names stand beside a number and a dimension, MED's are several for a number.
        self.named = {}
        if any(name.startswith(("gmsh:", "netgen:")) for name in (*mesh.cell_data, *mesh.point_data)):
            self.named = {name: about for name, about in mesh.field_data.items() if numpy.size(about) == 2}
        self.names = {(int(dim), int(tag)): [name] for name, (tag, dim) in self.named.items()}
        if self.array == "su2:tag":
            self.names = markers
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
            for tag in numpy.unique(values):
                if tag == 0 and (dimension, 0) not in self.names:
                    continue
                for name in self.names.get((dimension, int(tag)), [str(tag)]):
                    yield name, values == tag
        for name in self.members:
            member = self.values(name, block) != 0
            if member.any():
                yield name[len(MEMBERS) :], member

    def left_out(self):
        """The file's other content, by names for people."""
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
            raise Refused("its points do not have three coordinates", VOLUME)
        self.sort_blocks()
        if not any(len(corners) for _, corners in self.blocks):
            faces = any(len(block.data) for block in mesh.cells if block.type in FACES)
            if not faces:
                raise Refused("it has neither faces nor cells", None)
            raise Refused("it has faces and no cells", VOLUME)
        self.find_periodic()
        self.drop_unused_points()

    def sort_blocks(self) -> None:
        cells_before = 0
        for number, block in enumerate(self.mesh.cells):
            corners = numpy.asarray(block.data)
            if block.type in LOWER:
                continue
            if block.type not in SHAPES and block.type not in FACES:
                order = "save it with cells of the first order" if re.search(r"\d$", block.type) else None
                raise Refused(f"cells of type {block.type} are not known here; known: {', '.join(SHAPES)}", order)
            if corners.size and (corners.min() < 0 or corners.max() >= len(self.points)):
                raise Refused(
                    f"a {block.type} has a corner that is none of its points, which number {len(self.points)}"
                )
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
            raise Refused("a periodic face has a corner without a counterpart")
        self.periodic.append(pairs)

    def drop_unused_points(self) -> None:
        used = numpy.zeros(len(self.points), dtype=bool)
        for _, corners in self.blocks:
            used[corners] = True
        number = numpy.append(numpy.cumsum(used, dtype="<i8") - 1, NONE)
        for name, parts in self.face_groups.items():
            for corners in parts:
                if not used[corners[corners != NONE]].all():
                    raise Refused(f"group {name} has a face that no cell has", "mesh the volume behind it, too")
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
        if not os.path.isdir(path) and is_of_gmsh(path):
            (mesh, groups), warning = read_gmsh(path, chosen), ""
        else:
            mesh, warning = load(path)
            su2 = path.endswith(".su2")
            groups = Groups(mesh, chosen, markers_of_su2(path) if su2 else {})
            if su2:  # names of markers are kept, whatever meshio says
                warning = re.sub(
                    r"Warning: meshio does not support tags of string type\..*? replaced by \d+", "", warning
                )
                warning = warning.strip()
        reader = Reader(mesh, groups)
        left_out = [*groups.left_out(), *([f"what meshio says of it: {warning}"] if warning else [])]
    except Refused as refused:
        return tell(path, refused)
    except ImportError as missing:
        needed = f"python3-{(missing.name or 'meshio').lower()}"
        return tell(path, Refused(f"the Python module {missing.name} is missing", f"install {needed}", ""))
    except MemoryError:
        return tell(path, Refused("it announces more than it holds"))
    except Exception as wrong:  # meshio raises what the numbers of a damaged file lead to
        internal = isinstance(wrong, AttributeError | TypeError) or " " not in str(wrong)
        why = "" if internal else f" ({wrong})"
        return tell(path, Refused(f"it is damaged, or in a form that meshio does not know{why}"))
    reader.write(left_out, sys.stdout.buffer)
    return 0


def tell(path: str, refused: Refused) -> int:
    print(refused.text(path), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
