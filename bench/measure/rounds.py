"""What is measured by turns, round after round, and a plain file that it is compared with."""

import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .figures import Estimate, ratio_of


@dataclass
class Rounds:
    """Seconds of everything that was measured, a list of medians: one of each round."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, values: Sequence[float]) -> None:
        self.seconds.setdefault(name, []).append(statistics.median(values))

    def of(self, name: str) -> list[float]:
        return self.seconds[name]

    def best(self, names: Sequence[str]) -> str:
        return min((name for name in names if name in self.seconds), key=lambda name: statistics.median(self.of(name)))


def times_faster(rounds: Rounds, ours: str, theirs: str) -> Estimate:
    return ratio_of(rounds.of(theirs), rounds.of(ours))


def seconds_to_write(path: Path, size: int) -> float:
    """As fast as the file system goes: one stream of large pieces, and a sync."""
    piece = bytes(range(256)) * (1 << 14)
    begin = time.monotonic()
    with path.open("wb", buffering=0) as file:
        for at in range(0, size, len(piece)):
            file.write(piece[: size - at])
        os.fsync(file.fileno())
    seconds = time.monotonic() - begin
    path.unlink()
    return seconds
