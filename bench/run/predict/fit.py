"""Parameters that fit measurements: least squares of logarithms, and what reports of runs tell of a file system."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .model import Case, Settings, Shared, drain

PRIOR = 0.02  # weight of what was believed before, so that nothing runs away where nothing is known


def solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gauss's elimination; the matrix is symmetric and positive."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i, pivot in enumerate(rows):
        for row in rows[i + 1 :]:
            by = row[i] / pivot[i]
            row[i:] = [a - by * b for a, b in zip(row[i:], pivot[i:], strict=True)]
    found = [0.0] * len(rows)
    for i in reversed(range(len(rows))):
        found[i] = (rows[i][-1] - sum(rows[i][j] * found[j] for j in range(i + 1, len(rows)))) / rows[i][i]
    return found


def fit(errors: Callable[[Sequence[float]], list[float]], start: Sequence[float], prior: float = PRIOR) -> list[float]:
    """Positive parameters with the least squares of `errors` (logarithms of ratios), by Levenberg and Marquardt."""

    def residuals(logs: Sequence[float]) -> list[float]:
        believed = [prior * (log - math.log(first)) for log, first in zip(logs, start, strict=True)]
        return [*errors([math.exp(each) for each in logs]), *believed]

    def square(values: list[float]) -> float:
        return sum(each * each for each in values)

    logs, damping, width = [math.log(each) for each in start], 1e-3, 1e-5
    now = residuals(logs)
    for _ in range(200):
        moved = [residuals([log + width * (i == j) for j, log in enumerate(logs)]) for i in range(len(logs))]
        slopes = [[(a - b) / width for a, b in zip(each, now, strict=True)] for each in moved]
        normal = [[sum(a * b for a, b in zip(one, other, strict=True)) for other in slopes] for one in slopes]
        for i, row in enumerate(normal):
            row[i] *= 1 + damping
        step = solve(normal, [-sum(a * b for a, b in zip(one, now, strict=True)) for one in slopes])
        there = residuals([log + each for log, each in zip(logs, step, strict=True)])
        if square(there) < square(now):
            logs, now, damping = [log + each for log, each in zip(logs, step, strict=True)], there, damping / 3
        else:
            damping *= 4
        if damping > 1e12 or max(map(abs, step)) < 1e-12:
            break
    return [math.exp(each) for each in logs]


@dataclass(frozen=True)
class Run:
    """What a report of a run tells: of the case's times, how many were drained, and how long the drain worked on each."""

    case: Case
    drain: float


def run_of_report(report: dict, nodes: float, settle: float) -> Run:
    """Of what `forebay run --json` wrote (docs/exit-codes.md). ValueError where it tells too little.

    The drain works on a time from its being complete, or from the last one's being safe; while the program runs it lets
    a time settle first where it has nothing else to do."""
    times = [each for each in report["timeline"] if each["safe"] >= 0]
    if not times or not report["shared"]["bytes"] or not report["ranks"]:
        raise ValueError("it tells of no time of ranks that was drained")
    ended = report["stage_seconds"] + report["program_seconds"]
    busy, last = 0.0, -math.inf
    for each in sorted(times, key=lambda entry: entry["safe"]):
        complete = each["complete"] if each["complete"] >= 0 else ended  # -1: found at the end
        settled = max(complete, min(complete + settle, ended))
        busy += max(0.0, each["safe"] - (last if complete < last else settled))
        last = max(last, each["safe"])
    if busy <= 0:
        raise ValueError("its drain was too short to be timed")
    # Of a long run the timeline has the newest times only.
    drained = max(len(times), report["nodes"][0]["drain"].get("safe_times", 0))
    per_rank = drained * report["ranks"]
    case = Case(
        ranks=report["ranks"], nodes=nodes, step=report["step_seconds"] or 0.0, dirs=0.0,
        bytes=report["shared"]["bytes"] / per_rank, files=report["shared"]["files"] / per_rank,
    )  # fmt: skip
    return Run(case, busy / len(times))


def calibrated(shared: Shared, runs: Sequence[Run], settings: Settings) -> Shared:
    """The file system whose drain takes what was seen: its operations and its bandwidth are corrected, as little as
    does it, since one run cannot tell them apart."""

    def with_factors(factors: Sequence[float]) -> Shared:
        operations, write = shared.operations_per_s * factors[0], shared.write * factors[1]
        return replace(shared, operations_per_s=operations, write=write, write_kept=None)

    def errors(factors: Sequence[float]) -> list[float]:
        # Nearly the larger part, but a little of both: else it could not be seen that both are too slow.
        parts = [drain(run.case, with_factors(factors), settings) for run in runs]
        both = [math.hypot(metadata**4, data**4) ** 0.25 for metadata, data in parts]
        return [math.log(seconds / run.drain) for seconds, run in zip(both, runs, strict=True)]

    return with_factors(fit(errors, [1.0, 1.0]))
