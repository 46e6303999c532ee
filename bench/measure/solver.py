"""A timed run of a solver: when each 'Time = ...' line came, seen by a reader of its output."""

import contextlib
import itertools
import os
import re
import signal
import statistics
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
# Of a run in which the agent finds its pace.
FIRST_STEPS = 3
AGENT = "forebay-agent"


@dataclass(frozen=True)
class Turn:
    """Steps in a row. `lengths`: of those that lie in the turn as a whole, all with output or all without; the first step
    was begun before it."""

    writes: bool
    lengths: list[float]
    agent_in_lengths: float = 0.0  # its processor time in seconds since the first of `lengths` began

    @property
    def steps(self) -> int:
        return 1 + len(self.lengths)


@dataclass
class Run:
    """`times[k]` is the step that the solver announced at the moment `marks[k]` (time.monotonic, less the time for which
    it was stopped); one more mark tells when it ended, the last step's output included. `turns`: of run_in_pairs()."""

    started: float
    ended: float = 0.0
    status: int = 0
    times: list[str] = field(default_factory=list)
    marks: list[float] = field(default_factory=list)
    log: Path | None = None
    turns: list[Turn] = field(default_factory=list)
    agent_per_step: float = 0.0  # its processor time in seconds, of run_with_agent()

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

    def added_by_output(self) -> list[float]:
        """What writing adds to a step, in seconds, by each pair of turns. The agent does its work when it comes to it, which
        may be in the other turn or in a step that does not count, and being stopped disturbs its pace. So what it used of
        a processor is taken out where it fell, and what it takes for a step at its own pace is charged to those that
        write, as if the solver had to wait for it."""
        added = []
        for pair in zip(self.turns[::2], self.turns[1::2], strict=True):
            without, writing = sorted(pair, key=lambda turn: turn.writes)
            alone = [
                statistics.fmean(turn.lengths) - turn.agent_in_lengths / len(turn.lengths)
                for turn in (writing, without)
            ]
            added.append(alone[0] - alone[1] + self.agent_per_step)
        return added

    def without_output(self) -> list[float]:
        """A step without output, in seconds, in each pair of turns."""
        return [statistics.fmean(turn.lengths) for turn in self.turns if not turn.writes]


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


# What a step takes must not depend on where the scheduler puts a rank: pairs of turns then differ by a third less.
BOUND = ("--map-by", "core", "--bind-to", "core:overload-allowed")


def mpirun(ranks: int, *options: str, binding: tuple[str, ...] = ("--bind-to", "none")) -> list[str]:
    return ["mpirun", "--oversubscribe", *binding, *options, "-n", str(ranks)]


class Running:
    """A solver under way. Its clock stands still while it is stopped, so that several can take turns, a step at a time,
    and what slows the machine for a while slows all of them."""

    def __init__(self, command: list, log: Path, env: dict[str, str], cwd: Path):
        self._run = Run(started=time.monotonic(), log=log)
        self._log = log.open("wb")
        self._stopped = 0.0  # seconds in all
        self._stopped_at: float | None = None
        self._all: list[int] = []  # it and all its descendants
        self._agents: list[int] = []  # of these
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
            if announced or line == END_LINE:
                self._run.marks.append(now - self._stopped)
                return True
        return False

    @property
    def has_steps(self) -> bool:
        """It is stopped at the beginning of one."""
        return self._stopped_at is not None and len(self._run.marks) == len(self._run.times)

    def take_turn(self, steps: int, writes: bool = False) -> None:
        """So many steps, which write as the case says now, or what comes before the first."""
        first, agent = len(self._run.marks), 0.0
        self._go_on()
        for step in range(steps if first else 1):
            if not self.to_next_mark():
                return
            if step == 0:
                agent = self.agent_seconds()
        self._find_processes()
        self._signal(signal.SIGSTOP)
        self._stopped_at = time.monotonic()
        if first:
            lengths = [after - before for before, after in itertools.pairwise(self._run.marks[first:])]
            self._run.turns.append(Turn(writes, lengths, self.agent_seconds() - agent))

    def agent_seconds(self) -> float:
        """Of processor time, since it began."""
        self._find_processes()
        return sum(map(processes.exact_cpu_seconds, self._agents))

    def _find_processes(self) -> None:
        """By the first mark all are there."""
        if not self._all:
            self._all = [self._child.pid, *processes.descendants(self._child.pid)]
            self._agents = [pid for pid in self._all if processes.name(pid) == AGENT]

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


def run_with_agent(command: list, log: Path, env: dict[str, str], cwd: Path) -> Run:
    """The same, and what the agent uses of a processor in a step, the first ones left out."""
    with Running(command, log, env, cwd) as running:
        for _ in range(FIRST_STEPS):
            running.to_next_mark()
        before, used, steps = running.agent_seconds(), 0.0, 0
        while running.to_next_mark():
            used, steps = running.agent_seconds() - before, steps + 1
        done = running.finish()
        done.agent_per_step = used / max(steps, 1)
        return done


@dataclass(frozen=True)
class Turns:
    """`steps` in each; two, one with output and one without, are a pair, of which `in_a_row` follow each other."""

    steps: int
    in_a_row: int = 1
    rounds: int = 1

    @property
    def all_steps(self) -> int:
        return self.rounds * self.in_a_row * 2 * self.steps


def run_in_pairs(
    starts: Sequence[Callable[[], Running]], switch: Callable[[int, bool], None], turns: Turns, seed: int = 0
) -> list[Run]:
    """Run in turns, pairs of them. `switch(index, writes)` edits the case, which the solver reads anew when it begins its
    next step."""

    def pairs(index: int, running: Running, number: int) -> None:
        for pair in range(turns.in_a_row):
            first = (number + pair) % 2 == 0
            for writes in (first, not first):
                switch(index, writes)
                running.take_turn(turns.steps, writes)

    return run_in_turns(starts, pairs, seed)


def run_in_turns(
    starts: Sequence[Callable[[], Running]], go_on: Callable[[int, Running, int], None], seed: int = 0
) -> list[Run]:
    """Each is started and runs to its first step; then, round after round until they end, `go_on(index, running, round)`
    lets one after the other take turns while the others are stopped; the orders change. What each has to do after its end
    it does when all have ended."""
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
                go_on(index, all_running[index], number)
    except BaseException:
        for running in all_running:
            running.give_up()
        raise
