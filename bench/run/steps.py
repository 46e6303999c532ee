"""What I/O adds to a step, whole runs, processor time, and what reaches the shared file system: the central figures."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from measure.figures import Estimate, estimate, middle_mean, ratio_of, shuffled
from measure.report import Report, Result
from measure.shared import Shared

from . import parts, solver
from . import variants as v

Repetition = dict[v.Variant, v.Measured]

STEPS_IN_TURN = 20
STEPS_IN_CLOCKED_TURN = 4  # the first of which does not count
NEAR_TMPFS = 1.1  # times what a bare tmpfs adds
BELOW_DIRECT = 0.01  # of what direct writing adds
SAFE_INTERVAL = 600.0  # seconds between drains of the newest complete time, by default


# What adds a millisecond or two to a step is compared with its own steps without output, in turns with what it is judged
# by. Few take turns: what is stopped for long has its looks, its reports and its mount's forgotten names waiting when it
# goes on...
IN_TURNS = ((v.TMPFS_PURGE, v.FOREBAY_PURGE), (v.TMPFS_KEEP, v.FOREBAY_HELD), (v.DISCARD,))
NEAR = tuple(chain.from_iterable(IN_TURNS))
# ...whose writing is also clocked by itself...
CLOCKED = (v.TMPFS_PURGE, v.FOREBAY_PURGE, v.TMPFS_KEEP, v.FOREBAY_HELD)
# ...and what differs by a hundred, or is judged by the whole run, runs by itself.
WIDE = (v.NONE_SHARED, v.DIRECT_PURGE, v.DIRECT_KEEP, v.FOREBAY_LIVE, v.FOREBAY_LIVE_COLLATED)


@dataclass(frozen=True)
class Plan:
    near_repetitions: int
    wide_repetitions: int
    rounds: int  # in each of which every run that never waits for the shared file system takes a turn
    slow: int  # steps of a run that does
    paced_seconds: float  # of a run that tells what the helpers take for a step: some times its longest pause, 8 s
    clocked_repetitions: int
    clocked_rounds: int
    left_out: tuple[v.Variant, ...] = ()
    deadline: float = math.inf  # time.monotonic() by which the near ones should have ended; one is always done


@dataclass(frozen=True)
class Repetitions:
    near: list[Repetition]
    wide: list[Repetition]
    writing: list[dict[v.Variant, float]]  # seconds of a step, the helpers' of a processor included


def repeat(bench: v.Bench, plan: Plan, say: Callable[[str], None]) -> Repetitions:
    """Every variant once per repetition, each repetition in another order; the wide ones first."""

    def several(
        variants: Sequence[v.Variant], count: int, deadline: float, one: Callable[[list[v.Variant], int], Repetition]
    ) -> list[Repetition]:
        done: list[Repetition] = []
        began = time.monotonic()
        for number in range(count):
            now = time.monotonic()
            if done and now + (now - began) / len(done) > deadline:
                say(f"no time for more than {len(done)} of {count} repetitions")
                break
            done.append(one([each for each in shuffled(variants, number) if each not in plan.left_out], number))
            for variant, measured in done[-1].items():
                if measured.run.turns:
                    added_here = middle_of_turns(variant, solver.Run.added_by_output)(done[-1:])
                    told = f"adds {added_here * 1e3:.2f} ms to a step"
                else:
                    told = f"{measured.run.step_seconds() * 1e3:.1f} ms a step"
                say(f"repetition {number + 1} of {count}: {variant.name}: {told}")
        return done

    def by_themselves(variants: list[v.Variant], _: int) -> Repetition:
        return {variant: bench.measure(variant, plan.slow) for variant in variants}

    def in_turns(variants: list[v.Variant], number: int) -> Repetition:
        measured: Repetition = {}
        for group in IN_TURNS:
            ours = [each for each in variants if each in group]
            measured |= bench.measure_in_turns(ours, plan.rounds, STEPS_IN_TURN, 1001 * number)
        for variant, each in measured.items():
            each.run.helpers_per_step = helpers.get(variant, 0.0)
        return measured

    wide = several(WIDE, plan.wide_repetitions, math.inf, by_themselves)
    step = statistics.median(each[v.NONE_SHARED].run.step_seconds() for each in wide)
    helpers = {}
    for variant in (v.FOREBAY_PURGE, v.FOREBAY_HELD):
        helpers[variant] = bench.helpers_per_step(variant, round(plan.paced_seconds / step))
        say(f"{variant.name}: forebay's own processes take {helpers[variant] * 1e3:.2f} ms of a processor for a step")
    writing = []
    for number in range(plan.clocked_repetitions):
        clocked = bench.seconds_of_writing(CLOCKED, plan.clocked_rounds, STEPS_IN_CLOCKED_TURN, number)
        seconds = {variant: of_step + helpers.get(variant, 0.0) for variant, of_step in clocked.items()}
        writing.append(seconds)
        told = ", ".join(f"{variant.name}: {seconds[variant] * 1e3:.2f}" for variant in CLOCKED)
        say(f"writing by itself, ms of a step: {told}")
    return Repetitions(several(NEAR, plan.near_repetitions, plan.deadline, in_turns), wide, writing)


def typical_step(repetitions: Sequence[Sequence[float]]) -> float:
    """Of one value for each step in each repetition: the mean over the steps of their medians over the repetitions. Step
    k does the same arithmetic in every run, so a disturbance in one run falls out, and what every run pays at every step
    stays in."""
    return statistics.fmean(statistics.median(of_step) for of_step in zip(*repetitions, strict=True))


def added_by_runs(variant: v.Variant, steps: int) -> Callable[[Sequence[Repetition]], float]:
    """What `variant` adds to a step, each compared with the same step of the same repetition without output."""

    def differences(repetition: Repetition) -> list[float]:
        pairs = zip(*(repetition[each].run.step_lengths(steps) for each in (variant, v.NONE_SHARED)), strict=True)
        return [ours - without for ours, without in pairs]

    return lambda repetitions: typical_step([differences(each) for each in repetitions])


def middle_of_turns(
    variant: v.Variant, of: Callable[[solver.Run], list[list[float]]]
) -> Callable[[Sequence[Repetition]], float]:
    """Over all steps. Runs of one kind differ for their whole lives, so those of one repetition belong together."""

    def middle(repetitions: Sequence[Repetition]) -> float:
        turns = chain.from_iterable(of(each[variant].run) for each in repetitions)
        return middle_mean(list(chain.from_iterable(turns)))

    return middle


def added(repetitions: Repetitions, variant: v.Variant, steps: int) -> Estimate:
    if variant in NEAR:
        return estimate(repetitions.near, middle_of_turns(variant, solver.Run.added_by_output))
    return estimate(repetitions.wide, added_by_runs(variant, steps))


def add_results(report: Report, prefix: str, repetitions: Repetitions, plan: Plan) -> None:
    steps_of_near = sum(len(each[v.TMPFS_PURGE].run.turns) for each in repetitions.near) * STEPS_IN_TURN
    report.add(
        f"{prefix}: a step without output",
        estimate(repetitions.near, middle_of_turns(v.TMPFS_PURGE, solver.Run.without_output)),
        "ms",
        1e3,
        note=f"{steps_of_near} steps in {len(repetitions.near)} repetitions, every other one with output, "
        f"{len(repetitions.wide)} of direct and live",
    )
    estimates = {
        variant: added(repetitions, variant, plan.slow)
        for variant in (*NEAR, *WIDE)
        if variant not in (v.NONE_SHARED, *plan.left_out)
    }
    for variant, value in estimates.items():
        if variant.forebay is None:
            report.add(f"{prefix}: added to a step, {variant.name}", value, "ms", 1e3)
    for variant, tmpfs, direct in (
        (v.FOREBAY_PURGE, v.TMPFS_PURGE, v.DIRECT_PURGE),
        (v.FOREBAY_HELD, v.TMPFS_KEEP, v.DIRECT_KEEP),
    ):
        if direct not in estimates:
            direct = v.DIRECT_KEEP
        add_without_output(report, prefix, variant, tmpfs, repetitions.near)
        add_goals(report, prefix, variant, *(estimates[key] for key in (variant, tmpfs, direct, v.DISCARD)))
        add_writing(report, prefix, variant, tmpfs, repetitions.writing)
    add_live(report, prefix, repetitions.wide, estimates)


def add_without_output(
    report: Report, prefix: str, variant: v.Variant, tmpfs: v.Variant, repetitions: list[Repetition]
) -> None:
    """What slows all steps alike would not show where those that write are compared with the others."""
    of_ours, of_tmpfs = (middle_of_turns(each, solver.Run.without_output) for each in (variant, tmpfs))
    report.add(
        f"{prefix}: a step without output, {variant.name}, against bare tmpfs",
        estimate(repetitions, of_ours),
        "ms",
        1e3,
        reference=of_tmpfs(repetitions) * 1e3,
    )


def add_goals(
    report: Report,
    prefix: str,
    variant: v.Variant,
    ours: Estimate,
    tmpfs: Estimate,
    direct: Estimate,
    floor: Estimate,
) -> None:
    near = tmpfs.value > 0 and ours.value <= NEAR_TMPFS * tmpfs.value
    inside = tmpfs.low <= ours.value <= tmpfs.high
    report.add(
        f"{prefix}: added to a step, {variant.name}, against bare tmpfs",
        ours,
        "ms",
        1e3,
        reference=tmpfs.value * 1e3,
        goal=f"<= {NEAR_TMPFS} of the reference, or inside its interval",
        met=near or inside,
        note="" if near or not inside else f"by the reference's interval, up to {tmpfs.high * 1e3:.2f} ms",
    )
    report.add(
        f"{prefix}: added to a step, {variant.name}, against direct",
        ours,
        "ms",
        1e3,
        reference=direct.value * 1e3,
        goal=f"<= {BELOW_DIRECT} of the reference",
        # Far below nothing at all is the machine's noise, and inconclusive counts as not met.
        met=abs(ours.value) <= BELOW_DIRECT * direct.value,
        note=why_out_of_reach(tmpfs, direct, floor),
    )
    report.add(
        f"{prefix}: added to a step, {variant.name}, against writes thrown away",
        ours,
        "ms",
        1e3,
        reference=floor.value * 1e3,
    )


def add_writing(
    report: Report, prefix: str, ours: v.Variant, tmpfs: v.Variant, repetitions: Sequence[dict[v.Variant, float]]
) -> None:
    """What the ranks themselves wait for, which a noisy machine blurs less than it does whole steps; but not what writing
    does to the computing that follows."""
    of_ours, of_tmpfs = (estimate([each[variant] for each in repetitions]) for variant in (ours, tmpfs))
    ratio = ratio_of([each[ours] for each in repetitions], [each[tmpfs] for each in repetitions])
    report.add(
        f"{prefix}: writing by itself, {ours.name}, against bare tmpfs",
        of_ours,
        "ms",
        1e3,
        reference=of_tmpfs.value * 1e3,
        goal=f"<= {NEAR_TMPFS} of the reference",
        met=ratio.value <= NEAR_TMPFS,
        note=f"the ratio's interval: {ratio.text(digits=3)}",
    )


def why_out_of_reach(tmpfs: Estimate, direct: Estimate, floor: Estimate) -> str:
    """Where the goal is less than what the memory itself costs, or the solver's own part of writing."""
    if floor.value > BELOW_DIRECT * direct.value:
        return f"writes that are thrown away add {floor.value / direct.value:.3f} of it, so no store can meet this here"
    if tmpfs.value > BELOW_DIRECT * direct.value:
        return f"a bare tmpfs adds {tmpfs.value / direct.value:.3f} of it"
    return ""


def add_live(report: Report, prefix: str, repetitions: list[Repetition], estimates: dict) -> None:
    wall = {
        variant: estimate(repetitions, median_of(variant, lambda measured: measured.run.wall_seconds))
        for variant in (v.NONE_SHARED, v.DIRECT_KEEP, v.FOREBAY_LIVE, v.FOREBAY_LIVE_COLLATED)
        if variant in repetitions[0]
    }
    for variant in (v.FOREBAY_LIVE, v.FOREBAY_LIVE_COLLATED):
        if variant not in wall:
            continue
        report.add(
            f"{prefix}: added to a step, {variant.name}",
            estimates[variant],
            "ms",
            1e3,
            reference=estimates[v.DIRECT_KEEP].value * 1e3,
        )
        for reference in (v.NONE_SHARED, v.DIRECT_KEEP):
            report.add(
                f"{prefix}: whole run, {variant.name}, against {reference.name}",
                wall[variant],
                "s",
                reference=wall[reference].value,
            )
        peak = max(agent["peak_resident_bytes"] for each in repetitions for agent in each[variant].report["agents"])
        parts.add_resident(report, f"{prefix}: peak resident memory of the agent, {variant.name}", peak)
        for what, of in (
            ("file server", lambda measured: measured.server_cpu),
            ("mount of the shared directory", lambda measured: measured.client_cpu),
            ("agent", lambda measured: measured.agent_cpu),
        ):
            reference = statistics.median(of(repetition[v.DIRECT_KEEP]) for repetition in repetitions)
            report.add(
                f"{prefix}: processor time of the {what}, {variant.name}, against direct",
                estimate(repetitions, median_of(variant, of)),
                "s",
                reference=reference or None,
            )


def median_of(variant: v.Variant, of: Callable[[v.Measured], float]) -> Callable[[Sequence[Repetition]], float]:
    return lambda repetitions: statistics.median(of(repetition[variant]) for repetition in repetitions)


def count_purged_calls(report: Report, prefix: str, bench: v.Bench, shared: Shared, steps: int) -> None:
    """With purgeWrite 1 the shared file system sees the newest state once per safety interval, not once per step."""
    if not shared.slow:
        return
    calls, walls = {}, {}
    shared.profile()
    for variant in (v.DIRECT_PURGE, v.FOREBAY_PURGE):
        bench.reset(variant)
        shared.profile()
        walls[variant] = bench.measure(variant, steps).run.wall_seconds
        counted = shared.profile()
        calls[variant] = counted.get("CREATE", 0) + counted.get("UNLINK", 0)
    files = bench.files_of_last_time(v.FOREBAY_PURGE)
    # Each drained state is created once and unlinked once when a newer one takes its place; the run's own few files.
    bound = 2 * files * (1 + int(walls[v.FOREBAY_PURGE] / SAFE_INTERVAL)) + 16
    report.add(
        f"{prefix}: creates and unlinks on the shared file system, {v.FOREBAY_PURGE.name}, {steps} steps",
        calls[v.FOREBAY_PURGE],
        "calls",
        reference=calls[v.DIRECT_PURGE],
        goal=f"<= {bound}: two for each of {files} files per state that is made safe (every 10 min and at the end)",
        met=calls[v.FOREBAY_PURGE] <= bound,
    )


def count_collated_files(report: Report, prefix: str, bench: v.Bench, steps: int, ranks: int) -> Result:
    """Collated: as many files a step as one rank writes, on one node."""
    verbatim = bench.measure(v.DIRECT_KEEP, steps)
    assert verbatim.run.status == 0
    by_ranks = bench.files_of_last_time(v.DIRECT_KEEP)
    bench.measure(v.FOREBAY_LIVE_COLLATED, steps)
    files = bench.files_of_last_time(v.FOREBAY_LIVE_COLLATED)
    return report.add(
        f"{prefix}: files on the shared file system per written step, collated",
        files,
        "files",
        reference=by_ranks,
        goal=f"<= {by_ranks // ranks}: as many as one rank writes",
        met=files <= by_ranks // ranks,
    )
