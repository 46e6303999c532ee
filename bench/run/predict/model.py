"""What a run costs without forebay and with it, as closed formulas. Pure functions: no files, no clocks.

Seconds, bytes and counts throughout. The formulas were fitted to the measurements in seeds.py; where each comes from is
said with it. Rates are of one node or of the whole shared file system, as their names tell.
"""

import math
from dataclasses import dataclass, replace

MODEL_FACTOR = 1.4  # each way: what was fitted is met within it (the ensemble that writes every step is the worst)
CASE_BYTES_PER_CELL, CASE_FILES = 85.0, 9  # U, p, phi, k, omega and nut in binary, and three of uniform/ (motorBike)
SPREAD_OF_STEPS = 0.5  # standard deviation of the time between written steps, over its mean
HIGH_WATER_LEAST = 0.3  # src/run/launch/pressure.cpp: room for two written steps above the mark, but never less
LOW_OF_HIGH = 0.8  # the same: the program goes on below the low mark, which is lower than the high one
UNLIKELY = math.log(100)  # a lag that is exceeded one time in a hundred
PAYS = 1.02  # times: what is less makes no difference
RATES = (
    "operations_per_s",
    "renames_per_s",
    "unlinks_per_s",
    "syncs_per_s",
)  # of creates and what Operations names else


@dataclass(frozen=True)
class Operations:
    """What is asked of a file system's metadata. Making a directory counts as a create, removing one as an unlink. A sync
    is that of a file or of a directory, and sets its time, too."""

    creates: float = 0.0
    renames: float = 0.0
    unlinks: float = 0.0
    syncs: float = 0.0


@dataclass(frozen=True)
class Case:
    """A run. `bytes`, `files`, `dirs`: of one rank at one written step. `purge`: OpenFOAM's purgeWrite, 0: all kept.
    `jobs`: runs like this one that use the shared file system at once."""

    ranks: float
    nodes: float
    step: float
    bytes: float
    files: float
    dirs: float
    every: float = 1
    steps: float = 100
    purge: float = 0
    jobs: float = 1

    @property
    def volume(self) -> float:
        """Bytes of all ranks at one written step."""
        return self.bytes * self.ranks

    @property
    def names(self) -> float:
        """Of files and directories that a rank writes at one written step."""
        return self.files + self.dirs

    @property
    def operations(self) -> Operations:
        """Of all ranks at a written step: what they create and, with purge, remove (seed 000)."""
        names = self.names * self.ranks
        return Operations(creates=names, unlinks=names if self.purge else 0.0)

    @property
    def written(self) -> float:
        """Written steps of the whole run."""
        return self.steps // self.every


@dataclass(frozen=True)
class Shared:
    """A shared file system. `operations_per_s`: creates; the other operations take as long where nothing is said of
    them. `write`, `write_kept`: bytes per second of runs that purge, and that do not. `clients_double`: processes at which
    an operation takes twice as long. `share`: the part that this run gets."""

    operations_per_s: float
    write: float
    write_kept: float | None = None
    clients_double: float = math.inf
    client: float = math.inf
    share: float = 1.0
    renames_per_s: float | None = None
    unlinks_per_s: float | None = None
    syncs_per_s: float | None = None

    def seconds(self, asked: Operations, processes: float) -> float:
        """Of the metadata server with so many processes at it: an operation takes tau0 (1 + n / n0) (seed 000)."""
        counts = (asked.creates, asked.renames, asked.unlinks, asked.syncs)
        rates = (getattr(self, name) or self.operations_per_s for name in RATES)
        alone = sum(count / rate for count, rate in zip(counts, rates, strict=True))
        return alone * (1 + processes / self.clients_double) / self.share

    def data(self, volume: float, nodes: float, kept: bool = False) -> float:
        """Seconds for a volume from so many nodes, each of which has a link of `client` bytes per second."""
        server = (self.write_kept if kept and self.write_kept else self.write) * self.share
        return volume / min(server, nodes * self.client)

    def faster(self, operations: float, data: float) -> "Shared":
        factors = dict.fromkeys(RATES, operations) | {"write": data, "write_kept": data}
        rates = {name: getattr(self, name) for name in factors}
        return replace(self, **{name: rate and rate * factors[name] for name, rate in rates.items()})


@dataclass(frozen=True)
class Medium:
    """What pools lie on, per socket. `write`, `creates`: (processes, rate of all together). `fixed`: s per written step."""

    sockets: float
    capacity: float
    write: tuple[tuple[float, float], ...]
    creates: tuple[tuple[float, float], ...] = ()
    fixed: float = 0.0
    in_memory: bool = False


@dataclass(frozen=True)
class Settings:
    """Those of a run of forebay that matter here (docs/run/configuration.md)."""

    threads: float = 4
    bandwidth: float | None = None
    budget: float | None = None
    memory_share: float = 0.25
    high_water: float = 0.85
    low_water: float = 0.6
    settle: float = 2.0
    safe_interval: float = 600.0
    collated: bool = False


@dataclass(frozen=True)
class Outcome:
    """Seconds unless said otherwise. `direct`, `live`, `end`: per step, over the whole program. `held_live`,
    `held_end`: the step from which the program is held back to the drain's pace, None: never. `arrives`: one of so many
    written steps reaches the case. `fits`: into the pools, what must be there at once. `pool_live`, `pool_end`, `budget`: bytes of a node."""

    step: float
    direct: float
    live: float
    end: float
    metadata: float
    data: float
    drain: float
    period: float
    keeps_up: bool
    arrives: float
    held_live: float | None
    held_end: float | None
    pool_live: float
    pool_end: float
    budget: float
    fits: bool
    tail_live: float
    tail_end: float
    run_direct: float
    run_live: float
    run_end: float

    @property
    def run_forebay(self) -> float:
        return min(self.run_live, self.run_end)


def curve(points: tuple[tuple[float, float], ...], n: float) -> float:
    """A rate at n processes: straight lines between measured ones, in proportion below, the last beyond."""
    points = tuple(sorted(points))
    if n <= points[0][0]:
        return points[0][1] * n / points[0][0]
    for (low, at_low), (high, at_high) in zip(points, points[1:], strict=False):
        if n <= high:
            return at_low + (at_high - at_low) * (n - low) / (high - low)
    return points[-1][1]


def direct(case: Case, shared: Shared) -> tuple[float, float, float]:
    """(seconds per step, metadata and data of a written step) without forebay.

    A rank waits W = max(metadata, data - time until the next written step): caches take a burst of data, and must be
    empty before the next. Jobs meet at the server for a part of the time that is itself W / (k t + W) (seed 000)."""
    between = case.every * case.step
    data = shared.data(case.volume * case.jobs, case.nodes * case.jobs, kept=not case.purge)
    wait = metadata = 0.0
    for _ in range(500):
        busy = 1 + (case.jobs - 1) * min(1.0, wait / (between + wait))
        metadata = busy * shared.seconds(case.operations, case.ranks * busy)
        change = max(metadata, data - between) - wait
        wait += change if case.jobs == 1 else change / 2
        if abs(change) <= 1e-9 * wait:
            break
    return case.step + wait / case.every, metadata, data


def local_write(case: Case, medium: Medium) -> float:
    """Seconds of a written step in the pools: fixed + volume per socket / rate + creates (seed 000's fsdax)."""
    writers = case.ranks / case.nodes / medium.sockets
    seconds = medium.fixed + case.volume / case.nodes / medium.sockets / curve(medium.write, writers)
    made_and_removed = (case.operations.creates + case.operations.unlinks) / case.ranks * writers
    return seconds + (made_and_removed / curve(medium.creates, writers) if medium.creates else 0.0)


def drained(case: Case, settings: Settings) -> Operations:
    """What the drain asks for one written step of all nodes (predict/counts has it counted). It fills a directory under
    a temporary name, of each rank or of each node; syncs the files, the directories and the one above; and renames it. Of
    a run that purges it removes the time that it carried before."""
    holders = case.nodes if settings.collated else case.ranks
    names = case.names * holders
    return Operations(creates=names, renames=holders, unlinks=names if case.purge else 0.0, syncs=names + holders)


def drain(case: Case, shared: Shared, settings: Settings) -> tuple[float, float]:
    """(metadata, data): seconds to carry one written step of all nodes to the case. They overlap; on a bad day they
    follow each other."""
    metadata = case.jobs * shared.seconds(drained(case, settings), case.nodes * settings.threads * case.jobs)
    data = shared.data(case.volume * case.jobs, case.nodes * case.jobs)
    return metadata, max(data, case.volume / case.nodes / settings.bandwidth if settings.bandwidth else 0.0)


@dataclass(frozen=True)
class Backlog:
    """A live drain that does not keep up: `rho` is its seconds per written step over the time between two. Counts are
    written steps; `first` appear before the first is begun (drain.settle), then it grows by 1 - 1 / rho each."""

    rho: float
    first: float
    high: float  # held above
    low: float  # until below

    def after(self, written: float) -> float:
        """In the pool after so many, if nothing holds the program."""
        return min(written, 1 + self.first + max(0.0, written - 1 - self.first) * (1 - 1 / self.rho))

    @property
    def held_after(self) -> float:
        if self.high <= 1 + self.first:
            return max(0.0, self.high - 1)
        return self.first + (self.high - 1 - self.first) / (1 - 1 / self.rho)

    def left(self, written: float) -> float:
        """To be carried when the program ends: between the marks where it was held, else what has come since the first
        was begun, when the second one appeared, but for what was carried meanwhile."""
        if self.held_after < written:
            return (self.high + self.low) / 2
        return 1 + (written - 1) * (1 - 1 / self.rho)


def marks(per_step: float, settings: Settings, budget: float) -> tuple[float, float]:
    """(high, low) in written steps: two of them fit above the high one, but it is no lower than 0.3 of the budget."""
    high = min(settings.high_water, max(HIGH_WATER_LEAST, 1 - 2 * per_step / budget)) * budget
    return high / per_step, min(settings.low_water * budget, LOW_OF_HIGH * high) / per_step


def lag(rho: float, settle_steps: float) -> float:
    """Written steps in the pool, exceeded one time in a hundred, while the drain keeps up with a load of rho < 1.
    Kingman's bound for the queue; 4 to 24 % above a simulation of it (report A5)."""
    cv = SPREAD_OF_STEPS
    queue = rho * rho * cv * cv / (2 * (1 - rho)) * UNLIKELY
    return 1 + settle_steps + rho * (1 + 2.33 * cv) + queue


def predict(
    case: Case, shared: Shared, medium: Medium, settings: Settings, factor: float = 1.0, local_factor: float = 1.0
) -> Outcome:
    """`factor`, `local_factor`: how much faster than likely the shared file system and the pools are; on a bad day (below
    1) metadata and data follow each other."""
    shared = shared.faster(factor, factor)
    per_direct, metadata, data = direct(case, shared)
    per_end = case.step + local_write(case, medium) / local_factor / case.every
    budget = settings.budget or medium.capacity * medium.sockets * (settings.memory_share if medium.in_memory else 1)
    parts = drain(case, shared, settings)
    seconds = max(*parts, sum(parts) * factor if factor < 1 else 0)
    period, per_step, written = case.every * per_end, case.volume / case.nodes, max(1.0, case.written)
    # What is purged waits for the safety interval, or for the end.
    carried_every = max(period, settings.safe_interval) if case.purge else period
    rho, wait, slow = seconds / carried_every, settings.settle / period, max(per_end, seconds / case.every)

    if rho == 1:  # the formulas for both sides divide by 1 - rho
        rho += 1e-9
    held_live = held_end = math.inf  # written steps
    kept, arrives, left = written, 1.0, 1.0
    high, low = marks(per_step, settings, budget)
    if case.purge:  # what is purged makes room, and is not drained
        kept = min(written, case.purge)
        arrives = min(written, carried_every / period * max(1.0, rho))
        left = min(kept, arrives)
        in_pool = min(kept + 2, written)
    elif rho < 1:
        in_pool = min(written, lag(rho, wait))
    else:
        backlog = Backlog(rho, wait, high, low)
        held_live, left, in_pool = backlog.held_after, backlog.left(written), backlog.after(written)
    fits = per_step * (min(written, kept + 1) if case.purge else 1) <= budget
    at_end = min(written, kept + (1 if case.purge else 0))
    if rho > 1 and not case.purge and at_end > high:
        held_end = high  # a nearly full pool gives up what it held, at the drain's pace

    def until(held: float, tail: float) -> tuple[float, float | None, float]:
        free = min(case.steps, case.every * held)
        program = free * per_end + (case.steps - free) * slow
        return program / case.steps, (max(1.0, free) if free < case.steps else None), program + tail

    tail_live = min(left, written, high if case.purge else math.inf) * seconds
    tail_end = min(kept, high) * seconds
    live, live_from, run_live = until(held_live, tail_live)
    end, end_from, run_end = until(held_end, tail_end)
    return Outcome(
        step=case.step, direct=per_direct, live=live, end=end, metadata=metadata, data=data, drain=seconds,
        period=period, keeps_up=rho < 1, arrives=arrives, held_live=live_from, held_end=end_from, pool_live=per_step * in_pool,
        pool_end=per_step * at_end, budget=budget, fits=fits, tail_live=tail_live, tail_end=tail_end,
        run_direct=case.steps * per_direct, run_live=run_live, run_end=run_end,
    )  # fmt: skip


def days(
    case: Case, shared: Shared, medium: Medium, settings: Settings, spread: float = 1.0, local_spread: float = 1.0
) -> tuple[Outcome, ...]:
    """On a bad day, likely, on a good day. `spread`, `local_spread`: by how much the shared file system and the pools are
    faster or slower themselves."""
    far, local = (math.exp(math.hypot(math.log(MODEL_FACTOR), math.log(each))) for each in (spread, local_spread))
    return tuple(predict(case, shared, medium, settings, far**day, local**day) for day in (-1, 0, 1))


def verdict(bad: Outcome, likely: Outcome, good: Outcome) -> tuple[str, float, float]:
    """(pays, may pay or does not pay; how many times shorter the run is; and at least: writing directly on the good day
    against forebay on a likely one, or both on the bad day)."""
    ratio = likely.run_direct / likely.run_forebay
    least = min(good.run_direct / likely.run_forebay, bad.run_direct / bad.run_forebay)
    word = "pays" if least > PAYS else "may pay" if ratio > PAYS else "does not pay"
    return (word if likely.fits else "does not pay"), ratio, least


def best_change(case: Case, shared: Shared, medium: Medium, settings: Settings) -> tuple[str, float] | None:
    """The one change that shortens the likely run with forebay most, and the run's seconds then; None: none by 2 %."""
    now = predict(case, shared, medium, settings).run_forebay
    budget = predict(case, shared, medium, settings).budget
    changes = {f"--set drain.threads={2 * settings.threads:g}": (case, replace(settings, threads=2 * settings.threads))}
    changes["twice the pool (--budget or nodes)"] = (case, replace(settings, budget=2 * budget))
    if not settings.collated:
        changes["--layout collated"] = (case, replace(settings, collated=True))
    if settings.bandwidth:
        changes["--set drain.bandwidth=none"] = (case, replace(settings, bandwidth=None))
    for times in (2, 5, 10):
        changes[f"writing one step in {times * case.every:.0f}"] = (replace(case, every=times * case.every), settings)
    runs = {name: predict(each, shared, medium, with_).run_forebay for name, (each, with_) in changes.items()}
    name = min(runs, key=lambda each: runs[each])
    return (name, runs[name]) if runs[name] * PAYS < now else None
