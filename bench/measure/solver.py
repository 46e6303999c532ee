"""A timed run of a solver: when each 'Time = ...' line came, seen by a reader of its output."""

import itertools
import os
import re
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

TIME_LINE = re.compile(rb"^Time = (\S+)$")


@dataclass
class Run:
    """`marks[k]` is the moment (time.monotonic) at which the solver announced its step k, counted from 0."""

    started: float
    ended: float = 0.0
    status: int = 0
    marks: list[float] = field(default_factory=list)
    log: Path | None = None

    @property
    def wall_seconds(self) -> float:
        return self.ended - self.started

    def step_lengths(self, steps: int) -> list[float]:
        """Time of each of the first `steps` steps but the last announced one, whose end is not seen. What a step
        writes is written before the next one is announced. Steps differ as a solver converges: compare like with
        like."""
        marks = self.marks[:steps]
        if len(marks) < 2:
            raise RuntimeError(f"the solver announced {len(self.marks)} steps, too few to time; see {self.log}")
        return [after - before for before, after in itertools.pairwise(marks)]

    def step_seconds(self) -> float:
        """Mean over the whole run."""
        lengths = self.step_lengths(len(self.marks))
        return sum(lengths) / len(lengths)


def environment(**more: str) -> dict[str, str]:
    """What Debian's OpenFOAM and Open MPI need in a plain shell, also as root."""
    return {
        **os.environ,
        "WM_PROJECT_DIR": os.environ.get("WM_PROJECT_DIR", "/usr/share/openfoam"),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        **more,
    }


def mpirun(ranks: int, *options: str) -> list[str]:
    return ["mpirun", "--oversubscribe", "--bind-to", "none", *options, "-n", str(ranks)]


def run(command: list, log: Path, env: dict[str, str], cwd: Path) -> Run:
    """Runs to the end; a status other than 0 is the caller's to judge. All output goes to `log`."""
    result = Run(started=time.monotonic(), log=log)
    with log.open("wb") as out:
        child = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        for line in child.stdout:
            if TIME_LINE.match(line):
                result.marks.append(time.monotonic())
            out.write(line)
        result.status = child.wait()
    result.ended = time.monotonic()
    return result
