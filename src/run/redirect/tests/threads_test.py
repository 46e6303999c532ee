"""Threads, processes, signals, children of every kind and libraries of the case."""

import contextlib
import os
import subprocess
import sys

from harness import Pair, PlacedPair, finish, report, write


def build(case, shared):
    for number in range(20):
        write(f"{case}/many/f{number}", "x" * 120_000)
    for number in range(50):
        write(f"{case}/signal/s{number}", "y" * 50_000)
    for directory in ("small", "small-by-default"):
        for name in ("input", "other", "third", "fourth"):
            write(f"{case}/{directory}/{name}", name * 1000)
            with contextlib.suppress(OSError):  # where the file system has none
                os.setxattr(f"{case}/{directory}/{name}", "user.note", b"of an input")
    write(f"{case}/script.sh", '#!/bin/sh -e\necho "$0 $@"\ntest -f "$0"\n', 0o755)
    write(f"{case}/bin/tool", f"#!{case}/bin/interpreter extra\n", 0o755)
    write(f"{case}/bin/interpreter", '#!/bin/sh\necho "interpreter: $@"\n', 0o755)
    write(f"{case}/bin/plain", 'echo "plain: $0 $@"\n', 0o755)
    write(f"{case}/forked-by-none", "here\n")
    write(f"{case}/processor0/x", "x\n")
    write(f"{case}/lib/answer.c", "int answer(void) { return 42; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", f"{case}/lib/libanswer.so", f"{case}/lib/answer.c"], check=True)


library, program = map(os.path.abspath, sys.argv[1:3])
outcomes = []
with Pair(library, build, copied=["many/f0"]) as pair:
    for round in range(3):
        outcomes.append(report(f"all at once, round {round + 1}", pair.compare([program, pair.case])))
with PlacedPair(library, build, copied=["many/f0"]) as pair:
    outcomes.append(report("all at once, with files in another pool", pair.compare([program, pair.case])))
finish(outcomes)
