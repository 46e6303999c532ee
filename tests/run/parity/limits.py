"""The table of docs/run/limits.md: what may differ between a run under forebay and a direct one.

A row has five cells: what differs (`mode`, `owner group`, ...), where it is seen (`tree`, `case` or `run`), which paths
(`*` within a name, `**` across directories), under which conditions (`way=path`, all of them must hold; a dash for none),
and why. A cell's words are between backquotes, but for the reason. What does not read like that is an error.
"""

import os
import re
from typing import NamedTuple

from comparison import ATTRIBUTES, ORDERS

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/run/limits.md")
HEAD = ["differs", "seen in", "which", "when", "why"]
DIFFERENT = {"name", *ATTRIBUTES, *ORDERS, "status", "output"}
PLACES = {"tree", "case", "run"}
CONDITIONS = {
    "way": {"namespace", "redirect", "path"},
    "layout": {"verbatim", "collated"},
    "drain": {"live", "end"},
    "user": {"root", "ordinary"},
    "library": {"yes", "no"},  # whether the redirection library is loaded into the program
    "type": {"file", "directory", "link", "pipe", "socket", "device", "run"},
    "origin": {"input", "untouched", "written", "output"},  # an untouched or written one is an input, too
    "names": {"linked", "joined"},  # of the input were several; or the program joined the file with an input
    "forebay": {"absent", "setgid"},  # it is only missing there: an attribute, a name; or there is only this bit more
    "inherits": {"acl", "group"},  # it lies in a directory that hands down its access list, or its group (setgid)
}


class LimitsError(Exception):
    pass


class Row(NamedTuple):
    differs: frozenset
    places: frozenset
    which: str
    conditions: dict
    why: str
    line: int

    def asks(self, name, value):
        return value in self.conditions.get(name, ())

    def allows(self, place, difference, circumstances):
        """`circumstances`: the value of each condition, or the set of its values."""
        if difference.attribute not in self.differs or place not in self.places:
            return False
        if not re.fullmatch(pattern(self.which), difference.path, re.DOTALL):
            return False
        return all(wanted & circumstances[name] for name, wanted in self.conditions.items())


def pattern(which):
    """The regular expression of a glob; "**/" also stands for no directory at all."""
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    return re.sub(r"\*\*/|\*\*|\*|[^*]+", lambda part: words.get(part.group(), re.escape(part.group())), which)


def words_of(cell, line, what):
    text = cell.strip()
    if not re.fullmatch(r"`[^`]+`(,? `[^`]+`)*", text):
        raise LimitsError(f"line {line}: '{text}' does not tell {what} between backquotes")
    return re.findall(r"`([^`]+)`", text)


def known(words, allowed, line, what):
    unknown = [word for word in words if word not in allowed]
    if unknown:
        raise LimitsError(f"line {line}: {what} '{unknown[0]}' is unknown; there are {', '.join(sorted(allowed))}")
    return frozenset(words)


def row_of(cells, line):
    if len(cells) != len(HEAD):
        raise LimitsError(f"line {line}: {len(cells)} cells where {len(HEAD)} are needed ({', '.join(HEAD)})")
    differs = known(words_of(cells[0], line, "what differs"), DIFFERENT, line, "the attribute")
    places = known(words_of(cells[1], line, "where it is seen"), PLACES, line, "the place")
    which = words_of(cells[2], line, "which paths")
    if len(which) != 1:
        raise LimitsError(f"line {line}: one pattern of paths is needed")
    conditions = {}
    for word in [] if cells[3].strip() == "-" else words_of(cells[3], line, "when"):
        name, equals, values = word.partition("=")
        if not equals or name not in CONDITIONS or name in conditions:
            raise LimitsError(f"line {line}: '{word}' is no condition; there are {', '.join(sorted(CONDITIONS))}")
        conditions[name] = known(values.split(","), CONDITIONS[name], line, f"{name}=")
    if not cells[4].strip():
        raise LimitsError(f"line {line}: a reason is missing")
    return Row(differs, places, which[0], conditions, cells[4].strip(), line)


def read(path=PAGE):
    """The rows of the one table of the page that begins with HEAD."""
    rows, within = [], False
    with open(path) as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line.startswith("|"):
                within = False
                continue
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if cells == HEAD:
                within = True
            elif within and not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                rows.append(row_of(cells, number))
    if not rows:
        raise LimitsError(f"{path} has no table with the columns {', '.join(HEAD)}")
    return rows


def judge(rows, place, found, circumstances_of):
    """Two lists: pairs of a difference and the row that allows it, and differences that nothing allows."""
    allowed, left = [], []
    for difference in found:
        circumstances = circumstances_of(difference)
        row = next((row for row in rows if row.allows(place, difference, circumstances)), None)
        if row:
            allowed.append((difference, row))
        else:
            left.append(difference)
    return allowed, left
