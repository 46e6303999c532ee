"""The library makes of names and pages what the contract says: the vectors of src/run/contract/tests, which its unit test
reads too, by what can be seen of the library."""

import os
import struct
import subprocess
import sys

from harness import CONTRACT, Pair, finish, ranks_page, report, write

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../contract/tests/vectors.txt")
# Each time is begun, and left for one that is later than all; then a file of it is removed.
TIMES = """
import os, struct, sys
os.chdir("processor0")
def make(path):
    try: os.mkdir(path)
    except FileExistsError: pass
    except OSError: return False  # of a name that no directory has
    return True
def left():
    with open(os.environ["FOREBAY_HOLD"], "rb") as page: return struct.unpack_from("=d", page.read(), 64)[0]
names, flat = (part.split("\\n") for part in sys.stdin.read().split("\\n\\n"))
for name in names:
    if not make(name): continue
    make("9e299")
    print(left().hex())
for path in [f"{name}/U" for name in names] + flat:
    try: os.makedirs(os.path.dirname(path), exist_ok=True)
    except OSError: continue
    open(path, "w").close()
    os.unlink(path)
"""


def vectors_of(kind):
    with open(VECTORS) as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return [line[1:] for line in lines if line[0] == kind]


def build(case, shared):
    write(f"{case}/processor0/constant/points", "points\n")


class Rank:
    """The only one, of an agent that looks: nothing that is handed over is freed."""

    def __init__(self, pair, version=CONTRACT):
        pair.renew()
        pair.stage()
        self.handed = os.path.join(pair.local, "keep/processor0/handed-over")
        os.makedirs(self.handed, exist_ok=True)
        self.page = os.path.join(pair.local, "hold")
        write(self.page, ranks_page(1, held=True, version=version))
        self.environment = pair.environment(FOREBAY_KEEP=os.path.dirname(self.handed), FOREBAY_HOLD=self.page)


def start(pair, environment, *command, text=""):
    command = ["/usr/bin/python3", "-c", *command]
    try:
        return subprocess.run(
            command, cwd=pair.tree, env=environment, input=text, capture_output=True, text=True, timeout=20
        )
    except subprocess.TimeoutExpired:  # a library that obeys the closed gate
        return subprocess.CompletedProcess(command, 1, "", "it waits")


def times_and_files(pair):
    rank = Rank(pair)
    # Of longer ones the files' names are too long to be handed over.
    times = [(name, float(value)) for name, value in vectors_of("time") if len(name) < 250]
    others = [name for (name,) in vectors_of("no-time") if len(name) < 250]
    flat = vectors_of("flat")
    names = [name for name, _ in times] + others
    text = "\n".join(names) + "\n\n" + "\n".join(f"{time}/{file}" for time, file, _ in flat)
    done = start(pair, rank.environment, TIMES, text=text)
    if done.returncode != 0:
        return [done.stderr[-1500:]]
    lefts = [float.fromhex(line) for line in done.stdout.split()]
    problems = []
    for (name, value), left in zip(times, lefts, strict=False):
        if abs(value) < 1e299 and left != value:
            problems.append(f"{name} is left as {left!r}, not {value!r}")
    handed = sorted(os.listdir(rank.handed))
    wanted = sorted({f"{name}%2FU" for name, _ in times} | {name for _, _, name in flat})
    return problems + ([f"handed over is {handed}, not {wanted}"] if handed != wanted else [])


def words(pair):
    rank = Rank(pair)
    vectors = vectors_of("word")
    write(os.path.join(pair.tree, "made"), "in the tree\n")
    environment = {**rank.environment, "FOREBAY_CASE_ALIASES": ":".join(word for _, word in vectors)}
    done = start(
        pair, environment, "import sys\nfor path in sys.argv[1:]: open(path + '/made')", *(v[0] for v in vectors)
    )
    return [done.stderr[-1500:]] if done.returncode != 0 else []


def version(pair, number, is_ours):
    """Of the agent. The gate is closed, and calls are to be noted."""
    rank = Rank(pair, number)
    gate, errors = os.path.join(pair.local, "gate"), os.path.join(pair.local, "errors")
    write(gate, struct.pack("=I", 0 if is_ours else 1))
    write(errors, struct.pack("=Q", CONTRACT) + bytes(8192 - 8))
    environment = dict(rank.environment, FOREBAY_GATE=gate, FOREBAY_ERRORS=errors)
    done = start(pair, environment, f"open({pair.case!r} + '/result', 'w').close()")
    problems = [f"exit {done.returncode}: {done.stderr[-1500:]}"] if done.returncode != 0 else []
    said = done.stderr.splitlines()
    if is_ours and said:
        problems.append(f"it says {said}")
    if not is_ours and (len(said) != 1 or not said[0].startswith("forebay: ") or "version" not in said[0]):
        problems.append(f"it says {said}, not one line of versions")
    there = [os.path.exists(os.path.join(place, "result")) for place in (pair.tree, pair.case)]
    if there != [is_ours, not is_ours]:
        problems.append(f"what was written is in the tree, in the case: {there}")
    with open(errors, "rb") as file:
        noting = struct.unpack_from("=Q", file.read(), 24)[0]
    if noting != int(is_ours):
        problems.append(f"{noting} programs note what fails")
    with open(rank.page, "rb") as file:
        page = file.read()
    if page != ranks_page(1, held=True, version=number):
        problems.append("the ranks' page was written to")
    return problems


library = os.path.abspath(sys.argv[1])
with Pair(library, build) as pair:
    finish(
        [
            report("times, their values and their files' names", times_and_files(pair)),
            report("paths in a list", words(pair)),
            report("an agent of the same version", version(pair, CONTRACT, True)),
            report("of a later one: the program is left alone", version(pair, CONTRACT + 1, False)),
            report("of one from before there were versions", version(pair, 0, False)),
        ]
    )
