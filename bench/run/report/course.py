"""What reports tell of the course of their runs."""

import json
from dataclasses import dataclass
from pathlib import Path

NUMBERS = ("begin", "end", "held", "busy", "fill", "times_seconds", "shortest", "longest")
COUNTS = ("written_bytes", "carried_bytes", "times", "times_together")
MOST = 1e18  # seconds or bytes: beyond what any run has, and what can be drawn
MARKS = ("shortest", "median", "p90", "p99", "longest", "mean")


class BadInput(Exception):
    """A file that is no report of a run, and what to do about it."""


@dataclass(frozen=True)
class Span:
    """From one moment to another: seconds, bytes, and the part of the pool that was full at most. `times`: how many written
    times began in it, another before them; `times_together`: of so many only the mean is known."""

    begin: float
    end: float
    held: float
    busy: float
    fill: float
    times_seconds: float
    shortest: float
    longest: float
    written_bytes: int
    carried_bytes: int
    times: int
    times_together: int

    @property
    def seconds(self) -> float:
        return self.end - self.begin


@dataclass(frozen=True)
class Run:
    """One report; `node` is the one whose programs were held back longest, or else that saw most written times."""

    name: str
    case: str
    ranks: int
    nodes: int
    node: str
    ended: float  # when the program had ended
    program: str  # that wrote the times; empty: not known
    on_ranks: int  # in the directories of so many; 0: in the case's own
    times: int
    times_together: int
    marks: dict[str, float]  # of the seconds from one to the next
    worst: list[tuple[str, Span]]  # and the one that began at its end
    written: int  # bytes into the pools
    at_least: bool  # more than that
    course: list[Span]

    def total(self, member: str) -> float:
        return sum(getattr(span, member) for span in self.course)


def read(path: str) -> Run:
    try:
        told = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as why:
        raise BadInput(f"cannot read {path}: {why.strerror}") from why
    except (ValueError, RecursionError) as why:
        raise BadInput(f"{path} is damaged, or no report of a run; `forebay run --json FILE` writes one") from why
    try:
        if told["stability"] == []:
            raise BadInput(f"{path} tells nothing of its course: no agent of that run lived to its end")
        return _run(told)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as why:
        raise BadInput(
            f"{path} is no report of a run, or of another version of forebay; `forebay run --json FILE` writes one"
        ) from why


def _run(told: dict) -> Run:
    courses = [(_spans(each["course"]), _count(each["times"]), each) for each in told["stability"]]
    if not all(course for course, _, _ in courses):
        raise ValueError("a course without spans")
    course, times, node = max(courses, key=lambda each: (sum(span.held for span in each[0]), each[1]))
    worst = _spans(node["worst"])
    return Run(
        name=_text(told["run"]),
        case=_text(told["case"]),
        ranks=_count(told["ranks"]),
        nodes=len(told["nodes"]),
        node=_text(node["node"]),
        ended=_number(node["program_ended"]),
        program=_text(node["program"]),
        on_ranks=_count(node["ranks"]),
        times=times,
        times_together=_count(node["times_together"]),
        marks={mark: _number(node[mark]) for mark in MARKS},
        worst=sorted(zip(map(_text, node["worst"]["time"]), worst, strict=True), key=lambda each: -each[1].seconds),
        course=course,
        written=_count(node["written_bytes"]),
        at_least=node["written_at_least"] is True,
    )


def _spans(columns: dict) -> list[Span]:
    numbers = [map(_number, columns[key]) for key in NUMBERS]
    counts = [map(_count, columns[key]) for key in COUNTS]
    return [Span(*row) for row in zip(*numbers, *counts, strict=True)]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST:
        raise ValueError("no number")
    return float(value)


def _count(value: object) -> int:
    return int(_number(value))


def _text(value: object) -> str:
    """As it can be shown in a terminal: a name of a case may have escape sequences in it."""
    if not isinstance(value, str):
        raise ValueError("no text")
    value.encode()  # refuses halves of surrogate pairs
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in value)
