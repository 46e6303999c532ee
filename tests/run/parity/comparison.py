"""What is not the same in two looks at a directory (snapshot.py)."""

import os
import re
from typing import NamedTuple

ABSENT = "absent"
# What an entry has, in the order in which it is told. What an entry of its type does not have is None.
ATTRIBUTES = (
    "type",
    "mode",
    "owner",
    "group",
    "size",
    "content",
    "text",
    "device",
    "holes",
    "links",
    "xattrs",
    "acl",
    "mtime",
)
ORDERS = ("order", "times")


class Difference(NamedTuple):
    path: str
    attribute: str  # of ATTRIBUTES or ORDERS, "name" where only one side has the entry, "status" or "output" of the run
    direct: object
    forebay: object
    type: str = "run"

    def __str__(self):
        return f"{self.path}: {self.attribute}: directly {shown(self.direct)}, with forebay {shown(self.forebay)}"


def shown(value):
    text = str(value)
    # The end of what a program said tells why it failed.
    return text if len(text) <= 300 else text[:80] + " ... " + text[-200:]


def differences(direct, other, started=None, ordered=True, unlike=()):
    """How the look `other` differs from those in `direct`: one, or two of runs that were alike. Only what these two have
    alike is judged. A modification time is judged where they agree on it; where there is one, where it is older than
    `started` (ns): then nobody's clock made it. `ordered`: the program writes its files one after the
    other. `unlike`: names of files whose content is never the same twice."""
    found = []
    first, second = direct[0], direct[-1]
    block = max(look["block"] for look in (first, second, other))
    names = set(first["entries"]) & set(second["entries"])
    disputed = set(first["entries"]) ^ set(second["entries"])
    not_told = ()  # what lies below something that is a directory on one side only
    for path in sorted(names | set(other["entries"]) - disputed, key=lambda each: each.split("/")):
        if not_told and path.startswith(not_told):
            continue
        one, two, seen = (look["entries"].get(path) for look in (first, second, other))
        if one is None or seen is None:
            kind = (one or seen)["type"]
            found.append(Difference(path, "name", one and kind or ABSENT, seen and kind or ABSENT, kind))
            continue
        for attribute in ATTRIBUTES:
            if attribute in ("content", "size") and os.path.basename(path) in unlike:
                continue
            a, b, c = (comparable(each, attribute, block) for each in (one, two, seen))
            if attribute == "mtime" and len(direct) == 1 and not (started and a < started):
                continue
            if a == b and a != c:
                found.append(Difference(path, attribute, a, c, one["type"]))
            if attribute == "type" and one["type"] != seen["type"]:
                not_told = path + "/"
                break
    return found + (order_differences(first, second, other) if ordered else [])


def time_differences(tree, case):
    """Files that have another time of modification on the case than they had in the tree."""
    for path, entry in tree["entries"].items():
        arrived = case["entries"].get(path)
        if arrived and arrived["type"] == entry["type"] == "file" and arrived["mtime"] != entry["mtime"]:
            yield Difference(path, "mtime", f"in the tree {entry['mtime']}", arrived["mtime"], "file")


def comparable(entry, attribute, block):
    value = entry.get(attribute)
    if attribute != "holes" or not value:
        return None if value in ({}, []) else value
    # File systems keep holes in blocks of their own; what both can keep is compared.
    held = ([-(-start // block) * block, end if end == entry["size"] else end // block * block] for start, end in value)
    return [[start, end] for start, end in held if start < end] or None


def order_differences(first, second, other):
    """Entries that were last written in another order: a pair of which each direct run wrote one strictly earlier, and the
    other run strictly later. What several ranks write at once has no order, so what lies in the directory of a rank is
    compared with its like only; and so are the directories of times among each other ("times")."""
    groups = {}
    shared = set(first["entries"]) & set(second["entries"]) & set(other["entries"]) - {"."}
    for path in shared:
        kind = first["entries"][path]["type"]
        parent, _, name = path.rpartition("/")
        rank = re.match(r"processor\d+(?=/)", path)
        rank = rank.group() if rank else ""
        kind = kind if kind in ("directory", "link") else "file"
        groups.setdefault(("order", kind, rank), []).append(path)
        if kind == "directory" and re.fullmatch(r"\d[\d.e-]*", name):
            groups.setdefault(("times", "directory", parent), []).append(path)
    found = []
    for (attribute, kind, _), paths in sorted(groups.items()):
        times = {path: [look["entries"][path]["mtime"] for look in (first, second, other)] for path in paths}
        for older, path in inversions(times):
            found.append(Difference(path, attribute, f"newer than {older}", "older", kind))
    return found


def inversions(times):
    """Of names with three times each: for each name one that is strictly older by the first and the second time, and
    strictly newer by the third."""
    found = []
    ranks = {value: at for at, value in enumerate(sorted({each[1] for each in times.values()}), 1)}
    newest = [(-1, None)] * (len(ranks) + 1)  # a Fenwick tree: by second time, the newest third time and who has it

    def add(name):
        at = ranks[times[name][1]]
        while at < len(newest):
            newest[at] = max(newest[at], (times[name][2], name))
            at += at & -at

    def newest_below(at):
        best = (-1, None)
        while at > 0:
            best = max(best, newest[at], key=lambda each: each[0])
            at -= at & -at
        return best

    waiting, waiting_time = [], None
    for name in sorted(times, key=lambda each: times[each][0]):
        if times[name][0] != waiting_time:
            for each in waiting:
                add(each)
            waiting, waiting_time = [], times[name][0]
        time, witness = newest_below(ranks[times[name][1]] - 1)
        if witness is not None and time > times[name][2]:
            found.append((witness, name))
        waiting.append(name)
    return found
