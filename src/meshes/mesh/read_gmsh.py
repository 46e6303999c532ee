"""Reads files of Gmsh, MSH 2.2, 4.0 and 4.1, as text and binary, with all physical groups of every element. For
read_mesh.py, which lays out what is found."""

import collections
import re

import numpy

# For each type of elements, its name in meshio, and its number of corners.
TYPES = {1: ("line", 2), 2: ("triangle", 3), 3: ("quad", 4), 4: ("tetra", 4), 5: ("hexahedron", 8), 6: ("wedge", 6)}
TYPES |= {7: ("pyramid", 5), 8: ("line3", 3), 9: ("triangle6", 6), 10: ("quad9", 9), 11: ("tetra10", 10)}
TYPES |= {12: ("hexahedron27", 27), 13: ("wedge18", 18), 14: ("pyramid14", 14), 15: ("vertex", 1)}
TYPES |= {16: ("quad8", 8), 17: ("hexahedron20", 20), 18: ("wedge15", 15), 19: ("pyramid13", 13)}
DIMENSIONS = {"vertex": 0, "line": 1, "triangle": 2, "quad": 2, "tetra": 3, "hexahedron": 3, "wedge": 3, "pyramid": 3}
# The corners of a cell at the ends of three edges from its first, which are right-handed; and how Gmsh turns it round.
EDGES = {"tetra": (1, 2, 3), "hexahedron": (1, 3, 4), "wedge": (1, 2, 3), "pyramid": (1, 3, 4)}
TURNED = {
    "tetra": (1, 0, 2, 3),
    "hexahedron": (2, 1, 0, 3, 6, 5, 4, 7),
    "wedge": (1, 0, 2, 4, 3, 5),
    "pyramid": (2, 1, 0, 3, 4),
}
KINDS = {2: "faces", 3: "cells"}
GROUPS = ("gmsh:physical", "gmsh:geometrical")
# Sections that hold no more than what is read from others, or nothing that a mesh has.
SILENT = {"MeshFormat", "Comments", "Parametrizations", "GhostElements", "InterpolationScheme"}
DATA = {"NodeData": "point data", "ElementData": "cell data", "ElementNodeData": "data of the corners of cells"}

Block = collections.namedtuple("Block", "type data")
# One type of elements: the tags of their corners, and of each its entity and its groups (those of the entity, or
# for version 2 a list of one for each element).
Elements = collections.namedtuple("Elements", "type corners entities groups")


class Wrong(Exception):
    """The mistake in a file, in words."""


class Text:
    """The numbers of a section that is text."""

    def __init__(self, content, begin, name):
        end = content.find(b"\n$End" + name.encode(), begin - 1)
        if end < 0:
            raise Wrong(f"${name} is not closed: the file is cut off")
        self.words, self.at, self.end, self.name = content[begin:end].split(), 0, end, name

    def take(self, count, kind):
        count = int(count)
        if count < 0 or count > len(self.words) - self.at:
            raise Wrong(f"${self.name} announces more than it holds")
        self.at += count
        return self.numbers(self.words[self.at - count : self.at], "f8" if kind == "d" else "i8")

    def numbers(self, words, dtype="i8"):
        try:
            return numpy.array(words, dtype)
        except (ValueError, OverflowError):
            raise Wrong(f"${self.name} has a word where a number should be") from None

    def affine(self):
        """Version 2 and 4.0: a word and 16 numbers, or nothing."""
        if self.at < len(self.words) and self.words[self.at] == b"Affine":
            self.at += 17

    def done(self):
        if self.at != len(self.words):
            raise Wrong(f"${self.name} holds more than it announces")
        return self.end


class Binary:
    """The numbers of a section as they lie in memory."""

    def __init__(self, content, begin, name, order):
        self.content, self.at, self.name, self.order = content, begin, name, order

    def take(self, count, kind):
        dtype = numpy.dtype(self.order + {"i": "i4", "L": "i8", "d": "f8"}[kind])
        count = int(count)
        if count < 0 or count > (len(self.content) - self.at) // dtype.itemsize:
            raise Wrong(f"${self.name} announces more than it holds")
        self.at += count * dtype.itemsize
        return numpy.frombuffer(self.content, dtype, count, self.at - count * dtype.itemsize)

    def line(self):
        """A number that is text all the same."""
        end = self.content.find(b"\n", self.at)
        words = self.content[self.at : end].split()
        if end < 0 or len(words) != 1 or not words[0].isdigit():
            raise Wrong(f"${self.name} does not say how much it holds")
        self.at = end + 1
        return int(words[0])

    def done(self):
        if self.content[self.at : self.at + 6].lstrip(b"\r\n")[:4] != b"$End":
            raise Wrong(f"${self.name} is not closed: it holds more than it announces, or the file is cut off")
        return self.at


class Gmsh:
    """The content of a file: points, blocks of elements, and pairs of periodic points, as meshio has them."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.content = file.read()
        self.names, self.physical = {}, {}  # of groups, and the groups of each entity, by dimension and tag
        self.tags, self.points = numpy.empty(0, "i8"), numpy.empty((0, 3))
        self.elements, self.links, self.others = [], [], []
        self.read_format()
        self.read_sections()
        self.number_points()

    # --- the file ---

    def read_format(self):
        found = re.match(rb"\$MeshFormat\s+([\d.]+)\s+([01])\s+(\d+)[ \t\r]*\n", self.content)
        if not found:
            raise Wrong("its $MeshFormat is damaged")
        self.version, binary = found[1].decode(), found[2] == b"1"
        if not re.fullmatch(r"2(\.[0-2]\d*)?|4(\.[01]\d*)?", self.version):
            raise Wrong(f"of MSH {self.version}; 2.2, 4.0 and 4.1 are known here")
        if binary and int(found[3]) != 8:
            raise Wrong(f"its numbers have a size of {int(found[3])}, not 8")
        self.order = ""
        if binary:
            one = self.content[found.end() : found.end() + 4]
            self.order = {b"\1\0\0\0": "<", b"\0\0\0\1": ">"}.get(one)
            if self.order is None:
                raise Wrong("its order of bytes is unknown")
        self.old, self.first_of_4 = self.version[0] == "2", self.version in ("4", "4.0")

    def read_sections(self):
        at = self.content.find(b"$EndMeshFormat")
        readers = {"Entities": self.entities, "Nodes": self.nodes, "Elements": self.read_elements}
        readers |= {"Periodic": self.periodic, "PhysicalNames": self.physical_names}
        while True:
            found = re.compile(rb"^\$(?!End)(\w+)[ \t\r]*\n", re.M).search(self.content, max(at, 0))
            if not found:
                break
            name, begin = found[1].decode(), found.end()
            if name in readers:
                at = readers[name](begin)
            else:
                at = self.content.find(b"$End" + found[1], begin)
                if at < 0:
                    raise Wrong(f"${name} is not closed: the file is cut off")
                self.other(name, self.content[begin:at])

    def section(self, name, begin):
        return Binary(self.content, begin, name, self.order) if self.order else Text(self.content, begin, name)

    def other(self, name, content):
        if name in DATA:
            about = re.search(rb'"(.*)"', content)
            self.others.append(f"{DATA[name]} {about[1].decode(errors='replace') if about else ''}".strip())
        elif name not in SILENT:
            self.others.append(f"section ${name}")

    def physical_names(self, begin):
        end = self.content.find(b"$EndPhysicalNames", begin)
        if end < 0:
            raise Wrong("$PhysicalNames is not closed: the file is cut off")
        for dim, tag, name in re.findall(rb'^\s*(\d+)\s+(-?\d+)\s+"(.*)"\s*$', self.content[begin:end], re.M):
            self.names[int(dim), abs(int(tag))] = name.decode(errors="replace")
        return end

    def entities(self, begin):
        section = self.section("Entities", begin)
        counts = section.take(4, "L")
        for dimension, count in enumerate(counts):
            for _ in range(count):
                tag = int(section.take(1, "i")[0])
                section.take(3 if dimension == 0 and not self.first_of_4 else 6, "d")
                groups = section.take(section.take(1, "L")[0], "i")
                self.physical[dimension, tag] = tuple(int(each) for each in groups)
                if dimension > 0:
                    section.take(section.take(1, "L")[0], "i")
        return section.done()

    def nodes(self, begin):
        section = self.section("Nodes", begin)
        if self.old:
            return self.old_nodes(section)
        blocks, count = section.take(2, "L")
        if not self.first_of_4:
            section.take(2, "L")
        tags, points = [], []
        for _ in range(blocks):
            dimension, _, parametric = self.head(section)
            here = int(section.take(1, "L")[0])
            width = 3 + (int(dimension) if parametric else 0)
            if self.first_of_4:
                some_tags, some = self.nodes_one_by_one(section, here, width)
            else:
                some_tags, some = section.take(here, "L"), section.take(here * width, "d").reshape(here, width)
            tags.append(some_tags)
            points.append(some[:, :3])
        self.add_nodes(tags, points, count)
        return section.done()

    def head(self, section):
        """The head of a block: the dimension and the tag of its entity, and a number."""
        one, other, number = (int(each) for each in section.take(3, "i"))
        return (other, one, number) if self.first_of_4 else (one, other, number)

    def nodes_one_by_one(self, section, count, width):
        if isinstance(section, Text):
            numbers = section.take(count * (1 + width), "d").reshape(count, 1 + width)
            return numbers[:, 0].astype("i8"), numbers[:, 1:]
        rows = section.take(count * (4 + 8 * width) // 4, "i").tobytes()
        table = numpy.frombuffer(rows, [("tag", section.order + "i4"), ("at", section.order + "f8", (width,))])
        return table["tag"].astype("i8"), table["at"]

    def old_nodes(self, section):
        count = section.line() if self.order else int(section.take(1, "i")[0])
        tags, points = self.nodes_one_by_one(section, count, 3)
        self.add_nodes([tags], [points], count)
        return section.done()

    def add_nodes(self, tags, points, count):
        self.tags = numpy.concatenate([self.tags, *tags])
        self.points = numpy.concatenate([self.points, *points])
        if len(self.tags) != count:
            raise Wrong(f"$Nodes announces {count} and has {len(self.tags)}")

    def read_elements(self, begin):
        section = self.section("Elements", begin)
        if self.old:
            return self.old_binary(section) if self.order else self.old_text(section)
        blocks, count = section.take(2, "L")
        if not self.first_of_4:
            section.take(2, "L")
        kind = "i" if self.first_of_4 else "L"
        for _ in range(blocks):
            dimension, entity, number = self.head(section)
            here, (name, corners) = int(section.take(1, "L")[0]), self.type_of(number)
            rows = section.take(here * (1 + corners), kind).reshape(here, 1 + corners)[:, 1:]
            self.elements.append(Elements(name, rows, entity, self.physical.get((dimension, entity), ())))
            count -= here
        if count != 0:
            raise Wrong(f"$Elements has not as many elements as it announces: {-count} more")
        return section.done()

    def type_of(self, number):
        if number not in TYPES:
            raise Wrong(f"elements of Gmsh's type {number} are not known here; save it with cells of the first order")
        return TYPES[number]

    def old_text(self, section):
        count, words, at = int(section.take(1, "i")[0]), section.words, section.at
        rows = collections.defaultdict(list)
        for _ in range(count):
            if at + 3 > len(words) or not (words[at + 1].isdigit() and words[at + 2].isdigit()):
                raise Wrong("$Elements announces more than it holds, or has a word where a number should be")
            tags, (name, corners) = int(words[at + 2]), self.type_of(int(words[at + 1]))
            at += 3 + tags + corners
            rows[name, tags].append(words[at - tags - corners : at])
        section.at = min(at, len(words))
        for (name, tags), some in rows.items():
            if len(some[-1]) < len(some[0]):
                raise Wrong("$Elements announces more than it holds")
            self.add_old(name, tags, section.numbers(some))
        return section.done()

    def old_binary(self, section):
        left = section.line()
        rows = collections.defaultdict(list)
        while left > 0:
            number, here, tags = (int(each) for each in section.take(3, "i"))
            name, corners = self.type_of(number)
            if here < 1 or here > left or tags < 0:
                raise Wrong("$Elements has a block of a wrong size")
            rows[name, tags].append(section.take(here * (1 + tags + corners), "i").reshape(here, -1)[:, 1:])
            left -= here
        for (name, tags), some in rows.items():
            self.add_old(name, tags, numpy.concatenate(some))
        return section.done()

    def add_old(self, name, tags, rows):
        """Each row: the tags, the group and the entity before others, and the corners."""
        rows = rows.astype("i8")
        none = numpy.zeros(len(rows), "i8")
        group, entity = (rows[:, at] if at < tags else none for at in (0, 1))
        self.elements.append(Elements(name, rows[:, tags:], entity, group))

    def periodic(self, begin):
        # Version 2 has it as text even where the rest is binary.
        section = Text(self.content, begin, "Periodic") if self.old else self.section("Periodic", begin)
        binary, early = isinstance(section, Binary), self.old or self.first_of_4
        for _ in range(int(section.take(1, "i" if early else "L")[0])):
            dimension, tag, master = (int(each) for each in section.take(3, "i"))
            if not early:
                section.take(section.take(1, "L")[0], "d")
            elif not binary:
                section.affine()
            count = int(section.take(1, "L")[0])
            if binary and early and count < 0:  # so many numbers of an affine map come first
                section.take(-count, "d")
                count = int(section.take(1, "L")[0])
            pairs = section.take(2 * count, "i" if early else "L").reshape(-1, 2)
            self.links.append((dimension, tag, master, pairs))
        return section.done()

    # --- as meshio would give it ---

    def number_points(self):
        order = numpy.argsort(self.tags, kind="stable")
        self.sorted = self.tags[order]
        if (self.sorted[1:] == self.sorted[:-1]).any():
            raise Wrong("two points have the same number")
        self.order_of_tags = order

    def follow(self, tags):
        """Which point each tag is; the number of points where it is none."""
        at = numpy.searchsorted(self.sorted, tags)
        known = at < len(self.sorted)
        known[known] = self.sorted[at[known]] == tags[known]
        found = numpy.full(tags.shape, len(self.tags), "i8")
        found[known] = self.order_of_tags[at[known]]
        return found


class Mesh:
    """The mesh of a file as read_mesh.py wants it: blocks of cells, each cell once."""

    def __init__(self, gmsh):
        self.points, self.turned = gmsh.points, []
        self.cells, self.groups, entities = [], [], []
        for each in gmsh.elements:
            corners = gmsh.follow(each.corners)
            if gmsh.old:
                corners, groups, entity = self.once(each, corners)
            else:
                groups = {group: numpy.ones(len(corners), bool) for group in each.groups}
                entity = numpy.full(len(corners), each.entities)
            self.cells.append(Block(each.type, corners))
            self.groups.append(groups)
            entities.append(entity)
        self.cell_data = {"gmsh:geometrical": entities}
        self.gmsh_periodic = [
            (dim, (tag, master), None, gmsh.follow(pairs))
            for dim, tag, master, pairs in gmsh.links
            if dim == 2 and len(pairs)
        ]

    def once(self, elements, corners):
        """Version 2 repeats an element for each of its groups, turned round where the group is reversed."""
        keys = numpy.sort(corners, axis=1)
        _, first, inverse = numpy.unique(keys, axis=0, return_index=True, return_inverse=True)
        inverse = inverse.ravel()
        if elements.type in EDGES and corners.size and corners.max() < len(self.points):
            corners = self.upright(elements, corners)
        order = numpy.argsort(first, kind="stable")  # as they stand in the file
        place = numpy.empty(len(first), "i8")
        place[order] = numpy.arange(len(first))
        groups = {}
        for group in numpy.unique(elements.groups[elements.groups != 0]):
            member = numpy.zeros(len(first), bool)
            member[place[inverse[elements.groups == group]]] = True
            groups[int(group)] = member
        kept = first[order]
        return corners[kept], groups, elements.entities[kept]

    def upright(self, elements, corners):
        """Where every cell of a group is mirrored, the group is reversed: its cells the right way round."""
        at = self.points[corners]
        edges = [at[:, end] - at[:, 0] for end in EDGES[elements.type]]
        mirrored = numpy.einsum("ij,ij->i", numpy.cross(edges[0], edges[1]), edges[2]) < 0
        named = numpy.unique(elements.groups[elements.groups != 0])
        reversed_ones = [group for group in named if mirrored[elements.groups == group].all()]
        turn = numpy.isin(elements.groups, reversed_ones)
        corners = corners.copy()
        corners[turn] = corners[turn][:, TURNED[elements.type]]
        return corners


class Groups:
    """The names of the groups of each block of a mesh, as read_mesh.py asks for them."""

    def __init__(self, gmsh, mesh, chosen):
        self.gmsh, self.mesh, self.chosen = gmsh, mesh, chosen or GROUPS[0]
        self.seen, self.reversed = set(), set()

    def of(self, block, dimension):
        """Each group that cells of the block belong to, and which of them."""
        if self.chosen == GROUPS[1]:
            entities = self.mesh.cell_data[GROUPS[1]][block]
            for tag in numpy.unique(entities[entities != 0]):
                yield str(tag), entities == tag
            return
        members = collections.defaultdict(list)
        for tag, member in self.mesh.groups[block].items():
            known = (dimension, abs(tag))
            self.seen.add(known)
            if tag < 0:
                self.reversed.add(known)
            members[self.gmsh.names.get(known, str(abs(tag)))].append(member)
        for name, several in members.items():
            yield name, numpy.logical_or.reduce(several)

    def name_of(self, known):
        return self.gmsh.names.get(known, str(known[1]))

    def left_out(self):
        """The file's other content, by names for people; once the groups were asked for."""
        yield from self.gmsh.others
        if self.chosen == GROUPS[1]:
            yield "cell data gmsh:physical (without --groups it is what tells groups)"
            return
        lower = {(dim, abs(tag)) for (dim, _), tags in self.gmsh.physical.items() for tag in tags if dim < 2}
        lower |= {
            (DIMENSIONS[each.type], int(tag))
            for each in self.gmsh.elements
            if self.gmsh.old and DIMENSIONS.get(each.type, 3) < 2
            for tag in numpy.unique(each.groups[each.groups != 0])
        }
        for known in sorted(lower | {known for known in self.gmsh.names if known[0] < 2}):
            yield f"group of edges or points {self.name_of(known)}"
        for known in sorted(known for known in self.gmsh.names if known[0] > 1 and known not in self.seen):
            kind = KINDS.get(known[0], "elements")
            yield f"group of {kind} {self.gmsh.names[known]}, which the file gives no {kind}"
        for known in sorted(known for known in self.reversed if known[0] == 2):
            yield f"that the faces of group {self.name_of(known)} are reversed"
        tags = collections.defaultdict(list)
        for known in sorted(self.seen):
            tags[known[0], self.name_of(known)].append(str(known[1]))
        for (dimension, name), several in sorted(tags.items()):
            if len(several) > 1:
                yield f"which of the groups {', '.join(several)}, all called {name}, {KINDS[dimension]} are of"
