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
import ctypes, os, shutil, struct, subprocess, sys
ctypes.CDLL("libm.so.6").feenableexcept(0x1 | 0x4 | 0x8)
os.chdir("processor0")
def begin(time, *files):
    os.makedirs(f"{time}/uniform")
    for file in files or ("p", "uniform/time"):
        with open(f"{time}/{file}", "w") as out: out.write(f"{file} of {time}")
def purge(time): shutil.rmtree(str(time))
def child(line): subprocess.run(["/bin/sh", "-c", line], check=True)
def other_leaves(time):
    with open(os.environ["FOREBAY_HOLD"], "r+b") as page:
        page.seek(128)
        page.write(struct.pack("=d", time))
LONG = "x" * 254
"""


class Ranks:
    def __init__(self, pair, other=NONE, other_lacks=(-NONE, NONE), held=False):
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
        struct.pack_into("=QQd", words, 0, int(held), 2, NONE)
        struct.pack_into("=ddd", words, 64, NONE, -NONE, NONE)
        struct.pack_into("=ddd", words, 128, other, *other_lacks)
        write(self.page, bytes(words))

    def run(self, steps):
        environment = self.pair.environment(FOREBAY_KEEP=self.keep, FOREBAY_HOLD=self.page)
        done = self.pair.run(["/usr/bin/python3", "-c", PROGRAM + steps], environment)
        if done.returncode != 0:
            return [done.stderr.decode()[-1500:]]
        return []

    def left_and_lacking(self):
        with open(self.page, "rb") as file:
            return struct.unpack_from("=ddd", file.read(), 64)

    def expect(self, steps, left, handed, lacking=(-NONE, NONE)):
        problems = self.run(steps)
        if self.left_and_lacking() != (left, *lacking):
            problems.append(f"left and lacking are {self.left_and_lacking()}, not {(left, *lacking)}")
        names = sorted(os.listdir(self.handed))
        wanted = sorted(f"{time}%2F{file}" for time in handed for file in ("p", "uniform%2Ftime"))
        if names != wanted:
            problems.append(f"handed over is {names}, not {wanted}")
        return problems


def build(case, shared):
    write(f"{case}/processor0/constant/points", "points\n")


def in_a_pool_with(bytes_free, ranks, what):
    """The mount is the keep's own. No link leads there, so what is purged is such as needs none."""
    pool = os.path.join(ranks.pair.local, "keep")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", pool], capture_output=True).returncode != 0:
        return None
    try:
        os.makedirs(ranks.handed)
        write(os.path.join(pool, "ballast"), bytes((1 << 20) - bytes_free))
        return ranks.expect(*what)
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
            "for time in '1e-9999', '1e9999', '9' * 200: begin(time); purge(time)\nbegin(1); begin(2)",
            1,
            ["1e-9999", "1e9999", "9" * 200],
        ),
    ),
    "a date is no time": ({}, ("begin(1); begin('2024-05-01'); begin('7.e'); begin('1.2.3'); begin(2)", 1, [])),
    "a file whose name is too long to be handed over is told": (
        {},
        ("begin(1, LONG); begin(2); os.unlink(f'1/{LONG}')", 1, [], (1, 1)),
    ),
    "what lacks a file is not handed over, and what is older not freed": (
        {"other": 9},
        ("begin(1); begin(2, LONG); purge(1); begin(3); os.unlink(f'2/{LONG}'); purge(2)", 2, [1], (2, 2)),
    ),
    "nor where the other rank lacks it": (
        {"other": 9, "other_lacks": (2, 5)},
        ("begin(1); begin(2); purge(1); begin(3); purge(2)", 2, [1]),
    ),
    "where every time lacks something, nothing of them is kept": (
        {"other": 99},
        (
            "begin(1); begin(2, 'p', LONG); purge(1)\n"
            "for time in range(2, 20): begin(time + 1, 'p', LONG); os.unlink(f'{time}/{LONG}'); purge(time)",
            19,
            [1],
            (19, 19),
        ),
    ),
    "a child that begins a time takes nothing back": (
        {},
        ("begin(1, LONG); begin(2); os.unlink(f'1/{LONG}'); child('mkdir 3')", NONE, [], (1, 1)),
    ),
    "it is freed with a newer one that lacks nothing": (
        {"other": 9, "other_lacks": (2, 5)},
        ("begin(1); begin(2); purge(1); begin(6); purge(2); begin(7); purge(6)", 6, [6]),
    ),
    "what comes between times that lack something may lack it, too": (
        {},
        ("for time in 1, 3: begin(time, LONG); begin(time + 1); os.unlink(f'{time}/{LONG}')", 3, [], (1, 3)),
    ),
    "what all have left behind does not matter any more": (
        {},
        (
            "for time in 1, 3: begin(time, LONG); begin(time + 1); os.unlink(f'{time}/{LONG}'); other_leaves(2)",
            3,
            [],
            (3, 3),
        ),
    ),
    "a program that goes back lacks nothing": (
        {},
        ("begin(1, LONG); begin(2); os.unlink(f'1/{LONG}'); begin(0)", NONE, []),
    ),
}

library = os.path.abspath(sys.argv[1])
with Pair(library, build) as pair:
    outcomes = [report(name, Ranks(pair, **how).expect(*what)) for name, (how, what) in CASES.items()]
    steps = "begin(1); begin(2); begin(3)"
    for name, bytes_free, *what in [
        ("what is left when the pool is full may be cut", 0, steps, NONE, [], (1, 2)),
        ("and what was written last, before room is made", 0, steps + "; purge(1)", NONE, [], (1, 3)),
        ("where there is room it is not", 100_000, steps + "; purge(1)", 2, []),
    ]:
        problems = in_a_pool_with(bytes_free, Ranks(pair, other=9), what)
        outcomes.append(skip(name, "mounting a pool needs root") if problems is None else report(name, problems))
    finish(outcomes)
