"""Results of a benchmark, as one table for people or one JSON object for programs."""

import json
import os
import platform
from dataclasses import dataclass, field
from pathlib import Path

from .figures import Estimate, plain

NO_REFERENCE = "no reference in this run"


@dataclass
class Result:
    name: str
    value: float
    unit: str
    reference: float | None = None
    goal: str | None = None
    met: bool | None = None
    interval: tuple[float, float] | None = None
    note: str = ""
    ratio: float | None = None  # to the reference; given where it is more than a quotient, as a median of ratios

    def __post_init__(self) -> None:
        if self.ratio is None and self.reference:
            self.ratio = self.value / self.reference

    def as_json(self) -> dict:
        row = {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "reference": self.reference,
            "ratio": self.ratio,
            "goal": self.goal,
            "met": self.met,
        }
        if self.interval:
            row["interval"] = list(self.interval)
        notes = [self.note] if self.note else []
        if self.reference is None:
            notes.append(NO_REFERENCE)
        if notes:
            row["note"] = "; ".join(notes)
        return row


@dataclass
class Report:
    bench: str
    machine: dict
    results: list[Result] = field(default_factory=list)

    def add(self, name: str, value: float | Estimate, unit: str, scale: float = 1.0, **more) -> Result:
        """`scale` turns the value (and its interval) into the unit; a reference is given in the unit."""
        if isinstance(value, Estimate):
            more.setdefault("interval", (value.low * scale, value.high * scale))
            value = value.value
        result = Result(name, value * scale, unit, **more)
        self.results.append(result)
        return result

    def add_row(self, section: str, row: dict) -> None:
        """A result that another program measured, in this form already."""
        interval = row.get("interval")
        self.results.append(
            Result(
                f"{section}: {row['name']}",
                row["value"],
                row["unit"],
                row.get("reference"),
                None if row.get("goal") is None else str(row["goal"]),
                row.get("met"),
                tuple(interval) if interval else None,
                row.get("note", ""),
                row.get("ratio"),
            )
        )

    def as_json(self) -> str:
        rows = [result.as_json() for result in self.results]
        told = {"forebay_version": os.environ.get("FOREBAY_VERSION"), "bench": self.bench, "machine": self.machine}
        return json.dumps({**told, "results": rows}, indent=1)

    def as_table(self) -> str:
        """Results whose names begin alike ("30k cells, 4 ranks: ...") stand together under that beginning."""
        header = ("", "value", "interval", "reference", "ratio", "met", "goal")
        rows: list[tuple[str, ...]] = [header]
        section = None
        for result in self.results:
            before, _, name = result.name.rpartition(": ")
            if before and before != section:
                rows.append((before,))
            section = before
            rows.append((f"  {name}", *_cells(result)))
        widths = [max(len(row[column]) for row in rows if len(row) > 1) for column in range(len(header))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows
        ]
        lines.insert(1, "-" * (sum(widths[:-1]) + 2 * len(header)))
        machine = "\n".join(f"{key}: {value}" for key, value in self.machine.items())
        return f"forebay bench {self.bench}\n{machine}\n\n" + "\n".join(lines)


def _cells(result: Result) -> tuple[str, ...]:
    return (
        f"{_number(result.value)} {result.unit}",
        f"{_number(result.interval[0])} .. {_number(result.interval[1])}" if result.interval else "",
        _number(result.reference) if result.reference is not None else NO_REFERENCE,
        _number(result.ratio),
        {True: "yes", False: "NO", None: ""}[result.met],
        "; ".join(text for text in (result.goal, result.note) if text),
    )


def _number(value: float | None) -> str:
    return "" if value is None else plain(value)


def machine(**more: object) -> dict:
    """What a figure cannot be read without."""
    model = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor() or platform.machine(),
    )
    memory = next((int(line.split()[1]) * 1024 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": memory,
        "kernel": platform.release(),
        "load_before": round(os.getloadavg()[0], 2),
        **more,
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
