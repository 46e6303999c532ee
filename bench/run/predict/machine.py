"""Machines as TOML files: each value with its source. docs/run/predict.md describes the form."""

import difflib
import math
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from .model import RATES, Medium, Shared
from .units import size

PRESETS = Path(__file__).resolve().parent / "machines"
SOURCES = ("measured", "documented", "assumed")
# What a value is: a positive number, bytes ("96.6GB" or a number), words, or pairs of [processes, number or bytes].
KEYS = {
    "shared": {
        "operations_per_s": "number",  # creates of the whole file system, by few processes
        "renames_per_s": "number",  # of these three a create's price stands in where they are not said
        "unlinks_per_s": "number",
        "syncs_per_s": "number",  # of small files
        "clients_double": "number",  # processes at which an operation takes twice as long
        "write": "bytes",  # per second, of the whole file system
        "write_kept": "bytes",  # the same for runs that purge nothing
        "client": "bytes",  # per second, of one node
        "share": "part",  # of the file system that a run gets
        "spread": "factor",  # by how much it is faster or slower on some days
        "quartiles": "factor",  # how far those of what was measured lie from the medians
    },
    "medium": {
        "kind": "words",  # tmpfs, fsdax, nvme, ...: of memory a run may take a quarter
        "sockets": "number",  # that have one of their own
        "capacity": "bytes",  # of one
        "write": "curve of bytes",  # per second of all writers of a socket, by their number
        "creates": "curve of numbers",  # per second of all processes of a socket
        "fixed": "seconds",  # of each written step
        "quartiles": "factor",
    },
}
NEEDED = (("shared", "operations_per_s"), ("shared", "write"), ("medium", "sockets"), ("medium", "capacity"), ("medium", "write"))  # fmt: skip
STAND_INS = [("shared", key) for key in RATES[1:]]
STANDS_IN = "assumed: a create's price stands in; forebay bench io measures it"


class BadInput(Exception):
    """What, which path, what to do."""


@dataclass(frozen=True)
class Value:
    value: object
    source: str  # "documented: docs.example.org"

    @property
    def kind(self) -> str:
        return self.source.split(":")[0]


@dataclass
class Machine:
    name: str
    values: dict[tuple[str, str], Value]

    def get(self, table: str, key: str, default: object = None):
        return self.values[table, key].value if (table, key) in self.values else default

    def shared(self) -> Shared:
        names = (*RATES, "write", "write_kept", "clients_double", "client", "share")
        return Shared(**{key: self.get("shared", key) for key in names if ("shared", key) in self.values})

    def medium(self) -> Medium:
        names = ("sockets", "capacity", "write", "creates", "fixed")
        given = {key: self.get("medium", key) for key in names if ("medium", key) in self.values}
        return Medium(**given, in_memory=self.get("medium", "kind") == "tmpfs")

    @property
    def spread(self) -> float:
        """Of the shared file system: no less than what was seen within one measurement."""
        return max(self.get("shared", "spread", 1.0), self.get("shared", "quartiles", 1.0))

    @property
    def local_spread(self) -> float:
        return self.get("medium", "quartiles", 1.0)

    def sources(self) -> dict[tuple[str, str], Value]:
        """All values, with those that stand in for what is not said; those of a table together."""
        stand_ins = {}
        if create := self.values.get(("shared", "operations_per_s")):
            stand_ins = {place: Value(create.value, STANDS_IN) for place in STAND_INS if place not in self.values}
        return dict(sorted((self.values | stand_ins).items(), key=lambda each: each[0][0], reverse=True))

    def with_scaled(self, place: tuple[str, str], factor: float) -> "Machine":
        """With one value larger or smaller; words stay."""
        value = self.sources()[place]
        if isinstance(value.value, tuple):
            value = replace(value, value=tuple((n, rate * factor) for n, rate in value.value))
        elif isinstance(value.value, float):
            low, high = {"part": (0.0, 1.0), "factor": (1.0, math.inf)}.get(KEYS[place[0]][place[1]], (0.0, math.inf))
            value = replace(value, value=min(max(value.value * factor, low), high))
        return Machine(self.name, {**self.values, place: value})

    def assumed(self) -> list[tuple[str, str]]:
        return [place for place, value in self.sources().items() if value.kind == "assumed"]


def checked(kind: str, value: object) -> object:
    """The value as the model takes it; ValueError says what it must be."""
    if kind == "words":
        if isinstance(value, str):
            return value
        raise ValueError("words")
    if kind.startswith("curve"):
        pairs = value if isinstance(value, list) else []
        if not pairs or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ValueError("pairs like [[1, 1000], [24, 9000]]: processes, and the rate of all together")
        return tuple(
            (checked("number", n), checked("bytes" if "bytes" in kind else "number", rate)) for n, rate in pairs
        )
    number = size(value) if kind == "bytes" else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < float("inf"):
        if not (kind == "seconds" and number == 0):
            raise ValueError("a number above 0")
    if kind == "part" and number > 1:
        raise ValueError("a part of 1")
    if kind == "factor" and number < 1:
        raise ValueError("a factor of 1 or more")
    return float(number)


def near(word: str, known) -> str:
    found = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean {found[0]}?" if found else f"; known: {', '.join(known)}"


def parse(text: str, path: str) -> Machine:
    """A machine, or a part of one. BadInput names the path and the key."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as why:
        raise BadInput(f"{path}: not TOML: {why}") from why
    if not isinstance(name := document.pop("name", None), str):
        raise BadInput(f'{path}: name is missing; write name = "my cluster"')
    values = {}
    for table, entries in document.items():
        if table not in KEYS or not isinstance(entries, dict):
            raise BadInput(f"{path}: unknown table {table}{near(table, KEYS)}")
        for key, entry in entries.items():
            where = f"{path}: {table}.{key}"
            if key not in KEYS[table]:
                raise BadInput(f"{path}: unknown key {table}.{key}{near(key, KEYS[table])}")
            if not isinstance(entry, dict) or set(entry) != {"value", "from"}:
                raise BadInput(f'{where}: write {{ value = ..., from = "measured: when and how" }}')
            if not isinstance(entry["from"], str) or entry["from"].split(":")[0] not in SOURCES:
                raise BadInput(f"{where}: from must begin with {', '.join(SOURCES[:-1])} or {SOURCES[-1]}")
            try:
                values[table, key] = Value(checked(KEYS[table][key], entry["value"]), entry["from"])
            except ValueError as why:
                raise BadInput(f"{where} cannot be {entry['value']!r}; it takes {why}") from why
    return Machine(name, values)


def presets() -> dict[str, Path]:
    return {path.stem: path for path in sorted(PRESETS.glob("*.toml"))}


def merged(parts: list[dict[tuple[str, str], Value]]) -> dict[tuple[str, str], Value]:
    """Later values win, but what was measured is only replaced by what was measured."""
    values: dict[tuple[str, str], Value] = {}
    for part in parts:
        for place, value in part.items():
            if value.kind == "measured" or place not in values or values[place].kind != "measured":
                values[place] = value
    return values


def load(words: list[str]) -> Machine:
    """Presets or files, together."""
    loaded = []
    for word in words:
        path = presets().get(word, Path(word))
        try:
            loaded.append(parse(path.read_text(), str(path)))
        except (OSError, UnicodeError) as why:
            if "/" in word or word.endswith(".toml"):
                raise BadInput(f"cannot read {word}: {getattr(why, 'strerror', why)}") from why
            raise BadInput(f"no preset is called {word} (and a file ends in .toml){near(word, presets())}") from why
    values = merged([machine.values for machine in loaded])
    if missing := [".".join(place) for place in NEEDED if place not in values]:
        raise BadInput(f"{' and '.join(words)}: {', '.join(missing)} not said; add it, or a preset: --machine NAME")
    return Machine(", ".join(machine.name for machine in loaded), values)
