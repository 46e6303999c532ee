"""The library makes of names and pages what the contract says: the vectors of src/run/contract/tests, which its unit test
reads too, by what can be seen of the library."""

import os
import struct
import subprocess
import sys

from harness import CONTRACT, Pair, finish, lines_of, ranks_page, report, write

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../contract/tests/vectors.txt")
# Each time is begun; what is no time begins nothing.
TIMES = """
import os, sys
os.chdir("processor0")
for name in sys.stdin.read().split("\\n"):
    try: os.mkdir(name)
    except OSError: pass  # of a name that no directory has
"""


def vectors_of(kind):
    with open(VECTORS) as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return [line[1:] for line in lines if line[0] == kind]


def build(case, shared):
    write(f"{case}/processor0/constant/points", "points\n")


class Rank:
    """The only one."""

    def __init__(self, pair, version=CONTRACT):
        pair.renew()
        pair.stage()
        self.keep = os.path.join(pair.local, "keep/processor0")
        os.makedirs(self.keep, exist_ok=True)
        self.page = os.path.join(pair.local, "pages")
        write(self.page, ranks_page(1, version=version))
        self.environment = pair.environment(FOREBAY_KEEP=self.keep, FOREBAY_PAGE=self.page)


def start(pair, environment, *command, text=""):
    command = ["/usr/bin/python3", "-c", *command]
    try:
        return subprocess.run(
            command, cwd=pair.tree, env=environment, input=text, capture_output=True, text=True, timeout=20
        )
    except subprocess.TimeoutExpired:  # a library that obeys the closed gate
        return subprocess.CompletedProcess(command, 1, "", "it waits")


def times(pair):
    rank = Rank(pair)
    short = [name for (name, *_) in vectors_of("time") if len(name) < 24]
    others = [name for (name,) in vectors_of("no-time") if 0 < len(name) < 250]
    done = start(pair, rank.environment, TIMES, text="\n".join(short + others))
    if done.returncode != 0:
        return [done.stderr[-1500:]]
    _, lines = lines_of(rank.page)
    begun = [name for name, *_ in lines.values()]
    wanted = list(dict.fromkeys(short))
    return [f"begun is {begun}, not {wanted}"] if begun != wanted else []


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
    if page != ranks_page(1, version=number):
        problems.append("the ranks' page was written to")
    return problems


library = os.path.abspath(sys.argv[1])
with Pair(library, build) as pair:
    finish(
        [
            report("the names of times", times(pair)),
            report("paths in a list", words(pair)),
            report("an agent of the same version", version(pair, CONTRACT, True)),
            report("of a later one: the program is left alone", version(pair, CONTRACT + 1, False)),
            report("of one from before there were versions", version(pair, 0, False)),
        ]
    )
