#!/usr/bin/env python3
"""What a seed stands for: a starting case, a program that does to it what programs do to files, and how it is run under
forebay. Pure: the same seed gives the same, so that one that fails can be done again.

    programs.py SEED        prints it
"""

import dataclasses
import os
import random
import shlex
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../drive"))

from plan import Operation  # noqa: E402

FIXED = range(1, 101)  # those of `make test`

DIRECTORIES = ("d", "d/e", "0", "0.orig", "1", "constant", "processor0", "processor0/0", "processor0/1")
NAMES = ("a", "b", "c", "U", "p")
SIZES = (0, 1, 700, 700, 700, 5000, 20000)  # equal ones are usual
TIMES = (1600000000, 1600000000, 1500000000)
MODES = (0o644, 0o600, 0o444, 0o664, 0o755)
PAUSES = (20, 80, 150, 300)  # milliseconds; with drain.settle=50ms
PRELUDE = "mkdir system constant && echo 'application player; startFrom startTime; startTime 0;' > system/controlDict"

# How often each verb is drawn. Its operands: "file", "directory", "any": one that is there; "name": one that need not be;
# "place": a name for a directory.
VERBS = {
    "create": (6, "name"),
    "fill": (3, "file"),
    "empty": (2, "file"),
    "exclusive": (2, "name"),
    "append2": (6, "file"),
    "append": (2, "name"),
    "replace": (5, "file"),
    "nameless": (3, "name"),
    "truncate": (4, "file"),
    "hole": (3, "file"),
    "allocate": (2, "file"),
    "inplace": (5, "file"),
    "rewrite": (3, "file"),
    "increment": (6, "file"),
    "map": (4, "file"),
    "store": (15, "mapped"),
    "unmap": (4, "mapped"),
    "open": (3, "name"),
    "close": (15, "opened"),
    "journal": (3, "file"),
    "pages": (3, "file"),
    "range": (3, "file", "name"),
    "exchange": (5, "any", "any"),
    "noreplace": (2, "any", "name"),
    "rename": (8, "any", "name"),
    "link": (5, "file", "name"),
    "lnf": (3, "file", "file"),
    "symlink": (3, "text", "name"),
    "chmod": (4, "any"),
    "utime": (4, "any"),
    "like": (3, "file", "file"),
    "mkdir": (5, "place"),
    "rmdir": (2, "directory"),
    "purge": (2, "directory"),
    "delete": (3, "any"),
    "remove": (6, "file"),
    "copy": (5, "file", "name"),
    "tree": (4, "directory", "place"),
    "tar": (3, "any", "directory"),
    "move": (4, "any", "place"),
    "fifo": (1, "name"),
    "read": (4, "file"),
    "look": (2, "any"),
    "list": (2, "directory"),
    "pause": (10,),
}
STARTS = ("create", "create", "create", "mkdir", "mkdir", "link", "symlink", "chmod", "utime", "utime", "copy", "tree")
# What is held between two lines is held by the process itself.
HELD = ("map", "store", "unmap", "open", "close", "pause")


@dataclasses.dataclass(frozen=True)
class Stress:
    seed: int
    way: str
    layout: str
    when: str
    user: str  # "root", "ordinary"
    copies: str  # pattern of inputs that are copied, "": none
    staged: bool
    start: tuple  # of Operation: what makes the case
    program: tuple

    def describe(self):
        inputs = "staged" if self.staged else f"copies of {self.copies}" if self.copies else "links"
        return f"{self.way}, {self.layout}, {self.when}, {self.user}, inputs are {inputs}, {len(self.program)} lines"

    def setup(self, player):
        lines = words_of(player, self.start)
        return f"{PRELUDE}\n{shlex.join(lines)}\n" if self.start else f"{PRELUDE}\n"


def words_of(player, operations):
    return [player, "do", *(each.line().strip() for each in operations)]


class _Tree:
    """What is there, as far as it is known: the operations that are drawn may fail."""

    def __init__(self, chance):
        self.chance = chance
        self.kinds = {"system": "directory", "constant": "directory", "system/controlDict": "file"}
        self.opened, self.mapped = {}, {}  # path -> the operation that holds it

    def there(self, kind):
        names = [name for name, each in sorted(self.kinds.items()) if kind in (each, "any")]
        return [name for name in names if not name.startswith("system")]

    def name(self):
        directory = self.chance.choice(["", "", *self.there("directory")])
        return os.path.join(directory, self.chance.choice(NAMES))

    def operand(self, what):
        if what in ("opened", "mapped"):
            held = getattr(self, what)
            return self.chance.choice(sorted(held)) if held else None
        if what == "place":
            return self.chance.choice(DIRECTORIES)
        if what == "text":
            return self.chance.choice((*NAMES, "../a", "d/b", "nowhere", *self.there("any")))
        known = self.there(what if what != "name" else "any")
        if what != "name":
            return self.chance.choice(known) if known else None
        return self.chance.choice(known) if known and self.chance.random() < 0.35 else self.name()

    def below(self, path):
        return [name for name in self.kinds if name == path or name.startswith(path + "/")]

    def forget(self, path):
        for name in self.below(path):
            del self.kinds[name]

    def put(self, path, kind):
        if os.path.dirname(path) in ("", *self.there("directory")):
            self.kinds.setdefault(path, kind)

    def copy(self, path, to):
        for name in self.below(path):
            self.kinds[to + name[len(path) :]] = self.kinds[name]

    def exchange(self, path, to):
        if path in self.below(to) or to in self.below(path):
            return
        self.copy(path, "exchanged")
        self.forget(path)
        self.copy(to, path)
        self.forget(to)
        self.copy("exchanged", to)
        self.forget("exchanged")

    def note(self, each):
        kind, path, to = each.kind, each.path, each.to
        if kind in (
            "create",
            "exclusive",
            "append",
            "append2",
            "nameless",
            "replace",
            "open",
            "journal",
            "pages",
            "fifo",
        ):
            self.put(path, "file")
        elif kind == "mkdir":
            self.put(path, "directory")
        elif kind in ("delete", "remove", "purge", "rmdir"):
            self.forget(path)
        elif kind in ("link", "lnf", "range", "copy", "symlink"):
            self.put(to, "file")
        elif kind in ("rename", "noreplace", "move"):
            within = kind == "move" and self.kinds.get(to) == "directory"
            to = os.path.join(to, os.path.basename(path)) if within else to
            if not to.startswith(path + "/") and to != path:
                self.copy(path, to)
                self.forget(path)
        elif kind == "exchange":
            self.exchange(path, to)
        elif kind == "tree":
            self.copy(path, os.path.join(to, os.path.basename(path)) if to in self.kinds else to)
        elif kind == "tar":
            self.copy(path, os.path.join(to, path))
        if kind == "open":
            self.opened[path] = each
        elif kind == "close":
            del self.opened[path]
        elif kind == "map":
            self.mapped[path] = each
        elif kind == "unmap":
            del self.mapped[path]


def _draw(chance, tree, kind, children):
    """An operation of this kind, or None where there is nothing that it could be done to."""
    if kind == "pause":
        return Operation(kind, size=chance.choice(PAUSES))
    if kind == "open" and len(tree.opened) > 4 or kind == "map" and len(tree.mapped) > 4:
        return None
    operands = [tree.operand(each) for each in VERBS[kind][1:]]
    if (
        None in operands
        or kind == "open"
        and operands[0] in tree.opened
        or kind == "map"
        and operands[0] in tree.mapped
    ):
        return None
    if len(operands) == 2 and f"{operands[1]}/".startswith(f"{operands[0]}/"):
        return None  # a copy of a directory into itself takes what the directory lists first
    if kind == "close":  # the second half of what was opened
        return dataclasses.replace(tree.opened[operands[0]], kind=kind)
    size = {"chmod": MODES, "utime": TIMES, "open": (700, 5000)}.get(kind, SIZES)
    if kind == "chmod" and tree.kinds.get(operands[0]) == "directory":
        size = (0o755, 0o700, 0o775)
    child = children and kind not in HELD and chance.random() < 0.2
    # Few versions: what is written again may be what was there.
    version = {"utime": 0, "hole": chance.choice((0, 1))}.get(kind, chance.randint(1, 4))
    return Operation(
        kind, *operands, size=max(chance.choice(size), kind in ("hole", "allocate")), version=version, child=child
    )


def _operations(chance, tree, kinds, weights, count, children):
    made = []
    while len(made) < count:
        each = _draw(chance, tree, chance.choices(kinds, weights)[0], children)
        if each is not None:
            tree.note(each)
            made.append(each)
    return made


def stress_of(seed):
    chance = random.Random(seed)
    way = chance.choices(("namespace", "redirect", "path"), (4, 3, 3))[0]
    tree = _Tree(chance)
    start = [Operation("mkdir", each) for each in chance.sample(("d", "0", "processor0"), 2)]
    start += [Operation("create", each, size=700, version=at) for at, each in enumerate(("a", "b"), 1)]
    for each in start:
        tree.note(each)
    start += _operations(chance, tree, STARTS, None, chance.randint(3, 10), False)
    if chance.random() < 0.7:  # a case that was unpacked or made long ago: all in one moment
        start += [Operation("utime", each, size=TIMES[0]) for each in tree.there("file")]
    verbs = list(VERBS)
    weights = [VERBS[each][0] for each in verbs]
    inputs = chance.choices(("links", "copies", "staged"), (5, 3, 2))[0]
    copies = chance.choice(("*", "d/*", "a")) if inputs == "copies" else ""
    # Without the library a program writes to inputs that are links on the case itself (docs/run/redirect.md, Limits).
    children = way == "namespace" and copies == "*"
    program = _operations(chance, tree, verbs, weights, chance.randint(4, 16), children)
    return Stress(
        seed=seed,
        way=way,
        layout=chance.choices(("verbatim", "collated"), (3, 1))[0],
        when=chance.choice(("live", "live", "end")),
        user=chance.choice(("root", "root", "ordinary")),
        copies=copies,
        staged=inputs == "staged",
        start=tuple(start),
        program=tuple(program),
    )


def main():
    stress = stress_of(int(sys.argv[1]))
    print(f"seed {stress.seed}: {stress.describe()}")
    for title, operations in (("start", stress.start), ("program", stress.program)):
        print(title)
        for each in operations:
            print(f"    {each.line()}", end="")


if __name__ == "__main__":
    main()
