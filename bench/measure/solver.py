"""A timed run of a solver: when each 'Time = ...' line came, seen by a reader of its output."""

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

TIME_LINE = re.compile(rb"^Time = (\S+)$")
END_LINE = b"End\n"


@dataclass
class Run:
    """`times[k]` is the step that the solver announced at the moment `marks[k]` (time.monotonic); one more mark tells
    when it ended, the last step's output included."""

    started: float
    ended: float = 0.0
    status: int = 0
    times: list[str] = field(default_factory=list)
    marks: list[float] = field(default_factory=list)
    log: Path | None = None

    @property
    def wall_seconds(self) -> float:
        return self.ended - self.started

    def step_lengths(self, steps: int | None = None) -> list[float]:
        """Time of each of the first `steps` steps (all), the writing of its output included. Steps differ as a solver
        converges: compare like with like."""
        if len(self.marks) != len(self.times) + 1:
            raise RuntimeError(f"the solver did not reach its end; see {self.log}")
        return [after - before for before, after in itertools.pairwise(self.marks)][:steps]

    def step_seconds(self) -> float:
        """Mean over the whole run."""
        return (self.marks[-1] - self.marks[0]) / len(self.times)


def clean_up_when_terminated() -> None:
    """Lets SIGTERM unwind like Ctrl-C does, so that what was mounted is unmounted."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


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
        try:
            for line in child.stdout:
                announced = TIME_LINE.match(line)
                if announced or line == END_LINE:
                    result.marks.append(time.monotonic())
                if announced:
                    result.times.append(announced[1].decode())
                out.write(line)
            result.status = child.wait()
        except BaseException:  # interrupted: the shared directory is about to go, and no solver may outlive it
            child.terminate()
            child.wait()
            raise
    result.ended = time.monotonic()
    return result
