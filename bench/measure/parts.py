"""Smaller figures: start-up of a rank, the agent at rest, and the benchmark programs of single rooms."""

from collections.abc import Callable
from pathlib import Path

from . import solver, startup
from .report import Report


def beside(forebay: Path, name: str) -> Path:
    """A library or program that belongs to this forebay, in a build tree or installed."""
    root = forebay.parent.parent
    for directory in (forebay.parent, root / "lib", root / "lib/forebay", *root.glob("lib/*/forebay")):
        if (directory / name).exists():
            return directory / name
    raise RuntimeError(f"no {name} beside {forebay}; was everything built?")


def discard_library(forebay: Path) -> Path:
    return beside(forebay, "libforebay_discard.so")


def add_startup(report: Report, forebay: Path, pairs: int, say: Callable[[str], None]) -> None:
    true = "/bin/true"
    command = [str(forebay), "exec", "--", true]
    startup.measure(report, "forebay exec", command, [true], solver.environment(), pairs, say)
