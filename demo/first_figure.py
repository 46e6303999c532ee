#!/usr/bin/env python3
"""The chart of the README, as an SVG: time per step by write interval, of figures that `make demo` measured.

    demo/first_figure.py > docs/first_figure.svg

The figures are those of docs/seeds.md, row 1.
"""

import sys
from html import escape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
from measure.palette import DIRECT, FOREBAY, MUTED, TEXT  # noqa: E402

# Milliseconds per step: what is written, directly, with forebay.
ROWS = (("every step written", 561, 219), ("every 10th step", 173, 67), ("every 60th step", 70, 66))
WITHOUT_OUTPUT = 68
WHERE = "motorBike, 30,000 cells, 4 ranks; a slow shared directory (800 Mbit/s, 10 ms a create)"
WIDTH, LEFT, BAR, GAP, TOP = 680, 150, 16, 16, 44


def text(x: float, y: float, words: str, color: str = TEXT, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" fill="{color}"{more}>{escape(words)}</text>'


def svg() -> str:
    scale = (WIDTH - LEFT - 90) / max(direct for _, direct, _ in ROWS)
    height = TOP + len(ROWS) * (2 * BAR + GAP) + 22
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        text(0, 14, "Time per step, ms", more=' font-weight="bold"'),
        text(0, 31, WHERE, MUTED, ' font-size="11"'),
    ]
    for index, (label, direct, forebay) in enumerate(ROWS):
        y = TOP + index * (2 * BAR + GAP)
        parts.append(text(LEFT - 10, y + BAR + 4, label, more=' text-anchor="end"'))
        for bar, (name, value, color) in enumerate((("direct", direct, DIRECT), ("forebay", forebay, FOREBAY))):
            at = y + bar * BAR
            parts.append(f'<rect x="{LEFT}" y="{at}" width="{value * scale:.1f}" height="{BAR - 2}" fill="{color}"/>')
            parts.append(text(LEFT + value * scale + 6, at + BAR - 4, f"{value} {name}", color))
    x, end = LEFT + WITHOUT_OUTPUT * scale, height - 18
    parts.append(f'<path d="M{x:.1f} {TOP - 4}V{end}" stroke="{MUTED}" stroke-dasharray="4 3"/>')
    parts.append(text(x, height - 5, f"{WITHOUT_OUTPUT} without any output", MUTED, ' font-size="11"'))
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(svg())
