"""Curves of what was measured, as SVG and in a page."""

import math
import statistics
from html import escape
from pathlib import Path

from measure import page
from measure.figures import plain, plural
from measure.palette import FAINT, MUTED, SERIES, TEXT

from . import told
from .grid import MARKED, binary
from .medium import PHASES, Figures, quartiles

TITLE = "forebay bench io on "
PAGE = page.kind_of("page of forebay bench io", TITLE)
LEFT, TOP, WIDTH, HEIGHT = 46, 14, 330, 230  # as wide as a telephone; two stand beside each other on a desktop


def draw(title: str, x_says: str, series: dict[str, dict[int, list[float]]], unit: str, mark: int = 0) -> str:
    """Medians and quartiles, both axes logarithmic; `mark`: a value of x that stands out."""
    series = {name: line for name, line in series.items() if line}
    xs = sorted({x for line in series.values() for x in line})
    scale = told.UNIT[unit]
    values = [each / scale for line in series.values() for rates in line.values() for each in quartiles(rates)]
    if len(xs) < 2:
        return ""
    low, high = min(values) / 1.2, max(values) * 1.2

    def at_x(x: float) -> float:
        return LEFT + WIDTH * math.log(x / xs[0]) / math.log(xs[-1] / xs[0])

    def at_y(value: float) -> float:
        return TOP + HEIGHT * (1 - math.log(value / low) / math.log(high / low))

    def words(x: float, y: float, said: str, anchor: str = "middle", color: str = TEXT) -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{escape(said)}</text>'

    parts = []
    steps = (1, 2, 5) if high / low < 100 else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for tick in (step * 10.0**power for power in powers for step in steps):
        if low <= tick <= high:
            parts.append(f'<path d="M{LEFT} {at_y(tick):.1f}h{WIDTH}" stroke="{FAINT}"/>')
            parts.append(
                words(LEFT - 6, at_y(tick) + 4, plain(tick) if tick < 1e4 else f"{plain(tick / 1e3)}k", "end", MUTED)
            )
    named = binary if mark else str
    shown = xs if len(xs) < 8 else xs[::2]
    parts += [
        words(at_x(x), TOP + HEIGHT + 18, named(x).replace(" ", "").replace("iB", ""), color=MUTED) for x in shown
    ]
    parts.append(words(LEFT + WIDTH / 2, TOP + HEIGHT + 38, f"{x_says}; {unit}"))
    if mark in xs:
        parts.append(f'<path d="M{at_x(mark):.1f} {TOP}v{HEIGHT}" stroke="{MUTED}" stroke-dasharray="2 4"/>')
    for number, (name, line) in enumerate(series.items()):
        color, dashes = SERIES[number % len(SERIES)], ' stroke-dasharray="7 4"' if number % 2 else ""
        points = [(at_x(x), at_y(statistics.median(rates) / scale)) for x, rates in sorted(line.items())]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{joined}" fill="none" stroke="{color}" stroke-width="2"{dashes}/>')
        for x, rates in line.items():
            ends = [at_y(each / scale) for each in quartiles(rates)]
            parts.append(f'<path d="M{at_x(x):.1f} {ends[0]:.1f}V{ends[1]:.1f}" stroke="{color}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{color}"/>' for x, y in points]
        y = TOP + HEIGHT + 62 + 20 * (number // 2)
        x = LEFT + WIDTH / 2 * (number % 2)
        parts.append(f'<path d="M{x} {y - 4}h22" stroke="{color}" stroke-width="2"{dashes}/>')
        parts.append(words(x + 28, y, name, "start"))
    height = TOP + HEIGHT + 52 + 20 * math.ceil(len(series) / 2)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 14} {height}" role="img" aria-label="{escape(title)}" style="width: min(100%, 430px)" '
        f'font-family="system-ui, sans-serif" font-size="13">{"".join(parts)}</svg>'
    )


def of_medium(figures: Figures) -> str:
    """By transfer, by writers, and files by processes."""
    parts = []
    if plain := told.plain_cells(figures):
        few = min(cell.writers for cell in plain)
        by_transfer = {
            name: {cell.transfer: rates for cell, rates in told.rates_of(figures, kind, writers=few).items()}
            for name, kind in told.KINDS.items()
        }
        title = f"bytes of a transfer, {plural(few, 'writer')} (dotted: 256 B)"
        parts.append(draw("Bytes a second by transfer", title, by_transfer, "GB/s", MARKED))
        by_writers = {name: told.by_writers(figures, kind) for name, kind in told.KINDS.items()}
        parts.append(draw("Bytes a second by writers", f"writers, {binary(told.base_of(figures))}", by_writers, "GB/s"))
    files = {
        phase: {each.processes * each.nodes: rates[phase] for each, rates in figures.files.items()} for phase in PHASES
    }
    parts.append(draw("Files a second by processes", "processes", files, "/s"))
    return "".join(parts)


def unbroken(rows: list[list[str]]) -> list[list[str]]:
    """Quartiles stay on one line."""
    return [[cell.replace(" to ", "\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}") for cell in row] for row in rows]


def write_page(to: Path, measured: list[Figures], machine: dict) -> None:
    sections = []
    for figures in measured:
        tables = "".join(f"<p>{escape(title)}</p>{page.cards(header, unbroken(rows))}" for title, header, rows in told.tables(figures))  # fmt: skip
        notes = "".join(f'<p class="note">{escape(each)}</p>' for each in figures.notes)
        said = f"<p>{escape(told.advice(figures))}</p>{notes}{of_medium(figures)}{tables}"
        sections.append((f"{figures.place.directory} ({figures.place.kind})", said))
    lead = "What this machine's media do: medians of the rounds, with quartiles."
    sections.append(("The machine", page.cards(["", ""], [[key, str(value)] for key, value in machine.items()])))
    page.write(to, PAGE, f"{TITLE}{machine['host']}", lead, sections)
