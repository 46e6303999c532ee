"""What ranks tell each other of the times that they leave, what they hand over, and when they free it (src/drain/hold.h).

Each case runs one program as rank 0 of two; the other rank and the agent are played here.
"""

import math
import os
import struct
import subprocess
import sys

from harness import Pair, finish, report, skip, write

NONE = -math.inf
# What is invalid, divides by zero or overflows kills the program, as OpenFOAM wants it.
PROGRAM = """
import ctypes, os, shutil, subprocess, sys
ctypes.CDLL("libm.so.6").feenableexcept(0x1 | 0x4 | 0x8)
os.chdir("processor0")
def begin(time, *files):
    os.makedirs(f"{time}/uniform")
    for file in files or ("p", "uniform/time"):
        with open(f"{time}/{file}", "w") as out: out.write(f"{file} of {time}")
def purge(time): shutil.rmtree(str(time))
def child(line): subprocess.run(["/bin/sh", "-c", line], check=True)
"""


class Ranks:
    def __init__(self, pair, other=NONE, held=False):
        pair.renew()
        pair.stage()
        self.pair = pair
        self.keep = os.path.join(pair.local, "keep/processor0")
        self.handed = os.path.join(self.keep, "handed-over")
        os.makedirs(self.handed, exist_ok=True)
        for name in os.listdir(self.handed):
            os.unlink(os.path.join(self.handed, name))
        self.page = os.path.join(pair.local, "hold")
        words = bytearray(4096)
        struct.pack_into("=QQ", words, 0, int(held), 2)
        struct.pack_into("=dd", words, 64, NONE, NONE)
        struct.pack_into("=dd", words, 128, other, NONE)
        write(self.page, bytes(words))

    def run(self, steps):
        environment = self.pair.environment(FOREBAY_KEEP=self.keep, FOREBAY_HOLD=self.page)
        done = self.pair.run(["/usr/bin/python3", "-c", PROGRAM + steps], environment)
        if done.returncode != 0:
            return [done.stderr.decode()[-1500:]]
        return []

    def left_and_lacking(self):
        with open(self.page, "rb") as file:
            return struct.unpack_from("=dd", file.read(), 64)

    def expect(self, steps, left, handed, lacking=NONE):
        problems = self.run(steps)
        if self.left_and_lacking() != (left, lacking):
            problems.append(f"left and lacking are {self.left_and_lacking()}, not {(left, lacking)}")
        names = sorted(os.listdir(self.handed))
        wanted = sorted(f"{time}%2F{file}" for time in handed for file in ("p", "uniform%2Ftime"))
        if names != wanted:
            problems.append(f"handed over is {names}, not {wanted}")
        return problems


def build(case, shared):
    write(f"{case}/processor0/constant/points", "points\n")


def in_a_pool_with(bytes_free, ranks, lacking):
    """The mount is the keep's own. No link leads there, so what is purged is such as needs none."""
    pool = os.path.join(ranks.pair.local, "keep")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", pool], capture_output=True).returncode != 0:
        return None
    try:
        os.makedirs(ranks.handed)
        write(os.path.join(pool, "ballast"), bytes((1 << 20) - bytes_free))
        return ranks.expect("begin(1); begin(2); begin(3); purge(1)", 2, [], lacking)
    finally:
        subprocess.run(["umount", pool], check=True)


CASES = {
    "a time that the other rank has not left is handed over": ({}, ("begin(1); begin(2); purge(1)", 1, [1])),
    "while the agent looks nothing is freed": (
        {"other": 9, "held": True},
        ("begin(1); begin(2); begin(3); purge(1); begin(4); purge(2)", 3, [1, 2]),
    ),
    "what all have left behind is freed with the next purge": (
        {"other": 9},
        ("begin(1); begin(2); purge(1); begin(3); purge(2); begin(4); purge(3)", 3, [3]),
    ),
    "what is older than the last is not handed over at all": (
        {"other": 2},
        ("begin(1); begin(2); begin(3); purge(1)", 2, []),
    ),
    "the first one that a program begins tells nothing": ({"other": 9}, ("begin(5)", NONE, [])),
    "nor does one that goes back": ({}, ("begin(5); begin(6); begin(3)", NONE, [])),
    "time 0 is left like any other": ({}, ("begin(0); begin(1)", 0, [])),
    "a time that a child has made is begun by the rank": (
        {},
        ("begin(1); child('mkdir 2'); os.makedirs('2', exist_ok=True); os.makedirs('2', exist_ok=True)", 1, []),
    ),
    "a child that makes sure of a time changes nothing": (
        {},
        ("begin(1); begin(2); child('mkdir -p 1 2 2/uniform')", 1, []),
    ),
    "to unlink a directory, which cannot be, tells nothing": (
        {},
        ("begin(1); begin(2); purge(1)\ntry: os.unlink('2/uniform')\nexcept IsADirectoryError: pass", 1, [1]),
    ),
    "a time beyond all numbers is one, too": (
        {"other": 9},
        (
            "begin('1e999'); purge('1e999'); begin('1e-999'); purge('1e-999'); begin(1); begin(2)",
            1,
            ["1e-999", "1e999"],
        ),
    ),
    "a file whose name is too long to be handed over is told": (
        {},
        ("begin(1, 'x' * 254, 'p', 'uniform/time'); begin(2); purge(1)", 1, [1], 1),
    ),
}

library = os.path.abspath(sys.argv[1])
with Pair(library, build) as pair:
    outcomes = [report(name, Ranks(pair, **how).expect(*what)) for name, (how, what) in CASES.items()]
    for name, bytes_free, lacking in [
        ("what was written last when the pool is full may be cut", 0, 3),
        ("where there is room it is not", 100_000, NONE),
    ]:
        problems = in_a_pool_with(bytes_free, Ranks(pair, other=9), lacking)
        outcomes.append(skip(name, "mounting a pool needs root") if problems is None else report(name, problems))
    finish(outcomes)
