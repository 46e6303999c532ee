"""One plan, run for real under `forebay run`, and what was seen of it."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import casetools
from judge import Event, Seen
from plan import START, program_of
from processes import MARK, Processes, kill

FOREBAY = os.path.abspath(os.environ["FOREBAY"])
PLAYER = os.path.abspath(os.environ["PLAYER"])
FAULT_LIBRARY = os.path.abspath(os.environ["FAULT_LIBRARY"])
ENOUGH = int(os.environ.get("FOREBAY_TEST_ENOUGH", 60))  # seconds that anything may take, also beside other tests
ALL = ("all", "node")  # deaths


def may_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


def entries_of(case):
    """Path -> bytes, None for a directory; of a link its text behind "link to". What is forebay's own at the case's root is
    left out, and so is what NFS calls a file that was removed while somebody had it open."""
    found = {}
    for directory, directories, files in os.walk(case):
        if directory == case:
            directories[:] = [name for name in directories if name != ".forebay"]
        for name in directories:
            found[os.path.relpath(os.path.join(directory, name), case)] = None
        for name in files:
            path = os.path.join(directory, name)
            if re.fullmatch(r"\.nfs[0-9a-f]{24}", name):
                continue
            try:
                if os.path.islink(path):
                    found[os.path.relpath(path, case)] = b"link to " + os.fsencode(os.readlink(path))
                    continue
                with open(path, "rb") as file:
                    found[os.path.relpath(path, case)] = file.read()
            except FileNotFoundError:
                pass  # it has got its name, or has gone, meanwhile
    return found


class Run:
    def __init__(self, plan, directory, pool):
        self.plan, self.program = plan, program_of(plan)
        self.directory, self.pool = directory, pool
        self.case = os.path.join(directory, "case")
        self.records = os.path.join(directory, "records")
        self.report = os.path.join(directory, "report.json")
        self.output = os.path.join(directory, "output")
        mark = f"{os.getpid()}-{plan.seed}"
        self.processes = Processes(mark, "player", "launcher")
        self.environment = casetools.environment(**{MARK: mark})
        self.mounted = False

    # Before.

    def prepare(self):
        plan = self.plan
        os.makedirs(self.records)
        os.makedirs(os.path.join(self.case, "system"))
        told = f"purgeWrite {plan.purge};\n" if plan.purge_is_told else ""
        self.put("system/controlDict", f"application player;\nstartFrom startTime;\nstartTime 0;\n{told}")
        for rank in range(plan.ranks):
            own = plan.directory(rank)
            self.put(f"{own}constant/polyMesh/points", f"points of {rank}\n")
            for name in plan.start:
                self.put(f"{own}{START}/{name}", f"{name} of {rank} in the beginning\n")
            with open(os.path.join(self.records, f"plan.{rank}"), "w") as file:
                file.writelines(each.line() for each in self.program.of_rank[rank])
        os.mkdir(self.pool, mode=0o700)
        if plan.pool == "small":
            options = f"size={plan.pool_bytes},mode=0700"
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.pool], check=True)
            self.mounted = True
        if plan.carrying == "slow calls":
            rules = "rename:delay=5,fsync:delay=5,link:delay=5"
            self.environment.update(
                LD_PRELOAD=FAULT_LIBRARY,
                FOREBAY_FAULT_PREFIX=self.case,
                FOREBAY_FAULT_PROGRAM="forebay",
                FOREBAY_FAULT=rules,
            )

    def put(self, path, text):
        path = os.path.join(self.case, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def remove(self):
        if self.mounted:
            subprocess.run(["umount", "-l", self.pool], check=False)
        for each in (self.directory, self.pool):
            shutil.rmtree(each, ignore_errors=True)

    def line(self):
        plan = self.plan
        options = ["--case", self.case, "--pool", self.pool, "--json", self.report, "--via", plan.way]
        options += ["--drain-when", plan.drain_when, "--safe-interval", f"{plan.safe_interval}s"]
        options += ["--set", "drain.settle=50ms", "--patience", "10s"]
        if plan.pool == "budget":
            options += ["--budget", str(plan.pool_bytes)]
        if plan.carrying == "slow bytes":
            options += ["--bandwidth", "1M"]
        play = [PLAYER, "play", self.records, "-parallel"]
        if plan.launched:
            play = [PLAYER, "launch", str(plan.ranks), FOREBAY, "exec", "--", *play]
        return [FOREBAY, "run", *options, "--", *play]

    # While it runs.

    def go(self):
        self.prepare()
        seen = Seen(events=[], inputs=entries_of(self.case))
        with open(self.output, "wb") as output:
            process = subprocess.Popen(
                self.line(),
                cwd=self.case,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            if self.plan.death not in ("none", "cut"):
                self.come_to_the_moment(process)
                self.act(process, seen)
            if not casetools.wait_for(lambda: process.poll() is not None and not self.processes.all(), ENOUGH):
                seen.hangs = tuple(self.processes.names())
        finally:
            self.processes.kill_all()
            process.wait()
        seen.status = None if process.returncode == -signal.SIGKILL else process.returncode
        if os.path.exists(self.report):
            with open(self.report) as file:
                seen.report = json.load(file)
        seen.events = self.events()
        if os.path.exists(os.path.join(self.case, ".forebay")):
            seen.resumed = self.forebay("drain", "--resume")
        seen.after = entries_of(self.case)
        seen.left = self.leftovers(seen.after)
        return seen

    def come_to_the_moment(self, process):
        until = time.monotonic() + ENOUGH
        halted = os.path.join(self.records, "halted")
        if self.plan.moment == "operation":
            come = lambda: os.path.exists(halted)  # noqa: E731
        else:
            come = lambda: len([each for each in self.events() if each.mark == "d"]) == self.plan.ranks  # noqa: E731
        while not come() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        if self.plan.moment == "end":
            time.sleep(self.plan.delay)

    def act(self, process, seen):
        death = self.plan.death
        victims = self.victims(process.pid)
        if death not in ALL:
            seen.safe_then = self.called_safe()
            seen.when_killed = entries_of(self.case)
        for pid in victims:
            seen.killed = kill(pid) or seen.killed
        if death in ALL:
            self.processes.kill_all()
            seen.safe_then = self.called_safe()
            seen.when_killed = entries_of(self.case)
        if death == "node" and seen.killed:
            for each in os.listdir(self.pool):
                shutil.rmtree(os.path.join(self.pool, each), ignore_errors=True)
        with open(os.path.join(self.records, "go"), "w"):
            pass

    def victims(self, run):
        death = self.plan.death
        if death == "look":
            return []
        if death == "rank":
            with open(os.path.join(self.records, f"record.{self.plan.who}")) as file:
                return [int(file.readline().split()[2])]
        return self.processes.of_kind("all" if death in ALL else death, run)

    def called_safe(self):
        """What the agent told last."""
        own = os.path.join(self.pool, f"forebay-{os.geteuid()}")
        for run in os.listdir(own) if os.path.isdir(own) else ():
            try:
                with open(os.path.join(own, run, "s0/status.json")) as file:
                    status = json.load(file)
                return tuple({*status["safe_times"], *filter(None, [status["drain"]["newest_safe"]])})
            except (OSError, ValueError):
                continue
        return ()

    # Afterwards.

    def forebay(self, *words):
        with open(self.output, "ab") as output:
            done = subprocess.run(
                [FOREBAY, *words, "--case", self.case, "--pool", self.pool],
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=ENOUGH,
                check=False,
            )
        return done.returncode

    def events(self):
        found = []
        for rank in range(self.plan.ranks):
            path = os.path.join(self.records, f"record.{rank}")
            if not os.path.exists(path):
                continue
            with open(path) as file:
                for line in file:
                    if not line.endswith("\n"):
                        break  # a rank that still works is about to write the rest
                    when, mark, number, error = line.split()
                    if mark != "p":
                        found.append(Event(int(when), rank, mark, int(number), int(error)))
        return found

    def leftovers(self, after):
        left = [path for path in after if os.path.basename(path).startswith(".fb-")]
        if os.path.exists(os.path.join(self.case, ".forebay")):
            left.append(".forebay")
        return tuple(
            left + [os.fsdecode(each) for each in casetools.leftovers(os.path.join(self.case, "system"), self.pool)]
        )
