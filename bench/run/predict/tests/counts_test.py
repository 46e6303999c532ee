"""Proves, by counts: prediction and drain agree on how many creates, renames, unlinks and syncs a written time needs.

counts_test.py FOREBAY. The agent's calls are seen by strace.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

FOREBAY = ""
SKIPPED = 77
RANKS = 2
NAMES = ("U", "p", "phi", "uniform/time", "uniform/functionObjects/properties")
DIRS = 3  # the time, uniform and uniform/functionObjects
CONTROL = """application simpleFoam;
startFrom startTime;
startTime 0;
deltaT 1;
endTime {times};
writeControl timeStep;
writeInterval 1;
purgeWrite {purge};
"""
LAUNCHER = f"""#!/bin/bash
while [[ $# -gt 0 && $1 != */forebay ]]; do shift; done
for ((rank = 0; rank < {RANKS}; rank++)); do
  OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE={RANKS} "$@" & all+=($!)
done
for each in "${{all[@]}}"; do wait "$each" || exit 1; done
"""
# Goes on when it hears that the case has the time before the last one.
SOLVER = f"""#!/usr/bin/python3
import os, shutil, sys, time
own, (times, purge), words = f"processor{{os.environ['OMPI_COMM_WORLD_RANK']}}", map(int, sys.argv[1:3]), sys.argv[3]
for number in range(1, times + 1):
    for name in {NAMES}:
        path = f"{{own}}/{{number}}/{{name}}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file: file.write("1" * 1000)
    while number > 1 and not os.path.exists(f"{{words}}/{{number - 1}}"): time.sleep(0.01)
    if 0 < purge < number: shutil.rmtree(f"{{own}}/{{number - purge}}")
"""
CALLS = "openat2,mkdirat,renameat2,unlinkat,linkat,fsync"


def calls_of_agent(trace: str) -> list[str]:
    """Each whole call, also of those that others interrupted, which succeeded."""
    begun: dict[str, str] = {}
    found = []
    for line in trace.splitlines():
        who, _, call = line.partition(" ")
        if not who.endswith("<forebay-agent>"):
            continue
        if call.endswith("<unfinished ...>"):
            begun[who] = call.removesuffix("<unfinished ...>")
            continue
        if resumed := re.match(r"<\.\.\. \w+ resumed>(.*)", call):
            call = begun.pop(who) + resumed[1]
        if " = -1 " not in call:
            found.append(call)
    return found


class CountsTest(unittest.TestCase):
    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix="forebay-counts-", dir="/var/tmp"))
        self.pool = tempfile.mkdtemp(prefix="forebay-counts-", dir="/dev/shm")
        for each in (self.directory, self.pool):
            self.addCleanup(shutil.rmtree, each, ignore_errors=True)
        self.case, self.words = self.directory / "case", self.directory / "words"
        self.words.mkdir()

    def make_case(self, times: int, purge: int) -> None:
        for rank in range(RANKS):
            (self.case / f"processor{rank}/constant").mkdir(parents=True)
        (self.case / "system").mkdir()
        (self.case / "system/controlDict").write_text(CONTROL.format(times=times, purge=purge))
        for name, text in (("mpirun", LAUNCHER), ("solver", SOLVER)):
            (self.case / name).write_text(text)
            (self.case / name).chmod(0o755)

    def drain(self, times: int, purge: int, *options: str) -> tuple[Counter, dict]:
        """What the agent asked of the case, and the run's report."""
        self.make_case(times, purge)
        trace, report = self.directory / "trace", self.directory / "report.json"
        run = [FOREBAY, "run", "--quiet", "--pool", self.pool, *options, "--json", report, "--", "./mpirun", "-n", str(RANKS)]  # fmt: skip
        line = ["strace", "-f", "-y", "-Y", "-qq", "-o", trace, "-e", f"trace={CALLS}", *run, "./solver", str(times), str(purge), self.words]  # fmt: skip
        begun = subprocess.Popen(line, cwd=self.case, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(begun.kill)
        until = time.monotonic() + 90
        holders = 1 if "collated" in options else RANKS
        while begun.poll() is None and time.monotonic() < until:
            for number in range(1, times + 1):
                if len(list(self.case.glob(f"processor*/{number}"))) == holders:
                    (self.words / str(number)).touch()
            time.sleep(0.02)
        output = begun.communicate(timeout=30)[0]
        self.assertEqual(begun.returncode, 0, output)
        return self.counted(trace.read_text()), json.loads(report.read_text())

    def counted(self, trace: str) -> Counter:
        kinds = {"openat2": "creates", "mkdirat": "creates", "renameat2": "renames", "linkat": "renames",
                 "unlinkat": "unlinks", "fsync": "syncs"}  # fmt: skip
        found: Counter = Counter()
        for call in calls_of_agent(trace):
            name = call.partition("(")[0]
            if f"<{self.case}" not in call or ".forebay" in call or (name == "openat2" and "O_CREAT" not in call):
                continue
            found[kinds[name]] += 1
        return found

    def predicted(self, *options: str) -> Counter:
        asked = ["--machine", "slow-shared", "--ranks", str(RANKS), "--files", str(len(NAMES)), "--dirs", str(DIRS), "--bytes", "5kB", "--step", "1s"]  # fmt: skip
        told = subprocess.run([FOREBAY, "predict", *asked, *options, "--json"], cwd=self.directory, capture_output=True, text=True, check=True)  # fmt: skip
        return Counter({name: int(count) for name, count in json.loads(told.stdout)["operations"]["drain"].items()})

    def times(self, count: int, each: Counter) -> Counter:
        return Counter({name: count * number for name, number in each.items()})

    def test_verbatim(self):
        seen, _ = self.drain(2, 0)
        self.assertEqual(seen, +self.times(2, self.predicted()))

    def test_collated(self):
        """The directory of all ranks is made once, and with it the case's own is synced."""
        seen, _ = self.drain(2, 0, "--layout", "collated")
        self.assertEqual(seen, +self.times(2, self.predicted("--layout", "collated")) + Counter(creates=1, syncs=1))

    def test_times_that_the_program_purges(self):
        """Each that was carried makes room for the next one, but for those that are kept."""
        kept = 2
        seen, report = self.drain(5, kept, "--safe-interval", "1s")
        carried = report["nodes"][0]["drain"]["safe_times"]
        self.assertGreater(carried, kept)
        each = self.predicted("--purge", str(kept))
        unlinks = Counter(unlinks=each["unlinks"])
        self.assertEqual(seen, self.times(carried, each - unlinks) + self.times(carried - kept, unlinks))


if __name__ == "__main__":
    FOREBAY = str(Path(sys.argv.pop(1)).resolve())
    if not shutil.which("strace") or subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"]).returncode:
        print("skipped: strace is not here, or may not attach")
        sys.exit(SKIPPED)
    sys.dont_write_bytecode = True
    unittest.main()
