#!/usr/bin/env python3
"""Runs programs that are made from seeds under `forebay run`, and judges what is left by what the programs recorded.

    drive.py [--seeds 1-2000] [--jobs N] [--again N] [--minutes M] [--keep DIR] [--each] [--until-one-fails]

A seed (plan.py) stands for a case, for what each rank of a program writes, appends, purges, removes, renames and writes
again, and for what happens to the run: who dies and when, how small the pool is, how slowly results are carried.
player.c does what the plan says and records it, running.py runs it, judge.py compares. Of a seed that fails everything
is told that is wrong; `drive.py --seeds N --keep DIR` does it again, and keeps the case, the records and what forebay said.

Seeds that fail today stand in expected_failures.txt, each with its reason. They are run like all others; it is told when
one of them passes. What is decided by who is faster fails only now and then: such a seed is marked `sometimes` there. As
nobody has met all of those, `make test` runs a seed that fails unexpectedly twice more (--again 2), and tells of it.

Whether the driver finds mistakes is seen by planting some: see the script `plant`.

FOREBAY, PLAYER and FAULT_LIBRARY name the command and what is built here. Small pools need root; without, and where
namespaces are not allowed, seeds that need them are not run.
"""

import argparse
import concurrent.futures
import functools
import os
import shutil
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../equivalence"), os.path.join(HERE, "../..")]

import casetools  # noqa: E402
from judge import Judge  # noqa: E402
from plan import FIXED, SEEDS, plan_of  # noqa: E402
from running import Run, may_mount  # noqa: E402
from tally import FAILED, NOT_RUN, PASSED, Tally, expected_failures  # noqa: E402

EXPECTED = os.path.join(HERE, "expected_failures.txt")


class Driver:
    def __init__(self, options):
        self.options = options
        self.place = casetools.Workplace("drive")
        self.until = time.monotonic() + 60 * options.minutes
        with open(EXPECTED) as file:
            self.tally = Tally(expected_failures(file), functools.partial(print, flush=True), options.each)
        self.mounts, self.namespaces = may_mount(), casetools.namespaces_work()
        self.stopped = self.out_of_time = False

    def one(self, seed):
        """Runs a seed. One that fails unexpectedly is run again, as often as was asked for; when it passes then, it is told."""
        plan, outcome, wrong, seconds = self.once(seed)
        again = 0 if seed in self.tally.expected else self.options.again
        while outcome == FAILED and again > 0:
            again -= 1
            self.tally.tell(f"seed {seed} failed, and is run again: " + "; ".join(wrong))
            plan, outcome, wrong, more = self.once(seed)
            seconds += more
        return plan, outcome, wrong, seconds

    def once(self, seed):
        plan = plan_of(seed)
        begun = time.monotonic()
        if (plan.pool == "small" and not self.mounts) or (plan.way == "namespace" and not self.namespaces):
            return plan, NOT_RUN, ["this machine does not allow it"], 0
        if self.stopped:
            return plan, NOT_RUN, ["one has failed"], 0
        if begun > self.until:
            self.out_of_time = True
            return plan, NOT_RUN, ["no time is left"], 0
        run = Run(plan, os.path.join(self.place.directory, str(seed)), os.path.join(self.place.pool, str(seed)))
        try:
            wrong = Judge(plan, run.program, run.go()).judge()
        except Exception as error:
            wrong = [f"{type(error).__name__}: {error}"]
            if os.environ.get("DRIVE_TRACE"):
                raise
        if wrong and self.options.keep:
            self.keep(run, wrong)
        run.remove()
        return plan, FAILED if wrong else PASSED, wrong, time.monotonic() - begun

    def keep(self, run, wrong):
        kept = os.path.join(self.options.keep, f"seed-{run.plan.seed}")
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(run.directory, os.path.join(kept, "run"), symlinks=True, ignore_dangling_symlinks=True)
        shutil.copytree(run.pool, os.path.join(kept, "pool"), symlinks=True, ignore_dangling_symlinks=True)
        with open(os.path.join(kept, "wrong"), "w") as file:
            file.write(f"{run.plan.describe()}\n" + "".join(f"{line}\n" for line in wrong))

    def go(self, seeds):
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            futures = [pool.submit(self.one, seed) for seed in seeds]
            try:
                for future in concurrent.futures.as_completed(futures):
                    self.tally.add(*future.result())
                    self.stopped = self.options.until_one_fails and bool(self.tally.unexpected)
            except KeyboardInterrupt:
                self.stopped = True  # waits for those that are under way
                raise


def main():
    parser = argparse.ArgumentParser(description="runs programs that are made from seeds under forebay")
    parser.add_argument("--seeds", type=casetools.numbers, default=list(SEEDS), help="such as 1-20,37")
    parser.add_argument("--fixed", action="store_true", help="only those of `make test`")
    parser.add_argument("--jobs", type=int, default=4, help="runs at the same time; they mostly wait")
    parser.add_argument("--again", type=int, default=0, help="how often a seed that failed unexpectedly is run again")
    parser.add_argument("--minutes", type=float, default=120, help="begins no run after so long: exit status 1")
    parser.add_argument("--each", action="store_true", help="tells of each seed, also of one that passes")
    parser.add_argument("--keep", help="a directory for what those that failed left")
    parser.add_argument(
        "--until-one-fails", action="store_true", help="begins no run after one that was not expected to"
    )
    options = parser.parse_args()
    driver = Driver(options)
    try:
        driver.go(FIXED if options.fixed else options.seeds)
        return 0 if driver.tally.summary() and not driver.out_of_time else 1
    finally:
        driver.place.remove()


if __name__ == "__main__":
    sys.exit(main())
