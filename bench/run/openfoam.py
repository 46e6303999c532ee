#!/usr/bin/env python3
"""forebay bench openfoam: an unmodified solver that writes every step, direct, on a bare tmpfs, and with forebay.

Measures against the standard slow shared directory where the machine allows it, else a plain one (and says so).
Every ratio compares runs of this one invocation, interleaved in changing orders. What adds little to a step is compared
with the steps of the same run that do not write: it writes every other one, and what lies between the last equation of a
step and the first of the next is compared. Intervals are bootstrap, 95 %.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from measure import command, launch, report
from measure.command import say
from measure.shared import Shared

from run import case, parts, steps
from run import variants as v

QUICK_SECONDS = 48  # from the start to the end of the repetitions; the rest of the minute goes to what follows
FULL = {"repetitions": 5, "sizes": "30k,62k", "ranks": "2,4"}
QUICK = {"repetitions": 3, "sizes": "30k", "ranks": "4"}
STARTED = time.monotonic()


def arguments() -> argparse.Namespace:
    parser = command.new_parser("openfoam", __doc__, "the command to measure", "one small configuration")
    thrice = "what never waits for the shared directory is done three times as often, what does half as often"
    parser.add_argument("--repetitions", type=int, help=f"{thrice} (5; quick: 3, and that is so often)")
    parser.add_argument("--sizes", help=f"motorBike meshes: {', '.join(case.SIZES)} (30k,62k; quick: 30k)")
    parser.add_argument("--ranks", help="(2,4; quick: 4)")
    parser.add_argument("--pool", metavar="DIR", help="forebay's pools, e.g. a tmpfs with huge pages (those it finds)")
    command.add_shared(parser)
    options = parser.parse_args()
    for name, value in (QUICK if options.quick else FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    for size in options.sizes.split(","):
        if size not in case.SIZES:
            parser.error(f"unknown size '{size}'; known: {', '.join(case.SIZES)}")
    command.find_forebay(parser, options)
    return options


def local_directory() -> Path:
    """On a bare tmpfs, which is the reference of the local variants."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="forebay-bench-", dir=base))


def one_configuration(options, result: report.Report, shared: Shared, local: Path, size: str, ranks: int) -> None:
    prefix = f"{size} cells, {ranks} ranks"
    say(f"{prefix}: preparing the case")
    template = case.make(size, ranks, local / "templates" / f"motorBike-{size}-{ranks}")
    discard, clock = (parts.preloaded(options.forebay, name) for name in ("discard", "clock"))
    settle = 0.5 if options.quick else 10
    bench = v.Bench(options.forebay, discard, clock, shared, local, template, ranks, settle, options.pool)
    if options.quick:
        left_out = (v.FOREBAY_LIVE_COLLATED, v.DIRECT_PURGE)
        until = STARTED + QUICK_SECONDS
        plan = steps.Plan(
            options.repetitions,
            1,
            rounds=1,
            slow=6,
            paced_seconds=2,
            clocked_repetitions=1,
            clocked_rounds=4,
            left_out=left_out,
            deadline=until,
        )
    else:
        wide = (options.repetitions + 1) // 2
        # What never waits is soon done, and runs of one kind differ more than the turns of one.
        plan = steps.Plan(
            3 * options.repetitions,
            wide,
            rounds=4,
            slow=20,
            paced_seconds=25,
            clocked_repetitions=2 * options.repetitions,
            clocked_rounds=8,
        )
    steps.add_results(result, prefix, steps.repeat(bench, plan, say), plan)
    if not options.quick:
        say(f"{prefix}: counting what reaches the shared file system")
        steps.count_purged_calls(result, prefix, bench, shared, 3 * plan.slow)
        steps.count_collated_files(result, prefix, bench, plan.slow, ranks)
    bench.remove()


def main() -> int:
    options = arguments()
    launch.clean_up_when_terminated()
    for program in ("mpirun", "simpleFoam", "decomposePar"):
        if shutil.which(program) is None:
            print(f"bench: {program} is not installed; run scripts/install-dependencies demo", file=sys.stderr)
            return 2
    scratch = Path(tempfile.mkdtemp(prefix="forebay-bench-"))
    local = local_directory()
    try:
        with Shared(scratch / "shared", options.mbit, options.create_ms) as shared:
            say(f"shared directory: {shared.description}")
            result = report.Report("openfoam", report.machine(shared=shared.description, local=str(local.parent)))
            for size in options.sizes.split(","):
                for ranks in map(int, options.ranks.split(",")):
                    one_configuration(options, result, shared, local, size, ranks)
            parts.add_startup(result, options.forebay, shared.directory, local, 100 if options.quick else 400, say)
            if not options.quick:
                parts.add_agent(result, options.forebay, shared.directory, local, say)
                parts.add_stage(result, options.forebay, shared.directory, local, 7, say)
                parts.add_programs(result, options.forebay, shared.directory, say)
    except (RuntimeError, subprocess.CalledProcessError) as failure:
        say(failure)
        return 1
    finally:
        shutil.rmtree(local, ignore_errors=True)
        shutil.rmtree(scratch, ignore_errors=True)
    command.tell(options, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
