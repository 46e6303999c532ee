"""What the library writes down of the times of its rank, and where a purge goes (src/run/redirect/times.h).

Each case runs one program as rank 0 of two. What is purged lies in `keep`, since no agent frees it here.
"""

import itertools
import os
import shutil
import sys

from harness import Pair, finish, kept_files, lines_of, ranks_page, report, write

STATE, CUT, AGAIN = 1, 1, 2
# An invalid operation, a division by zero or an overflow kills the program, as OpenFOAM wants it.
PROGRAM = """
import ctypes, itertools, os, shutil, subprocess, sys, threading
ctypes.CDLL("libm.so.6").feenableexcept(0x1 | 0x4 | 0x8)
os.makedirs(os.environ["DIRECTORY"], exist_ok=True)
os.chdir(os.environ["DIRECTORY"])
def put(path, text="x"):
    with open(path, "w") as out: out.write(text)
def begin(time, *files):
    os.makedirs(f"{time}/uniform")
    for file in files or ("uniform/time", "p"): put(f"{time}/{file}")
def purge(time): shutil.rmtree(str(time))
class FileName(ctypes.Structure): _fields_ = [("text", ctypes.c_char_p)]
turns = itertools.count(int(os.environ["TURN"]))
def rm_dir(path, *others): # OpenFOAM's, of each version in turn; there is none behind the library
    others = others or ((), (False,), (False, False))[next(turns) % 3]
    remove = ctypes.CDLL(None)["_ZN4Foam5rmDirERKNS_8fileNameE" + "b" * len(others)]
    remove.restype = ctypes.c_bool
    return remove(ctypes.byref(FileName(str(path).encode())), *map(ctypes.c_bool, others))
def move(path): assert rm_dir(path) and not os.path.lexists(str(path))
def stay(path, *others): assert not rm_dir(path, *others) and os.path.lexists(str(path))
def remove_by_module(path, arguments):
    module = ctypes.CDLL(os.environ["MODULE"], mode=os.RTLD_LOCAL)
    module.remove_from_here.restype = ctypes.c_bool
    return module.remove_from_here(str(path).encode(), arguments)
def in_thread(path):
    thread = threading.Thread(target=put, args=(path,))
    thread.start(); thread.join()
def child(line): subprocess.run(["/bin/sh", "-c", line], check=True)
LONG = "1e-" + "0" * 30
"""


class Rank:
    """One of two, whose times lie in this directory of the case."""

    def __init__(self, pair, directory="processor0", number=0):
        pair.renew()
        pair.stage()
        self.pair, self.directory, self.number = pair, directory, number
        self.keep = os.path.join(pair.local, "keep", directory)
        shutil.rmtree(self.keep, ignore_errors=True)
        os.makedirs(self.keep)
        self.page = os.path.join(pair.local, "pages")
        write(self.page, ranks_page(2))

    def expect(self, steps, lines, purged=(), **words):
        environment = self.pair.environment(
            FOREBAY_KEEP=self.keep,
            FOREBAY_PAGE=self.page,
            MODULE=module,
            TURN=str(next(turns)),
            DIRECTORY=self.directory,
        )
        done = self.pair.run(["/usr/bin/python3", "-c", PROGRAM + steps], environment)
        if done.returncode != 0:
            return [done.stderr.decode()[-1500:]]
        problems = []
        page, found = lines_of(self.page, self.number)
        if list(found.values()) != lines:
            problems.append(f"the lines are {list(found.values())}, not {lines}")
        problems += [f"{word} is {page[word]}, not {value}" for word, value in words.items() if page[word] != value]
        if lines_of(self.page, 1 - self.number)[1]:
            problems.append("the other rank has lines")
        names = kept_files(self.keep)
        if names != sorted(purged):
            problems.append(f"purged is {names}, not {sorted(purged)}")
        return problems


def build(case, shared):
    for rank in "01":
        write(f"{case}/processor{rank}/constant/points", "points\n")
    write(f"{case}/processor0/0/p", "of the start\n")


def time_of(line, *files):
    return [f"{line}/{file}" for file in files or ("p", "uniform/time")]


CASES = {
    "a time that is made is a line, and its uniform/time a state": (
        "begin(1)",
        [("1", 1, 0, 0)],
        [],
        {"begun": 1, "states": 1},
    ),
    "one without a state has no number": ("begin(1, 'U'); begin(2)", [("1", 0, 0, 0), ("2", 1, 0, 0)], []),
    "a mesh is that of later lines, too": (
        "os.makedirs('1/polyMesh'); put('1/polyMesh/faces'); begin(2)",
        [("1", 0, 1, 0), ("2", 1, 1, 0)],
        [],
        {"mesh": 1},
    ),
    "what is put into an older time that stands with a state begins nothing": (
        "begin(1); begin(2); put('1/late')",
        [("1", 1, 0, 0), ("2", 2, 0, 0)],
        [],
    ),
    "but its state does": (
        "begin(1); begin(2); put('1/uniform/time')",
        [("1", 1, 0, 0), ("2", 2, 0, 0), ("1", 3, 0, AGAIN)],
        [],
    ),
    "and so does any file of one without": (
        "begin(1, 'U'); begin(2); put('1/U')",
        [("1", 0, 0, 0), ("2", 1, 0, 0), ("1", 0, 0, AGAIN)],
        [],
    ),
    "the start time that is written over is begun": ("put('0/p')", [("0", 0, 0, 0)], []),
    "to read begins nothing": ("open('0/p').read()", [], []),
    "a thread begins nothing, and moves its place": (
        "begin(1); begin(2); in_thread('1/q'); begin(3); in_thread('2/q')",
        [("1", 1, 0, 0), ("2", 2, 0, 0), ("3", 3, 0, 0)],
        [],
        {"place": 2},
    ),
    "it never moves backwards": (
        "begin(1); begin(2); in_thread('2/q'); in_thread('1/q')",
        [("1", 1, 0, 0), ("2", 2, 0, 0)],
        [],
        {"place": 2},
    ),
    "a child's time is no line of its own page's rank unless it has the library": (
        "begin(1); child('mkdir 2')",
        [("1", 1, 0, 0), ("2", 0, 0, 0)],
        [],
    ),
    "times of other ranks are theirs": ("os.mkdir('../processor1/7'); put('../processor1/7/p')", [], []),
    "what is no time is none": ("begin('2024-05-01'); begin('1.2.3'); begin('constant2')", [], []),
    "a name that is too long cannot be told": ("begin(LONG); begin(1)", [("", 0, 0, 0), ("1", 1, 0, 0)], []),
    "only the newest lines are there": (
        "for time in range(1, 2001): begin(time)",
        [(str(time), time, 0, 0) for time in [1785, *range(1786, 2001), *range(1746, 1785)]],
        [],
        {"begun": 2000},
    ),
    "a time that OpenFOAM removes goes as a whole": (
        "begin(1); begin(2); move(1)",
        [("1", 1, 0, 0), ("2", 2, 0, 0)],
        time_of("1.1"),
    ),
    "by OpenFOAM of any version": (
        "for time in range(1, 5): begin(time)\nfor time in range(1, 4): move(time)",
        [(str(time), time, 0, 0) for time in range(1, 5)],
        time_of("1.1") + time_of("2.2") + time_of("3.3"),
    ),
    "but not where only empty directories are to go": (
        "begin(1); begin(2); stay(1, True, True)",
        [("1", 1, 0, 0), ("2", 2, 0, 0)],
        [],
    ),
    "whatever way it is named": (
        "begin(1); begin(2); move('./1//'); move(os.path.abspath('2'))",
        [("1", 1, 0, 0), ("2", 2, 0, 0)],
        time_of("1.1") + time_of("2.2"),
    ),
    "one that is removed name by name goes name by name": (
        "begin(1); begin(2); purge(1)",
        [("1", 1, 0, 0), ("2", 2, 0, 0)],
        time_of("1.1"),
    ),
    "in any order, with what is left later": (
        "begin(1); os.unlink('1/p'); begin(2); purge(1)",
        [("1", 1, 0, 0), ("2", 2, 0, 0)],
        time_of("1.1"),
    ),
    "whatever its files are called": (
        "begin(1, 'a%s', 'b%', 'c%p%s'); [os.unlink('1/' + name) for name in ('a%s', 'b%', 'c%p%s')]",
        [("1", 0, 0, 0)],
        ["1.1/a%s", "1.1/b%", "1.1/c%p%s"],
    ),
    "a time begun again goes by its new line": (
        "begin(1); move(1); begin(1); begin(2); move(1)",
        [("1", 1, 0, 0), ("1", 2, 0, AGAIN), ("2", 3, 0, 0)],
        time_of("1.1") + time_of("1.2"),
    ),
    "what is no time of the rank stays": (
        "begin(1); begin(2); os.symlink('1', '1.5'); stay('1.5'); stay('1/uniform'); stay('constant'); stay('0')",
        [("1", 1, 0, 0), ("2", 2, 0, 0)],
        [],
    ),
    "a directory cannot be unlinked": (
        "begin(1)\ntry: os.unlink('1/uniform')\nexcept IsADirectoryError: pass\nassert os.path.isdir('1/uniform')",
        [("1", 1, 0, 0)],
        [],
    ),
    "an input of the start time is removed": ("os.unlink('0/p')", [], []),
    "a module that has brought an OpenFOAM along is served by it, or by us": (
        "for time in range(1, 5): begin(time)\n"
        "for time in range(1, 4):\n"
        "    os.mkdir('other'); assert remove_by_module('other', time) and remove_by_module(time, time)\n"
        "    assert not os.path.exists('other') and not remove_by_module('other', time)",
        [(str(time), time, 0, 0) for time in range(1, 5)],
        time_of("1.1") + time_of("2.2") + time_of("3.3"),
    ),
    "who has purged many times asks for a look": (
        "for time in range(1, 7): begin(time)\nfor time in range(1, 6): move(time)",
        [(str(time), time, 0, 0) for time in range(1, 7)],
        sum((time_of(f"{time}.{time}") for time in range(1, 6)), []),
        {"kept": 5},
    ),
}

library, module = map(os.path.abspath, sys.argv[1:])
turns = itertools.count()
with Pair(library, build) as pair:
    outcomes = []
    for name, (steps, lines, kept, *words) in CASES.items():
        outcomes.append(report(name, Rank(pair).expect(steps, lines, kept, **(words[0] if words else {}))))
    for directory, number in (("processors2", 0), ("processors2_0-0", 0), ("processors2_1-1", 1)):
        steps = "begin(1); begin(2); os.makedirs('../processor0/3'); move(1)"
        problems = Rank(pair, directory, number).expect(steps, [("1", 1, 0, 0), ("2", 2, 0, 0)], time_of("1.1"))
        outcomes.append(report(f"the first rank of a group has its times: {directory}", problems))
    finish(outcomes)
