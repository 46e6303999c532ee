"""The ways in which the same solver run is done: where its case lies and who carries its output."""

import functools
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from measure import launch, processes
from measure.figures import middle_mean
from measure.shared import Shared

from . import case, solver

# More than the near runs of one measurement write.
TOUCHED = 2 << 30


@dataclass(frozen=True)
class Variant:
    name: str
    place: str  # "shared" or "local": where the case lies
    purge: int  # purgeWrite; 0 keeps every time
    interval: int = 1
    forebay: tuple[str, ...] | None = None  # flags of `forebay run`; None: without forebay
    discard: bool = False


NONE_SHARED = Variant("no output, case on the shared directory", "shared", purge=1, interval=case.NEVER)
TMPFS_PURGE = Variant("bare tmpfs, purgeWrite 1", "local", purge=1)
TMPFS_KEEP = Variant("bare tmpfs, all kept", "local", purge=0)
DISCARD = Variant("writes thrown away", "local", purge=1, discard=True)
DIRECT_PURGE = Variant("direct, purgeWrite 1", "shared", purge=1)
DIRECT_KEEP = Variant("direct, all kept", "shared", purge=0)
FOREBAY_PURGE = Variant("forebay, purgeWrite 1", "shared", purge=1, forebay=())
FOREBAY_HELD = Variant("forebay, drain at the end", "shared", purge=0, forebay=("--drain-when", "end"))
FOREBAY_LIVE = Variant("forebay, draining live", "shared", purge=0, forebay=("--drain-when", "live"))
FOREBAY_LIVE_COLLATED = Variant(
    "forebay, draining live, collated",
    "shared",
    purge=0,
    forebay=("--drain-when", "live", "--layout", "collated"),
)


@dataclass
class Measured:
    """One run of one variant: its marks, and the processor time that others spent on it."""

    run: solver.Run
    server_cpu: float = 0.0  # the file server's processes
    client_cpu: float = 0.0  # this node's mount of it
    agent_cpu: float = 0.0
    report: dict | None = None  # what `forebay run --json` wrote


class Bench:
    """One case at one number of ranks, ready to be run in any variant."""

    def __init__(
        self,
        forebay: Path,
        discard: Path,
        clock: Path,
        shared: Shared,
        local: Path,
        template: Path,
        ranks: int,
        settle: float,
        pool: str | None = None,
    ):
        """`settle`: for how long at most, in seconds, the machine may calm down before each measurement. `pool`: of forebay;
        None: those that it finds. Every variant gets a copy of `template`."""
        self._forebay = forebay
        self._pool = ("--pool", pool) if pool else ()
        self._discard = discard
        self._clock = clock
        self._shared = shared
        self._ranks = ranks
        self._settle = settle
        self._logs = local / "logs"
        self._logs.mkdir(parents=True, exist_ok=True)
        self._template = template
        self._homes = {"shared": shared.directory, "local": local}
        self._cases: dict[Variant, Path] = {}

    def remove(self) -> None:
        for directory in self._cases.values():
            shutil.rmtree(directory)

    def case_of(self, variant: Variant) -> Path:
        if variant not in self._cases:
            directory = self._homes[variant.place] / f"{self._template.name}-{len(self._cases)}"
            self._cases[variant] = Path(shutil.copytree(self._template, directory))
        return self._cases[variant]

    def reset(self, variant: Variant) -> None:
        case.reset(self.case_of(variant))

    def files_of_last_time(self, variant: Variant) -> int:
        """Files of the newest time on the variant's case, over all ranks."""
        directory = self.case_of(variant)
        newest = case.times(directory, self._ranks)[-1]
        return sum(path.is_file() for path in directory.glob(f"processor*/{newest}/**/*"))

    def measure(self, variant: Variant, steps: int) -> Measured:
        """One run by itself."""
        self._prepare(variant, steps)
        processes.wait_until_idle(self._settle)
        before = self._shared.server_cpu_seconds(), self._shared.client_cpu_seconds()
        measured = Measured(
            solver.run(*self._call(variant)),
            server_cpu=self._shared.server_cpu_seconds() - before[0],
            client_cpu=self._shared.client_cpu_seconds() - before[1],
        )
        self._check(variant, steps, measured)
        return measured

    def helpers_per_step(self, variant: Variant, steps: int) -> float:
        """Processor time in seconds of forebay's own processes for a step that writes, in a run by itself. Its case lies
        where what is carried at the end is soon there."""
        variant = replace(variant, place="local")
        self._prepare(variant, steps)
        processes.wait_until_idle(self._settle)
        measured = Measured(solver.run_with_helpers(*self._call(variant)))
        self._check(variant, steps, measured)
        return measured.run.helpers_per_step

    def seconds_of_writing(
        self, variants: Sequence[Variant], rounds: int, steps_in_turn: int, number: int
    ) -> dict[Variant, float]:
        """How long a rank writes at a step, from its first directory to the end of its purge, seen from within: the middle of
        all its ranks and steps, the first of each turn left out. A run of each, which take turns."""
        steps = rounds * steps_in_turn
        for variant in variants:
            self._prepare(variant, steps)
            self._clocked(variant).mkdir(parents=True)
        processes.wait_until_idle(self._settle)
        processes.touch_memory(TOUCHED)
        starts = [
            functools.partial(solver.Running, *self._call(variant, self._clock_in(variant))) for variant in variants
        ]
        runs = solver.run_in_turns(starts, steps_in_turn, number)
        seconds = {}
        for variant, run in zip(variants, runs, strict=True):
            self._check(variant, steps, Measured(run))
            of_ranks = [[float(line) for line in file.read_text().split()] for file in self._clocked(variant).iterdir()]
            if [len(lengths) for lengths in of_ranks] != [steps - 1] * self._ranks:
                raise RuntimeError(f"{variant.name}: {steps} steps of {self._ranks} ranks were not clocked: {of_ranks}")
            counted = [step for step in range(steps - 1) if step % steps_in_turn != 0]
            seconds[variant] = middle_mean([lengths[step] for lengths in of_ranks for step in counted])
            shutil.rmtree(self._clocked(variant))
        return seconds

    def _clock_in(self, variant: Variant) -> dict[str, object]:
        """The environment of ranks that are to load the clock."""
        return {
            "LD_PRELOAD": self._clock,
            "FOREBAY_CLOCK_PROGRAM": "simpleFoam",
            "FOREBAY_CLOCK_DIRECTORY": self._clocked(variant),
        }

    def measure_in_turns(
        self, variants: Sequence[Variant], rounds: int, steps_in_turn: int, number: int
    ) -> dict[Variant, Measured]:
        """A run of each, all at once, of which only one goes on at a time, and writes every other step; so nothing tells
        who used the file server."""
        steps = rounds * steps_in_turn
        for variant in variants:
            self._prepare(variant, steps, writeInterval=solver.EVERY_OTHER)
        processes.wait_until_idle(self._settle)
        processes.touch_memory(TOUCHED)

        starts = [functools.partial(solver.Running, *self._call(variant)) for variant in variants]
        runs = solver.run_in_turns(starts, steps_in_turn, number)
        measured = dict(zip(variants, map(Measured, runs), strict=True))
        for variant, run in zip(variants, runs, strict=True):
            if not len(run.first_solved) == len(run.last_solved) == steps:
                raise RuntimeError(
                    f"{variant.name}: of {steps} steps {len(run.first_solved)} told their first equation, "
                    f"{len(run.last_solved)} their last; see {run.log}"
                )
        for variant, each in measured.items():
            self._check(variant, steps, each, solver.EVERY_OTHER)
        return measured

    def _prepare(self, variant: Variant, steps: int, **entries: object) -> None:
        self.reset(variant)
        settings = {
            "startFrom": "startTime",
            "endTime": steps,
            "writeInterval": variant.interval,
            "purgeWrite": variant.purge,
            "runTimeModifiable": "false",
        }
        case.control(self.case_of(variant), **{**settings, **entries})
        self._report(variant).unlink(missing_ok=True)

    def _log(self, variant: Variant) -> Path:
        return self._logs / (variant.name.replace(" ", "-").replace(",", "") + ".log")

    def _clocked(self, variant: Variant) -> Path:
        return self._log(variant).with_suffix(".clocked")

    def _report(self, variant: Variant) -> Path:
        return self._log(variant).with_suffix(".json")

    def _call(
        self, variant: Variant, of_ranks: Mapping[str, object] | None = None
    ) -> tuple[list, Path, dict[str, str], Path]:
        """What solver.run() takes. `of_ranks`: more of their environment."""
        directory = self.case_of(variant)
        given = dict(of_ranks or {})
        if variant.discard:
            given |= {"LD_PRELOAD": self._discard, "FOREBAY_DISCARD_PREFIX": directory}
        options = [word for name, value in given.items() for word in ("-x", f"{name}={value}")]
        command = [*launch.mpirun(self._ranks, *options, binding=launch.BOUND), "simpleFoam", "-parallel"]
        if variant.forebay is not None:
            ours = [self._forebay, "run", "--case", directory, *self._pool, *variant.forebay]
            command = [*ours, "--json", self._report(variant), "--", *command]
        return command, self._log(variant), launch.environment(), directory

    def _check(self, variant: Variant, steps: int, measured: Measured, interval: int = 1) -> None:
        run = measured.run
        if run.status != 0 or len(run.times) != steps:
            tail = run.log.read_text(errors="replace")[-2000:]
            raise RuntimeError(f"{variant.name}: status {run.status}, {len(run.times)} of {steps} steps\n{tail}")
        if variant.forebay is not None:
            measured.report = json.loads(self._report(variant).read_text())
            measured.agent_cpu = sum(agent["cpu_seconds"] for agent in measured.report["agents"])
        if variant.discard or variant.interval == case.NEVER:
            return
        expected = 1 if variant.purge else steps // interval
        times = case.times(self.case_of(variant), self._ranks)
        if len(times) != expected or times[-1] != str(steps - steps % interval):
            raise RuntimeError(f"{variant.name}: times {times} on the case instead of {expected}; see {run.log}")
