"""The seed's experiment: the lid-driven cavity at several levels, read and written by each method, over ranks and
blocks (C. Moulinec and V. Szeremi, Parallel IO in Code_Saturne, ARCHER/PRACE training, 2014)."""

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from measure import launch, page, picture, result_file
from measure.palette import FAINT, SERIES, TEXT
from measure.program import figures_of
from measure.report import Report

TITLE = "forebay: the lid-driven cavity, read and written by six methods"
PAGE = page.kind_of("page of the cavity", TITLE)
PICTURE = picture.kind_of("picture of the cavity")
METHODS = ("serial", "stdio", "mpi-independent", "mpi-noncollective", "mpi-collective", "staged")
EDGE = 13  # 13,182 tetrahedra
LEAST_BYTES = 1 << 16  # of a block: small enough for every rank to have one at the lowest level


@dataclass(frozen=True)
class Point:
    """One run of the sweep."""

    levels: int
    ranks: int
    blocks: int
    method: str


@dataclass
class Taken:
    """Seconds of one operation, and the bytes that it moves."""

    operation: str
    seconds: float
    bytes: int


def sweep(quick: bool) -> Iterable[Point]:
    """All methods over ranks at the highest level; over blocks and levels with all ranks."""
    levels, ranks = ((1, 2), (1, 2)) if quick else ((1, 2, 3), (1, 2, 4))
    points = {
        *((levels[-1], count, count) for count in ranks),
        *((levels[-1], ranks[-1], blocks) for blocks in ranks),
        *((level, ranks[-1], ranks[-1]) for level in levels),
    }
    methods = ("serial", "mpi-collective", "staged") if quick else METHODS
    return [Point(*point, method) for point in sorted(points) for method in methods]


@dataclass
class Sweep:
    program: Path
    directory: Path
    pool: Path
    quick: bool
    say: Callable[[str], None]

    def run(self, point: Point) -> tuple[int, list[Taken]]:
        """The number of cells, and what each operation took."""
        command = [*launch.mpirun(point.ranks), self.program, "--edge", str(EDGE), "--levels", str(point.levels)]
        command += ["--method", point.method, "--blocks", str(point.blocks), "--least-bytes", str(LEAST_BYTES)]
        command += ["--repeat", "1" if self.quick else "5", "--directory", self.directory, "--pool", self.pool]
        environment = launch.environment(OMPI_MCA_mpi_yield_when_idle="1")
        figures = figures_of("cavity_bench", command, environment)
        read = figures["read"]
        taken = [Taken(f"{read['name']} read", statistics.median(read["seconds"]), read["bytes"])]
        for written in figures["written"]:
            taken.append(Taken(f"{written['name']} written", statistics.median(written["continued"]), written["bytes"]))
            if point.method == "staged":
                seconds = statistics.median(written["settled"])
                taken.append(Taken(f"{written['name']} on the file system", seconds, written["bytes"]))
        return figures["cells"], taken

    def all(self, report: Report) -> list[tuple[Point, list[Taken]]]:
        results = []
        for point in sweep(self.quick):
            self.say(f"cavity, {point.levels} levels, {point.ranks} ranks, {point.blocks} blocks, {point.method}")
            cells, taken = self.run(point)
            results.append((point, taken))
            section = f"cavity of {cells} tetrahedra, {point.ranks} ranks, {point.blocks} blocks"
            serial = {each.operation: each.seconds for each in find(results, point, "serial")}
            for each in taken:
                reference = serial.get(each.operation)
                report.add(
                    f"{section}: {each.operation}, {each.bytes / 1e6:.1f} MB, {point.method}",
                    each.seconds,
                    "ms",
                    1e3,
                    reference=None if reference is None else reference * 1e3,
                    note="reference: serial",
                )
        return results


def find(results: list[tuple[Point, list[Taken]]], point: Point, method: str) -> list[Taken]:
    wanted = Point(point.levels, point.ranks, point.blocks, method)
    return next((taken for at, taken in results if at == wanted), [])


def draw(results: list[tuple[Point, list[Taken]]], to: Path) -> None:
    """Seconds over ranks, a picture for each operation; and a page with it."""
    import matplotlib  # takes a second to load

    matplotlib.use("Agg")
    from matplotlib import pyplot

    level = max(point.levels for point, _ in results)
    over_ranks = [(point, taken) for point, taken in results if point.levels == level and point.ranks == point.blocks]
    operations = [each.operation for each in over_ranks[0][1] if "file system" not in each.operation]
    pyplot.rcParams.update({"font.family": "DejaVu Sans", "font.size": 10, "text.color": TEXT})
    figure, panels = pyplot.subplots(1, len(operations), figsize=(3.4 * len(operations), 3.6), dpi=130)
    for axes, operation in zip(panels, operations, strict=True):
        for method, color in zip(METHODS, SERIES, strict=True):
            line = [
                (p.ranks, each.seconds)
                for p, taken in over_ranks
                if p.method == method
                for each in taken
                if each.operation == operation
            ]
            if line:
                axes.plot(*zip(*line, strict=True), "o-", color=color, label=method, markersize=4)
        axes.set(title=operation, xlabel="ranks", yscale="log", xticks=sorted({p.ranks for p, _ in over_ranks}))
        axes.grid(color=FAINT, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("seconds until the program goes on")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=6, frameon=False)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    to.mkdir(parents=True, exist_ok=True)
    drawn = picture.png(figure, PICTURE)
    pyplot.close(figure)
    result_file.write(to / "cavity.png", drawn, PICTURE, "--pictures")
    header = ["levels", "ranks", "blocks", "method", *operations]
    rows = [
        [str(p.levels), str(p.ranks), str(p.blocks), p.method]
        + [f"{next(each.seconds for each in taken if each.operation == name) * 1e3:.1f}" for name in operations]
        for p, taken in results
    ]
    page.write(
        to / "index.html",
        PAGE,
        TITLE,
        "Milliseconds until the program goes on, the slowest rank's; medians.",
        [("Over ranks", page.image(drawn, "seconds over ranks", 900)), ("All", page.table(header, rows))],
        "--pictures",
    )
