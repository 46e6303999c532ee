#!/usr/bin/env python3
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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from measure import command, launch, report
from measure.command import say
from measure.program import beside, need
from measure.shared import Shared

from store import flow, states

QUICK_SECONDS = 38  # from the start to the end of the pairs of runs; the rest of the minute goes to what follows
STARTED = time.monotonic()


def arguments() -> argparse.Namespace:
    parser = command.new_parser(
        "trajectory", __doc__, "the command whose programs are measured", "few repetitions, small sizes"
    )
    parser.add_argument("--pool", type=Path, default=Path("/dev/shm"), help="where the first tier lies")
    parser.add_argument("--disk", type=Path, default=Path("/var/tmp"), help="where the next tier lies")
    parser.add_argument("--only", default=",".join(states.PARTS) + ",n3d", help="parts to measure: %(default)s")
    command.add_shared(parser)
    options = parser.parse_args()
    command.choose_parts(parser, options, (*states.PARTS, "n3d"))
    command.find_forebay(parser, options)
    command.need_directories(parser, options.pool, options.disk)
    return options


def add_n3d(options, result: report.Report, pool: Path, disk: Path) -> None:
    program, bench = beside(options.forebay, "n3d"), beside(options.forebay, "n3d_bench")
    if program is None or bench is None:
        say("n3d is left out: it is not part of this installation")
        return
    deadline = STARTED + QUICK_SECONDS if options.quick else math.inf
    runs = flow.Runs(program, bench, pool, options.quick, deadline, say)
    runs.add_pairs(result)
    with Shared(disk / "shared", options.mbit, options.create_ms) as shared:
        say(f"shared directory: {shared.description}")
        result.machine["shared"] = shared.description
        runs.add_table(result, shared.directory)


def main() -> int:
    options = arguments()
    launch.clean_up_when_terminated()
    try:
        program = need(options.forebay, "trajectory_bench")
    except RuntimeError as lacking:
        say(str(lacking))
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
        say(failure)
        return 1
    finally:
        shutil.rmtree(pool, ignore_errors=True)
        shutil.rmtree(disk, ignore_errors=True)
    command.tell(options, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
