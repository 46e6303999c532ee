"""Which rooms use which: no circle, no product that uses another but as docs/design.md says, nothing that is included from
elsewhere, and a drawing that is today's.

rooms_test.py BUILD_TREE/rooms.txt [unittest arguments]
"""

import re
import sys
import unittest
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCES / "scripts"))

import rooms  # noqa: E402

USED: rooms.Rooms = {}  # in this build tree
INCLUDE = re.compile(r'^#include "([^"]+)/[^"/]+"', re.MULTILINE)


def rows(text: str, first: str) -> list[list[str]]:
    """The cells of a table of a document, by its first heading."""
    lines = text.split(f"\n| {first} |")[1].splitlines()[2:]
    table = lines[: next(number for number, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def products(used: rooms.Rooms) -> rooms.Rooms:
    """What each product uses of others."""
    found: rooms.Rooms = {product: set() for product in rooms.PRODUCTS}
    for room in used:
        if product := rooms.product_of(room):
            found[product] |= {other for each in used[room] if (other := rooms.product_of(each)) not in ("", product)}
    return found


def strangers(used: rooms.Rooms, room: str, folder: Path) -> set[str]:
    """What sources of a room include though they may not. Its tests may include base and all that lies below it, and
    its benches what their own CMakeLists.txt links. Threads whose order a test chooses stand in a room's own sources
    (cmake/rooms.cmake)."""
    found = set()
    for path in folder.rglob("*"):
        if path.suffix not in (".h", ".cpp", ".c") or "bench" in path.relative_to(folder).parts:
            continue
        inside = path.parent == folder
        allowed = used[room] if inside else {*rooms.below(used, room), "base"}
        for included in INCLUDE.findall(path.read_text()):
            of = re.sub(r"/(tests|bench)(/.*)?$", "", included)
            if of not in {room, "forebay", *allowed} or (inside and included not in {of, f"{room}/tests/schedules"}):
                found.add(f"{path.relative_to(folder)} includes {included}")
    return found


class Rooms(unittest.TestCase):
    def setUp(self):
        self.design = (SOURCES / "docs/design.md").read_text()
        self.described = {row[0]: row[2] for row in rows(self.design, "room")}

    def need_all_parts(self):
        if missing := set(self.described) - set(USED):
            self.skipTest(f"not part of this build: {', '.join(sorted(missing))}")

    def test_there_is_no_circle(self):
        self.assertEqual(rooms.circle(USED), [])
        self.assertEqual(rooms.circle(products(USED)), [])

    def test_a_product_uses_those_that_the_design_says(self):
        self.need_all_parts()
        said = {row[0]: set(filter(None, row[2].split(", "))) for row in rows(self.design, "product")}
        self.assertEqual(products(USED), said)
        for room in (room for room in USED if rooms.product_of(room) or room in rooms.FLOOR):
            over = {used for used in USED[room] if not rooms.product_of(used) and used not in rooms.FLOOR}
            self.assertEqual(over, set(), f"{room} uses what lies above all products")

    def test_a_room_uses_those_that_the_design_says(self):
        """The design need not say what a room uses through another one, nor that nearly all use base."""
        self.need_all_parts()
        said: rooms.Rooms = {room: set(USED[room]) for room in USED if room not in self.described}
        for room, names in self.described.items():
            said[room] = {"base"} & USED[room]
            for name in filter(None, names.split(", ")):
                beside = f"{room.rpartition('/')[0]}/{name}"
                said[room].add(beside if beside in USED else name)
                self.assertIn(beside if beside in USED else name, USED[room], f"{room} does not use {name}")
        self.assertEqual(rooms.without_shortcuts(said), rooms.without_shortcuts(USED))

    def test_the_drawing_is_todays(self):
        self.need_all_parts()
        today = {(room, used) for room, all_used in rooms.without_shortcuts(USED).items() for used in all_used}
        self.assertEqual(
            rooms.drawn((SOURCES / "docs/rooms.svg").read_text()),
            today,
            "`cmake --build build --target rooms` draws it anew",
        )
        self.assertIn("(rooms.svg)", self.design)

    def test_sources_include_what_their_room_uses(self):
        for room in USED:
            if (SOURCES / "src" / room).is_dir():
                self.assertEqual(strangers(USED, room, SOURCES / "src" / room), set(), room)


class Made(unittest.TestCase):
    """The same questions about rooms that are made up, some of them wrong."""

    def test_a_circle_is_found_through_others(self):
        self.assertEqual(rooms.circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}), ["b", "c", "b"])
        self.assertEqual(rooms.circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}), [])
        two = {"run/a": {"store/b"}, "store/b": set(), "store/c": {"run/a"}}
        self.assertEqual((rooms.circle(two), rooms.circle(products(two))), ([], ["run", "store", "run"]))

    def test_what_is_used_through_others_is_not_drawn(self):
        used = {"a": {"b", "c", "d"}, "b": {"c"}, "c": set(), "d": set()}
        self.assertEqual(rooms.without_shortcuts(used), {"a": {"b", "d"}, "b": {"c"}, "c": set(), "d": set()})

    def test_a_stranger_is_found(self):
        folder = SOURCES / "src/run/core"
        self.assertIn("restartable.h includes run/contract", strangers({"run/core": set()}, "run/core", folder))


if __name__ == "__main__":
    USED = rooms.read(Path(sys.argv.pop(1)))
    unittest.main()
