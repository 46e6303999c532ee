"""A timed run of a solver: when each 'Time = ...' line came, seen by a reader of its output."""

import contextlib
import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import processes
from .figures import shuffled

TIME_LINE = re.compile(rb"^Time = (\S+)$")
END_LINE = b"End\n"
# Short enough for a disturbance to meet all that take turns, and long enough for what acts by the clock (the agent, once
# a second) not to act more often than in a run by itself, only because the time in which it was stopped has passed.
STEPS_OF_A_TURN = 20


@dataclass
class Run:
    """`times[k]` is the step that the solver announced at the moment `marks[k]` (time.monotonic, less the time for which
    it was stopped); one more mark tells when it ended, the last step's output included."""

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


class Running:
    """A solver under way. Its clock stands still while it is stopped, so that several can take turns, a step at a time,
    and what slows the machine for a while slows all of them."""

    def __init__(self, command: list, log: Path, env: dict[str, str], cwd: Path):
        self._run = Run(started=time.monotonic(), log=log)
        self._log = log.open("wb")
        self._stopped = 0.0  # seconds in all
        self._stopped_at: float | None = None
        self._all: list[int] = []  # it and all its descendants
        self._child = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def to_next_mark(self) -> bool:
        """Until it announces a step, or its end; False once it has ended its output."""
        for line in self._child.stdout:
            now = time.monotonic()
            self._log.write(line)
            announced = TIME_LINE.match(line)
            if announced:
                self._run.times.append(announced[1].decode())
            if announced or line == END_LINE:
                self._run.marks.append(now - self._stopped)
                return True
        return False

    @property
    def has_steps(self) -> bool:
        """It is stopped at the beginning of one."""
        return self._stopped_at is not None and len(self._run.marks) == len(self._run.times)

    def take_turn(self) -> None:
        """A few steps, or what comes before the first."""
        self._go_on()
        for _ in range(STEPS_OF_A_TURN if self._run.marks else 1):
            if not self.to_next_mark():
                return
        # By the first mark all its processes are there.
        self._all = self._all or [self._child.pid, *processes.descendants(self._child.pid)]
        self._signal(signal.SIGSTOP)
        self._stopped_at = time.monotonic()

    def finish(self) -> Run:
        """To the end; a status other than 0 is the caller's to judge."""
        self._go_on()
        while self.to_next_mark():
            pass
        self._run.status = self._child.wait()
        self._run.ended = time.monotonic() - self._stopped
        self._close()
        return self._run

    def give_up(self) -> None:
        """Interrupted: the shared directory is about to go, and no solver may outlive it."""
        self._go_on()
        self._child.terminate()
        self._child.wait()
        self._close()

    def _close(self) -> None:
        self._child.stdout.close()
        self._log.close()

    def _go_on(self) -> None:
        if self._stopped_at is not None:
            self._stopped += time.monotonic() - self._stopped_at
            self._stopped_at = None
            self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        for pid in self._all:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def run(command: list, log: Path, env: dict[str, str], cwd: Path) -> Run:
    """Runs to the end; all output goes to `log`."""
    running = Running(command, log, env, cwd)
    try:
        return running.finish()
    except BaseException:
        running.give_up()
        raise


def run_by_turns(starts: Sequence[Callable[[], Running]], seed: int) -> list[Run]:
    """Each is started and runs to its first step; then one after the other takes a turn, in an order that changes from
    round to round, while the others are stopped. What each has to do after its end it does when all have ended."""
    all_running: list[Running] = []
    try:
        for start in starts:
            all_running.append(start())
            all_running[-1].take_turn()
        for turn in itertools.count():
            under_way = [each for each in all_running if each.has_steps]
            if not under_way:
                return [each.finish() for each in all_running]
            for running in shuffled(under_way, seed + turn):
                running.take_turn()
    except BaseException:
        for running in all_running:
            running.give_up()
        raise
