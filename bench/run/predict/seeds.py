"""What the formulas say of the measurements that they were fitted to (seeds.toml): `forebay predict --seeds`.

A group is fitted by itself, and each row of it also predicted by a fit without that row."""

import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .fit import fit, part_of_prior
from .model import Case, Medium, Operations, Shared, direct, local_write

VOLUME = 7.5e9  # bytes of all ranks at a written step of OpenFOAM (000)
MOSTLY = 0.5  # of an answer's power is the prior's: what was seen says less
STEPS_N3D = 12_500  # 900,000 files of 72 ranks; 6,400,000 of 512 (003)
SEEDS = tomllib.loads((Path(__file__).resolve().parent / "seeds.toml").read_text())
CONTRADICTIONS, NOT_MODELLED = SEEDS["contradictions"], SEEDS["not_modelled"]


def shared(p: list[float]) -> Shared:
    return Shared(p[0], p[2], p[3], p[1])


def openfoam(p: list[float], nodes: int, step: float, every: int, jobs: int) -> float:
    """Seconds per step of 90 million cells with purgeWrite 1. `step` 0: the fit's own."""
    return direct(
        Case(48 * nodes, nodes, step or p[5], VOLUME / 48 / nodes, 8, 3, every, purge=1, jobs=jobs), shared(p)
    )[0]


def fsdax(p: list[float], nodes: int, step: float, every: int) -> float:
    case = Case(48 * nodes, nodes, step or p[2], VOLUME / 48 / nodes, 8, 3, every, purge=1)
    return case.step + local_write(case, Medium(2, 1.5e12, ((24, p[1]),), fixed=p[0])) / every


def staged(p: list[float], volume: float) -> float:
    """Each of 20 nodes copies 960 processor directories of 18 files; what has been read before needs no bandwidth."""
    return shared(p).seconds(Operations(creates=960 * 18 * 20), 20) + volume / p[4]


def n3d(p: list[float], ranks: int, nodes: int, memory: float, volume: float) -> float:
    """The whole run as one step: all is written and read back, beside what it takes with memory alone."""
    return direct(Case(ranks, nodes, memory, 2 * volume / ranks, STEPS_N3D, 0), shared(p))[0]


FORMULAS = {
    "openfoam": openfoam,
    "fsdax": fsdax,
    "staged": staged,
    "n3d": n3d,
    "steps": lambda p, memory: memory + STEPS_N3D * p[0],
    "times": lambda p, i, x: p[i] * x,
    "line": lambda p, x: p[0] + p[1] * x,
    "power": lambda p, x: p[0] * x ** -p[1],
}


@dataclass(frozen=True)
class Line:
    """`seed`, `error` None: not fitted. `left_out`: the error of a fit without it; None: only the prior would answer."""

    group: str
    name: str
    unit: str
    seed: float | None
    fitted: float
    error: float | None
    left_out: float | None


def says(row: list, p: list[float]) -> float:
    return FORMULAS[row[2]](p, *row[3:])


def errors_of(group: dict, without: list | None = None) -> Callable[[list[float]], list[float]]:
    rows = [row for row in group["rows"] if row is not without and row[1] != "figure"]
    return lambda p: [math.log(says(row, p) / row[1]) for row in rows]


def fitted(group: dict, without: list | None = None) -> list[float]:
    return fit(errors_of(group, without), group["start"])


def left_out(group: dict, row: list) -> float | None:
    """What a fit to the other rows misses it by; None where they say nothing of it."""
    p = fitted(group, row)
    nothing = part_of_prior(errors_of(group, row), lambda p: says(row, p), p) > MOSTLY
    return None if nothing else says(row, p) / row[1] - 1


def table() -> list[Line]:
    lines = []
    for group in SEEDS["group"]:
        p = fitted(group)
        for row in group["rows"]:
            fit_says, seed = says(row, p), None if row[1] == "figure" else row[1]
            error = None if seed is None else fit_says / seed - 1
            alone = None if seed is None else left_out(group, row)
            lines.append(Line(group["name"], row[0], group["unit"], seed, fit_says, error, alone))
    return lines
