"""One medium: what is measured of it, round after round."""

import json
import math
import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from measure.figures import plural, shuffled
from measure.processes import touch_memory
from measure.program import figures_of

from . import grid
from .grid import Cell, Files
from .nodes import Alone
from .place import Place

PHASES = ("create", "stat", "open", "sync", "rename", "unlink")
FIRST_SYNC, FIRST_SECONDS = 4 * grid.MIB, 0.05  # at most


@dataclass
class Figures:
    """Rates of all rounds: bytes a second of a cell, and of files how many a second by what was done."""

    place: Place
    total: int  # bytes that all writers of a cell write together
    nodes: int = 1
    cells: dict[Cell, list[float]] = field(default_factory=dict)
    files: dict[Files, dict[str, list[float]]] = field(default_factory=dict)
    persistent: bool = False  # mapped through libpmem2
    notes: list[str] = field(default_factory=list)
    all_counts: bool = True  # files were made by all numbers of processes that were planned
    failure: str = ""  # what ended it early

    @property
    def from_cache(self) -> bool:
        return self.total < 2 * self.place.cache

    def rate(self, cell: Cell) -> float | None:
        return statistics.median(self.cells[cell]) if cell in self.cells else None

    def of_phase(self, phase: str, most: float = math.inf) -> dict[int, list[float]]:
        """By processes of all nodes. `most`: of one; what more of them lose than it has cores is lost there."""
        found: dict[int, list[float]] = {}
        for each, rates in self.files.items():
            if each.processes <= most:  # as many on more nodes may be faster: then it is the node that limits them
                together = each.processes * each.nodes
                found[together] = max(found.get(together, [0.0]), rates[phase], key=statistics.median)
        return found

    def creates(self, most: float = math.inf) -> dict[int, float]:
        return {many: statistics.median(rates) for many, rates in self.of_phase("create", most).items()}


def quartile_factor(of_figures: Iterable[Sequence[float]]) -> float:
    """How far quartiles lie from their medians at most, as a factor."""
    factors = [1.0]
    for rates in of_figures:
        low, high = quartiles(rates)
        middle = statistics.median(rates)
        factors += [middle / low, high / middle] if low > 0 else []
    return max(factors)


def quartiles(rates: Sequence[float]) -> tuple[float, float]:
    if len(rates) == 1:
        return rates[0], rates[0]
    low, _, high = statistics.quantiles(rates, n=4, method="inclusive")
    return low, high


@dataclass
class Plan:
    """What is measured of a medium. `limit`: seconds for all of it. `longest`: of a cell. `total`: bytes of all writers of
    a node together."""

    cells: list[Cell]
    files: list[Files]
    rounds: int
    limit: float
    longest: float
    total: int

    def kept(self) -> list[int]:
        counts = {each.writers for each in self.cells if each.pages == "recycled"}
        return grid.kept_blocks(self.total, counts) if counts else []

    def written(self, nodes: int = 1) -> int:
        """Bytes that lie there at the same time, at most."""
        own = max((grid.block(self.total, each.writers) * each.writers for each in self.cells), default=0)
        return nodes * (sum(self.kept()) + own + grid.MOST_FILES * grid.FILE_BYTES)


class Medium:
    """Measures in `directory`, which is private and vanishes with its owner. `nodes`: with whom."""

    def __init__(self, place: Place, plan: Plan, program: Path, directory: Path, nodes=None):
        self._place, self._plan, self._program, self._directory = place, plan, program, directory
        self._nodes = nodes or Alone()
        self._ends = time.monotonic() + 0.9 * plan.limit
        self._seconds = grid.seconds_each(len(plan.cells), len(plan.files), plan.rounds, plan.limit, plan.longest)
        self._kept: list[int] = []
        self._synced = math.inf  # bytes a second that reach a disk or a server

    def measure(self, say: Callable[[str], None]) -> Figures:
        """What there is of it when it ends, by a failure, too."""
        figures = Figures(self._place, self._plan.total, self._nodes.count)
        try:
            self._measure(figures, say)
        except (RuntimeError, OSError) as failure:
            figures.failure = f"{self._place.directory}: {failure}"
            figures.notes.append(f"not all was measured: {failure}")
        figures.all_counts = figures.files.keys() >= set(self._plan.files)
        return figures

    def _measure(self, figures: Figures, say: Callable[[str], None]) -> None:
        if not self._place.remote and self._plan.kept():
            figures.notes.append("no remote socket: this node has one")
        if self._place.kind == "tmpfs":
            touch_memory(2 * self._plan.total)
        if self._place.on_disk and self._plan.cells:
            self._synced = self._measure_sync()
            if self._synced * self._seconds < self._plan.total:
                figures.notes.append("less is written at once than asked for: a cell's time is too short to sync it")
        self._make_kept(figures)
        cells = [each for each in self._plan.cells if self._fits(each)]
        if len(cells) < len(self._plan.cells):
            figures.notes.append(f"{plural(len(self._plan.cells) - len(cells), 'cell')} left out: a transfer is larger than what a writer writes")  # fmt: skip
        for number in range(self._plan.rounds):
            say(f"{self._place.directory}: round {number + 1} of {self._plan.rounds}")
            for each in shuffled([*cells, *self._plan.files], number):
                if any(self._nodes.meet(time.monotonic() > self._ends)):
                    figures.notes.append(f"time was over in round {number + 1} of {self._plan.rounds}")
                    return
                self._once(each, figures)

    def _probe(self, count: int, remote: bool, **cell) -> dict:
        cpus = self._place.remote if remote else self._place.cpus
        given = {
            "directory": str(self._directory),
            "cpus": [cpus[each % len(cpus)] for each in range(count)],
            "parent": os.getpid(),
            **cell,
        }
        within = self._ends + 0.1 * self._plan.limit - time.monotonic()
        return figures_of("io_probe", [self._program, json.dumps(given)], within=within)

    def _measure_sync(self) -> float:
        """By one writer, of few bytes: what is written but not yet synced cannot be given up when the time is over."""
        told: dict | None = None
        if self._nodes.index == 0:
            try:
                told = self._probe(1, False, kind="data", path="file", op="write", fresh=True, fsync=True,
                                   transfer=grid.MIB, bytes=[FIRST_SYNC], seconds=FIRST_SECONDS)  # fmt: skip
            except RuntimeError as failure:
                told = {"failure": str(failure)}
        told = self._nodes.meet(told)[0]
        if "failure" in told:
            raise RuntimeError(told["failure"])
        return sum(told["bytes"]) / told["seconds"]

    def _make_kept(self, figures: Figures) -> None:
        """As much of it as there is time for."""
        wanted = self._plan.kept()
        if not wanted:
            return
        part = min(
            1.0, self._synced * grid.PREPARED * self._plan.limit / sum(wanted)
        )  # a server has it when it is closed
        made = self._probe(
            len(wanted), False, kind="data", path="file", op="write", fresh=True, keep=True, transfer=grid.MIB,
            bytes=[grid.block(int(each * part), 1) for each in wanted], seconds=grid.PREPARED * self._plan.limit,
        )["bytes"]  # fmt: skip
        self._kept = [each // grid.MIB * grid.MIB for each in made]
        if min(self._kept) == 0:
            raise RuntimeError(f"too slow: nothing was written within {grid.PREPARED * self._plan.limit:g} s")
        if self._kept != wanted:
            figures.total = min(self._kept[0], figures.total)
            figures.notes.append("blocks are smaller than asked for: there was no time to write more")

    def _block(self, cell: Cell) -> int:
        whole = grid.block(self._plan.total, cell.writers)
        if cell.pages != "fresh":
            whole = min([whole, *self._kept[: cell.writers]])
        if cell.op == "read" or self._synced == math.inf:
            return whole
        soon = grid.block(int(self._synced * self._seconds / cell.nodes), cell.writers)
        return min(whole, max(soon, -(-cell.transfer // grid.MIB) * grid.MIB))

    def _fits(self, cell: Cell) -> bool:
        return cell.transfer <= self._block(cell)

    def _once(self, what: Cell | Files, figures: Figures) -> None:
        told = None
        if self._nodes.index < what.nodes:
            try:
                told = self._files(what) if isinstance(what, Files) else self._data(what)
            except RuntimeError as failure:
                told = {"failure": str(failure)}
        else:  # who waits asks the file system, which others measure now
            time.sleep(self._seconds * (grid.FILES_TAKE if isinstance(what, Files) else 1))
        of_nodes = [each for each in self._nodes.meet(told) if each is not None]
        failures = [each["failure"] for each in of_nodes if "failure" in each]
        if failures and isinstance(what, Cell) and what.how == "O_DIRECT":  # which a file system may refuse
            figures.notes = [*dict.fromkeys([*figures.notes, f"O_DIRECT is left out: {failures[0]}"])]
        elif failures and time.monotonic() > self._ends:
            figures.notes.append(f"left out, it took too long: {what.name}")
        elif failures:
            raise RuntimeError(f"{what.name}: {failures[0]}")
        elif isinstance(what, Files):
            rates = figures.files.setdefault(what, {phase: [] for phase in PHASES})
            for phase in PHASES:
                rates[phase].append(sum(each[phase][0] / max(each[phase][1], 1e-9) for each in of_nodes))
        else:
            figures.cells.setdefault(what, []).append(sum(sum(each["bytes"]) / each["seconds"] for each in of_nodes))
            figures.persistent |= any(each["persistent"] for each in of_nodes)

    def _files(self, files: Files) -> dict:
        most = grid.MOST_FILES // files.processes
        return self._probe(files.processes, False, kind="files", most=most, seconds=self._seconds)

    def _data(self, cell: Cell) -> dict:
        return self._probe(
            cell.writers, cell.how == "remote socket", kind="data", path="map" if cell.path == "mapped" else "file",
            op=cell.op, fresh=cell.pages == "fresh", one_file=cell.how == "one file", fsync=cell.how == "fsync",
            direct=cell.how == "O_DIRECT", transfer=cell.transfer, bytes=[self._block(cell)] * cell.writers,
            seconds=self._seconds,
        )  # fmt: skip
