#!/usr/bin/env python3
"""forebay bench io: what the media of this machine do, and a profile of it for `forebay predict` (docs/run/bench_io.md).

DIR...: directories on the media; --shared: one on a file system of all nodes, which those of mpirun or srun measure together.
"""

import argparse
import os
import platform
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from measure import command, launch, report, result_file  # noqa: E402
from measure.command import say  # noqa: E402
from measure.figures import plural  # noqa: E402
from measure.program import need  # noqa: E402

from run.predict.units import human  # noqa: E402
from run.probe import curves, grid, told  # noqa: E402
from run.probe.medium import Figures, Medium, Plan  # noqa: E402
from run.probe.nodes import Nodes, name_of_job, rank_and_size  # noqa: E402
from run.probe.place import Place, Private, observe, place_of  # noqa: E402

# Rounds, seconds of a medium, of a cell at most, and of a cell of a shared file system.
FULL, QUICK = (3, 180.0, 0.3, 1.0), (1, 30.0, 0.15, 0.3)
LEAST = 128 * grid.MIB  # bytes of all writers of a cell: the largest transfer twice
SHARED_BYTES = 256 * grid.MIB  # of one node
BUSY = 0.25  # of the cores: a load above it spoils the figures


class Refused(Exception):
    """What is wrong, and what to do; nothing was written."""


def sizes(text: str) -> list[int]:
    return sorted({grid.size(each) for each in text.split(",")})


def counts(text: str) -> list[int]:
    found = sorted({int(each) for each in text.split(",")})
    if found[0] < 1:
        raise ValueError(text)
    return found


def arguments() -> argparse.Namespace:
    parser = command.new_parser("io", __doc__, "the command whose programs are measured", "one round of few cells")
    parser.add_argument("directories", nargs="*", type=Path, metavar="DIR", help="a directory on a medium to measure")
    parser.add_argument("--shared", type=Path, metavar="DIR", help="a directory of the shared file system")
    parser.add_argument("--writers", type=counts, help="numbers of writers, as 1,4,24; default: 1 to all of a socket")
    parser.add_argument("--transfer", type=sizes, help="bytes of a call or copy, as 256,4k,1M; default: 64 to 64M")
    parser.add_argument("--block", type=grid.size, help="bytes of all writers of a cell; default: twice the caches")
    parser.add_argument("-o", "--profile", type=Path, metavar="FILE.toml", help="write what `forebay predict` reads")
    parser.add_argument("--page", type=Path, metavar="FILE.html", help="write a page with the curves")
    options = parser.parse_args()
    if not options.directories and not options.shared:
        parser.error("name a directory on each medium to measure, as /dev/shm, or --shared DIR")
    if any(each % 64 for each in options.transfer or []):
        parser.error("--transfer: a transfer is a multiple of 64 bytes")
    for each, kind, option in ((options.profile, told.PROFILE, "-o"), (options.page, curves.PAGE, "--page")):
        command.need_own(parser, each, kind, option)
        if each and (not each.exists() or each.is_file()) and not os.access(each.parent, os.W_OK):
            parser.error(f"{each} cannot be written: {each.parent} is no directory that you may write in")
    command.find_forebay(parser, options)
    return options


def plan_of(place: Place, options: argparse.Namespace) -> Plan:
    cores = len(place.cpus)
    rounds, limit, longest, _ = QUICK if options.quick else FULL
    writers = options.writers or grid.writers_of(cores, options.quick)
    transfers = options.transfer or ([256, 4096, grid.BASE] if options.quick else grid.TRANSFERS)
    cells = grid.cells_of(transfers, writers, len(place.remote), place.on_disk)
    files = [grid.Files(each) for each in options.writers or grid.processes_of(cores, options.quick)]
    total = options.block or max(LEAST, 2 * place.cache)
    return Plan(cells, files, rounds, limit, longest, total)


def plan_of_shared(nodes: int, cores: int, options: argparse.Namespace) -> Plan:
    cells, files = grid.cells_of_nodes(nodes, cores, options.writers, options.transfer or [grid.BASE])
    rounds, limit, _, longest = QUICK if options.quick else FULL
    return Plan(cells, files, rounds, limit, longest, options.block or SHARED_BYTES)


def look_at(machine: dict, directory: Path) -> Place:
    if not directory.is_dir():
        raise Refused(f"not a directory: {directory}; name one on the medium that is to be measured")
    if not os.access(directory, os.W_OK | os.X_OK):
        raise Refused(f"you may not write in {directory}; name a directory of your own on that medium")
    return place_of(machine, directory)


def lack_of_room(place: Place, plan: Plan, nodes: int = 1) -> str:
    need = 2 * plan.written(nodes)
    if place.free < need:
        return (
            f"{place.directory} has {human(place.free)} free, and needs {human(need)}, twice what is written; "
            "name another directory, or write less with --block"
        )
    need = 2 * nodes * grid.MOST_FILES
    if place.files_free is not None and place.files_free < need:
        return f"{place.directory} has room for {plural(place.files_free, 'more file')} (df -i), and needs {need}, twice what is made; name another directory"
    return ""


def need_room(place: Place, plan: Plan) -> None:
    if lack := lack_of_room(place, plan):
        raise Refused(lack)


def measure_shared(options: argparse.Namespace, machine: dict, program: Path, measured: list[Figures]) -> None:
    """By the first process of each node; others have nothing to do."""
    place = look_at(machine, options.shared)
    rank, size = rank_and_size()
    plan = plan_of_shared(size, len(place.cpus), options)
    if size == 1:
        need_room(place, plan)
        measure_local(place, plan, program, measured)
        return
    name = name_of_job()
    if name is None:
        raise Refused(
            f"{plural(size, 'process')}, and no variable names their job (those of Open MPI, PMIx or a step of Slurm): start them by "
            "srun or Open MPI's mpirun, or one alone"
        )
    with Private(options.shared, name) if rank == 0 else nullcontext(options.shared / name) as directory:
        nodes = Nodes(directory, rank, size, plan.limit, lack_of_room(place, plan, size))
        if nodes.refusal:
            nodes.leave()
            if rank > 0:  # a launcher would end the first one before it has removed the directory
                return
            raise Refused(nodes.refusal)
        if nodes.index is None:
            return
        own = nodes.make(f"node.{nodes.index}")
        plan = plan_of_shared(nodes.count, min(nodes.meet(len(place.cpus))), options)
        measured.append(Medium(place, plan, program, own, nodes).measure(say if rank == 0 else lambda _: None))
        nodes.leave()


def measure_local(place: Place, plan: Plan, program: Path, measured: list[Figures]) -> None:
    with Private(place.directory) as directory:
        measured.append(Medium(place, plan, program, directory).measure(say))


def warn_of_load(machine: dict) -> None:
    load, cores = os.getloadavg()[0], machine["cores"]
    if load > BUSY * cores:
        say(
            f"the load is {load:.1f} on {plural(cores, 'core')}: others use this machine, so figures are too low and spread"
        )
        machine["warning"] = f"load {load:.1f} on {plural(cores, 'core')} while measuring"


def main() -> int:
    options = arguments()
    launch.clean_up_when_terminated()
    try:
        program = need(options.forebay, "io_probe")
    except RuntimeError as lacking:
        say(str(lacking))
        return 2
    machine = {"host": platform.node(), **report.machine()}
    first = rank_and_size()[0] == 0
    measured: list[Figures] = []
    shared: list[Figures] = []
    failures: list[str] = []

    def told_if_it_fails(measure: Callable, *given: object) -> None:
        """What was measured before, and what is measured after it, is told all the same."""
        try:
            measure(*given)
        except (RuntimeError, OSError) as failure:
            failures.append(str(failure))

    try:
        seen = observe(options.forebay)
        places = [look_at(seen, each) for each in options.directories if first]
        plans = [plan_of(each, options) for each in places]
        for place, plan in zip(places, plans, strict=True):
            need_room(place, plan)
        if first:
            warn_of_load(machine)
        if options.shared:
            told_if_it_fails(measure_shared, options, seen, program, shared)
        for place, plan in zip(places, plans, strict=True):
            told_if_it_fails(measure_local, place, plan, program, measured)
    except Refused as why:
        say(why)
        return 2
    except (RuntimeError, OSError) as failure:
        say(failure)
        return 1
    status = 0
    if first and (measured or shared):
        status = tell(options, machine, measured, shared[0] if shared else None)
    failures += [each.failure for each in [*shared, *measured] if each.failure]
    for each in failures:
        say(each)
    return 1 if failures else status


def tell(options: argparse.Namespace, machine: dict, measured: list[Figures], shared: Figures | None) -> int:
    every = [*measured, *([shared] if shared else [])]
    result = report.Report("io", machine)
    for each in every:
        told.add_rows(result, each)
    if options.json:
        print(result.as_json())
    else:
        print("\n".join(f"{key}: {value}" for key, value in machine.items()))
        print("\n" + "\n\n".join(map(told.text, every)))
    try:
        if options.profile:
            profile = told.profile(measured[0] if measured else None, shared, machine)
            result_file.write(options.profile, profile, told.PROFILE, "-o")
        if options.page:
            curves.write_page(options.page, every, machine)
    except OSError as why:
        say(f"cannot write {why.filename}: {why.strerror}")
        return 1
    except result_file.Refused as why:
        say(why)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
