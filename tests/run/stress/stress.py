#!/usr/bin/env python3
"""Runs programs that are made from seeds directly and under forebay, and compares what they leave.

    stress.py [--seeds 1-100] [--from N] [--jobs N] [--minutes M] [--again N]

A seed (programs.py) stands for a case, for what a program does to it with some forty verbs, and for the way in, the layout,
the drain, the user, and inputs that are links, copies or staged. ../drive/player.c does what it says, and ../parity judges: what
the program returned, saw and left has to be the same, but for what docs/run/limits.md allows. From a seed that fails, lines are
taken away as long as it still fails; the rest is printed as a script. A seed whose end depends on who is faster may fail only
now and then: a seed counts when it fails --again times more.

FOREBAY and PLAYER name the command and what is built here. As an ordinary user, or where namespaces are not allowed, seeds
that need them are run in the other way.
"""

import argparse
import concurrent.futures
import dataclasses
import itertools
import os
import pwd
import shlex
import sys
import time
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../parity")]

import oracle  # noqa: E402
from oracle import casetools  # noqa: E402
from programs import FIXED, Stress, stress_of, words_of  # noqa: E402

FOREBAY = os.path.abspath(os.environ["FOREBAY"])
PLAYER = os.path.abspath(os.environ["PLAYER"])
ORDINARY = "daemon"  # a user that each system has
MOST_LINES = 8  # of what differs


class Known(NamedTuple):
    """A difference that docs/run/limits.md tells in words, since no condition of its table can."""

    why: str
    attributes: frozenset
    verbs: frozenset = frozenset()  # of a program in which it may be; none: of each

    def explains(self, stress, difference):
        kinds = {each.kind for each in stress.program}
        return difference.attribute in self.attributes and (not self.verbs or not self.verbs.isdisjoint(kinds))


KNOWN = (
    Known("A pool in memory keeps the time at a write through a mapping that has read the page, and has holes of its own.",
          frozenset(("mtime", "order", "holes")), frozenset(("increment", "map", "pages", "rewrite", "allocate"))),
    Known("A directory of a time that was there already changes when a file of it arrives.", frozenset(("times",))),
)  # fmt: skip


def possible(stress):
    """The seed's settings, as far as this machine allows them."""
    may_change = os.geteuid() == 0 and ORDINARY in (each.pw_name for each in pwd.getpwall())
    if stress.user == "ordinary" and not may_change:
        stress = dataclasses.replace(stress, user="root")
    if stress.way == "namespace" and not casetools.namespaces_work():
        stress = dataclasses.replace(stress, way="path")
    return stress


def options_of(stress):
    return (f"--copy={stress.copies}",) if stress.copies else ()


def differences(stress):
    """What is not the same, in words; nothing, too, of a program that does not end directly either."""
    workplace = casetools.Workplace("stress")
    try:
        user = ORDINARY if stress.user == "ordinary" else None
        judge = oracle.Oracle(workplace.directory, workplace.pool, FOREBAY, user)
        judge.set_up(stress.setup(PLAYER))
        words = words_of(PLAYER, stress.program)
        try:
            judge.run_directly(words)
        except oracle.Unusable:
            return []
        settings = oracle.Settings(stress.way, stress.layout, stress.when, options_of(stress))
        verdict = judge.run_under_forebay(words, settings, judge.staged if stress.staged else None)
        return [
            f"{place}: {each}"
            for place, each in verdict.different
            if not any(known.explains(stress, each) for known in KNOWN)
        ]
    except oracle.Unusable as error:
        return [str(error)]
    finally:
        workplace.remove()


def without(stress, part, at):
    lines = getattr(stress, part)
    return dataclasses.replace(stress, **{part: lines[:at] + lines[at + 1 :]})


def minimised(stress, fails):
    """A program of which no line can be taken away: then it would not fail any more."""
    before = None
    while stress != before:
        before = stress
        for part in ("program", "start"):
            for at in reversed(range(len(getattr(stress, part)))):
                fewer = without(stress, part, at)
                stress = fewer if fails(fewer) else stress
    plain = dataclasses.replace(stress, staged=False, copies="")
    return plain if plain != stress and fails(plain) else stress


def script_of(stress):
    words = [os.path.join(HERE, "../parity/parity"), "--forebay", FOREBAY]
    words += ["--way", stress.way, "--layout", stress.layout, "--when", stress.when]
    words += ["--user", ORDINARY] if stress.user == "ordinary" else []
    words += ["--staged"] if stress.staged else []
    words += [f"--option={each}" for each in options_of(stress)]
    program = [shlex.quote(each) for each in words_of(PLAYER, stress.program)]
    return shlex.join(words) + " \\\n  " + shlex.quote(stress.setup(PLAYER)) + " \\\n  " + " \\\n  ".join(program)


class Outcome(NamedTuple):
    seed: int
    stress: Stress | None  # of a seed that was not run: None
    wrong: list
    again: bool = True  # it fails each time


def outcome_of(seed, again):
    stress = possible(stress_of(seed))
    first = wrong = differences(stress)
    for _ in range(again if first else 0):
        wrong = differences(stress)
        if not wrong:
            return Outcome(seed, stress, first, False)
    if wrong:
        stress = minimised(stress, differences)
        wrong = differences(stress) or wrong
    return Outcome(seed, stress, wrong)


def tell(outcome):
    print(f"seed {outcome.seed}: {'FAILED' if outcome.again else 'failed once'}: {outcome.stress.describe()}")
    for line in outcome.wrong[:MOST_LINES]:
        print(f"    {line}")
    print(script_of(outcome.stress), flush=True)


def run(seeds, options):
    """Outcomes of those that were begun in time; as many are under way as there are jobs."""
    until = time.monotonic() + 60 * options.minutes
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        under_way = set()
        for seed in seeds:
            if time.monotonic() > until:
                break
            under_way.add(pool.submit(outcome_of, seed, options.again))
            while len(under_way) >= options.jobs:
                done, under_way = concurrent.futures.wait(under_way, return_when=concurrent.futures.FIRST_COMPLETED)
                yield from (each.result() for each in done)
        yield from (each.result() for each in concurrent.futures.as_completed(under_way))


def main():
    parser = argparse.ArgumentParser(description="runs programs that are made from seeds directly and under forebay")
    parser.add_argument("--seeds", type=casetools.numbers, default=list(FIXED), help="such as 1-20,37")
    parser.add_argument(
        "--from", type=int, dest="first", metavar="N", help="all seeds from this one on, until no time is left"
    )
    parser.add_argument("--jobs", type=int, default=3, help="programs at the same time; they mostly wait")
    parser.add_argument("--again", type=int, default=1, help="how often a seed that failed is run again")
    parser.add_argument("--minutes", type=float, default=60, help="begins no seed after so long")
    options = parser.parse_args()
    passed, failed, once = 0, [], []
    for outcome in run(itertools.count(options.first) if options.first else options.seeds, options):
        if not outcome.wrong:
            passed += 1
            continue
        (failed if outcome.again else once).append(outcome.seed)
        tell(outcome)
    print(f"{passed} passed, {len(failed)} failed {sorted(failed)}, {len(once)} failed once {sorted(once)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
