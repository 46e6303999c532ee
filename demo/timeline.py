"""A run as lanes over time, in SVG: computing, output closed locally, output safe on the shared file system."""

from dataclasses import dataclass
from html import escape

from measure.palette import FAINT, MUTED, TEXT

LANE, TOP = 30, 34


@dataclass(frozen=True)
class Shape:
    """Of the drawing, in its own units; its text has 12.5 of them. `beside`: names stand left of their lanes, else above."""

    width: int
    left: int
    right: int
    gap: int
    ticks: int
    beside: bool


WIDE, NARROW = Shape(920, 178, 24, 16, 10, True), Shape(380, 12, 16, 26, 6, False)


@dataclass(frozen=True)
class Span:
    """Seconds since the command was started, and what a reader sees when pointing at it."""

    begin: float
    end: float
    label: str


@dataclass(frozen=True)
class Lane:
    name: str
    about: str
    color: str
    spans: list[Span]


def draw(lanes: list[Lane], marks: list[tuple[float, str]], narrow: bool = False) -> str:
    """`marks` are moments of note, drawn as lines with a text below."""
    last = max([span.end for lane in lanes for span in lane.spans] + [moment for moment, _ in marks]) * 1.02
    shape = NARROW if narrow else WIDE
    first = TOP if shape.beside else TOP + shape.gap - 6
    bottom = first + len(lanes) * (LANE + shape.gap)
    height = bottom + 26 + 18 * len(marks)
    drawing = _Drawing(last, shape)
    drawing.axis(bottom)
    for row, lane in enumerate(lanes):
        drawing.lane(lane, first + row * (LANE + shape.gap))
    # The latest on top, so that no line crosses a text that begins at another one.
    latest_first = sorted(marks, reverse=True)
    for row, (moment, _) in enumerate(latest_first):
        drawing.mark_line(moment, bottom + 36 + 18 * row)
    for row, (moment, text) in enumerate(latest_first):
        drawing.mark_text(moment, text, bottom + 36 + 18 * row)
    return (
        f'<svg viewBox="0 0 {shape.width} {height}" role="img" aria-label="timeline of the run" '
        f'font-family="system-ui, sans-serif" font-size="12.5">{"".join(drawing.parts)}</svg>'
    )


class _Drawing:
    def __init__(self, seconds: float, shape: Shape):
        self.parts: list[str] = []
        self._shape = shape
        self._scale = (shape.width - shape.left - shape.right) / seconds
        self._seconds = seconds

    def _x(self, moment: float) -> float:
        return self._shape.left + moment * self._scale

    def axis(self, bottom: float) -> None:
        step = next(
            step for step in (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600) if self._seconds / step <= self._shape.ticks
        )
        for index in range(int(self._seconds / step) + 1):
            x = self._x(index * step)
            self.parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{bottom}" stroke="{FAINT}" stroke-width="1"/>'
                f'<text x="{x:.1f}" y="{TOP - 14}" text-anchor="middle" fill="{MUTED}">{index * step:g} s</text>'
            )

    def lane(self, lane: Lane, y: float) -> None:
        self.parts.append(
            self._name(lane, self._shape.left - 14, y + 13, "end", f'x="{self._shape.left - 14}" dy="14"')
            if self._shape.beside
            else self._name(lane, self._shape.left, y - 5, "start", 'dx="6"')
        )
        for span in lane.spans:
            x, width = self._x(span.begin), max((span.end - span.begin) * self._scale - 0.7, 0.9)
            self.parts.append(
                f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{LANE}" fill="{lane.color}">'
                f"<title>{escape(span.label)}: {span.begin:.2f} to {span.end:.2f} s</title></rect>"
            )

    def _name(self, lane: Lane, x: float, y: float, anchor: str, about: str) -> str:
        return (
            f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{TEXT}" font-weight="600">{escape(lane.name)}'
            f'<tspan {about} fill="{MUTED}" font-size="11" font-weight="400">{escape(lane.about)}</tspan></text>'
        )

    def mark_line(self, moment: float, y: float) -> None:
        x = self._x(moment)
        self.parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{y + 3}" stroke="{TEXT}" stroke-dasharray="2 3"/>'
        )

    def mark_text(self, moment: float, text: str, y: float) -> None:
        anchor, shift = ("end", -6) if moment > (0.7 if self._shape.beside else 0.5) * self._seconds else ("start", 6)
        # A white rim first, which keeps the text readable where a line crosses it.
        for look in ('fill="white" stroke="white" stroke-width="4"', f'fill="{TEXT}"'):
            self.parts.append(
                f'<text x="{self._x(moment) + shift:.1f}" y="{y}" text-anchor="{anchor}" {look}>{escape(text)}</text>'
            )
