"""Residuals of a solver, drawn from the log that the case has while the solver runs."""

import math
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from measure.palette import FAINT, MUTED, SERIES

STEP = re.compile(r"^Time = (\S+?)s?$")
SOLVED = re.compile(r"Solving for (\w+), Initial residual = ([-+.0-9e]+)")
LOOK_AGAIN = 0.1  # seconds
LEAST_STEPS = 3  # of a curve


@dataclass(frozen=True)
class Seen:
    """What the case had of the log at a moment at which the solver was running."""

    seconds: float  # since the run began
    curves: dict[str, list[float]]  # by field, a residual for each step

    @property
    def steps(self) -> int:
        return max(map(len, self.curves.values()))


def curves_of(log: str) -> dict[str, list[float]]:
    """Of each field the first residual of each step. The last line may be cut."""
    steps: list[dict[str, float]] = []
    for line in log.splitlines(keepends=True)[: None if log.endswith("\n") else -1]:
        if STEP.match(line.rstrip("\n")):
            steps.append({})
        elif steps and (solved := SOLVED.search(line)):
            steps[-1].setdefault(solved[1], float(solved[2]))
    fields = dict.fromkeys(field for step in steps for field in step)
    return {field: [step[field] for step in steps if field in step] for field in fields}


def watch(process: subprocess.Popen, log: Path, has_ended: Callable[[], bool], began: float) -> Seen | None:
    """Reads the log again and again until the process has ended. What it had when it was read last while the solver was
    still running; None: there was no curve yet."""
    seen = None
    while process.poll() is None:
        try:
            curves = curves_of(log.read_text(errors="replace"))
        except FileNotFoundError:
            curves = {}
        found = Seen(time.monotonic() - began, curves) if curves else None
        if has_ended():
            break
        if found and found.steps >= LEAST_STEPS:
            seen = found
        time.sleep(LOOK_AGAIN)
    process.wait()
    return seen


@dataclass(frozen=True)
class Shape:
    """Of the drawing, in its own units; its text has 12.5 of them."""

    width: int
    height: int
    left: int = 50
    right: int = 70
    top: int = 14
    bottom: int = 34


WIDE, NARROW = Shape(920, 300), Shape(380, 260)


def draw(seen: Seen, narrow: bool = False) -> str:
    """Residuals by step, on a logarithmic axis."""
    shape = NARROW if narrow else WIDE
    values = [value for curve in seen.curves.values() for value in curve if value > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    across, down = shape.width - shape.left - shape.right, shape.height - shape.top - shape.bottom

    def x(step: int) -> float:
        return shape.left + across * (step - 1) / max(seen.steps - 1, 1)

    def y(value: float) -> float:
        return shape.top + down * (high - math.log10(max(value, 10.0**low))) / (high - low)

    parts = []
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(
            f'<line x1="{shape.left}" x2="{shape.left + across}" y1="{at:.1f}" y2="{at:.1f}" stroke="{FAINT}"/>'
            f'<text x="{shape.left - 8}" y="{at + 4:.1f}" text-anchor="end" fill="{MUTED}">1e{power}</text>'
        )
    for step, anchor in ((1, "start"), (seen.steps, "end")):
        parts.append(
            f'<text x="{x(step):.1f}" y="{shape.height - 10}" text-anchor="{anchor}" fill="{MUTED}">step {step}</text>'
        )
    # Names stand at the ends of their curves, none over another.
    free = shape.top + 8.0
    for index, (field, curve) in enumerate(sorted(seen.curves.items(), key=lambda each: -each[1][-1])):
        color = SERIES[index % len(SERIES)]
        points = " ".join(f"{x(step):.1f},{y(value):.1f}" for step, value in enumerate(curve, 1))
        free = max(free, y(curve[-1]) + 4)
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.6"/>'
            f'<text x="{shape.left + across + 8}" y="{free:.1f}" fill="{color}">{escape(field)}</text>'
        )
        free += 14
    return (
        f'<svg viewBox="0 0 {shape.width} {shape.height}" role="img" aria-label="residuals by step" '
        f'font-family="system-ui, sans-serif" font-size="12.5">{"".join(parts)}</svg>'
    )
