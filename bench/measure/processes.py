"""Processor time and memory of running processes, and of the machine, from /proc."""

import contextlib
import mmap
import os
import time
from collections.abc import Iterable
from pathlib import Path

SCHEDULER_COUNTS = Path("/proc/self/schedstat")
TICKS = os.sysconf("SC_CLK_TCK")
IDLE_SHARE = 0.05  # busier than this is not idle


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time of those that still run, their ended children not counted."""
    return sum(_cpu_seconds(pid) for pid in pids)


def _cpu_seconds(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    fields = text.rpartition(")")[2].split()  # the name before may hold anything
    return (int(fields[11]) + int(fields[12])) / TICKS


def exact_cpu_seconds(pid: int) -> float:
    """The same of one process, by the scheduler's own count (Documentation/scheduler/sched-stats.rst), in nanoseconds
    where the other comes in hundredths of a second."""
    if not SCHEDULER_COUNTS.exists():
        return _cpu_seconds(pid)
    total = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # it has just ended
            total += int(path.read_text().split()[0])
    return total * 1e-9


def name(pid: int) -> str:
    """Of its program, as the kernel has it; "" where it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().rstrip("\n")
    except OSError:
        return ""


def descendants(pid: int) -> list[int]:
    """Its children, theirs, and so on."""
    found = []
    with contextlib.suppress(OSError):  # it has just ended
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, path.read_text().split()):
                found += [child, *descendants(child)]
    return found


def wait_until_idle(limit: float) -> None:
    """Lets what the last run left to be done (write-back, the file server) end, for `limit` seconds at most."""
    os.sync()
    ends = time.monotonic() + limit
    while _busy_share(0.2) > IDLE_SHARE and time.monotonic() < ends:
        pass


def touch_memory(size: int) -> None:
    """Takes `size` bytes, at most half of what is free, and gives them back: memory that nobody has touched before must be
    found by the host of a virtual machine first, and then costs the one who writes there three times as much."""
    size = min(size, os.sysconf("SC_AVPHYS_PAGES") // 2 * mmap.PAGESIZE)
    mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE).close()


def _busy_share(seconds: float) -> float:
    """Of all cores, over the next `seconds`."""
    idle, total = _idle_and_total()
    time.sleep(seconds)
    idle_then, total_then = _idle_and_total()
    return 1 - (idle_then - idle) / max(total_then - total, 1)


def _idle_and_total() -> tuple[int, int]:
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return ticks[3] + ticks[4], sum(ticks)


def peak_resident_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
