"""One run under forebay of which something is killed, as a plan says, and what was seen of it from outside meanwhile."""

import dataclasses
import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time

import casetools
from cavity import SOLUTION, STATE, of_groups, solver, step_of
from plans import FOREIGN
from processes import MARK, Processes, kill, name_of

FOREBAY = os.path.abspath(os.environ["FOREBAY"])
ENOUGH = int(os.environ.get("FOREBAY_TEST_ENOUGH", 90))  # seconds that anything may take, also beside other tests


@dataclasses.dataclass
class Seen:
    """What is known of a run when it has been killed and all its processes have ended."""

    killed: list = dataclasses.field(default_factory=list)  # (name, pid)
    killed_at: float = 0
    status: int | None = None  # of `forebay run`; None where that was killed
    output: str = ""
    report: dict | None = None
    steps: dict = dataclasses.field(default_factory=dict)  # step -> when all ranks had left it behind
    safe_before: int | None = None  # the newest whole state on the case just before, and just after the kill
    claimed: list = dataclasses.field(default_factory=list)  # (time that forebay called safe, newest on the case then)
    wrong: list = dataclasses.field(default_factory=list)

    def left_behind(self, until):
        """The newest step that all ranks had left behind at a time."""
        return max((step for step, when in self.steps.items() if when <= until), default=0)


class Run:
    def __init__(self, plan, case, pool, mark):
        self.plan, self.case, self.pool = plan, case, pool
        self.environment = casetools.environment(**{MARK: mark}, **of_groups(plan.io_ranks))
        self.processes = Processes(mark, "icoFoam", "mpirun")
        self.report = os.path.join(os.path.dirname(case.directory), "report.json")
        self.seen = Seen()
        self.step = 0
        self.newest = 0  # whole state on the case
        self.ended = threading.Event()
        self.advanced = threading.Condition()

    def line(self):
        plan = self.plan
        options = ["--case", self.case.directory, "--pool", self.pool, "--json", self.report, "--via", plan.way]
        options += ["--layout", plan.layout, "--drain-when", plan.drain_when]
        options += ["--safe-interval", f"{plan.safe_interval}s", "--set", "drain.silence=5s"]
        program = self.case.reference.with_foreign_writer if FOREIGN in plan.objects else "icoFoam"
        return [FOREBAY, "run", *options, "--", *solver(plan.ranks, program, plan.io_ranks)]

    def forebay(self, *words):
        done = subprocess.run(
            [FOREBAY, *words], env=casetools.environment(), capture_output=True, timeout=ENOUGH, errors="replace"
        )
        return done.returncode, done.stdout, done.stderr

    def pools(self):
        return ["--case", self.case.directory, "--pool", self.pool]

    # Watching.

    def read(self, stream):
        """Follows the solver's own log. "Courant" is printed when all ranks have come into a step."""
        lines = []
        for line in stream:
            lines.append(line)
            with self.advanced:
                if match := re.match(r"Time = (\S+)", line):
                    self.step = step_of(match[1])
                elif line.startswith("Courant Number"):
                    self.seen.steps[self.step - 1] = time.monotonic()
                elif line.startswith("End"):
                    self.step = float("inf")
                self.advanced.notify_all()
        self.seen.output = "".join(lines)

    def watch(self):
        """The newest whole state on the case never becomes older; what forebay calls safe is there."""
        while not self.ended.wait(0.1):
            claim = self.claimed_safe() if self.seen.killed == [] else None
            self.newest = self.look(self.newest)
            if claim is not None and claim > (can := self.case.newest(SOLUTION)):
                self.seen.wrong.append(f"`forebay status` calls step {claim} safe, the case can start from {can}")

    def look(self, before):
        for _ in range(4):  # what is looked at is changed meanwhile
            now = self.case.newest(STATE)
            if now >= before:
                return now
            time.sleep(0.05)
        self.seen.wrong.append(f"the state of step {before} was on the case, and now the newest is of step {now}")
        return now

    def claimed_safe(self):
        status, output, _ = self.forebay("status", "--json", *self.pools())
        try:
            times = [run["drain"]["newest_safe"] for run in json.loads(output)["runs"] if run.get("drain")]
        except (ValueError, KeyError):
            return None
        return max((step_of(each) for each in times if each), default=None)

    # Killing.

    def victims_at_the_moment(self, process):
        """Waits for the plan's moment. Who is to be killed is looked up before it, since that takes some milliseconds."""
        plan = self.plan
        if plan.moment == "start":
            casetools.wait_for(lambda: self.of_kind(process) or process.poll() is not None, ENOUGH)
            time.sleep(plan.delay)
            return self.of_kind(process)
        self.wait_for_step(1, process)
        victims = self.of_kind(process)
        self.wait_for_step(plan.step if plan.moment == "step" else float("inf"), process)
        time.sleep(plan.delay)
        return victims

    def wait_for_step(self, step, process):
        until = time.monotonic() + ENOUGH
        with self.advanced:
            while self.step < step and process.poll() is None and time.monotonic() < until:
                self.advanced.wait(0.5)

    def of_kind(self, process):
        found = sorted(self.processes.of_kind(self.plan.kind, process.pid))
        chance = random.Random(self.plan.seed)
        if self.plan.kind in ("all", "all and the pool"):
            chance.shuffle(found)
            return found
        return [chance.choice(found)] if found else []

    def kill(self, victims):
        self.seen.safe_before, self.seen.killed_at = self.newest, time.monotonic()
        for pid in victims:
            name = name_of(pid)
            if kill(pid):
                self.seen.killed.append((name, pid))
        if self.plan.kind in ("all", "all and the pool"):
            self.processes.kill_all()
            self.seen.safe_before = self.look(self.newest)
        if self.plan.kind == "all and the pool" and self.seen.killed:
            for each in os.listdir(self.pool):
                shutil.rmtree(os.path.join(self.pool, each))

    def go(self):
        process = subprocess.Popen(
            self.line(),
            cwd=self.case.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        threads = [threading.Thread(target=self.read, args=[process.stdout]), threading.Thread(target=self.watch)]
        for each in threads:
            each.start()
        try:
            self.kill(self.victims_at_the_moment(process))
            if not casetools.wait_for(lambda: process.poll() is not None and not self.processes.all(), ENOUGH):
                self.seen.wrong.append(f"does not end: {', '.join(self.processes.names())}")
        finally:
            self.processes.kill_all()
            process.wait()
            self.ended.set()
            for each in threads:
                each.join()
        self.seen.status = None if process.returncode == -signal.SIGKILL else process.returncode
        if os.path.exists(self.report):
            with open(self.report) as file:
                self.seen.report = json.load(file)
        return self.seen
