"""Smaller figures: start-up of a rank, the agent at rest, staging, and the benchmark programs of single rooms."""

import contextlib
import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from measure import launch, processes, program
from measure.figures import ratio_of
from measure.report import Report

from . import startup

Say = Callable[[str], None]

IDLE_SECONDS = 12.0
IDLE_SHARE_GOAL = 0.02  # of a core
RESIDENT_GOAL = 50e6
RATE_GOAL = 0.9  # of what plain parallel copies or writers reach
THREADS = 4  # of both sides: forebay's default
STAGED_FILES, STAGED_BYTES = 64, 4 << 20


def preloaded(forebay: Path, name: str) -> Path:
    """A library of the benchmark's own: "discard" or "clock"."""
    return program.need(forebay, f"libforebay_{name}.so")


def add_startup(report: Report, forebay: Path, shared: Path, local: Path, pairs: int, say: Say) -> None:
    """`forebay exec -- true` against `true`, as ranks of a run that is under way."""
    for way in ("path", "redirect"):
        with idle_run(forebay, shared / f"exec-{way}", local / f"exec-{way}.log", "--via", way) as case:
            command = [str(forebay), "exec", "--case", str(case), "--", "/bin/true"]
            startup.measure(report, f"forebay exec, {way}", command, ["/bin/true"], launch.environment(), pairs, say)


@contextlib.contextmanager
def idle_run(forebay: Path, case: Path, log: Path, *flags: str) -> Iterator[Path]:
    """A run whose program waits, on a case with next to nothing in it, until the context ends."""
    case.mkdir()
    (case / "input").write_text("nothing much\n")
    with log.open("wb") as out:
        run = subprocess.Popen(
            [forebay, "run", "--case", case, *flags, "--", "cat"], stdin=subprocess.PIPE, stdout=out, stderr=out
        )
        try:
            deadline = time.monotonic() + 10
            while not agents(forebay, case):
                if time.monotonic() > deadline or run.poll() is not None:
                    raise RuntimeError(f"forebay run -- cat did not start: {log.read_text()}")
                time.sleep(0.1)
            yield case
        finally:
            run.stdin.close()
            run.wait()
    if run.returncode != 0:
        raise RuntimeError(f"forebay run -- cat ended with status {run.returncode}: {log.read_text()}")


def agents(forebay: Path, case: Path) -> list[int]:
    """Process ids of the agents of a case whose program runs."""
    command = [forebay, "status", "--case", case, "--json"]
    listed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return [run["agent_pid"] for run in listed["runs"] if run["alive"] and run["phase"] == "running"]


def add_agent(report: Report, forebay: Path, shared: Path, local: Path, say: Say) -> None:
    """Memory and processor time of an agent whose program does nothing."""
    say(f"the agent at rest for {IDLE_SECONDS:.0f} s")
    with idle_run(forebay, shared / "idle-case", local / "idle.log") as case:
        pids = agents(forebay, case)
        time.sleep(2)
        before, began = processes.cpu_seconds(pids), time.monotonic()
        time.sleep(IDLE_SECONDS)
        share = (processes.cpu_seconds(pids) - before) / (time.monotonic() - began)
        resident = max(processes.peak_resident_bytes(pid) for pid in pids)
    report.add(
        "agent: processor time at rest, of one core",
        share,
        "%",
        100,
        goal=f"< {IDLE_SHARE_GOAL * 100:g} %",
        met=share < IDLE_SHARE_GOAL,
    )
    add_resident(report, "agent: peak resident memory at rest", resident)


def add_resident(report: Report, name: str, peak_bytes: int) -> None:
    report.add(name, peak_bytes, "MB", 1e-6, goal=f"< {RESIDENT_GOAL * 1e-6:g} MB", met=peak_bytes < RESIDENT_GOAL)


def add_stage(report: Report, forebay: Path, shared: Path, local: Path, rounds: int, say: Say) -> None:
    """Eager copies of a case against plain parallel copies of the same files, alternating; once read over the network,
    as it is at the start of a run, and once from the node's page cache, where only the code counts."""
    case = shared / "stage-case"
    case.mkdir()
    content = bytes(range(256)) * (STAGED_BYTES // 256)
    for number in range(STAGED_FILES):
        (case / f"input{number}").write_bytes(content)
    for cached in (False, True):
        where = "in the page cache" if cached else "on the shared directory"
        say(f"staging {STAGED_FILES} files of {STAGED_BYTES >> 20} MiB that lie {where}, {rounds} rounds")
        ours, plain = [], []
        for number in range(rounds):
            for is_ours in (True, False) if number % 2 else (False, True):
                if not cached:
                    forget(case)
                if is_ours:
                    ours.append(staged_copies(forebay, case, local / "stage.json"))
                else:
                    plain.append(plain_copies(case, local))
        ratio = ratio_of(ours, plain)
        report.add(
            f"stage in: verified copies of files {where}",
            statistics.median(ours),
            "MB/s",
            1e-6,
            reference=statistics.median(plain) * 1e-6,
            ratio=ratio.value,
            goal=f">= {RATE_GOAL} of plain parallel copies",
            met=ratio.value >= RATE_GOAL,
            note=f"the ratio's interval: {ratio.text()}",
        )


def forget(case: Path) -> None:
    """Drops what this node's page cache holds of the files."""
    for path in case.iterdir():
        if path.is_file():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def plain_copies(case: Path, local: Path) -> float:
    """Bytes per second of `cp` in parallel."""
    to = local / "copies"
    to.mkdir()
    began = time.monotonic()
    listed = subprocess.Popen(["find", ".", "-type", "f", "-print0"], cwd=case, stdout=subprocess.PIPE)
    copy = ["xargs", "-0", "-P", str(THREADS), "-n", "4", "cp", "--parents", "-t", to]
    subprocess.run(copy, cwd=case, stdin=listed.stdout, check=True)
    seconds = time.monotonic() - began
    listed.wait()
    subprocess.run(["rm", "-rf", to], check=True)
    return STAGED_FILES * STAGED_BYTES / seconds


def staged_copies(forebay: Path, case: Path, to: Path) -> float:
    """Bytes per second of staging with every file copied."""
    env = launch.environment(FOREBAY_STAGE_COPY="*")
    command = [forebay, "run", "--case", case, "--json", to, "--", "true"]
    subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    node = json.loads(to.read_text())["nodes"][0]
    if node["copied_bytes"] != STAGED_FILES * STAGED_BYTES:
        raise RuntimeError(f"{node['copied_bytes']} bytes were staged as copies, not all of them")
    return node["copied_bytes"] / node["stage_seconds"]


def add_programs(report: Report, forebay: Path, shared: Path, say: Say) -> None:
    """What the rooms' own benchmark programs measure; each prints results in the form of a report."""
    library = program.beside(forebay, "libforebay_redirect.so")
    for name, arguments in (("drain", [shared, "3"]), ("redirect", [library])):
        bench = program.beside(forebay, f"{name}_bench")
        if bench is None or None in arguments:
            say(f"{name}: left out, {name}_bench or what it measures is not part of this installation")
            continue
        say(f"{name}: its own benchmark")
        done = subprocess.run([bench, *arguments], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{name}_bench ended with status {done.returncode}: {done.stderr.strip()}")
        for row in json.loads(done.stdout)["results"]:
            report.add_row(name, row)
