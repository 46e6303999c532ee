"""The plot of a prediction."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from measure.figures import plain
from measure.palette import DIRECT, FAINT, FOREBAY, MUTED, SERIES, TEXT

from .model import Case, Outcome
from .units import span

INTERVALS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Shape:
    """Of the drawing, in its own units: their text has 14 of them. `beside`: the legend has two columns."""

    left: int
    width: int
    height: int
    beside: bool


WIDE, NARROW = Shape(66, 560, 300, True), Shape(62, 292, 240, False)


def plot(days: Callable[..., tuple[Outcome, ...]], case: Case, narrow: bool = False) -> str:
    """Seconds per step over the write interval, both logarithmic, as SVG. `days(every=N)`: bad, likely and good."""
    own = case.every
    beside = [each for each in INTERVALS if each <= case.steps and not 0.7 < each / own < 1.4]
    xs = sorted([own, *beside])
    all_days = [days(every=each) for each in xs]
    series = {
        "directly": (DIRECT, [likely.direct for _, likely, _ in all_days]),
        "forebay, drained live": (FOREBAY, [likely.live for _, likely, _ in all_days]),
        "forebay, drained at the end": (SERIES[2], [likely.end for _, likely, _ in all_days]),
    }
    bands = [(bad.direct, good.direct) for bad, _, good in all_days]
    values = [value for _, line in series.values() for value in line] + [each for band in bands for each in band]
    low, high = min(*values, case.step) / 1.15, max(values) * 1.15
    shape = NARROW if narrow else WIDE
    left, top, width, height = shape.left, 16, shape.width, shape.height

    def x(every: float) -> float:
        return left + width * math.log(every / xs[0]) / math.log(max(xs[-1] / xs[0], 1.01))

    def y(seconds: float) -> float:
        return top + height * (1 - math.log(seconds / low) / math.log(high / low))

    def points(line: list[float]) -> str:
        return " ".join(f"{x(every):.1f},{y(value):.1f}" for every, value in zip(xs, line, strict=True))

    def words(at_x: float, at_y: float, said: str, anchor: str = "middle", color: str = TEXT) -> str:
        return f'<text x="{at_x:.1f}" y="{at_y:.1f}" text-anchor="{anchor}" fill="{color}">{escape(said)}</text>'

    parts = []
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high / low < 200 else (1,)
    for tick in sorted(step * 10.0**power for power in powers for step in steps):
        if low <= tick <= high:
            parts.append(f'<path d="M{left} {y(tick):.1f}h{width}" stroke="{FAINT}"/>')
            parts.append(words(left - 8, y(tick) + 4, span(tick), "end", MUTED))
    parts += [words(x(each), top + height + 20, plain(each), color=MUTED) for each in xs]
    parts.append(words(left + width / 2, top + height + 42, "steps from one written step to the next"))
    band = points([b for b, _ in bands]) + " " + " ".join(reversed(points([g for _, g in bands]).split()))
    parts.append(f'<polygon points="{band}" fill="{DIRECT}" fill-opacity=".14"/>')
    without = y(case.step)
    parts.append(f'<path d="M{left} {without:.1f}h{width}" stroke="{MUTED}" stroke-dasharray="5 4"/>')
    parts.append(f'<path d="M{x(own):.1f} {top}v{height}" stroke="{MUTED}" stroke-dasharray="2 4"/>')
    for number, (name, (color, line)) in enumerate(series.items()):
        dashes = ' stroke-dasharray="8 5"' if number == 2 else ""
        parts.append(f'<polyline points="{points(line)}" fill="none" stroke="{color}" stroke-width="2.4"{dashes}/>')
        parts += [
            f'<circle cx="{x(e):.1f}" cy="{y(v):.1f}" r="3" fill="{color}"/>' for e, v in zip(xs, line, strict=True)
        ]
        at = top + height + 68 + 20 * number
        parts.append(f'<path d="M{left} {at - 4}h26" stroke="{color}" stroke-width="2.4"{dashes}/>')
        parts.append(words(left + 34, at, name, "start"))
    notes = ("band: a good day to a bad one, directly", "dashed: a step without output", "dotted: as the case writes")
    x_of_notes, first = (left + 260, 0) if shape.beside else (left, len(series))
    parts += [
        words(x_of_notes, top + height + 68 + 20 * (first + i), note, "start", MUTED) for i, note in enumerate(notes)
    ]
    rows = max(len(series), len(notes)) if shape.beside else len(series) + len(notes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 24} {top + height + 58 + 20 * rows}" role="img" '
        f'aria-label="Seconds per step over the write interval" style="width: min(100%, 720px)" font-family="system-ui, sans-serif" font-size="14">'
        + "".join(parts)
        + "</svg>"
    )
