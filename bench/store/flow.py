"""n3d: what a forward run and its adjoint take, by where the states are kept."""

import json
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from measure import launch
from measure.figures import estimate, ratio_of, shuffled
from measure.program import figures_of
from measure.report import Report

RANKS = 2
GOAL = 0.03  # more than with plain arrays
SLOTS = (10, 100)


def environment() -> dict[str, str]:
    """Ranks that wait give way to the threads that prepare memory, as there are no more cores than ranks."""
    return launch.environment(OMPI_MCA_mpi_yield_when_idle="1")


@dataclass
class Runs:
    program: Path  # n3d
    bench: Path  # n3d_bench
    pool: Path  # a directory on a fast medium
    quick: bool
    deadline: float  # of the pairs, by time.monotonic(); at least two are made
    say: Callable[[str], None]

    def seconds(self, points: int, steps: int, store: str, *flags: str) -> float:
        """Forward, objective and adjoint, as n3d measures itself: without its start."""
        out = self.pool / "n3d.json"
        command = [*launch.mpirun(RANKS), self.program, "--quiet", "--random", "--json", out]
        command += ["--points", str(points), "--steps", str(steps), "--store", store, *flags]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"n3d --store {store} ended with status {done.returncode}: {done.stderr.strip()}")
        return json.loads(out.read_text())["total_seconds"]

    def add_pairs(self, report: Report) -> None:
        """Everything stored, in a trajectory and in plain arrays, by turns."""
        points, steps, pairs = (32, 30, 12) if self.quick else (64, 20, 120)
        self.say(f"n3d, {points} points, {steps} steps, {RANKS} ranks: {pairs} pairs of runs")
        sizes = ["--points", str(points), "--steps", str(steps), "--pairs", str(pairs)]
        left = ["--seconds", str(max(0.0, self.deadline - time.monotonic()))]
        command = [*launch.mpirun(RANKS), self.bench, *sizes, *left]
        seconds = figures_of("n3d_bench", command, environment())
        ratio = ratio_of(seconds["memory"], seconds["arrays"])
        report.add(
            f"n3d, {points} points, {steps} steps, {RANKS} ranks: everything stored in a trajectory",
            estimate(seconds["memory"]),
            "s",
            reference=statistics.median(seconds["arrays"]),
            ratio=ratio.value,
            goal=f"<= {1 + GOAL:g} of plain arrays",
            met=ratio.high <= 1 + GOAL,
            note=f"the ratio's interval: {ratio.text(digits=3)}",
        )

    def add_table(self, report: Report, shared: Path) -> None:
        """All ways to keep states, one after the other, in orders that change."""
        points, steps, repetitions = (16, 120, 1) if self.quick else (48, 250, 3)
        state_bytes = 3 * 8 * points**3 // RANKS
        budget = f"{2 * state_bytes * (steps + 4) + (64 << 20)}"
        ways = {
            "plain arrays": ("arrays",),
            "trajectory in memory": ("memory",),
            "trajectory in a pool": ("memory", "--tier", f"pool:{self.pool}:{budget}"),
            "files in the pool": ("files", "--directory", str(self.pool)),
            "files in the shared directory": ("files", "--directory", str(shared)),
            **{f"revolve, {slots} slots": ("revolve", "--slots", str(slots)) for slots in SLOTS},
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for repetition in range(repetitions):
            for name in shuffled(list(ways), repetition):
                self.say(f"n3d, {points} points, {steps} steps, repetition {repetition + 1}: {name}")
                seconds[name].append(self.seconds(points, steps, *ways[name]))
        section = f"n3d, {points} points, {steps} steps of {RANKS * state_bytes / 1e6:.1f} MB, {RANKS} ranks"
        reference = statistics.median(seconds["plain arrays"])
        for name, each in seconds.items():
            value = estimate(each) if repetitions > 1 else each[0]
            report.add(f"{section}: {name}", value, "s", reference=reference, note="reference: plain arrays")
