"""Parameters that fit measurements: least squares of logarithms, and what reports of runs tell of a file system."""

import math
import statistics
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


def slopes_of(values: Callable[[Sequence[float]], list[float]], logs: Sequence[float]) -> list[list[float]]:
    """How fast each of the values moves with each of the parameters' logarithms."""
    here, width = values(logs), 1e-5
    moved = [values([log + width * (i == j) for j, log in enumerate(logs)]) for i in range(len(logs))]
    return [[(a - b) / width for a, b in zip(each, here, strict=True)] for each in moved]


def products(slopes: list[list[float]]) -> list[list[float]]:
    return [[sum(a * b for a, b in zip(one, other, strict=True)) for other in slopes] for one in slopes]


def fit(errors: Callable[[Sequence[float]], list[float]], start: Sequence[float], prior: float = PRIOR) -> list[float]:
    """Positive parameters with the least squares of `errors` (logarithms of ratios), by Levenberg and Marquardt."""

    def residuals(logs: Sequence[float]) -> list[float]:
        believed = [prior * (log - math.log(first)) for log, first in zip(logs, start, strict=True)]
        return [*errors([math.exp(each) for each in logs]), *believed]

    def square(values: list[float]) -> float:
        return sum(each * each for each in values)

    logs, damping = [math.log(each) for each in start], 1e-3
    now = residuals(logs)
    for _ in range(200):
        slopes = slopes_of(residuals, logs)
        normal = products(slopes)
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


def part_of_prior(
    errors: Callable[[Sequence[float]], list[float]], answer: Callable[[Sequence[float]], float], found: Sequence[float]
) -> float:
    """With which power of what was believed before does an answer move that these parameters give? 0 where what was
    seen answers; towards 1 where only the prior does."""

    def with_logs(values: Callable[[Sequence[float]], list[float]]) -> Callable[[Sequence[float]], list[float]]:
        return lambda logs: values([math.exp(each) for each in logs])

    logs = [math.log(each) for each in found]
    normal = products(slopes_of(with_logs(errors), logs))
    for i, row in enumerate(normal):
        row[i] += PRIOR**2
    moves = [each for [each] in slopes_of(with_logs(lambda p: [math.log(answer(p))]), logs)]
    return max(abs(each) * PRIOR**2 for each in solve(normal, moves))


@dataclass(frozen=True)
class Run:
    """What a report of a run tells: of the case's times, how many were drained, how long the drain worked on each, and by
    which factor the quartiles of that lie from the median."""

    case: Case
    drain: float
    quartiles: float = 1.0


def run_of_report(report: dict, nodes: float) -> Run:
    """Of what `forebay run --json` wrote (docs/exit-codes.md). ValueError where it tells too little.

    From a time's being complete, or the last one's being safe, until it is safe the drain either works on it, or holds it
    until the safety interval or the end: the course of the run tells which. Behind the program's end it works."""
    times = [each for each in report["timeline"] if each["safe"] >= 0]
    if not times or not report["shared"]["bytes"] or not report["ranks"]:
        raise ValueError("it tells of no time of ranks that was drained")
    ended = report["stage_seconds"] + report["program_seconds"]
    course = course_of(report)
    worked, last = [], -math.inf
    for each in sorted(times, key=lambda entry: entry["safe"]):
        complete = each["complete"] if each["complete"] >= 0 else ended  # -1: found at the end
        begin, safe = max(complete, last), each["safe"]
        worked.append(busy_between(course, begin, min(safe, ended)) + max(0.0, safe - max(begin, ended)))
        last = max(last, safe)
    if sum(worked) <= 0:
        raise ValueError("its drain was too short to be timed")
    # Of a long run the timeline has the newest times only.
    drained = max(len(times), report["nodes"][0]["drain"].get("safe_times", 0))
    per_rank = drained * report["ranks"]
    case = Case(
        ranks=report["ranks"], nodes=nodes, step=report["step_seconds"] or 0.0, dirs=0.0,
        bytes=report["shared"]["bytes"] / per_rank, files=report["shared"]["files"] / per_rank,
    )  # fmt: skip
    return Run(case, sum(worked) / len(worked), quartile_factor(worked))


def course_of(report: dict) -> list[tuple[float, float, float]]:
    """(begin, end, seconds in which the drain worked) of spans of the first node; empty where its agent was killed."""
    node = report["nodes"][0].get("node")
    courses = [each["course"] for each in report.get("stability", []) if each["node"] == node]
    return [span for course in courses for span in zip(course["begin"], course["end"], course["busy"], strict=True)]


def busy_between(course: Sequence[tuple[float, float, float]], begin: float, end: float) -> float:
    """Without a course all of it."""
    if not course:
        return max(0.0, end - begin)
    shares = ((min(end, to) - max(begin, since), to - since, busy) for since, to, busy in course)
    return sum(busy * within / seconds for within, seconds, busy in shares if within > 0)


def quartile_factor(values: Sequence[float]) -> float:
    """How far the quartiles lie from the median, as a factor; 1 for a single value."""
    values = [each for each in values if each > 0]
    if len(values) < 2:
        return 1.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return max(middle / low, high / middle)


def calibrated(shared: Shared, runs: Sequence[Run], settings: Settings) -> Shared:
    """The file system whose drain takes what was seen: its operations, all by one factor, and its bandwidth are
    corrected, as little as does it, since one run cannot tell them apart."""

    def with_factors(factors: Sequence[float]) -> Shared:
        return replace(shared.faster(*factors), write_kept=None)

    def errors(factors: Sequence[float]) -> list[float]:
        # Nearly the larger part, but a little of both: else it could not be seen that both are too slow.
        parts = [drain(run.case, with_factors(factors), settings) for run in runs]
        both = [math.hypot(metadata**4, data**4) ** 0.25 for metadata, data in parts]
        return [math.log(seconds / run.drain) for seconds, run in zip(both, runs, strict=True)]

    return with_factors(fit(errors, [1.0, 1.0]))
