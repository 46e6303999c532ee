#!/usr/bin/python3
"""forebay bench arrays: scattered global arrays, the lid-driven cavity, and refining meshes.

Arrays as a partitioned unstructured mesh scatters them are written by every method and by others (parallel HDF5, PnetCDF,
Code_Saturne's library, MPI-IO with indexed file types), by turns; staged checkpoints are followed to the slow shared
directory; the cavity at several levels is read and written over ranks and blocks; coarse meshes are refined in memory
and streaming. Every ratio is one of this run.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import adios, arrays, cavity, command, parts, report, solver
from measure.command import say
from measure.figures import estimate, ratio_of
from measure.program import figures_of
from measure.shared import Shared

PARTS = ("arrays", "slow", "cavity", "mesh")
SLOW_BRICK_MB = 1536  # three of the largest files at a time
MESH_RANKS_GOAL = 0.9  # the same rate for each core, but for what they share of the memory
MESH_DISK_GOAL = 0.9  # of the disk's own rate


def arguments() -> argparse.Namespace:
    parser = command.new_parser(
        "arrays", __doc__, "the command whose programs are measured", "few repetitions, small sizes"
    )
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"), help="a tmpfs; pools lie there, too")
    parser.add_argument("--disk", type=Path, default=Path("/var/tmp"), help="a directory on a disk")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to measure: %(default)s")
    parser.add_argument("--pictures", type=Path, help="where cavity.png and index.html go")
    command.add_shared(parser)
    options = parser.parse_args()
    command.choose_parts(parser, options, PARTS)
    command.find_forebay(parser, options)
    command.need_directories(parser, options.memory, options.disk)
    return options


def program(options, name: str) -> Path:
    found = parts.beside(options.forebay, name)
    if found is None:
        raise RuntimeError(f"no {name} beside {options.forebay}; was everything built?")
    return found


def measured_arrays(options, memory: Path) -> arrays.Measured:
    peers = parts.beside(options.forebay, "peers_bench")
    if peers is None:
        say("nothing to compare with: peers_bench needs parallel HDF5 and PnetCDF")
    saturne = parts.beside(options.forebay, "saturne_bench")
    if saturne is None:
        say("Code_Saturne's library is left out: it was not there when forebay was built")
    return arrays.Measured(program(options, "blocks_bench"), peers, saturne, memory, 1 if options.quick else 7, say)


def add_arrays(options, result: report.Report, memory: Path, disk: Path) -> None:
    measured = measured_arrays(options, memory)
    if not options.quick and measured.peers:
        measured.adios = adios.interpreter(disk / "python", say)
    if options.quick:
        arrays.add_arrays(measured, result, 16, arrays.RUNS, "tmpfs", memory)
        return
    for ownership in (arrays.RUNS, arrays.RANDOM, arrays.SHUFFLED):
        arrays.add_arrays(measured, result, 64, ownership, "tmpfs", memory)
    arrays.add_arrays(measured, result, 256, arrays.RUNS, "a disk, with fsync", disk)


def add_slow(options, result: report.Report, memory: Path, disk: Path) -> None:
    with Shared(disk / "shared", options.mbit, options.create_ms, SLOW_BRICK_MB) as shared:
        say(f"shared directory: {shared.description}")
        result.machine["shared"] = shared.description
        measured = measured_arrays(options, memory)
        for megabytes in (16,) if options.quick else (64, 256):
            arrays.add_slow(measured, result, megabytes, shared.directory, shared.slow)


def add_cavity(options, result: report.Report, memory: Path, disk: Path) -> None:
    sweep = cavity.Sweep(
        program(options, "cavity_bench"), memory if options.quick else disk, memory, options.quick, say
    )
    results = sweep.all(result)
    if options.pictures:
        cavity.draw(results, options.pictures)
        say(f"pictures: {options.pictures / 'index.html'}")


def add_mesh(options, result: report.Report) -> None:
    """Refinement by one rank, and by each of two beside the other."""
    bench = [program(options, "mesh_bench")]
    rounds = arrays.Rounds()
    for number in range(1 if options.quick else 7):
        say(f"refining meshes, round {number + 1}")
        levels = ("2", "--repetitions", "2") if options.quick else ("3", "--repetitions", "5")
        measured = [*bench, "--json", "--levels", *levels]
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
    size, pairs = (("--levels", "2"), 3) if options.quick else (("--levels", "3", "--edge", "7"), 100)
    say(f"refining meshes on a rank by itself and beside another, {pairs} pairs")
    for each in figures_of("mesh_bench", [*bench, *size, "--pairs", str(pairs)])["pairs"]:
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
            goal=f">= {MESH_RANKS_GOAL:g} of that rank by itself",
            met=ratio.low >= MESH_RANKS_GOAL,
            note=f"the ratio's interval: {ratio.text()}",
        )


def add_mesh_on_disk(options, result: report.Report, disk: Path) -> None:
    """`forebay mesh multiply` as it is used, by turns with a plain file of as many bytes."""
    cavity_of, levels = ("cavity:tetrahedra:4", 2) if options.quick else ("cavity:tetrahedra:13", 4)
    output = disk / "mesh.vtkhdf"
    rounds = arrays.Rounds()
    for number in range(1 if options.quick else 7):
        say(f"refining {cavity_of} by {levels} levels onto the disk, round {number + 1}")
        for earlier in disk.glob("mesh*.vtkhdf"):
            earlier.unlink()  # replacing 2.4 GB takes a third of the time, and the plain file replaces none
        told = figures_of(
            "forebay mesh multiply",
            [
                options.forebay,
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
        rounds.add("plain", [arrays.seconds_to_write(disk / "plain", told["bytes"])])
    rate = arrays.times_faster(rounds, "refined", "plain")
    result.add(
        f"mesh multiplication, {told['cells']} tetrahedra to a file on the disk",
        estimate([told["bytes"] / seconds for seconds in rounds.of("refined")]),
        "GB/s",
        1e-9,
        reference=told["bytes"] / statistics.median(rounds.of("plain")) * 1e-9,
        ratio=rate.value,
        goal=f">= {MESH_DISK_GOAL:g} of the rate of a plain file with fsync",
        met=rate.low >= MESH_DISK_GOAL,
        note=f"the ratio's interval: {rate.text()}",
    )


def main() -> int:
    options = arguments()
    solver.clean_up_when_terminated()
    memory = Path(tempfile.mkdtemp(prefix="forebay-bench-", dir=options.memory))
    disk = Path(tempfile.mkdtemp(prefix="forebay-bench-", dir=options.disk))
    result = report.Report("arrays", report.machine(memory=str(options.memory), disk=str(options.disk)))
    try:
        if "arrays" in options.only:
            add_arrays(options, result, memory, disk)
        if "slow" in options.only:
            add_slow(options, result, memory, disk)
        if "cavity" in options.only:
            add_cavity(options, result, memory, disk)
        if "mesh" in options.only:
            add_mesh(options, result)
            add_mesh_on_disk(options, result, disk)
    except (RuntimeError, subprocess.CalledProcessError) as failure:
        say(failure)
        return 1
    finally:
        shutil.rmtree(memory, ignore_errors=True)
        shutil.rmtree(disk, ignore_errors=True)
    command.tell(options, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
