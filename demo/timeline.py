"""A run as lanes over time, in SVG: computing, output closed locally, output safe on the shared file system."""

from dataclasses import dataclass
from html import escape

from measure.palette import FAINT, MUTED, TEXT

WIDTH, LEFT, RIGHT, LANE, GAP, TOP = 920, 178, 24, 30, 16, 34


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


def draw(lanes: list[Lane], marks: list[tuple[float, str]]) -> str:
    """`marks` are moments of note, drawn as lines with a text below."""
    last = max([span.end for lane in lanes for span in lane.spans] + [moment for moment, _ in marks]) * 1.02
    bottom = TOP + len(lanes) * (LANE + GAP)
    height = bottom + 26 + 18 * len(marks)
    drawing = _Drawing(last)
    drawing.axis(bottom)
    for row, lane in enumerate(lanes):
        drawing.lane(lane, TOP + row * (LANE + GAP))
    # The latest on top, so that no line crosses a text that begins at another one.
    latest_first = sorted(marks, reverse=True)
    for row, (moment, _) in enumerate(latest_first):
        drawing.mark_line(moment, bottom + 36 + 18 * row)
    for row, (moment, text) in enumerate(latest_first):
        drawing.mark_text(moment, text, bottom + 36 + 18 * row)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="timeline of the run" '
        f'font-family="system-ui, sans-serif" font-size="12.5">{"".join(drawing.parts)}</svg>'
    )


class _Drawing:
    def __init__(self, seconds: float):
        self.parts: list[str] = []
        self._scale = (WIDTH - LEFT - RIGHT) / seconds
        self._seconds = seconds

    def _x(self, moment: float) -> float:
        return LEFT + moment * self._scale

    def axis(self, bottom: float) -> None:
        step = next(step for step in (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600) if self._seconds / step <= 10)
        for index in range(int(self._seconds / step) + 1):
            x = self._x(index * step)
            self.parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{bottom}" stroke="{FAINT}" stroke-width="1"/>'
                f'<text x="{x:.1f}" y="{TOP - 14}" text-anchor="middle" fill="{MUTED}">{index * step:g} s</text>'
            )

    def lane(self, lane: Lane, y: float) -> None:
        self.parts.append(
            f'<text x="{LEFT - 14}" y="{y + 13}" text-anchor="end" fill="{TEXT}" font-weight="600">'
            f"{escape(lane.name)}</text>"
            f'<text x="{LEFT - 14}" y="{y + 27}" text-anchor="end" fill="{MUTED}" font-size="11">{escape(lane.about)}</text>'
        )
        for span in lane.spans:
            x, width = self._x(span.begin), max((span.end - span.begin) * self._scale - 0.7, 0.9)
            self.parts.append(
                f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{LANE}" fill="{lane.color}">'
                f"<title>{escape(span.label)}: {span.begin:.2f} to {span.end:.2f} s</title></rect>"
            )

    def mark_line(self, moment: float, y: float) -> None:
        x = self._x(moment)
        self.parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{y + 3}" stroke="{TEXT}" stroke-dasharray="2 3"/>'
        )

    def mark_text(self, moment: float, text: str, y: float) -> None:
        anchor, shift = ("end", -6) if moment > 0.7 * self._seconds else ("start", 6)
        # A white rim first, which keeps the text readable where a line crosses it.
        for look in ('fill="white" stroke="white" stroke-width="4"', f'fill="{TEXT}"'):
            self.parts.append(
                f'<text x="{self._x(moment) + shift:.1f}" y="{y}" text-anchor="{anchor}" {look}>{escape(text)}</text>'
            )
