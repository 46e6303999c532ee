"""What `forebay exec` costs a rank before its program starts."""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from measure.figures import estimate
from measure.report import Report

GOAL_MS = 5.0


def spawn_seconds(command: list[str], env: dict[str, str]) -> float:
    started = time.perf_counter()
    pid = os.posix_spawn(command[0], command, env)
    _, status = os.waitpid(pid, 0)
    seconds = time.perf_counter() - started
    if status != 0:
        raise RuntimeError(f"{' '.join(command)}: wait status {status}")
    return seconds


def measure(
    report: Report,
    name: str,
    wrapped: list[str],
    bare: list[str],
    env: dict[str, str],
    pairs: int,
    say: Callable[[str], None],
) -> None:
    """Adds the median difference of `pairs` alternating pairs."""
    say(f"{name}: {pairs} pairs")
    differences, bare_seconds = [], []
    for number in range(pairs):
        if number % 2:
            plain = spawn_seconds(bare, env)
            ours = spawn_seconds(wrapped, env)
        else:
            ours = spawn_seconds(wrapped, env)
            plain = spawn_seconds(bare, env)
        differences.append(ours - plain)
        bare_seconds.append(plain)
    value = estimate(differences)
    report.add(
        f"{name}: added to {Path(bare[0]).name}",
        value,
        "ms",
        1e3,
        reference=statistics.median(bare_seconds) * 1e3,
        goal=f"< {GOAL_MS:g} ms, interval included",
        met=value.high * 1e3 < GOAL_MS,
    )
