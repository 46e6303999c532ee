"""What is measured of a medium, how much is written for it, and how long each part may take. Pure functions."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from measure.figures import plural

MIB = 1 << 20
TRANSFERS = tuple(64 * 4**power for power in range(11))  # 64 B to 64 MiB
MARKED = 256  # bytes that Optane memory stores at once
BASE, SMALL = MIB, (MARKED, 4096)  # transfers that are measured with several numbers of writers
KINDS = (("write", "fresh"), ("write", "recycled"), ("read", "recycled"))
FILE_BYTES, MOST_FILES = 4096, 20_000
OVERHEAD = 0.03  # seconds to start the processes of a cell
FILES_TAKE = 6  # times a cell: making files, stats, opens, syncs, renames, removal
MEASURED, PREPARED = 0.75, 0.1  # of the time that a medium may take; the rest is leeway


@dataclass(frozen=True)
class Cell:
    """`writers`: of each node. `how`: "", "one file", "remote socket", "fsync" or "O_DIRECT"."""

    op: str
    path: str
    pages: str
    transfer: int
    writers: int
    how: str = ""
    nodes: int = 1

    @property
    def name(self) -> str:
        pages = f", {self.pages}" if self.op == "write" else ""
        how = f", {self.how}" if self.how else ""
        return f"{self.op}, {self.path}{pages}, {binary(self.transfer)}, {plural(self.writers * self.nodes, 'writer')}{how}{on(self.nodes)}"

    def compared_with(self) -> "Cell | None":
        """The same by the plain way."""
        if self.how and self.nodes == 1:
            return replace(self, how="")
        return replace(self, path="file") if self.path == "mapped" else None


@dataclass(frozen=True)
class Files:
    """Creates, stats, opens, syncs, renames and unlinks, each process in a directory of its own. `processes`: of each node."""

    processes: int
    nodes: int = 1

    @property
    def name(self) -> str:
        return f"{plural(self.processes * self.nodes, 'process')}{on(self.nodes)}"


def binary(size: int) -> str:
    """4096 -> "4 KiB"."""
    for unit, of in (("GiB", 1 << 30), ("MiB", MIB), ("KiB", 1 << 10)):
        if size >= of and size % of == 0:
            return f"{size // of} {unit}"
    return f"{size} B"


def size(text: str) -> int:
    """ "4k" -> 4096, as IOR and dd count. ValueError where it is none."""
    match = re.fullmatch(r"(\d+)([kKMG]?)(i?B)?", text.strip())
    if not match or int(match[1]) == 0:
        raise ValueError(text)
    return int(match[1]) << {"": 0, "k": 10, "K": 10, "M": 20, "G": 30}[match[2]]


def on(nodes: int) -> str:
    return f", {plural(nodes, 'node')}" if nodes > 1 else ""


def doubled(most: int) -> list[int]:
    """1, 2, 4, ... and `most`."""
    return sorted({most} | {1 << power for power in range(most.bit_length()) if 1 << power <= most})


def writers_of(cores: int, quick: bool) -> list[int]:
    return sorted({each for each in ((1, cores) if quick else (1, 2, 4, 6, cores // 2, cores)) if 1 <= each <= cores})


def processes_of(cores: int, quick: bool) -> list[int]:
    return sorted({1, cores, 2 * cores}) if quick else doubled(2 * cores)


def cells_of(transfers: Sequence[int], writers: Sequence[int], remote: int, on_disk: bool) -> list[Cell]:
    """A base line, and from it one axis at a time. `remote`: cores of another socket. `on_disk`: syncs, and calls past the
    page cache, mean something."""
    base = BASE if BASE in transfers else max(transfers)
    few, most = min(writers), max(writers)
    found = []
    for path in ("file", "mapped"):
        for op, pages in KINDS:
            pairs = [(each, few) for each in transfers] + [(base, each) for each in writers]
            if (op, pages) == ("write", "recycled"):
                pairs += [(each, many) for each in SMALL if each in transfers for many in writers]
            found += [Cell(op, path, pages, transfer, many) for transfer, many in pairs]
        found += [
            Cell("write", path, "fresh", transfer, many, "one file")
            for transfer in dict.fromkeys((max(4096, min(transfers)), base))
            for many in writers[1:]
            if transfer in transfers and many in (writers[1], most)
        ]
        found += [
            Cell(op, path, pages, base, many, "remote socket")
            for op, pages in KINDS[1:]
            for many in writers
            if many in (few, most) and many <= remote
        ]
        if on_disk:
            found += [Cell("write", path, "fresh", base, many, "fsync") for many in (few, most)]
    if on_disk:
        direct = [(each, few) for each in transfers if each >= 4096] + [(base, most)] * (base >= 4096)
        found += [Cell(op, "file", "recycled", each, many, "O_DIRECT") for op, _ in KINDS[1:] for each, many in direct]
    plain = [each.compared_with() for each in found if each.how]
    return list(dict.fromkeys([*found, *plain]))


def cells_of_nodes(
    nodes: int, cores: int, writers: Sequence[int] | None = None, transfers: Sequence[int] = (BASE,)
) -> tuple[list[Cell], list[Files]]:
    """Of a file system that several nodes share: what reaches its servers."""
    counts = doubled(nodes)
    cells = [
        Cell("write", "file", "fresh", transfer, many, "fsync", each)
        for each in counts for many in writers or sorted({1, cores}) for transfer in transfers
    ]  # fmt: skip
    processes = writers or sorted({1, cores} if nodes > 1 else processes_of(cores, False))
    return cells, [Files(many, each) for each in counts for many in processes]


def seconds_each(cells: int, files: int, rounds: int, limit: float, longest: float) -> float:
    """How long a cell may take so that all of them end in time."""
    return min(longest, MEASURED * limit / (rounds * (cells + FILES_TAKE * files)) - OVERHEAD)


def block(total: int, writers: int) -> int:
    """Of each writer: whole MiB."""
    return max(MIB, total // writers // MIB * MIB)


def kept_blocks(total: int, counts: Iterable[int]) -> list[int]:
    """Of the files that are written over and read, one for each writer: as many bytes as any cell wants of it."""
    counts = list(counts)
    return [max(block(total, each) for each in counts if each > number) for number in range(max(counts))]
