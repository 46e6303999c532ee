"""Sizes and times for people, and sizes from them."""

import re

from measure.figures import plain

UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def size(text: object) -> float:
    """Bytes: 7500000, "7.5MB", "2GiB"."""
    match = re.fullmatch(r"([\d.]+(?:e[-+]?\d+)?)\s*([kMGT]i?|)B?", str(text).strip())
    if not match:
        raise ValueError('a size, for example "96.6GB"')
    return float(match[1]) * UNITS[match[2]]


def human(number: float) -> str:
    """Bytes."""
    return _in_units(number, (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)))


def span(seconds: float) -> str:
    if seconds >= 7200:
        return f"{plain(seconds / 3600)} h"
    if seconds >= 120:
        return f"{plain(seconds / 60)} min"
    return _in_units(seconds, (("s", 1.0), ("ms", 1e-3)))


def _in_units(value: float, units: tuple[tuple[str, float], ...]) -> str:
    """In the first one of which it is at least 1, as it is printed."""
    for unit, size in units[:-1]:
        if value >= 0.9995 * size:
            return f"{plain(value / size)} {unit}"
    unit, size = units[-1]
    return f"{plain(value / size)} {unit}"
