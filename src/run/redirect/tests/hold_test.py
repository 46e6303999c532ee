"""What ranks tell each other of the times that they leave, what they hand over, and when they free it (src/run/drain/hold.h).

Each case runs one program as rank 0 of two; the other rank and the agent are played here.
"""

import itertools
import math
import os
import shutil
import struct
import subprocess
import sys

from harness import Pair, finish, ranks_page, report, skip, write

NONE = -math.inf
# What is invalid, divides by zero or overflows kills the program, as OpenFOAM wants it.
PROGRAM = """
import ctypes, itertools, os, shutil, struct, subprocess, sys
ctypes.CDLL("libm.so.6").feenableexcept(0x1 | 0x4 | 0x8)
os.chdir("processor0")
def begin(time, *files):
    os.makedirs(f"{time}/uniform")
    for file in files or ("p", "uniform/time"):
        with open(f"{time}/{file}", "w") as out: out.write(f"{file} of {time}")
def purge(time): shutil.rmtree(str(time))
class FileName(ctypes.Structure): _fields_ = [("text", ctypes.c_char_p)]
turns = itertools.count(int(os.environ["TURN"]))
def rm_dir(path, *others): # OpenFOAM's, of each version in turn; there is none behind the library
    others = others or ((), (False,), (False, False))[next(turns) % 3]
    remove = ctypes.CDLL(None)["_ZN4Foam5rmDirERKNS_8fileNameE" + "b" * len(others)]
    remove.restype = ctypes.c_bool
    return remove(ctypes.byref(FileName(str(path).encode())), *map(ctypes.c_bool, others))
def move(path): assert rm_dir(path) and not os.path.lexists(str(path))
def remove_by_module(path, arguments):
    module = ctypes.CDLL(os.environ["MODULE"], mode=os.RTLD_LOCAL)
    module.remove_from_here.restype = ctypes.c_bool
    return module.remove_from_here(str(path).encode(), arguments)
def stay(path, *others): assert not rm_dir(path, *others) and os.path.lexists(str(path))
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
        shutil.rmtree(self.handed)
        os.mkdir(self.handed)
        self.page = os.path.join(pair.local, "hold")
        words = bytearray(ranks_page(2, held))
        struct.pack_into("=ddd", words, 128, other, *other_lacks)
        write(self.page, bytes(words))

    def run(self, steps):
        environment = self.pair.environment(
            FOREBAY_KEEP=self.keep, FOREBAY_HOLD=self.page, MODULE=module, TURN=str(next(turns))
        )
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
        names = sorted(
            os.path.relpath(os.path.join(directory, name), self.handed)
            for directory, _, files in os.walk(self.handed)
            for name in files
        )
        whole = [time for time in handed if str(time).endswith("/")]
        single = [time for time in handed if ":" in str(time)]
        rest = [time for time in handed if time not in whole and time not in single]
        wanted = [f"{time}%2F{file}" for time in rest for file in ("p", "uniform%2Ftime")]
        wanted += [time.replace(":", "%2F") for time in single]
        wanted = sorted(wanted + [f"{time}{file}" for time in whole for file in ("p", "uniform/time")])
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
    "what all have left behind is freed when the rank begins another time": (
        {"other": 9},
        ("begin(1); begin(2); purge(1); begin(3); purge(2); begin(4); purge(3)", 3, [3]),
    ),
    "not before a newer one is handed over, with which it can be compared": (
        {"other": 9},
        ("begin(1); begin(2); purge(1); begin(3)", 2, [1]),
    ),
    "or when it writes a file after all have left it": (
        {},
        ("begin(1); begin(2); purge(1); begin(3); purge(2); other_leaves(2); open('3/U', 'w').close()", 2, [2]),
    ),
    "a time without all its files does not free it": (
        {"other": 9},
        (
            "begin(1); begin(2, 'vorticity'); purge(1); begin(3, 'vorticity'); shutil.rmtree('2'); begin(4)",
            3,
            [1, "2:vorticity"],
        ),
    ),
    "but the next one that has them does": (
        {"other": 9},
        ("begin(1); begin(2, 'vorticity'); purge(1); begin(3); begin(4); purge(3); begin(5)", 4, [3]),
    ),
    "one with more files does not": (
        {"other": 9},
        (
            "begin(1); begin(2, 'p', 'uniform/time', 'U'); purge(1); begin(3); purge(2); begin(4)",
            3,
            ["2:U", 1, 2],
        ),
    ),
    "but the next with the same does, however it was removed": (
        {"other": 9},
        (
            "begin(1); begin(2, 'p', 'uniform/time', 'U'); purge(1); begin(3); os.unlink('2/U'); purge(2); begin(4)\n"
            "purge(3); begin(5)",
            4,
            ["2:U", 2, 3],
        ),
    ),
    "of more times than it can compare at once, too": (
        {"other": 999},
        (
            "for time in range(1, 400): begin(time)\n"
            "for time in range(1, 399): other_leaves(0); purge(time)\n"
            "other_leaves(999); begin(400); purge(399); begin(401); purge(400); begin(402)",
            401,
            [400],
        ),
    ),
    "also where one was removed as a whole and the other was not": (
        {"other": 9},
        ("begin(1); begin(2); move(1); begin(3); purge(2); begin(4)", 3, [2]),
    ),
    "of times that differ four are held, those with most files": (
        {"other": 9},
        (
            "for time in range(1, 7): begin(time, *(f'{time}{i}' for i in range(time)))\n"
            "begin(7)\nfor time in range(1, 7): purge(time)\nbegin(8)",
            7,
            [f"{time}:{time}{i}" for time in (3, 4, 5, 6) for i in range(time)],
        ),
    ),
    "not when it reads one": (
        {},
        ("begin(1); begin(2); purge(1); begin(3); other_leaves(2); open('3/p').close()", 2, [1]),
    ),
    "nor while the agent looks": (
        {"other": 9, "held": True},
        ("begin(1); begin(2); begin(3); purge(1); begin(4); open('4/U', 'w').close()", 3, [1]),
    ),
    "what is older than the last is handed over, too": (
        {"other": 2},
        ("begin(1); begin(2); begin(3); purge(1)", 2, [1]),
    ),
    "a time that OpenFOAM removes is handed over as a whole": ({}, ("begin(1); begin(2); move(1)", 1, ["1/"])),
    "by OpenFOAM of any version": (
        {},
        ("for time in range(1, 5): begin(time)\nfor time in range(1, 4): move(time)", 3, ["1/", "2/", "3/"]),
    ),
    "but not where only empty directories are to go": ({}, ("begin(1); begin(2); stay(1, True, True)", 1, [])),
    "whatever way it is named": (
        {},
        ("begin(1); begin(2); begin(3); move('./1//'); move(os.path.abspath('2'))", 2, ["1/", "2/"]),
    ),
    "and freed when all have left the next one": (
        {"other": 9},
        ("begin(1); begin(2); move(1); begin(3); move(2); begin(4); move(3)", 3, ["3/"]),
    ),
    "beside what was handed over file by file": (
        {},
        ("begin(1); begin(2); begin(3); begin(4); purge(2); move(1); purge(3)", 3, [2, "1/", 3]),
    ),
    "and freed beside it": (
        {},
        ("begin(1); begin(2); begin(3); purge(2); move(1); other_leaves(9); begin(4)", 3, [2]),
    ),
    "not while the agent looks": ({"held": True}, ("begin(1); begin(2); stay(1)", 1, [])),
    "what is older than the last that all have left, too": (
        {"other": 2},
        ("begin(1); begin(2); begin(3); move(1)", 2, ["1/"]),
    ),
    "nor what lacks a file": (
        {},
        ("begin(1, 'p', LONG); begin(2); os.unlink(f'1/{LONG}'); stay(1)", 1, [], (1, 1)),
    ),
    "nor what is no time of the rank": (
        {},
        ("begin(1); begin(2); os.symlink('1', '1.5'); stay('1.5'); stay('1/uniform'); stay('constant')", 1, []),
    ),
    "a module that has brought an OpenFOAM along is served by it, or by us": (
        {},
        (
            "for time in range(1, 5): begin(time)\n"
            "for time in range(1, 4):\n"
            "    os.mkdir('other'); assert remove_by_module('other', time) and remove_by_module(time, time)\n"
            "    assert not os.path.exists('other') and not remove_by_module('other', time)",
            3,
            ["1/", "2/", "3/"],
        ),
    ),
    "a time that was made anew takes the place of its older self": (
        {},
        (
            "begin(1, 'U'); begin(2); move(1); begin(1); begin(3); move(1)",
            1,
            ["1/"],
        ),
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
        {"other": 2},
        ("begin(1); begin(2); begin(3, LONG); begin(4); os.unlink(f'3/{LONG}'); purge(2); purge(3)", 3, [2], (3, 3)),
    ),
    "where something lacked a file, what is older is freed with the next purge": (
        {"other": 9},
        ("begin(1, LONG); begin(2); os.unlink(f'1/{LONG}'); begin(3); purge(2); begin(4)", 3, [2], (1, 1)),
    ),
    "nor where the other rank lacks it": (
        {"other": 9, "other_lacks": (2, 5)},
        ("begin(1); begin(2); purge(1); begin(3); purge(2)", 2, [1]),
    ),
    "where every time lacks something, nothing of them is kept": (
        {"other": 99},
        (
            "begin(1, 'p', LONG)\n"
            "for time in range(1, 20): begin(time + 1, 'p', LONG); os.unlink(f'{time}/{LONG}'); purge(time)",
            19,
            [],
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

library, module = map(os.path.abspath, sys.argv[1:])
turns = itertools.count()
with Pair(library, build) as pair:
    outcomes = [report(name, Ranks(pair, **how).expect(*what)) for name, (how, what) in CASES.items()]
    steps = "begin(1); begin(2); begin(3)"
    for name, bytes_free, *what in [
        ("what is left when the pool is full may be cut", 0, steps, NONE, [], (1, 2)),
        ("and what was written last, before room is made", 0, steps + "; purge(1)", NONE, [], (1, 3)),
        ("where there is room it is not", 100_000, steps, 2, []),
    ]:
        problems = in_a_pool_with(bytes_free, Ranks(pair, other=9), what)
        outcomes.append(skip(name, "mounting a pool needs root") if problems is None else report(name, problems))
    finish(outcomes)
