#!/usr/bin/env python3
"""Kills one process of a run, or all of them, while four histories grow. Whatever is killed and whenever: the case has
exact beginnings of them, by the agent's own record not more than two refreshes behind, and when the run is over or was
resumed they are whole. FOREBAY names the command.

    kills.py [--seeds 1-100] [--jobs N]
"""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../equivalence"), os.path.join(HERE, "../..")]

import casetools  # noqa: E402
import histories  # noqa: E402
from processes import MARK, Processes, kill, name_of  # noqa: E402

FOREBAY = os.path.abspath(os.environ["FOREBAY"])
SEEDS = range(1, 101)
KINDS = ("rank", "agent", "keeper", "all", "all and the pool")
ENOUGH = 60  # seconds that anything may take, also beside other tests
UNDRAINED, LOST = 3, 4


@dataclasses.dataclass(frozen=True)
class Plan:
    seed: int
    kind: str
    way: str
    ranks: int  # 1: without a launcher
    refresh: int  # milliseconds
    options: tuple
    delay: float  # seconds after the first look that found a history on the case, or after the program's start
    waits: bool  # for that look
    again: float  # after so many seconds the resume is killed, too; 0: it is not

    def describe(self):
        return (
            f"{self.kind}, {self.way}, {self.ranks} ranks, every {self.refresh} ms {' '.join(self.options)}, "
            f"{self.delay:.2f} s after the {'first look' if self.waits else 'start'}"
        )


def plan_of(seed):
    chance = random.Random(seed)
    return Plan(
        seed=seed,
        kind=KINDS[seed % len(KINDS)],
        way=chance.choice(("namespace", "redirect", "path")),
        ranks=chance.choice((1, 1, 2)),
        refresh=chance.choice((100, 300, 1000)),
        options=chance.choice(((), (), ("--drain-when", "end"), ("--bandwidth", "200k"))),
        delay=4 * chance.random(),
        waits=chance.random() < 0.8,
        again=chance.choice((0, 0.05 * chance.random())),
    )


class Run:
    def __init__(self, plan, directory, pool):
        self.plan, self.directory, self.pool = plan, directory, pool
        self.case, self.notes = os.path.join(directory, "case"), os.path.join(directory, "notes")
        self.word = os.path.join(directory, "stop")
        # Two for each of two ranks, or all of one program.
        self.names = [
            f"processor{index % plan.ranks}/{kind}"
            if plan.ranks > 1
            else ("", "postProcessing/probes/0/")[index % 2] + kind
            for index, kind in enumerate(histories.KINDS)
        ]
        self.mark = f"{os.getpid()}-{plan.seed}"
        self.processes = Processes(self.mark, "histories", "mpirun")
        self.recorded = {name: [] for name in self.names}  # sizes, as the agent told them
        self.has = dict.fromkeys(self.names, 0)  # bytes on the case
        self.wrong, self.looks, self.killed, self.told = [], 0, [], ""

    def expect(self, truth, text):
        if not truth and text not in self.wrong:
            self.wrong.append(text)
        return truth

    # What is run.

    def line(self):
        plan = self.plan
        options = ["-q", "--case", self.case, "--pool", self.pool, "--via", plan.way, *plan.options]
        options += [
            "--set",
            f"drain.refresh={plan.refresh}ms",
            "--set",
            "drain.settle=200ms",
            "--set",
            "drain.silence=5s",
        ]
        program = os.path.join(self.directory, "histories")  # whose name is that of its process
        if plan.ranks == 1:
            return [FOREBAY, "run", *options, "--", program, self.notes, self.word, *self.names]
        each = f"exec {program} {self.notes} {self.word} $(printf '%s\\n' {' '.join(self.names)} | grep processor$OMPI_COMM_WORLD_RANK/)"
        return [FOREBAY, "run", *options, "--", "mpirun", "-n", str(plan.ranks), "sh", "-c", each]

    def start(self):
        for each in (self.case, self.notes):
            os.mkdir(each)
        for rank in range(self.plan.ranks if self.plan.ranks > 1 else 0):
            os.mkdir(os.path.join(self.case, f"processor{rank}"))
        program = os.path.join(self.directory, "histories")
        shutil.copy(os.path.join(HERE, "histories.py"), program)
        with open(program) as file:
            text = file.read()
        with open(program, "w") as file:
            file.write(f"#!{sys.executable}\n{text}")
        os.chmod(program, 0o755)
        return subprocess.Popen(
            self.line(), cwd=self.case, env=casetools.environment(**{MARK: self.mark}),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    def forebay(self, *words):
        done = subprocess.run(
            [FOREBAY, *words, "--case", self.case, "--pool", self.pool],
            env=casetools.environment(), capture_output=True, text=True, timeout=ENOUGH, check=False,
        )  # fmt: skip
        self.told += f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.returncode

    # What the case has.

    def content(self, name):
        try:
            with open(os.path.join(self.case, name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def note(self, name):
        try:
            with contextlib.closing(histories.Notes(self.notes, name)) as notes:
                return notes.read()
        except (FileNotFoundError, histories.struct.error):
            return 0, 0

    def look(self):
        """Each must be a beginning of what the program has written, and never go back."""
        self.looks += 1
        self.note_record()
        found = False
        for name in self.names:
            content = self.content(name)
            if content is None:
                self.expect(self.has[name] == 0, f"{name} was on the case and is gone")
                continue
            found = True
            _, most = self.note(name)
            self.expect(histories.is_beginning(name, content), f"{name} is no beginning: {content[-300:]!r}")
            self.expect(len(content) <= most, f"the case has {len(content)} bytes of {name}, the program {most}")
            self.expect(len(content) >= self.has[name], f"the case had {self.has[name]} of {name}, and {len(content)}")
            self.has[name] = len(content)
            self.compare_with_record(name)
        return found

    def note_record(self):
        """What the agents tell of what they found at their last refresh, before it is looked at the case."""
        for path in glob.glob(os.path.join(self.pool, "*", "*", "*", "status.json")):
            try:
                with open(path) as file:
                    growing = json.load(file)["drain"]["growing"]
            except (OSError, ValueError, KeyError):
                continue
            for name, sizes in growing.items():
                record = self.recorded.get(name, [0])
                if record[-1:] != [sizes["local_bytes"]]:
                    record.append(sizes["local_bytes"])

    def compare_with_record(self, name):
        """When a refresh has begun all that the one before it found is on the case."""
        record, size = self.recorded[name], self.has[name]
        self.expect(
            len(record) < 2 or size >= record[-2],
            f"{name}: refreshes found {record[-2:]} bytes, the case has {size}",
        )

    # Killing.

    def go(self):
        process = self.start()
        try:
            self.watch(process)
            self.kill(process)
            with open(self.word, "w"):
                pass
            until = time.monotonic() + ENOUGH
            while (process.poll() is None or self.processes.all()) and time.monotonic() < until:
                self.look()
                time.sleep(0.05)
            self.expect(process.poll() is not None, f"does not end: {', '.join(self.processes.names())}")
        finally:
            self.processes.kill_all()
            self.told += process.communicate()[0]
        self.look()
        self.bring_home()
        return self.wrong

    def watch(self, process):
        started, first = time.monotonic(), None
        while process.poll() is None and time.monotonic() < started + ENOUGH:
            if self.look() and first is None:
                first = time.monotonic()
            begins = first if self.plan.waits else self.note(self.names[0])[1] and started
            if begins and time.monotonic() > begins + self.plan.delay:
                return
            time.sleep(0.02)
        self.expect(False, "the run has ended, or nothing came to the case")

    def kill(self, process):
        kind = self.plan.kind
        victims = self.processes.of_kind(kind, process.pid)
        if kind not in ("all", "all and the pool"):
            victims = victims[:1]
        self.expect(victims, f"no {kind} is there")
        for pid in victims:
            name = name_of(pid)
            if kill(pid):
                self.killed.append(name)
        if kind in ("all", "all and the pool"):
            self.processes.kill_all()
        if kind == "all and the pool":
            self.look()
            for each in os.listdir(self.pool):
                shutil.rmtree(os.path.join(self.pool, each))

    # Afterwards.

    def bring_home(self):
        mark = os.path.join(self.case, ".forebay")
        if self.plan.kind == "all and the pool":
            status = self.forebay("drain", "--resume")
            self.expect(status in (UNDRAINED, LOST), f"resume without the pool ends with {status}")
            self.expect(self.forebay("clean", "--yes", "--throw-away", "--throw-away") == 0, "clean fails")
        elif os.path.exists(mark):
            if self.plan.again:
                self.kill_a_resume()
            status = self.forebay("drain", "--resume")
            self.expect(status == 0, f"the resume ends with {status}")
        self.look()
        if self.plan.kind != "all and the pool":
            for name in self.names:
                has, will_have = self.note(name)
                self.expect(
                    has <= self.has[name] <= will_have,
                    f"{name}: the program wrote {has} to {will_have}, the case has {self.has[name]} when all is over",
                )
        left = casetools.leftovers(self.case, self.pool)
        self.expect(not left, f"left: {left}")

    def kill_a_resume(self):
        resume = subprocess.Popen(
            [FOREBAY, "drain", "--resume", "--case", self.case, "--pool", self.pool],
            env=casetools.environment(**{MARK: self.mark}),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        time.sleep(self.plan.again)
        self.processes.kill_all()
        resume.wait()
        self.look()


def one(seed, place):
    plan = plan_of(seed)
    begun = time.monotonic()
    directory, pool = (os.path.join(each, f"seed-{seed}") for each in (place.directory, place.pool))
    os.mkdir(directory)
    os.mkdir(pool, mode=0o700)
    run = Run(plan, directory, pool)
    try:
        wrong = run.go()
    except Exception as error:
        wrong = [*run.wrong, f"{type(error).__name__}: {error}"]
        run.processes.kill_all()
        if os.environ.get("KILLS_TRACE"):
            raise
    for each in (directory, pool):
        shutil.rmtree(each, ignore_errors=True)
    return plan, wrong, run, time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description="kills runs while histories grow")
    parser.add_argument("--seeds", type=casetools.numbers, default=list(SEEDS), help="such as 1-20,37")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    options = parser.parse_args()
    if not shutil.which("mpirun"):
        casetools.skip("no mpirun")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    place = casetools.Workplace("histories")
    results = collections.Counter()
    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for done in concurrent.futures.as_completed([pool.submit(one, seed, place) for seed in options.seeds]):
                plan, wrong, run, seconds = done.result()
                results[plan.kind, not wrong] += 1
                behind = sum(len(record) > 1 for record in run.recorded.values())
                print(f"seed {plan.seed}: {'failed' if wrong else 'passed'}, {seconds:.1f} s: {plan.describe()}; killed "
                      f"{', '.join(run.killed)}; {run.looks} looks, {behind} histories compared with the record", flush=True)  # fmt: skip
                for each in wrong[:8]:
                    print(f"    wrong: {each}", flush=True)
                if wrong:
                    print(run.told[-2000:], flush=True)
    finally:
        place.remove()
    for kind in KINDS:
        print(f"{kind:<20}{results[kind, True]:>5} passed{results[kind, False]:>5} failed")
    return 1 if any(count for (_, passed), count in results.items() if not passed) else 0


if __name__ == "__main__":
    sys.exit(main())
