#!/usr/bin/env python3
"""Kills one process of a run under forebay, or all of them, and asks whether the case can be started again: see
docs/run/openfoam.md. FOREBAY names the command.

    campaign.py [--seeds 1-300] [--ten] [--jobs N] [--minutes 30] [--cells 120] [--keep DIR]
"""

import argparse
import collections
import concurrent.futures
import os
import shutil
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../equivalence"), os.path.join(HERE, "../..")]

import casetools  # noqa: E402
from cavity import CELLS, Case, Reference  # noqa: E402
from judge import Judge  # noqa: E402
from killing import Run  # noqa: E402
from plans import KINDS, SEEDS, TEN, plan_of  # noqa: E402

MOST_LINES = 8  # of what is wrong with one kill; --keep tells all


class Campaign:
    def __init__(self, options):
        self.place = casetools.Workplace("restart")
        self.keep, self.cells = options.keep, options.cells
        self.until = time.monotonic() + 60 * options.minutes
        self.references, self.lock = {}, threading.Lock()
        self.results = collections.defaultdict(list)  # kind -> one of "passed", "failed" for each seed

    def reference(self, ranks):
        with self.lock:
            if ranks not in self.references:
                self.references[ranks] = Reference(self.place.directory, ranks, self.cells)
            return self.references[ranks]

    def one(self, seed):
        plan = plan_of(seed)
        reference = self.reference(plan.ranks)
        if time.monotonic() > self.until:
            return seed, plan, "not run", ["no time is left"], 0.0
        begun = time.monotonic()
        directory = os.path.join(self.place.directory, f"seed-{seed}")
        pool = os.path.join(self.place.pool, f"seed-{seed}")
        os.mkdir(directory)
        os.mkdir(pool, mode=0o700)
        case = Case(os.path.join(directory, "case"), reference)
        reference.new_case(case.directory, plan)
        run = Run(plan, case, pool, f"{os.getpid()}-{seed}")
        judge = None
        try:
            run.go()
            judge = Judge(run, reference)
            wrong = judge.judge()
        except Exception as error:
            wrong = run.seen.wrong + [f"{type(error).__name__}: {error}"]
            if os.environ.get("RESTART_TRACE"):
                raise
        outcome = "failed" if wrong else "passed"
        if wrong and self.keep:
            with open(os.path.join(directory, "told"), "w") as file:
                file.write(f"{plan}\n{run.seen}\n{run.seen.output}\n{judge.told if judge else ''}\n")
                file.write("\n".join(wrong) + "\n")
            os.makedirs(self.keep, exist_ok=True)
            kept = tempfile.mkdtemp(prefix=f"seed-{seed}-", dir=self.keep)
            for each, name in ((directory, "run"), (pool, "pool")):
                shutil.copytree(each, os.path.join(kept, name), symlinks=True, ignore_dangling_symlinks=True)
        for each in (directory, pool):
            shutil.rmtree(each, ignore_errors=True)
        killed = ", ".join(name for name, _ in run.seen.killed) or "nothing was left to kill"
        note = f"killed {killed}; exit {run.seen.status}; state {run.seen.safe_before} safe before"
        return seed, plan, outcome, wrong + [note], time.monotonic() - begun

    def go(self, seeds, jobs):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(self.one, seed) for seed in seeds]
            try:
                for future in concurrent.futures.as_completed(futures):
                    self.tell(*future.result())
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)  # waits for the one that is under way
                raise

    def tell(self, seed, plan, outcome, lines, seconds):
        self.results[plan.kind].append(outcome)
        print(f"seed {seed}: {outcome}, {seconds:.1f} s: {plan.describe()}", flush=True)
        *wrong, note = lines
        for line in wrong[:MOST_LINES]:
            print(f"    wrong: {line}", flush=True)
        if len(wrong) > MOST_LINES:
            print(f"    and {len(wrong) - MOST_LINES} more", flush=True)
        print(f"    {note}", flush=True)

    def summary(self):
        """Prints the table by kind; whether all passed."""
        counts = collections.Counter()
        print(f"\n{'killed':<20}{'passed':>8}{'failed':>8}{'not run':>9}")
        for kind in KINDS:
            found = collections.Counter(self.results[kind])
            counts += found
            print(f"{kind:<20}{found['passed']:>8}{found['failed']:>8}{found['not run']:>9}")
        print(f"{counts['passed']} passed, {counts['failed'] + counts['not run']} failed")
        return counts["failed"] == counts["not run"] == 0


def main():
    parser = argparse.ArgumentParser(description="kills runs under forebay, and restarts them")
    parser.add_argument("--seeds", type=casetools.numbers, default=list(SEEDS), help="such as 1-20,37")
    parser.add_argument("--ten", action="store_true", help="only the ten of `make test`")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--minutes", type=float, default=30, help="begins no run after so long")
    parser.add_argument("--cells", type=int, default=CELLS, help="in each direction; fewer on a slow machine")
    parser.add_argument("--keep", help="a directory for the cases of those that failed")
    options = parser.parse_args()
    casetools.need_openfoam()
    campaign = Campaign(options)
    try:
        campaign.go(TEN if options.ten else options.seeds, options.jobs)
        return 0 if campaign.summary() else 1
    finally:
        campaign.place.remove()


if __name__ == "__main__":
    sys.exit(main())
