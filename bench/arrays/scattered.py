"""Scattered arrays: what plans, copies and checkpoints take, beside others that write the same bytes."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import launch
from measure.figures import estimate, ratio_of
from measure.program import figures_of
from measure.report import Report
from measure.rounds import Rounds, seconds_to_write, times_faster

RANKS = 4
ITEM_BYTES = 8
DIRECT = ("serial", "stdio", "mpi-independent", "mpi-noncollective", "mpi-collective")
PLAN_RATE_GOAL, PLAN_BYTES_GOAL = 50e6, 24  # items a second; bytes of memory an item
END_TO_END_GOAL = 0.95  # of the rate of the slow shared directory
SATURNE_GOAL = 3  # times faster than Code_Saturne's own library
INDEXED_GOAL = 2  # times faster than MPI-IO with indexed file types
FIRST_GOAL, PREPARED_GOAL = 1.0, 1.3  # times as fast as HDF5: a first checkpoint, and one whose room is prepared


@dataclass(frozen=True)
class Ownership:
    """How global numbers lie on ranks, and what staging has to reach with it."""

    name: str
    flags: tuple[str, ...]
    copies: float  # of its bytes that a checkpoint may take
    faster: float  # times, than HDF5 or than the best of the others
    than: str | None  # which; None: the best of the others


RUNS = Ownership("runs of 32", ("--run", "32"), 3, 5, "hdf5_collective")
RANDOM = Ownership("random elements", ("--run", "1"), 5, 2.5, None)
# Nor do ranks hold them by rising numbers: harder than what the facts have (file types of MPI-IO must rise).
SHUFFLED = Ownership("random elements in random order", ("--run", "1", "--shuffled"), 5, 2.5, None)


@dataclass
class Measured:
    """Runs blocks_bench and its peers by turns: one size, one kind of ownership, one place at a time."""

    ours: Path
    peers: Path | None
    saturne: Path | None
    pool: Path
    rounds: int
    say: Callable[[str], None]
    adios: Path | None = None  # a Python that has it

    def run(
        self, program: Path, items: int, ownership: Ownership, directory: Path, *flags: str, library: str = ""
    ) -> dict:
        """`library`: Open MPI's part that does MPI-IO, if not the one that it would take."""
        mca = ("--mca", "io", library) if library else ()
        return self.on_ranks([program], items, directory, *ownership.flags, *flags, mca=mca)

    def write_by_adios(self, items: int, directory: Path) -> dict:
        """Without the redistribution."""
        return self.on_ranks([self.adios, Path(__file__).parent / "write_adios.py"], items, directory, "--sync")

    @staticmethod
    def on_ranks(program: Sequence[Path], items: int, directory: Path, *flags: str, mca: Sequence[str] = ()) -> dict:
        command = [*launch.mpirun(RANKS, *mca), *program, "--items", str(items), "--directory", directory, *flags]
        return figures_of(program[-1].name, command, launch.environment(OMPI_MCA_mpi_yield_when_idle="1"))


def add_arrays(measured: Measured, report: Report, megabytes: int, ownership: Ownership, place: str, to: Path) -> None:
    """One table: our methods and the others, in seconds until the program may go on."""
    items = megabytes * 1_000_000 // ITEM_BYTES
    section = f"{megabytes} MB, {ownership.name}, {RANKS} ranks, {place}"
    rounds = Rounds()
    figures: dict = {}
    for number in range(measured.rounds):
        measured.say(f"{section}, round {number + 1} of {measured.rounds}")
        figures = measured.run(
            measured.ours,
            items,
            ownership,
            to,
            "--pool",
            str(measured.pool),
            "--methods",
            ",".join((*DIRECT, "staged")),
        )
        collect_ours(figures, rounds)
        if measured.peers:
            collect_peers(measured, measured.peers, items, ownership, to, rounds)
        if measured.saturne:
            for method, seconds in measured.run(measured.saturne, items, ownership, to, "--sync").items():
                rounds.add(f"code_saturne {method}", seconds)
    add_plan(report, section, items, rounds, figures)
    add_checksum(report, section, rounds)
    add_methods(report, section, rounds)
    add_goals(report, section, ownership, rounds)


def add_slow(measured: Measured, report: Report, megabytes: int, directory: Path, slow: bool) -> None:
    """The whole way of a staged checkpoint to the shared directory, beside a plain file of as many bytes. It has a goal
    where that is `slow`."""
    section = f"{megabytes} MB to the shared directory"
    rounds = Rounds()
    flags = ("--pool", str(measured.pool), "--methods", "staged", "--repeat", "1")
    for number in range(measured.rounds):
        measured.say(f"{section}, round {number + 1} of {measured.rounds}")
        staged = measured.run(measured.ours, megabytes * 1_000_000 // ITEM_BYTES, RUNS, directory, *flags)["staged"]
        rounds.add("staged", staged["settled"])
        rounds.add("staged, continued", staged["again"])
        rounds.add("plain", [seconds_to_write(directory / "plain", megabytes * 1_000_000)])
    ratio = times_faster(rounds, "staged", "plain")
    report.add(
        f"{section}: staged, on the file system",
        estimate(rounds.of("staged")),
        "s",
        reference=statistics.median(rounds.of("plain")),
        ratio=ratio.value,
        goal=f">= {END_TO_END_GOAL:g} of the rate of a plain file with fsync" if slow else None,
        met=ratio.low >= END_TO_END_GOAL if slow else None,
        note=f"the ratio's interval: {ratio.text()}",
    )
    report.add(
        f"{section}: staged, the program goes on after",
        estimate(rounds.of("staged, continued")),
        "ms",
        1e3,
        reference=statistics.median(rounds.of("plain")) * 1e3,
        note="reference: a plain file with fsync",
    )


def collect_ours(figures: dict, rounds: Rounds) -> None:
    for name in ("plan", "copy", "to_image", "to_image_with_checksum", "from_image"):
        rounds.add(name, figures[name][1:] or figures[name])
    for method in (*DIRECT, "staged"):
        rounds.add(method, figures[method]["again"])
    rounds.add(COPY_BESIDE, figures["staged"]["copy"])
    rounds.add("staged, first", [figures["staged"]["first"]])
    rounds.add("staged, first, prepared", [figures["prepared"]["first"]])
    rounds.add("staged, preparation", [figures["prepared"]["prepare"]])
    rounds.add("staged, on the file system", figures["staged"]["settled"])


def collect_peers(measured: Measured, peers: Path, items: int, ownership: Ownership, to: Path, rounds: Rounds) -> None:
    figures = measured.run(peers, items, ownership, to, "--sync")
    for name in ("hdf5_collective", "pnetcdf_collective"):
        rounds.add(name, figures[name])
    if measured.adios:
        redistribution = statistics.median(figures["redistribution"])
        for engine, seconds in measured.write_by_adios(items, to).items():
            rounds.add(f"adios2 {engine}", [redistribution + each for each in seconds])
    # Minutes for random elements: facts are known (2.8 and 20.7 s for 64 MB), and no goal asks for them.
    if ownership is RUNS:
        for library in ("ompio", "romio321"):
            figures = measured.run(peers, items, ownership, to, "--only-indexed", "--sync", library=library)
            rounds.add(f"mpi_indexed, {library}", figures["mpi_indexed"])


COPY_BESIDE = "copy, beside staged"
OTHERS = (
    "hdf5_collective",
    "pnetcdf_collective",
    "adios2 BP4",
    "adios2 BP5",
    "mpi_indexed, ompio",
    "mpi_indexed, romio321",
)


def add_plan(report: Report, section: str, items: int, rounds: Rounds, figures: dict) -> None:
    rate = estimate([items / seconds for seconds in rounds.of("plan")])
    report.add(
        f"{section}: plan",
        rate,
        "M items/s",
        1e-6,
        goal=f">= {PLAN_RATE_GOAL * 1e-6:g}",
        met=rate.low >= PLAN_RATE_GOAL,
    )
    memory = figures["plan_bytes_per_item"]
    report.add(
        f"{section}: memory of the plan",
        memory,
        "bytes an item",
        goal=f"<= {PLAN_BYTES_GOAL}",
        met=memory <= PLAN_BYTES_GOAL,
    )


def add_checksum(report: Report, section: str, rounds: Rounds) -> None:
    """What a staged image's checksum, made while its items are copied, takes. Without a goal."""
    ratio = ratio_of(rounds.of("to_image_with_checksum"), rounds.of("to_image"))
    report.add(
        f"{section}: the copy of a staged image with its checksum",
        estimate(rounds.of("to_image_with_checksum")),
        "ms",
        1e3,
        reference=statistics.median(rounds.of("to_image")) * 1e3,
        ratio=ratio.value,
        note=f"reference: the copy without it; the ratio's interval: {ratio.text()}",
    )


def add_methods(report: Report, section: str, rounds: Rounds) -> None:
    copy = statistics.median(rounds.of("copy")) * 1e3
    for name in rounds.seconds:
        if name not in ("plan", "copy", "to_image_with_checksum"):
            report.add(
                f"{section}: {name.replace('_', ' ')}",
                estimate(rounds.of(name)),
                "ms",
                1e3,
                reference=copy,
                note="reference: a copy",
            )


def add_goals(report: Report, section: str, ownership: Ownership, rounds: Rounds) -> None:
    def compare(name: str, ours: str, theirs: str, goal: float) -> None:
        ratio = times_faster(rounds, ours, theirs)
        report.add(
            f"{section}, goals: {name}",
            ratio,
            "times",
            reference=1.0,
            goal=f">= {goal:g} times as fast as {theirs.replace('_', ' ')}",
            met=ratio.low >= goal,
            note=f"with {ours}",
        )

    copies = times_faster(rounds, COPY_BESIDE, "staged")
    report.add(
        f"{section}, goals: staged goes on after",
        copies,
        "copies",
        reference=1.0,
        goal=f"<= {ownership.copies:g}",
        met=copies.high <= ownership.copies,
    )
    direct = rounds.best(DIRECT)
    saturne = [name for name in rounds.seconds if name.startswith("code_saturne")]
    if saturne:
        compare("the best direct method, Code_Saturne", direct, rounds.best(saturne), SATURNE_GOAL)
    others = [name for name in OTHERS if name in rounds.seconds]
    if not others:
        return
    compare("staged goes on", "staged", ownership.than or rounds.best(others), ownership.faster)
    compare("staged, the first one", "staged, first", "hdf5_collective", FIRST_GOAL)
    compare(
        "staged, the first one, with its room prepared", "staged, first, prepared", "hdf5_collective", PREPARED_GOAL
    )
    compare("the best direct method", direct, "hdf5_collective", 1.0)
    for name in others:
        if name.startswith("mpi_indexed"):
            compare(f"the best direct method, {name[13:]}", direct, name, INDEXED_GOAL)
