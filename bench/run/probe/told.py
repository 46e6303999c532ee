"""What was measured, in words: rows of a report, tables, a line of advice, and a profile for `forebay predict`."""

import json
import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence

from measure.figures import plain, plural
from measure.report import Report
from measure.result_file import Kind

from ..predict.units import human
from .grid import BASE, MARKED, Cell, binary, on
from .medium import PHASES, Figures, quartile_factor, quartiles

NEAR = 0.9  # of the best: as good
UNIT = {"GB/s": 1e9, "/s": 1.0}
KINDS = {  # of plain cells: op, path and pages
    "file, fresh": ("write", "file", "fresh"),
    "file, recycled": ("write", "file", "recycled"),
    "file, read": ("read", "file", "recycled"),
    "mapped, fresh": ("write", "mapped", "fresh"),
    "mapped, recycled": ("write", "mapped", "recycled"),
    "mapped, read": ("read", "mapped", "recycled"),
}
RATES = {"operations_per_s": "create", "renames_per_s": "rename", "unlinks_per_s": "unlink", "syncs_per_s": "sync"}
PROFILE = Kind("profile of forebay bench io", "# forebay bench io, ")
Table = tuple[str, list[str], list[list[str]]]  # title, header, rows


def add_rows(report: Report, figures: Figures) -> None:
    """Names begin with the directory. What a way is compared with is its reference."""
    for cell, rates in figures.cells.items():
        plain = cell.compared_with()
        reference = figures.rate(plain) if plain else None
        _add(report, figures, cell.name, rates, "GB/s", reference=reference and reference / 1e9)
    for files, of_phases in figures.files.items():
        for phase, rates in of_phases.items():
            _add(report, figures, f"{phase}, {files.name}", rates, "/s")


def _add(report: Report, figures: Figures, name: str, rates: list[float], unit: str, **more) -> None:
    low, high = quartiles(rates)
    interval = (low / UNIT[unit], high / UNIT[unit]) if len(rates) > 1 else None
    notes = ["from cache"] * (figures.from_cache and unit == "GB/s")
    if len(rates) < max(map(len, _all_rates(figures))):
        notes.append(f"of {plural(len(rates), 'round')}")
    report.add(
        f"{figures.place.directory}: {name}", statistics.median(rates) / UNIT[unit], unit, interval=interval,
        note=", ".join(notes), **more
    )  # fmt: skip


def _all_rates(figures: Figures) -> list[list[float]]:
    return [*figures.cells.values(), *(rates["create"] for rates in figures.files.values())]


def rounds_of(values: Iterable[Sequence[float]]) -> str:
    """Where the time was over in a round, some figures have one less."""
    counts = sorted({len(each) for each in values}) or [0]
    least = f"{counts[0]} to " if len(counts) > 1 else ""
    return least + plural(counts[-1], "round")


def _text(rates: Sequence[float] | None, unit: str = "GB/s") -> str:
    if not rates:
        return ""
    each = [plain(value / UNIT[unit]) for value in (statistics.median(rates), *quartiles(rates))]
    return each[0] if len(rates) == 1 else f"{each[0]} ({each[1]} to {each[2]})"


def ordered(cell: Cell) -> tuple:
    return cell.how, cell.nodes, cell.op, cell.path, cell.transfer, cell.writers


def plain_cells(figures: Figures) -> list[Cell]:
    return sorted((each for each in figures.cells if not each.how), key=lambda cell: (cell.transfer, cell.writers))


def base_of(figures: Figures) -> int:
    """The transfer that all numbers of writers were measured with."""
    transfers = {each.transfer for each in figures.cells}
    return BASE if BASE in transfers else max(transfers, default=BASE)


def rates_of(figures: Figures, kind: tuple[str, str, str], **like: int) -> dict[Cell, list[float]]:
    """Of plain cells, in their order: rates_of(figures, KINDS["file, read"], transfer=4096)."""
    return {cell: figures.cells[cell] for cell in plain_cells(figures) if (cell.op, cell.path, cell.pages) == kind
            and all(getattr(cell, name) == value for name, value in like.items())}  # fmt: skip


def by_writers(figures: Figures, kind: tuple[str, str, str]) -> dict[int, list[float]]:
    return {cell.writers: rates for cell, rates in rates_of(figures, kind, transfer=base_of(figures)).items()}


def written(figures: Figures) -> dict[int, list[float]]:
    """New files by writers, as long as it takes until they are on the medium: on a disk with fsync."""
    if not figures.place.on_disk:
        return by_writers(figures, KINDS["file, fresh"])
    like = ("file", base_of(figures), "fsync")
    cells = sorted(figures.cells, key=lambda cell: cell.writers)
    return {cell.writers: figures.cells[cell] for cell in cells if (cell.path, cell.transfer, cell.how) == like}


def _table(figures: Figures, title: str, cells: list[Cell], label: Callable[[Cell], str]) -> Table:
    rows: dict[str, dict] = {}
    for cell in cells:
        rows.setdefault(label(cell), {})[cell.op, cell.path, cell.pages] = figures.cells[cell]
    return title, ["", *KINDS], [[first, *(_text(row.get(kind)) for kind in KINDS.values())] for first, row in rows.items()]  # fmt: skip


def tables(figures: Figures) -> list[Table]:
    """Medians of the rounds, and quartiles."""
    found: list[Table] = []
    if plain := plain_cells(figures):
        few = min(cell.writers for cell in plain)
        marked = {MARKED: " *"}
        found.append(
            _table(figures, f"by transfer, {plural(few, 'writer')}, GB/s", [cell for cell in plain if cell.writers == few],
                   lambda cell: binary(cell.transfer) + marked.get(cell.transfer, ""))
        )  # fmt: skip
        for transfer in sorted({cell.transfer for cell in plain if cell.writers > few}):
            alike = [cell for cell in plain if cell.transfer == transfer]
            found.append(
                _table(
                    figures,
                    f"by writers, {binary(transfer)}, GB/s",
                    alike,
                    lambda cell: plural(cell.writers, "writer"),
                )
            )
    if others := sorted(figures.cells.keys() - plain, key=ordered):
        rows = []
        for cell in others:
            reference = cell.compared_with() and figures.rate(cell.compared_with())
            rows.append(
                [cell.name, _text(figures.cells[cell]), f"{figures.rate(cell) / reference:.2f}" if reference else ""]
            )
        found.append(("other ways, GB/s", ["", "GB/s", "to the plain way"], rows))
    if figures.files:
        by_number = sorted(figures.files, key=lambda each: (each.nodes, each.processes))
        rows = [[each.name, *(_text(figures.files[each][phase], "/s") for phase in PHASES)] for each in by_number]
        found.append(("files of 4 KiB a second, each process in a directory of its own", ["", *PHASES], rows))
    return found


def as_lines(table: Table) -> str:
    title, header, rows = table
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    ]
    return "\n".join([title, *("  " + line for line in lines)])


def is_as_good(rates: Sequence[float], best: Sequence[float]) -> bool:
    """Nearly as fast, or their quartiles meet."""
    return statistics.median(rates) >= NEAR * statistics.median(best) or quartiles(rates)[1] >= quartiles(best)[0]


def advice(figures: Figures) -> str:
    """One line."""
    of_writers = by_writers(figures, KINDS["file, fresh"])
    if not of_writers:
        creates = figures.creates()
        best = max(creates, key=creates.get, default=0)
        return f"Most files with {plural(best, 'process')}: {creates[best]:.0f} a second" if creates else ""
    rates = {many: statistics.median(each) for many, each in of_writers.items()}
    few, top, most = min(rates), max(rates, key=rates.get), max(rates)
    best = min(many for many in rates if is_as_good(of_writers[many], of_writers[top]))

    def get(many: int) -> str:
        return f"{'gets' if many == 1 else 'get'} {plain(rates[many] / 1e9)}"

    if best == top:
        said = f"Best with {plural(best, 'writer')}: {plain(rates[best] / 1e9)} GB/s in new files"
    else:
        said = f"{plural(best, 'writer')} {get(best)} GB/s in new files, and more gain no more than noise: {top} {get(top)}"
    if most not in (best, top):
        said += f"; {most} {get(most)}"
        if rates[most] < NEAR * rates[best]:
            said += ": let fewer write at once (layout collated)"
    recycled = [figures.rate(Cell("write", path, "recycled", base_of(figures), few)) for path in ("mapped", "file")]
    if (
        all(recycled) and not figures.place.on_disk
    ):  # where mapped pages are the kernel's memory, whatever the disk does
        times = recycled[0] / recycled[1]
        gain = "gain by it" if times > 1 else "are better kept elsewhere"
        said += f". Copies to a mapping are {plain(times, 2)} times as fast as the file path: trajectories {gain}"
    return said


def contention(creates: dict[int, float]) -> tuple[float, float | None]:
    """The most operations a second, and how many more processes make one take twice as long: the median of those that make
    it longer by a tenth. None where none do."""
    best = max(creates, key=creates.get)
    slower = {many - best: creates[best] / rate - 1 for many, rate in creates.items() if many > best}
    doubles = [more / longer for more, longer in slower.items() if longer > 0.1]
    return creates[best], statistics.median(doubles) if doubles else None


def profile(local: Figures | None, shared: Figures | None, machine: dict) -> str:
    """What `forebay predict --machine` reads (docs/run/predict.md)."""
    date = time.strftime("%Y-%m-%d")
    lines = [f"{PROFILE.begin}{date}"]
    lines += [f"# {key}: {value}" for key, value in machine.items()]
    lines.append(f"name = {json.dumps(machine['host'])}")

    def add(key: str, value: object, how: str) -> None:
        lines.append(f"{key} = {{ value = {json.dumps(value)}, from = {json.dumps(f'measured: {date}, {how}')} }}")

    def add_quartiles(of_figures: list[Sequence[float]]) -> None:
        if (factor := quartile_factor(of_figures)) > 1:
            # Upwards: the interval of a prediction is never narrower.
            add("quartiles", math.ceil(factor * 100) / 100, "the furthest from its median of what stands above")

    if shared:
        where = f"{shared.place.directory}, {plural(shared.nodes, 'node')}, median of"
        stands: list[Sequence[float]] = []
        lines.append("[shared]")
        if shared.nodes > 1 and shared.all_counts:
            for key, phase in RATES.items():
                of_phase = shared.of_phase(phase, len(shared.place.cpus))
                medians = {many: statistics.median(rates) for many, rates in of_phase.items()}
                if not medians:
                    continue
                operations, double = contention(medians)
                how = f"{where} {rounds_of(rates[phase] for rates in shared.files.values())}"
                add(key, round(operations, 1), f"{phase}s of 4 KiB in {how}")
                stands.append(of_phase[max(medians, key=medians.get)])
                if double and phase == "create":
                    add("clients_double", round(double, 1), f"the same, up to {plural(max(medians), 'process')}")
        for key, count in (("write", shared.nodes), ("client", 1)):
            rates = [
                each for cell, each in shared.cells.items() if (cell.nodes, cell.transfer) == (count, base_of(shared))
            ]
            if rates and not (key == "write" and count == 1):  # what one node gets is no figure of the servers
                how = f"{binary(base_of(shared))} with fsync in {where} {rounds_of(rates)}, by {plural(count, 'node')}"
                best = max(rates, key=statistics.median)
                add(key, round(statistics.median(best)), how)
                stands.append(best)
        add_quartiles(stands)
    if local:
        place = local.place
        each_has_one = place.kind in ("tmpfs", "fsdax")
        shares = place.sockets if place.kind == "tmpfs" else 1
        lines.append("[medium]")
        add("kind", place.kind, f"{place.directory}")
        add("sockets", place.sockets if each_has_one else 1, "this node's" if each_has_one else "one for all sockets")
        if place.kind == "tmpfs":
            add(
                "capacity",
                place.capacity // shares,
                f"size of {place.directory}" + f", a part of {shares}" * (shares > 1),
            )
        else:
            add("capacity", place.free, f"what was free in {place.directory}")
        write = written(local)
        if write:
            synced, cache = " with fsync" * place.on_disk, ", from cache" * local.from_cache
            how = f"new files{synced}, {binary(base_of(local))} a call, median of {rounds_of(write.values())}{cache}"
            add("write", [[many, round(statistics.median(rates))] for many, rates in write.items()], how)
        if creates := local.creates():
            how = f"files of 4 KiB, median of {rounds_of(rates['create'] for rates in local.files.values())}"
            add("creates", [[many, round(rate)] for many, rate in sorted(creates.items())], how)
        add_quartiles([*write.values(), *local.of_phase("create").values()])
    return "\n".join(lines) + "\n"


def text(figures: Figures) -> str:
    place, rounds = figures.place, rounds_of(_all_rates(figures))
    where = f"{place.kind}, {plural(len(place.cpus), 'core')}{on(figures.nodes)}"
    lines = [f"{place.directory} ({where}; {human(figures.total)} a cell; median (quartiles) of {rounds})"]
    if figures.from_cache:
        lines.append(f"from cache: the last-level caches hold {human(place.cache)}; --block makes it more")
    lines += figures.notes
    lines += [as_lines(each) for each in tables(figures)]
    if any(each.transfer == MARKED for each in figures.cells):
        by = "by" if figures.persistent else "without"
        lines.append(f"* what Optane memory stores at once; mapped is {by} libpmem2")
    return "\n".join([*lines, advice(figures)])
