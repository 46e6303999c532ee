"""Refining meshes: by one rank and by two in memory, and onto a disk."""

import statistics
from pathlib import Path

from measure.command import say
from measure.figures import estimate, ratio_of
from measure.program import figures_of
from measure.report import Report
from measure.rounds import Rounds, seconds_to_write, times_faster

RANKS_GOAL = 0.9  # the same rate for each core, but for what they share of the memory
DISK_GOAL = 0.9  # of the disk's own rate


def add_memory(result: Report, bench: Path, quick: bool) -> None:
    """Refinement by one rank, and by each of two beside the other."""
    rounds = Rounds()
    for number in range(1 if quick else 7):
        say(f"refining meshes, round {number + 1}")
        levels = ("2", "--repetitions", "2") if quick else ("3", "--repetitions", "5")
        measured = [bench, "--json", "--levels", *levels]
        rows = figures_of("mesh_bench", measured)["results"]
        for row in rows:
            rounds.add(row["name"], [1 / row["value"]])
            rounds.add(f"{row['name']}, share", [row["share_of_memory_rate"]])
    for row in rows:
        times = rounds.of(row["name"])
        rate = 1 / statistics.median(times)
        share = statistics.median(rounds.of(f"{row['name']}, share"))
        row.update(value=rate, ratio=rate / row["reference"], met=1 / max(times) >= row["reference"])
        row["goal"] = f">= {row['reference'] / 1e6:.0f} million cells a second and core, in every round"
        row["note"] = f"{share:.2f} of the memory's rate"
        result.add_row("mesh multiplication", row)
    # A smaller mesh, of 25 to 170 MB a rank: of more, a host takes back what lies free between two turns, and to get it
    # again takes several times as long as refining, for two ranks more often than for one.
    size, pairs = (("--levels", "2"), 3) if quick else (("--levels", "3", "--edge", "7"), 100)
    say(f"refining meshes on a rank by itself and beside another, {pairs} pairs")
    for each in figures_of("mesh_bench", [bench, *size, "--pairs", str(pairs)])["pairs"]:
        ranks = [
            (ratio_of(alone, beside), cells, alone, beside)
            for cells, alone, beside in zip(each["cells"], each["alone"], each["beside"], strict=True)
        ]
        ratio, cells, alone, beside = min(ranks, key=lambda rank: rank[0].value)
        result.add(
            f"mesh multiplication, the slower of {len(ranks)} ranks: {each['name']}",
            cells / statistics.median(beside),
            "cells/s",
            reference=cells / statistics.median(alone),
            ratio=ratio.value,
            goal=f">= {RANKS_GOAL:g} of that rank by itself",
            met=ratio.low >= RANKS_GOAL,
            note=f"the ratio's interval: {ratio.text()}",
        )


def add_disk(result: Report, forebay: Path, disk: Path, quick: bool) -> None:
    """`forebay mesh multiply` as it is used, by turns with a plain file of as many bytes."""
    cavity_of, levels = ("cavity:tetrahedra:4", 2) if quick else ("cavity:tetrahedra:13", 4)
    output = disk / "mesh.vtkhdf"
    rounds = Rounds()
    for number in range(1 if quick else 7):
        say(f"refining {cavity_of} by {levels} levels onto the disk, round {number + 1}")
        for earlier in disk.glob("mesh*.vtkhdf"):
            earlier.unlink()  # replacing 2.4 GB takes a third of the time, and the plain file replaces none
        told = figures_of(
            "forebay mesh multiply",
            [
                forebay,
                "mesh",
                "multiply",
                cavity_of,
                "--levels",
                str(levels),
                "-o",
                output,
                "--json",
            ],
        )
        rounds.add("refined", [told["seconds"]])
        rounds.add("plain", [seconds_to_write(disk / "plain", told["bytes"])])
    rate = times_faster(rounds, "refined", "plain")
    result.add(
        f"mesh multiplication, {told['cells']} tetrahedra to a file on the disk",
        estimate([told["bytes"] / seconds for seconds in rounds.of("refined")]),
        "GB/s",
        1e-9,
        reference=told["bytes"] / statistics.median(rounds.of("plain")) * 1e-9,
        ratio=rate.value,
        goal=f">= {DISK_GOAL:g} of the rate of a plain file with fsync",
        met=rate.low >= DISK_GOAL,
        note=f"the ratio's interval: {rate.text()}",
    )
