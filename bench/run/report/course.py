"""What reports tell of the course of their runs."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

NUMBERS = ("begin", "end", "held", "busy", "fill", "steps_seconds", "shortest", "longest")
COUNTS = ("written_bytes", "carried_bytes", "steps")
MARKS = ("shortest", "median", "p90", "p99", "longest", "mean")


class BadInput(Exception):
    """A file that is no report of a run, and what to do about it."""


@dataclass(frozen=True)
class Span:
    """From one moment to another: seconds, bytes, and the part of the pool that was full at most."""

    begin: float
    end: float
    held: float
    busy: float
    fill: float
    steps_seconds: float
    shortest: float
    longest: float
    written_bytes: int
    carried_bytes: int
    steps: int

    @property
    def seconds(self) -> float:
        return self.end - self.begin


@dataclass(frozen=True)
class Run:
    """One report; `node` is the one whose programs were held back longest, or else that saw most steps."""

    name: str
    case: str
    ranks: int
    nodes: int
    node: str
    ended: float  # when the program had ended
    steps: int
    steps_together: int
    marks: dict[str, float]  # of the steps' seconds
    worst: list[tuple[str, Span]]  # the written time that ended it
    course: list[Span]

    def total(self, member: str) -> float:
        return sum(getattr(span, member) for span in self.course)


def read(path: str) -> Run:
    try:
        told = json.loads(Path(path).read_text())
    except OSError as why:
        raise BadInput(f"cannot read {path}: {why.strerror}") from why
    except (UnicodeError, json.JSONDecodeError, RecursionError) as why:
        raise BadInput(f"{path} is damaged, or no report of a run; `forebay run --json FILE` writes one") from why
    try:
        if told["stability"] == []:
            raise BadInput(f"{path} tells no steps: no agent of that run lived to its end")
        return _run(told)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as why:
        raise BadInput(
            f"{path} is no report of a run, or of another version of forebay; `forebay run --json FILE` writes one"
        ) from why


def _run(told: dict) -> Run:
    node = max(told["stability"], key=lambda each: (sum(each["course"]["held"]), each["steps"]))
    worst = _spans(node["worst"])
    return Run(
        name=_text(told["run"]),
        case=_text(told["case"]),
        ranks=_count(told["ranks"]),
        nodes=len(told["nodes"]),
        node=_text(node["node"]),
        ended=_number(told["stage_seconds"]) + _number(told["program_seconds"]),
        steps=_count(node["steps"]),
        steps_together=_count(node["steps_together"]),
        marks={mark: _number(node[mark]) for mark in MARKS},
        worst=sorted(zip(map(_text, node["worst"]["time"]), worst, strict=True), key=lambda each: -each[1].seconds),
        course=_spans(node["course"]),
    )


def _spans(columns: dict) -> list[Span]:
    numbers = [map(_number, columns[key]) for key in NUMBERS]
    counts = [map(_count, columns[key]) for key in COUNTS]
    return [Span(*row) for row in zip(*numbers, *counts, strict=True)]


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError("no number")
    return float(value)


def _count(value: object) -> int:
    return int(_number(value))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")
    return value
