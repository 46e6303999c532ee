#!/usr/bin/python3
"""forebay bench blocks: scattered global arrays, the lid-driven cavity, and refining meshes.

Arrays as a partitioned unstructured mesh scatters them are written by every method and by others (parallel HDF5, PnetCDF,
MPI-IO with indexed file types), by turns; the cavity at several levels is read and written over ranks and blocks; coarse
meshes are refined in memory and streaming. Every ratio is one of this run.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import arrays, cavity, parts, report, solver

PARTS = ("arrays", "cavity", "mesh")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="forebay bench blocks", description=__doc__)
    parser.add_argument("--forebay", type=Path, default=Path("forebay"), help="the command whose programs are measured")
    parser.add_argument("--quick", action="store_true", help="few repetitions, small sizes, within a minute")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output instead of a table")
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"), help="a tmpfs; pools lie there, too")
    parser.add_argument("--disk", type=Path, default=Path("/var/tmp"), help="a directory on a disk")
    parser.add_argument("--only", default=",".join(PARTS), help="parts to measure: %(default)s")
    parser.add_argument("--pictures", type=Path, help="where cavity.png and index.html go")
    options = parser.parse_args()
    options.only = options.only.split(",")
    for part in options.only:
        if part not in PARTS:
            parser.error(f"unknown part '{part}'; known: {', '.join(PARTS)}")
    found = shutil.which(options.forebay)
    if found is None:
        parser.error(f"no such program: {options.forebay}; give its path with --forebay")
    options.forebay = Path(found).resolve()
    for directory in (options.memory, options.disk):
        if not directory.is_dir():
            parser.error(f"not a directory: {directory}")
    return options


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def program(options, name: str) -> Path:
    found = parts.beside(options.forebay, name)
    if found is None:
        raise RuntimeError(f"no {name} beside {options.forebay}; was everything built?")
    return found


def add_arrays(options, result: report.Report, memory: Path, disk: Path) -> None:
    peers = parts.beside(options.forebay, "peers_bench")
    if peers is None:
        say("nothing to compare with: peers_bench needs parallel HDF5 and PnetCDF")
    measured = arrays.Measured(program(options, "blocks_bench"), peers, memory, 1 if options.quick else 7, say)
    if options.quick:
        arrays.add_arrays(measured, result, 16, arrays.RUNS, "tmpfs", memory)
        return
    for ownership in (arrays.RUNS, arrays.RANDOM):
        arrays.add_arrays(measured, result, 64, ownership, "tmpfs", memory)
    arrays.add_arrays(measured, result, 256, arrays.RUNS, "a disk, with fsync", disk)


def add_cavity(options, result: report.Report, memory: Path, disk: Path) -> None:
    sweep = cavity.Sweep(
        program(options, "cavity_bench"), memory if options.quick else disk, memory, options.quick, say
    )
    results = sweep.all(result)
    if options.pictures:
        cavity.draw(results, options.pictures)
        say(f"pictures: {options.pictures / 'index.html'}")


def add_mesh(options, result: report.Report) -> None:
    say("refining meshes")
    levels = ("2", "--repetitions", "2") if options.quick else ("3",)
    command = [program(options, "mesh_bench"), "--json", "--levels", *levels]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for row in json.loads(done.stdout)["results"]:
        row["goal"] = f">= {row['reference'] / 1e6:.0f} million cells a second and core"
        row["note"] = f"{row['share_of_memory_rate']:.2f} of the memory's rate"
        result.add_row("mesh multiplication", row)


def main() -> int:
    options = arguments()
    solver.clean_up_when_terminated()
    memory = Path(tempfile.mkdtemp(prefix="forebay-bench-", dir=options.memory))
    disk = Path(tempfile.mkdtemp(prefix="forebay-bench-", dir=options.disk))
    result = report.Report("blocks", report.machine(memory=str(options.memory), disk=str(options.disk)))
    try:
        if "arrays" in options.only:
            add_arrays(options, result, memory, disk)
        if "cavity" in options.only:
            add_cavity(options, result, memory, disk)
        if "mesh" in options.only:
            add_mesh(options, result)
    except (RuntimeError, subprocess.CalledProcessError) as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(memory, ignore_errors=True)
        shutil.rmtree(disk, ignore_errors=True)
    print(result.as_json() if options.json else result.as_table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
