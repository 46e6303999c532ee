"""The parts that trajectory_bench measures, and what they have to reach."""

import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from measure.figures import Estimate, estimate, ratio_of
from measure.program import figures_of
from measure.report import Report

SIZES = {"256 B": 256, "4 KiB": 4096, "64 KiB": 1 << 16, "1 MiB": 1 << 20, "5 MB": 5_000_000, "64 MiB": 1 << 26}
COPY_GOAL = 0.9  # of the non-temporal copy, from 64 KiB on
COMMITS_GOAL = {"256 B": 1.5e6, "4 KiB": 0.8e6}  # a second
READ_GOAL = 0.95  # of the plain read sweep
FRESH_GOAL = 0.8  # of touching pages
SPILL_GOAL = 0.9  # of raw reads
FILES_GOALS = {"4 KiB": (20, 8), "5 MB": (5, 2)}  # times faster than files: writing, reading
MOST_RANKS = 4  # that write files at the same time: one on each core, and not more than the pool has room for
REOPENED, REOPEN_GOAL = 1_000_000, 1.0  # steps of 4 KiB; seconds
INDEX_GOAL = 64  # bytes a record
ACCEPTED = (1e-4, 1e-6)  # relative L2 errors
LOSSY_GOAL = {"steady": 15, "turbulent": None}  # bytes of state to a byte stored; steady ones promise 15 to 65
CODECS = ("raw", "float32", "truncation", "zfp", "difference")  # in the order of their numbers


@dataclass
class Measured:
    """Runs trajectory_bench: one part, one size of states at a time."""

    program: Path
    pool: Path
    disk: Path
    quick: bool
    say: Callable[[str], None]

    def part(self, name: str, state_bytes: int, states: int, repetitions: int, *more: str) -> dict:
        sizes = ["--state-bytes", str(state_bytes), "--states", str(states), "--repetitions", str(repetitions)]
        command = [self.program, name, "--directory", self.pool, "--disk", self.disk, *sizes, *more]
        return figures_of(f"trajectory_bench {name}", command)


def rates(amount: float, seconds: Sequence[float]) -> Estimate:
    return estimate([amount / each for each in seconds])


def seconds_for_a_gb(seconds: Sequence[float], moved: float) -> list[float]:
    """Of runs that each took so long for `moved` bytes."""
    return [each / moved * 1e9 for each in seconds]


def compare(
    report: Report, name: str, amount: float, unit: str, ours, reference, goal: float | None, than: str, more: str = ""
):
    """A rate against that of its reference; `amount` in the unit times seconds."""
    ratio = ratio_of(reference, ours)
    report.add(
        name,
        rates(amount, ours),
        unit,
        reference=rates(amount, reference).value,
        ratio=ratio.value,
        goal=None if goal is None else f">= {goal:g} of {than}",
        met=None if goal is None else ratio.low >= goal,
        note=(f"the ratio's interval: {ratio.text()}" if goal is not None else f"reference: {than}") + more,
    )


def add_steady(measured: Measured, report: Report) -> None:
    slice_bytes = 1 << 28  # far more than the caches hold
    states = {size: max(4, slice_bytes // state_bytes) for size, state_bytes in SIZES.items()}
    rounds, repetitions = (1, 9) if measured.quick else (4, 45)
    copied = 0
    seconds: dict[str, dict[str, list[float]]] = {size: {} for size in SIZES}
    # In rounds: what slows memory down for some seconds meets all sizes.
    for number in range(rounds):
        for size in SIZES:
            measured.say(f"states of {size} into recycled segments and back, round {number + 1} of {rounds}")
            figures = measured.part("steady", SIZES[size], states[size], repetitions)
            copied += figures.pop("copied")
            for name, each in figures.items():
                seconds[size].setdefault(name, []).extend(each)
    for size, of in seconds.items():
        for way, name in (("put", "by put"), ("in_place", "in place")):
            add_written(report, f"writing, steady: {size} {name}", size, states[size], of[way], of[f"{way}_copy"])
    for size, of in seconds.items():
        compare(
            report,
            f"reverse sweep: {size} by get",
            SIZES[size] * states[size] / 1e9,
            "GB/s",
            of["get"],
            of["read"],
            None if size == "256 B" else READ_GOAL,
            "a plain read sweep",
        )
    report.add(
        "reverse sweep: states not read where they were written",
        copied,
        "states",
        reference=float(rounds * repetitions * sum(states.values())),
        goal="0: nothing is copied",
        met=copied == 0,
    )


def add_written(report: Report, name: str, size: str, states: int, ours, copy) -> None:
    """Small states are counted, large ones weighed."""
    goal = COMMITS_GOAL.get(size)
    if goal is None:
        compare(report, name, SIZES[size] * states / 1e9, "GB/s", ours, copy, COPY_GOAL, "a non-temporal copy")
        return
    commits = rates(states, ours)
    report.add(
        name,
        commits,
        "M/s",
        1e-6,
        reference=rates(states, copy).value * 1e-6,
        ratio=ratio_of(copy, ours).value,
        goal=f">= {goal * 1e-6:g} million commits a second",
        met=commits.low >= goal,
        note="reference: a non-temporal copy",
    )


def add_fresh(measured: Measured, report: Report) -> None:
    # Few states and many repetitions: the pages of one are still at hand for the next.
    states = 4 * 63  # four whole segments of 64 MiB
    repetitions = 5 if measured.quick else 80
    measured.say(f"first pass over fresh segments, {repetitions} repetitions")
    figures = measured.part("fresh", 1 << 20, states, repetitions)
    compare(
        report,
        "writing, first pass: 1 MiB by put into fresh segments",
        1.0,
        "GB/s",
        seconds_for_a_gb(figures["put"], figures["put_bytes"]),
        seconds_for_a_gb(figures["touch"], figures["touched_bytes"]),
        FRESH_GOAL,
        "touching pages",
    )


def add_spill(measured: Measured, report: Report) -> None:
    state_bytes, states, repetitions = 5_000_000, 100 if measured.quick else 400, 3 if measured.quick else 27
    measured.say(f"half of the states on {measured.disk.parent}, {repetitions} repetitions")
    figures = measured.part("spill", state_bytes, states, repetitions)
    spilled = statistics.mean(figures["spilled_bytes"]) / (states * state_bytes)
    # Of each GB that was read.
    ours = [each / amount * 1e9 for each, amount in zip(figures["sweep"], figures["fetched_bytes"], strict=True)]
    reference = seconds_for_a_gb(figures["raw_read"], figures["raw_bytes"])
    section = "half spilled"
    compare(
        report,
        f"{section}: sweep through the states below",
        1.0,
        "GB/s",
        ours,
        reference,
        SPILL_GOAL,
        "raw sequential reads" + ("" if figures["direct"] else " (through the page cache: no O_DIRECT here)"),
    )
    sweep = statistics.median(figures["sweep"])
    report.add(
        f"{section}: the solver waits for states",
        estimate(figures["get_waited"]),
        "s",
        reference=sweep,
        note=f"of a sweep that does nothing but read; {spilled:.0%} had spilled",
    )
    report.add(
        f"{section}: the solver waits for room",
        estimate(figures["put_waited"]),
        "s",
        reference=statistics.median(figures["put"]),
        note="of a forward run that does nothing but put",
    )


def add_files(measured: Measured, report: Report) -> None:
    ranks = min(len(os.sched_getaffinity(0)), MOST_RANKS)
    for size, (write_goal, read_goal) in FILES_GOALS.items():
        state_bytes = SIZES[size]
        states = (16384 if measured.quick else 32768) if size == "4 KiB" else 60
        repetitions = 5 if measured.quick else 45
        measured.say(f"one file for each state of {size} and of {ranks} ranks, {repetitions} repetitions")
        figures = measured.part("files", state_bytes, states, repetitions, "--ranks", str(ranks))
        for verb, ours, theirs, goal, floor in (
            ("written", "put", "written", write_goal, "copy"),
            ("read", "get", "read", read_goal, "sweep"),
        ):
            at_most = ratio_of(figures[theirs], figures[floor])
            compare(
                report,
                f"against files: {size} {verb}",
                ranks * states / 1e3,
                "k states/s",
                figures[ours],
                figures[theirs],
                goal,
                "files on the same pool",
                f"; a plain {floor} alone: {at_most.text()}",
            )
        report.add(
            f"against files: {size} written in the first pass",
            ranks * states / figures["first_pass"] / 1e3,
            "k states/s",
            reference=ranks * states / statistics.median(figures["written"]) / 1e3,
            note="fresh segments, once",
        )


def add_reopen(measured: Measured, report: Report) -> None:
    repetitions = 3 if measured.quick else 9
    measured.say(f"opening {REOPENED} kept steps of 4 KiB, {repetitions} repetitions")
    figures = measured.part("reopen", 4096, REOPENED, repetitions)
    opened = estimate(figures["open"])
    report.add(
        f"kept: {REOPENED} steps of 4 KiB opened again",
        opened,
        "s",
        reference=statistics.median(figures["walk"]),
        goal=f"< {REOPEN_GOAL:g} s",
        met=opened.high < REOPEN_GOAL,
        note="reference: mapping the file and reading a line of each record",
    )
    index = max(figures["index_bytes_per_record"])
    report.add(
        "kept: memory for each record",
        index,
        "B",
        goal=f"<= {INDEX_GOAL} B",
        met=index <= INDEX_GOAL,
        note="growth of the process' own memory",
    )


def add_lossy(measured: Measured, report: Report) -> None:
    state_bytes = 8 * 64**3
    states, repetitions = (24, 2) if measured.quick else (100, 9)
    for flow, goal in LOSSY_GOAL.items():
        for accepted in ACCEPTED:
            measured.say(f"{flow} states of 2 MiB with an accepted error of {accepted:g}, {repetitions} repetitions")
            settings = ("--flow", flow, "--accepted", str(accepted))
            figures = measured.part("lossy", state_bytes, states, repetitions, *settings)
            add_lossy_rows(report, f"{flow} field within {accepted:g}", accepted, goal, states * state_bytes, figures)


def add_lossy_rows(report: Report, section: str, accepted: float, goal: int | None, bytes_: int, figures: dict) -> None:
    smaller = figures["raw_bytes"] / figures["stored_bytes"]
    report.add(
        f"{section}: bytes of state to a byte stored",
        smaller,
        "",
        reference=1.0,
        goal=None if goal is None else f">= {goal}",
        met=None if goal is None else smaller >= goal,
        note=f"by {CODECS[figures['codec']]}; reference: as it is",
    )
    report.add(
        f"{section}: largest error of a state",
        figures["error"],
        "",
        reference=accepted,
        goal="<= the accepted error",
        met=figures["error"] <= accepted,
    )
    gigabytes = bytes_ / 1e9
    ahead = f"; {figures['decoded_ahead']:.0%} decoded ahead"
    for verb, ours, theirs, busy, more in (
        ("put beside a solver's work", "put", "put_raw", "busy_put", ""),
        ("swept in reverse beside it", "sweep", "sweep_raw", "busy_sweep", ahead),
    ):
        report.add(
            f"{section}: {verb}",
            rates(gigabytes, figures[ours]),
            "GB/s",
            reference=rates(gigabytes, figures[theirs]).value,
            ratio=ratio_of(figures[theirs], figures[ours]).value,
            note=f"reference: states as they are; without work {gigabytes / figures[busy]:.2f} GB/s{more}",
        )


PARTS = {
    "steady": add_steady,
    "fresh": add_fresh,
    "spill": add_spill,
    "files": add_files,
    "lossy": add_lossy,
    "reopen": add_reopen,
}
