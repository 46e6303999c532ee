#!/usr/bin/env python3
"""forebay bench arrays: scattered global arrays, the lid-driven cavity, and refining meshes.

Arrays as a partitioned unstructured mesh scatters them are written by every method and by others (parallel HDF5, PnetCDF,
Code_Saturne's library, MPI-IO with indexed file types), by turns; staged checkpoints are followed to the slow shared
directory; the cavity at several levels is read and written over ranks and blocks; coarse meshes are refined in memory
and streaming. Every ratio is one of this run.
"""

import argparse
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from measure import command, launch, report
from measure.command import say
from measure.program import beside, need
from measure.shared import Shared

from arrays import adios, cavity, scattered
from meshes import refinement

PARTS = ("arrays", "slow", "cavity", "mesh")
SLOW_BRICK_MB = 1536  # three of the largest files at a time


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
    for name, kind in (("index.html", cavity.PAGE), ("cavity.png", cavity.PICTURE)):
        command.need_own(parser, options.pictures and options.pictures / name, kind, "--pictures")
    if options.pictures and not importlib.util.find_spec("matplotlib"):
        parser.error(
            f"--pictures needs matplotlib, which {sys.executable} has not: FOREBAY_PYTHON names another Python"
        )
    command.choose_parts(parser, options, PARTS)
    command.find_forebay(parser, options)
    command.need_directories(parser, options.memory, options.disk)
    return options


def measured_arrays(options, memory: Path) -> scattered.Measured:
    peers = beside(options.forebay, "peers_bench")
    if peers is None:
        say("nothing to compare with: peers_bench needs parallel HDF5 and PnetCDF")
    saturne = beside(options.forebay, "saturne_bench")
    if saturne is None:
        say("Code_Saturne's library is left out: it was not there when forebay was built")
    return scattered.Measured(
        need(options.forebay, "blocks_bench"), peers, saturne, memory, 1 if options.quick else 7, say
    )


def add_arrays(options, result: report.Report, memory: Path, disk: Path) -> None:
    measured = measured_arrays(options, memory)
    if not options.quick and measured.peers:
        measured.adios = adios.interpreter(disk / "python", say)
    if options.quick:
        scattered.add_arrays(measured, result, 16, scattered.RUNS, "tmpfs", memory)
        return
    for ownership in (scattered.RUNS, scattered.RANDOM, scattered.SHUFFLED):
        scattered.add_arrays(measured, result, 64, ownership, "tmpfs", memory)
    scattered.add_arrays(measured, result, 256, scattered.RUNS, "a disk, with fsync", disk)


def add_slow(options, result: report.Report, memory: Path, disk: Path) -> None:
    with Shared(disk / "shared", options.mbit, options.create_ms, SLOW_BRICK_MB) as shared:
        say(f"shared directory: {shared.description}")
        result.machine["shared"] = shared.description
        measured = measured_arrays(options, memory)
        for megabytes in (16,) if options.quick else (64, 256):
            scattered.add_slow(measured, result, megabytes, shared.directory, shared.slow)


def add_cavity(options, result: report.Report, memory: Path, disk: Path) -> None:
    sweep = cavity.Sweep(
        need(options.forebay, "cavity_bench"), memory if options.quick else disk, memory, options.quick, say
    )
    results = sweep.all(result)
    if options.pictures:
        cavity.draw(results, options.pictures)
        say(f"pictures: {options.pictures / 'index.html'}")


def main() -> int:
    options = arguments()
    launch.clean_up_when_terminated()
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
            refinement.add_memory(result, need(options.forebay, "mesh_bench"), options.quick)
            refinement.add_disk(result, options.forebay, disk, options.quick)
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
