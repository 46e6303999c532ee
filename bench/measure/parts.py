"""Smaller figures: start-up of a rank, the agent at rest, staging, and the benchmark programs of single rooms."""

import json
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from . import processes, solver, startup
from .figures import estimate
from .report import Report

Say = Callable[[str], None]

IDLE_SECONDS = 12.0
IDLE_SHARE_GOAL = 0.02  # of a core
RESIDENT_GOAL = 50e6
RATE_GOAL = 0.9  # of what plain parallel copies or writers reach
THREADS = 4  # of both sides: forebay's default
STAGED_FILES, STAGED_BYTES = 64, 4 << 20


def beside(forebay: Path, name: str) -> Path | None:
    """A library or program that belongs to this forebay, in a build tree or installed."""
    root = forebay.parent.parent
    places = (forebay.parent, root / "lib", root / "lib/forebay", *root.glob("lib/*/forebay"))
    return next((place / name for place in places if (place / name).exists()), None)


def discard_library(forebay: Path) -> Path:
    library = beside(forebay, "libforebay_discard.so")
    if library is None:
        raise RuntimeError(f"no libforebay_discard.so beside {forebay}; was everything built?")
    return library


def add_startup(report: Report, forebay: Path, pairs: int, say: Say) -> None:
    true = "/bin/true"
    command = [str(forebay), "exec", "--", true]
    startup.measure(report, "forebay exec", command, [true], solver.environment(), pairs, say)


def small_case(directory: Path) -> Path:
    """Any directory is a case; this one has next to nothing in it."""
    directory.mkdir()
    (directory / "input").write_text("nothing much\n")
    return directory


def add_agent(report: Report, forebay: Path, shared: Path, local: Path, say: Say) -> None:
    """Memory and processor time of an agent whose program does nothing."""
    say(f"the agent at rest for {IDLE_SECONDS:.0f} s")
    case = small_case(shared / "idle-case")
    out = (local / "idle.log").open("wb")
    command = [forebay, "run", "--case", case, "--", "sleep", str(IDLE_SECONDS + 4)]
    run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        time.sleep(2)
        listed = subprocess.run([forebay, "status", "--json"], capture_output=True, text=True, check=True)
        pids = set(find_all(json.loads(listed.stdout), "agent_pid", str(case)))
        before, began = processes.cpu_seconds(pids), time.monotonic()
        time.sleep(IDLE_SECONDS)
        share = (processes.cpu_seconds(pids) - before) / (time.monotonic() - began)
        resident = max(processes.peak_resident_bytes(pid) for pid in pids)
    finally:
        run.wait()
        out.close()
    if run.returncode != 0:
        raise RuntimeError(f"forebay run -- sleep ended with status {run.returncode}: {Path(out.name).read_text()}")
    report.add(
        "agent: processor time at rest, of one core",
        share,
        "%",
        100,
        goal=f"< {IDLE_SHARE_GOAL * 100:g} %",
        met=share < IDLE_SHARE_GOAL,
    )
    report.add(
        "agent: peak resident memory at rest",
        resident,
        "MB",
        1e-6,
        goal=f"< {RESIDENT_GOAL * 1e-6:g} MB",
        met=resident < RESIDENT_GOAL,
    )


def find_all(value: object, key: str, case: str) -> Iterator:
    """Every value of `key` below those parts of a JSON value that speak of `case`, or of no case at all."""
    if isinstance(value, dict):
        if value.get("case", case) != case:
            return
        if key in value:
            yield value[key]
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from find_all(part, key, case)


def add_stage(report: Report, forebay: Path, shared: Path, local: Path, rounds: int, say: Say) -> None:
    """Eager copies of a case against plain parallel copies of the same files, alternating."""
    say(f"staging {STAGED_FILES} files of {STAGED_BYTES >> 20} MiB, {rounds} rounds")
    case = shared / "stage-case"
    case.mkdir()
    content = bytes(range(256)) * (STAGED_BYTES // 256)
    for number in range(STAGED_FILES):
        (case / f"input{number}").write_bytes(content)
    pairs = []
    for number in range(rounds):
        if number % 2:
            plain = plain_copies(case, local / f"copies{number}")
            ours = staged_copies(forebay, case, local / "stage.json")
        else:
            ours = staged_copies(forebay, case, local / "stage.json")
            plain = plain_copies(case, local / f"copies{number}")
        pairs.append((ours, plain))
    ratio = estimate(pairs, lambda sample: statistics.median(ours / plain for ours, plain in sample))
    report.add(
        "stage in: verified copies, of the rate of plain parallel ones",
        ratio,
        "",
        reference=1.0,
        goal=f">= {RATE_GOAL}",
        met=ratio.value >= RATE_GOAL,
        note=f"{statistics.median(ours for ours, _ in pairs) * 1e-6:.0f} MB/s",
    )


def plain_copies(case: Path, to: Path) -> float:
    """Bytes per second of `cp` in parallel."""
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
    env = solver.environment(FOREBAY_STAGE_COPY="*")
    command = [forebay, "run", "--case", case, "--json", to, "--", "true"]
    subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    node = json.loads(to.read_text())["nodes"][0]
    if node["copied_bytes"] != STAGED_FILES * STAGED_BYTES:
        raise RuntimeError(f"{node['copied_bytes']} bytes were staged as copies, not all of them")
    return node["copied_bytes"] / node["stage_seconds"]


def add_programs(report: Report, forebay: Path, shared: Path, local: Path, say: Say) -> None:
    """What the rooms' own benchmark programs measure; each prints results in the form of a report."""
    for name, arguments in (("drain", [shared, "3"]), ("redirect", [local])):
        program = beside(forebay, f"{name}_bench")
        if program is None:
            say(f"{name}: left out, {name}_bench is not part of this installation")
            continue
        say(f"{name}: its own benchmark")
        done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{name}_bench ended with status {done.returncode}: {done.stderr.strip()}")
        for row in json.loads(done.stdout)["results"]:
            report.add_row(name, row)
