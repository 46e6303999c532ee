"""The course of a run, in SVG: written times, writes and drain, and the pool, over one axis of time."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape

from measure.palette import COMPUTE, DIRECT, FAINT, FOREBAY, MUTED, TEXT, WRITE

from run.predict.units import human, span

from .course import Run, Span

WIDE, NARROW = 900, 380  # of the drawings for desktops and for telephones: their text stays readable
HEIGHTS = {"times": 190, "bytes": 120, "pool": 80}
TITLE, STRIP = 34, 5  # above each panel; of the drain, along the lower edge of its panel
ENOUGH_FOR_LOGARITHM = 8  # the longest between written times by the shortest


@dataclass(frozen=True)
class Scale:
    """Shared by the drawings of runs that are compared."""

    seconds: float
    shortest: float
    longest: float
    bytes: float
    fill: float

    @staticmethod
    def of(runs: list[Run]) -> "Scale":
        shortest = [run.marks["shortest"] for run in runs if run.times]
        return Scale(
            seconds=max(max(run.course[-1].end for run in runs), 1e-3),
            shortest=max(min(shortest, default=0), 1e-3),
            longest=max(*(run.marks["longest"] for run in runs), 1e-2),
            bytes=max(1.0, *(max(0 if run.at_least else run.written, run.total("carried_bytes")) for run in runs)),
            fill=max(1.0, *(each.fill for run in runs for each in run.course)),
        )


def draw(run: Run, scale: Scale, width: int) -> str:
    drawing = _Drawing(run, scale, width)
    drawing.times()
    drawing.bytes()
    drawing.pool()
    return drawing.finished()


@dataclass
class _Drawing:
    run: Run
    scale: Scale
    width: int
    parts: list[str] = field(default_factory=list)
    top: float = 0  # of the panel that is drawn

    @property
    def left(self) -> float:
        return 62

    def x(self, seconds: float) -> float:
        return self.left + (self.width - self.left - 14) * seconds / self.scale.seconds

    def panel(self, name: str, title: list[tuple[str, str]], ticks: list[tuple[float, str]], y: Callable) -> None:
        """`title`: words and their colours. `ticks`: values and what is written at them."""
        at = self.left
        for words, color in title:
            self.parts.append(self._text(at, self.top - 10, words, "start", color, "600"))
            at += 7.6 * len(words) + 14
        for value, words in ticks:
            self.parts.append(
                f'<path d="M{self.left} {y(value):.1f}H{self.x(self.scale.seconds):.1f}" stroke="{FAINT}"/>'
            )
            self.parts.append(self._text(self.left - 7, y(value) + 4, words, "end", MUTED))
        # Over the grid, below what is drawn next.
        bottom = self.top + HEIGHTS[name]
        for begin, end in held(self.run.course):
            width = max(self.x(end) - self.x(begin), 1.5)
            self.parts.append(
                f'<rect class="held" x="{self.x(begin):.1f}" y="{self.top}" width="{width:.1f}" height="{HEIGHTS[name]}" '
                f'fill="{DIRECT}" fill-opacity=".2"><title>held back, {begin:.2f} to {end:.2f} s</title></rect>'
            )
        ended = self.x(self.run.ended)
        self.parts.append(f'<path d="M{ended:.1f} {self.top}V{bottom}" stroke="{MUTED}" stroke-dasharray="3 3"/>')

    def times(self) -> None:
        self.top = TITLE
        height, low, high = HEIGHTS["times"], self.scale.shortest / 1.2, self.scale.longest * 1.15
        logarithmic = self.scale.longest > ENOUGH_FOR_LOGARITHM * self.scale.shortest

        def y(seconds: float) -> float:
            part = math.log(max(seconds, low) / low) / math.log(high / low) if logarithmic else seconds / high
            return self.top + height * (1 - part)

        values = decades(low, high) if logarithmic else even(high)
        title = [("seconds per written time", TEXT)] + ([("held back", DIRECT)] if held(self.run.course) else [])
        self.panel("times", title, [(value, span(value) if value else "0") for value in values], y)
        bars, dots, means = [], [], []
        for each in self.run.course:
            if not each.times or any(each.begin < one.end <= each.end for _, one in self.run.worst if each.times == 1):
                continue
            x = self.x((each.begin + each.end) / 2)
            if each.times > 1:
                bars.append(f"M{x:.1f} {y(each.shortest):.1f}V{y(each.longest):.1f}")
            (means if each.times_together else dots).append(f"M{x:.1f} {y(each.times_seconds / each.times):.1f}h0")
        self.parts.append(f'<path d="{"".join(bars)}" stroke="{COMPUTE}" stroke-opacity=".35" stroke-width="1.4"/>')
        for time, each in self.run.worst:
            (means if each.times_together else dots).append(f"M{self.x(each.end):.1f} {y(each.seconds):.1f}h0")
            self.parts.append(
                f'<circle class="worst" cx="{self.x(each.end):.1f}" cy="{y(each.seconds):.1f}" r="4.5" fill="none" '
                f'stroke="{DIRECT}" stroke-width="1.4"><title>before time {escape(time)}: {lasted(each)}, '
                f"{escape(did(each))}</title></circle>"
            )
        for name, points, opacity in (("times", dots, 1), ("means", means, 0.45)):
            if points or name == "times":
                self.parts.append(
                    f'<path class="{name}" d="{"".join(points)}" stroke="{COMPUTE}" stroke-opacity="{opacity}" '
                    'stroke-width="3.6" stroke-linecap="round"/>'
                )
        self.top += height + TITLE

    def bytes(self) -> None:
        height = HEIGHTS["bytes"]

        def y(size: float) -> float:
            return self.top + (height - STRIP - 3) * (1 - size / self.scale.bytes / 1.05)

        # A line of what was seen, where much was not, would say that little was written.
        known = () if self.run.at_least else (("written_bytes", WRITE),)
        written = f"written: at least {human(self.run.written)}" if self.run.at_least else "written"
        title = [(written, WRITE), ("brought to the case", FOREBAY)]
        self.panel("bytes", title, [(value, human(value)) for value in even(self.scale.bytes, 3)], y)
        for member, color in (*known, ("carried_bytes", FOREBAY)):
            points, size = [f"{self.x(0):.1f},{y(0):.1f}"], 0
            for each in self.run.course:
                size += getattr(each, member)
                points.append(f"{self.x(each.end):.1f},{y(size):.1f}")
            self.parts.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{color}" stroke-width="2"/>')
        for begin, end in joined((each, each.busy) for each in self.run.course):
            self.parts.append(
                f'<rect class="busy" x="{self.x(begin):.1f}" y="{self.top + height - STRIP}" height="{STRIP}" '
                f'width="{max(self.x(end) - self.x(begin), 0.8):.1f}" fill="{FOREBAY}">'
                f"<title>drain at work, {begin:.2f} to {end:.2f} s</title></rect>"
            )
        self.top += height + TITLE

    def pool(self) -> None:
        height = HEIGHTS["pool"]

        def y(fill: float) -> float:
            return self.top + height * (1 - fill / self.scale.fill)

        self.panel("pool", [("fullest pool", TEXT)], [(0, "0"), (0.5, "50 %"), (1, "100 %")], y)
        points = [f"{self.x(0):.1f},{y(0):.1f}"]
        points += [f"{self.x((each.begin + each.end) / 2):.1f},{y(each.fill):.1f}" for each in self.run.course]
        points += [f"{self.x(self.run.course[-1].end):.1f},{y(self.run.course[-1].fill):.1f}"]
        area = f"{' '.join(points)} {points[-1].split(',')[0]},{y(0):.1f}"
        self.parts.append(f'<polygon points="{area}" fill="{WRITE}" fill-opacity=".3"/>')
        self.parts.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{WRITE}" stroke-width="1.6"/>')
        self.top += height

    def finished(self) -> str:
        for value in moments(self.scale.seconds, 9 if self.width == WIDE else 5):
            self.parts.append(self._text(self.x(value), self.top + 18, span(value) if value else "0", "middle", MUTED))
        near_end = self.run.ended > 0.6 * self.scale.seconds
        self.parts.append(
            self._text(
                self.x(self.run.ended) + (6 if near_end else -6),
                self.top + 38,
                "program ended",
                "end" if near_end else "start",
                MUTED,
            )
        )
        return (
            f'<svg viewBox="0 0 {self.width} {self.top + 46:.0f}" role="img" aria-label="course of run {escape(self.run.name)}" '
            f'font-family="system-ui, sans-serif" font-size="13">{"".join(self.parts)}</svg>'
        )

    def _text(self, x: float, y: float, words: str, anchor: str, color: str, weight: str = "400") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}" font-weight="{weight}">{escape(words)}</text>'


def held(course: list[Span]) -> list[tuple[float, float]]:
    """When programs were held back: of spans in which they were."""
    return joined((each, each.held) for each in course)


def joined(spans) -> list[tuple[float, float]]:  # noqa: ANN001
    """From and to of neighbours in which something lasted for some seconds."""
    found: list[tuple[float, float]] = []
    for each, seconds in spans:
        if seconds <= 0:
            continue
        if found and found[-1][1] == each.begin:
            found[-1] = (found[-1][0], each.end)
        else:
            found.append((each.begin, each.end))
    return found


def lasted(each: Span) -> str:
    """How long, in words."""
    return f"{span(each.seconds)}{' (a mean)' if each.times_together else ''}"


def did(each: Span) -> str:
    """What forebay did meanwhile, in words."""
    words = [f"held back {span(each.held)}"] if each.held >= 0.0005 else []
    words.append(f"drain at work {span(each.busy)}" if each.busy >= 0.0005 else "drain idle")
    words.append(f"pool {each.fill * 100:.0f} % full")
    words += [f"{human(each.carried_bytes)} brought to the case"] if each.carried_bytes else []
    return ", ".join(words)


def even(most: float, count: int = 4, steps: list[float] | None = None) -> list[float]:
    """From 0, at most so many and one more."""
    steps = steps or [factor * 10.0**power for power in range(-6, 40) for factor in (1, 2, 5)]
    step = next(step for step in steps if most / step <= count)
    return [index * step for index in range(int(most / step) + 1)]


def moments(seconds: float, count: int) -> list[float]:
    """In whole seconds, minutes or hours."""
    below = [factor * 10.0**power for power in range(-4, 2) for factor in (1, 2, 5)][:-1]
    hours = [3600.0 * each for each in (1, 2, 4, 6, 12, *(24 * 2**power for power in range(48)))]
    return even(seconds, count, [*below, 60, 120, 300, 600, 1200, 1800, *hours])


def decades(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if high / low < 50 else (1, 3) if high / low < 1000 else (1,)
    return [value for power in powers for factor in factors if low <= (value := factor * 10.0**power) <= high]
