"""A timed run of a solver: when each 'Time = ...' line came, seen by a reader of its output."""

import contextlib
import itertools
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from measure import processes
from measure.figures import shuffled

TIME_LINE = re.compile(rb"^Time = (\S+?)s?$")  # of some versions with its unit
# The first and the last equation of a step of simpleFoam, told by the first rank. To solve one all ranks meet: between the
# last of a step and the first of the next lies all that any of them does to write, and a quarter of a step.
FIRST_SOLVED_LINE = re.compile(rb"^\w+:  Solving for Ux, ")
LAST_SOLVED_LINE = re.compile(rb"^\w+:  Solving for k, ")
END_LINE = b"End\n"
# The write interval of runs that are compared with themselves.
EVERY_OTHER = 2
# Of a run in which the helpers find their pace.
FIRST_STEPS = 3
# The names of forebay's own processes begin so: `forebay run`, each node's `forebay exec`, keeper and agent.
HELPER = "forebay"


@dataclass
class Run:
    """`times[k]` is the step that the solver announced at the moment `marks[k]` (time.monotonic, less the time for which
    it was stopped); one more mark tells when it ended, the last step's output included. `first_solved[k]` and
    `last_solved[k]` are the moments in that step of those lines, less what the helpers had used of a processor by then."""

    started: float
    ended: float = 0.0
    status: int = 0
    times: list[str] = field(default_factory=list)
    marks: list[float] = field(default_factory=list)
    log: Path | None = None
    first_solved: list[float] = field(default_factory=list)
    last_solved: list[float] = field(default_factory=list)
    turns: list[range] = field(default_factory=list)  # of steps that were done without being stopped in between
    helpers_per_step: float = 0.0  # their processor time in seconds, of run_with_helpers()

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

    def added_by_output(self) -> list[list[float]]:
        """What writing adds to a step, in seconds, turn by turn, of a run that writes every other one: each that writes less
        the mean of its neighbours, all from the last equation to the first of the next step, since what lies between two
        whole steps by chance is twice of that. The helpers do their work when they come to it, which may be in any of
        them, and being stopped disturbs their pace. So what they take for a step at their own pace is charged to those
        that write, as if the solver had to wait for it."""
        return [
            [
                self._output(step) - (self._output(step - 1) + self._output(step + 1)) / 2 + self.helpers_per_step
                for step in turn[1:-2]
                if self._writes(step)
            ]
            for turn in self.turns
        ]

    def without_output(self) -> list[list[float]]:
        """Of such a run, turn by turn, the whole length of the steps that do not write, so each follows one that does."""
        return [
            [self.last_solved[step + 1] - self.last_solved[step] for step in turn[:-1] if not self._writes(step)]
            for turn in self.turns
        ]

    def _output(self, step: int) -> float:
        """From its last equation to the first of the next step: what it writes lies there."""
        return self.first_solved[step + 1] - self.last_solved[step]

    def _writes(self, step: int) -> bool:
        return int(self.times[step]) % EVERY_OTHER == 0


class Running:
    """A solver under way. Its clock stands still while it is stopped, so that several can take turns, and what slows the
    machine for a while slows all of them."""

    def __init__(self, command: list, log: Path, env: dict[str, str], cwd: Path):
        self._run = Run(started=time.monotonic(), log=log)
        self._equations = ((self._run.first_solved, FIRST_SOLVED_LINE), (self._run.last_solved, LAST_SOLVED_LINE))
        self._log = log.open("wb")
        self._stopped = 0.0  # seconds in all
        self._stopped_at: float | None = None
        self._all: list[int] = []  # it and all its descendants
        self._helpers: list[int] = []  # of these
        self._child = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.give_up()

    def to_next_mark(self) -> bool:
        """Until it announces a step, or its end; False once it has ended its output."""
        for line in self._child.stdout:
            now = time.monotonic()
            self._log.write(line)
            announced = TIME_LINE.match(line)
            if announced:
                self._run.times.append(announced[1].decode())
            for solved, expected in self._equations:
                if len(solved) == len(self._run.times) - 1 and expected.match(line):
                    solved.append(now - self._stopped - self.helper_seconds())
            if announced or line == END_LINE:
                self._run.marks.append(now - self._stopped)
                return True
        return False

    @property
    def has_steps(self) -> bool:
        """It is stopped at the beginning of one."""
        return self._stopped_at is not None and len(self._run.marks) == len(self._run.times)

    def take_turn(self, steps: int) -> None:
        """To the end of so many steps, or to the beginning of the first."""
        done = len(self._run.marks) - 1
        self._go_on()
        for _ in range(steps if done >= 0 else 1):
            if not self.to_next_mark():
                return
        self._find_processes()
        self._signal(signal.SIGSTOP)
        self._stopped_at = time.monotonic()
        if done >= 0:
            self._run.turns.append(range(done, done + steps))

    def helper_seconds(self) -> float:
        """Of processor time, since it began."""
        self._find_processes()
        return sum(map(processes.exact_cpu_seconds, self._helpers))

    def _find_processes(self) -> None:
        """By the first mark all are there."""
        if not self._all:
            self._all = [self._child.pid, *processes.descendants(self._child.pid)]
            self._helpers = [pid for pid in self._all if processes.name(pid).startswith(HELPER)]

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
    with Running(command, log, env, cwd) as running:
        return running.finish()


def run_with_helpers(command: list, log: Path, env: dict[str, str], cwd: Path) -> Run:
    """The same, and what the helpers use of a processor in a step, the first ones left out."""
    with Running(command, log, env, cwd) as running:
        for _ in range(FIRST_STEPS):
            running.to_next_mark()
        before, used, steps = running.helper_seconds(), 0.0, 0
        while running.to_next_mark():
            used, steps = running.helper_seconds() - before, steps + 1
        done = running.finish()
        done.helpers_per_step = used / max(steps, 1)
        return done


def run_in_turns(starts: Sequence[Callable[[], Running]], steps: int, seed: int = 0) -> list[Run]:
    """Each is started and runs to its first step; then, round after round until they end, one after the other goes on for
    so many steps while the others are stopped; the orders change. What each has to do after its end it does when all have
    ended."""
    all_running: list[Running] = []
    try:
        for start in starts:
            all_running.append(start())
            all_running[-1].take_turn(1)
        for number in itertools.count(seed):
            under_way = [index for index, each in enumerate(all_running) if each.has_steps]
            if not under_way:
                return [each.finish() for each in all_running]
            for index in shuffled(under_way, number):
                all_running[index].take_turn(steps)
    except BaseException:
        for running in all_running:
            running.give_up()
        raise
