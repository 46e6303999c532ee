#!/usr/bin/python3
"""forebay bench trajectory: what it costs to keep every state of a forward run and to read them backwards.

The trajectory alternates with its reference in one process: a non-temporal copy, a plain read sweep, touching pages, raw
reads of a disk, one file for each state. Every ratio is one of neighbouring slices; intervals are bootstrap, 95 %, and a
goal is met only when the whole interval lies on its side.
"""

import argparse
import math
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import flow, parts, report, solver, states
from measure.shared import Shared

QUICK_SECONDS = 38  # from the start to the end of the pairs of runs; the rest of the minute goes to what follows
STARTED = time.monotonic()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="forebay bench trajectory", description=__doc__)
    parser.add_argument("--forebay", type=Path, default=Path("forebay"), help="the command whose programs are measured")
    parser.add_argument("--quick", action="store_true", help="few repetitions, small sizes, within a minute")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output instead of a table")
    parser.add_argument("--pool", type=Path, default=Path("/dev/shm"), help="where the first tier lies")
    parser.add_argument("--disk", type=Path, default=Path("/var/tmp"), help="where the next tier lies")
    parser.add_argument("--only", default=",".join(states.PARTS) + ",n3d", help="parts to measure: %(default)s")
    parser.add_argument("--mbit", type=int, default=800, help="bandwidth of the slow shared directory, 0: unlimited")
    parser.add_argument("--create-ms", type=int, default=10, help="delay of each create there, 0: none")
    options = parser.parse_args()
    options.only = options.only.split(",")
    for part in options.only:
        if part not in (*states.PARTS, "n3d"):
            parser.error(f"unknown part '{part}'; known: {', '.join(states.PARTS)}, n3d")
    found = shutil.which(options.forebay)
    if found is None:
        parser.error(f"no such program: {options.forebay}; give its path with --forebay")
    options.forebay = Path(found).resolve()
    for directory in (options.pool, options.disk):
        if not directory.is_dir():
            parser.error(f"not a directory: {directory}")
    return options


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def add_n3d(options, result: report.Report, pool: Path, disk: Path) -> None:
    program = parts.beside(options.forebay, "n3d")
    if program is None:
        say("n3d is left out: it is not part of this installation")
        return
    deadline = STARTED + QUICK_SECONDS if options.quick else math.inf
    runs = flow.Runs(program, pool, options.quick, deadline, say)
    runs.add_pairs(result)
    with Shared(disk / "shared", options.mbit, options.create_ms) as shared:
        say(f"shared directory: {shared.description}")
        result.machine["shared"] = shared.description
        runs.add_table(result, shared.directory)


def main() -> int:
    options = arguments()
    solver.clean_up_when_terminated()
    program = parts.beside(options.forebay, "trajectory_bench")
    if program is None:
        print(f"bench: no trajectory_bench beside {options.forebay}; was everything built?", file=sys.stderr)
        return 2
    pool = Path(tempfile.mkdtemp(prefix="forebay-bench-", dir=options.pool))
    disk = Path(tempfile.mkdtemp(prefix="forebay-bench-", dir=options.disk))
    result = report.Report("trajectory", report.machine(pool=str(options.pool), disk=str(options.disk)))
    measured = states.Measured(program, pool, disk, options.quick, say)
    try:
        for part in options.only:
            if part == "n3d":
                add_n3d(options, result, pool, disk)
            else:
                states.PARTS[part](measured, result)
    except (RuntimeError, subprocess.CalledProcessError) as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(pool, ignore_errors=True)
        shutil.rmtree(disk, ignore_errors=True)
    print(result.as_json() if options.json else result.as_table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
