"""Middles with confidence intervals, and orders of runs that a drift of the machine does not favour."""

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value with the bounds of its confidence interval."""

    value: float
    low: float
    high: float
    samples: int

    def text(self, scale: float = 1.0, digits: int = 2) -> str:
        return f"{self.value * scale:.{digits}f} [{self.low * scale:.{digits}f} .. {self.high * scale:.{digits}f}]"


def estimate(
    repetitions: Sequence, statistic: Callable[[Sequence], float] = statistics.median, seed: int = 1
) -> Estimate:
    """Bootstrap over whole repetitions, so whatever `statistic` pairs within one repetition stays paired."""
    source = random.Random(seed)
    resampled = sorted(statistic(source.choices(repetitions, k=len(repetitions))) for _ in range(RESAMPLES))
    margin = (1 - CONFIDENCE) / 2
    return Estimate(
        value=statistic(repetitions),
        low=resampled[int(margin * RESAMPLES)],
        high=resampled[int((1 - margin) * RESAMPLES) - 1],
        samples=len(repetitions),
    )


def middle_mean(values: Sequence[float]) -> float:
    """The mean of the middle half: disturbances fall out, and what most values pay stays in."""
    cut = len(values) // 4
    return statistics.fmean(sorted(values)[cut : len(values) - cut])


def ratio_of(these: Sequence[float], to_those: Sequence[float]) -> Estimate:
    """The median ratio of pairs that were measured one right after the other."""
    pairs = list(zip(these, to_those, strict=True))
    return estimate(pairs, lambda sample: statistics.median(this / that for this, that in sample))


def plain(value: float, digits: int = 3) -> str:
    """With so many significant digits at least, and without an exponent: 0.00002, 0.921, 1000, 1234567."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    decimals -= abs(round(value, decimals)) >= 10.0 ** (digits - decimals)  # 0.9996 is 1.00
    text = f"{value:.{max(decimals, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def shuffled(items: Sequence, repetition: int) -> list:
    """An order of its own for each repetition, and the same ones in every benchmark run."""
    order = list(items)
    random.Random(1000 + repetition).shuffle(order)
    return order


def plural(count: float, of_one: str) -> str:
    """ "1 file", "2 files", "0 entries", "3 sets of files": how many, and of what."""
    if count == 1:
        return f"1 {of_one}"
    noun, of, rest = of_one.partition(" of ")
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        noun = noun[:-1] + "ie"
    elif noun.endswith(("s", "x", "ch", "sh")):
        noun += "e"
    return f"{plain(count)} {noun}s{of}{rest}"
