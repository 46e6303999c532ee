"""Sizes and times for people, and sizes from them."""

import re

UNITS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def size(text: object) -> float:
    """Bytes: 7500000, "7.5MB", "2GiB"."""
    match = re.fullmatch(r"([\d.]+(?:e[-+]?\d+)?)\s*([kMGT]i?|)B?", str(text).strip())
    if not match:
        raise ValueError('a size, for example "96.6GB"')
    return float(match[1]) * UNITS[match[2]]


def human(number: float) -> str:
    """Bytes."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f} B"


def span(seconds: float) -> str:
    for unit, size, least in (("h", 3600, 7200), ("min", 60, 120), ("s", 1, 1)):
        if seconds >= least:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e3:.3g} ms"
