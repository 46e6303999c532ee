#!/usr/bin/python3
"""Draws which rooms of src/ use which, from what CMake has written of its targets.

rooms.py BUILD_TREE/rooms.txt DRAWING.svg      (needs dot, of Debian's package graphviz)

A room that another one uses already through a third is not drawn twice.
"""

import html
import re
import subprocess
import sys
from pathlib import Path

PRODUCTS = ("run", "meshes", "arrays", "store")
FLOOR = ("api", "base")
COLOURS = {"run": "#dbeafe", "meshes": "#dcfce7", "arrays": "#ffedd5", "store": "#ede9fe", "": "#f1f5f9"}

Rooms = dict[str, set[str]]  # what each uses


def read(path: Path) -> Rooms:
    lines = (line.partition(":") for line in path.read_text().splitlines())
    return {room: set(used.split()) for room, _, used in lines}


def circle(rooms: Rooms) -> list[str]:
    """Rooms of which each uses the next one, and the last is the first; empty where there are none."""
    done: set[str] = set()

    def follow(room: str, way: list[str]) -> list[str]:
        if room in way:
            return [*way[way.index(room) :], room]
        if room in done:
            return []
        found = next((found for used in sorted(rooms[room]) if (found := follow(used, [*way, room]))), [])
        done.add(room)
        return found

    return next((found for room in sorted(rooms) if (found := follow(room, []))), [])


def below(rooms: Rooms, room: str) -> set[str]:
    """All that it uses, through others, too. There must be no circle."""
    return rooms[room].union(*(below(rooms, used) for used in rooms[room]))


def without_shortcuts(rooms: Rooms) -> Rooms:
    return {room: used.difference(*(below(rooms, each) for each in used)) for room, used in rooms.items()}


def product_of(room: str) -> str:
    """Empty for the floor, for the programs, and for `files`, which is over all."""
    first = room.partition("/")[0]
    return first if first in PRODUCTS else ""


def as_dot(rooms: Rooms) -> str:
    lines = [
        "digraph rooms {",
        'bgcolor="white"; nodesep=0.15; ranksep=0.35;',
        'node [shape=box style="filled,rounded" fillcolor=white color="#475569" fontname="sans-serif" fontsize=11 height=0.3];',
        'edge [color="#475569" arrowsize=0.6];',
    ]
    for product in (*PRODUCTS, ""):
        lines += [f"subgraph cluster_{product} {{", f'label="{product}"; fontname="sans-serif"; labeljust=l;']
        lines += [f'style="filled,rounded"; color="{COLOURS[product]}";']
        inside = [room for room in sorted(rooms) if (product_of(room) == product if product else room in FLOOR)]
        lines += [f'"{room}" [label="{room.rpartition("/")[2]}"];' for room in inside]
        lines += ["}"]
    lines += [f'"{room}" -> "{used}";' for room in sorted(rooms) for used in sorted(rooms[room])]
    return "\n".join([*lines, "}"])


def drawn(svg: str) -> set[tuple[str, str]]:
    """The arrows of a drawing, by the titles that dot gives them."""
    return {(one, other) for one, other in re.findall(r"<title>([^<]+)->([^<]+)</title>", html.unescape(svg))}


def main() -> int:
    rooms = read(Path(sys.argv[1]))
    if found := circle(rooms):
        print(f"rooms: a circle, {' -> '.join(found)}", file=sys.stderr)
        return 1
    rooms = without_shortcuts(rooms)
    done = subprocess.run(["dot", "-Tsvg"], input=as_dot(rooms), stdout=subprocess.PIPE, text=True, check=True)
    Path(sys.argv[2]).write_text(done.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
