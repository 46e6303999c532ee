"""Where a medium lies: its file system, the socket that it belongs to, and a directory there that goes with this process."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

CPUS = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Place:
    directory: Path
    kind: str  # tmpfs, fsdax, ext4, lustre, ...
    cpus: tuple[int, ...]  # of its socket, one a core, that this process may use
    remote: tuple[int, ...]  # of another socket
    cache: int  # bytes of the last-level caches of its socket
    sockets: int  # of the node
    capacity: int
    free: int
    files_free: int | None = None  # how many more there may be; None: as many as one likes

    @property
    def on_disk(self) -> bool:
        return self.kind not in ("tmpfs", "ramfs", "fsdax")


def observe(forebay: Path) -> dict:
    """Sockets, mounts and memory of this node, as `forebay doctor` sees them."""
    done = subprocess.run([forebay, "doctor", "--json"], capture_output=True, text=True, check=False)
    if not done.stdout:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)  # also where it found problems


def place_of(machine: dict, directory: Path) -> Place:
    real = directory.resolve()
    mounts = [each for each in machine["mounts"] if real.is_relative_to(each["path"])]
    mount = max(
        mounts, key=lambda each: len(each["path"]), default={"medium": "file", "type": "file", "numa_node": None}
    )
    allowed = os.sched_getaffinity(0)  # fewer than the node has in a container, a job's step or under taskset
    sockets = [{**each, "cpus": usable} for each in machine["sockets"] if (usable := sorted(allowed & {*each["cpus"]}))]
    if not sockets:
        raise RuntimeError(
            f"none of the cpus {sorted(allowed)} of this process belongs to a socket; see forebay doctor"
        )
    own = next((each for each in sockets if mount["numa_node"] in each["numa_nodes"]), sockets[0])
    others = [each for each in sockets if each is not own]
    room = os.statvfs(real)
    free = room.f_bavail * room.f_frsize
    if mount["type"] in ("tmpfs", "ramfs"):
        memory = machine["memory"]
        headroom = memory["cgroup_headroom"]
        free = min(free, memory["available"], free if headroom is None else headroom)
    return Place(
        directory,
        mount["medium"] if mount["medium"] != "file" else mount["type"],
        tuple(one_per_core(own["cpus"])),
        tuple(one_per_core(others[0]["cpus"])) if others else (),
        last_level_caches(own["cpus"]),
        len(machine["sockets"]),
        room.f_blocks * room.f_frsize,
        free,
        room.f_favail if room.f_files else None,
    )


def said(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def one_per_core(cpus: Iterable[int]) -> list[int]:
    firsts: dict[str, int] = {}
    for cpu in cpus:
        firsts.setdefault(said(CPUS / f"cpu{cpu}/topology/thread_siblings_list") or str(cpu), cpu)
    return list(firsts.values())


def last_level_caches(cpus: Iterable[int]) -> int:
    """Bytes of all of them together: a socket may have several."""
    found: dict[str, int] = {}
    for cpu in cpus:
        caches = sorted(CPUS.glob(f"cpu{cpu}/cache/index*"), key=lambda each: said(each / "level"))
        if caches and (size := said(caches[-1] / "size").removesuffix("K")).isdigit():
            found[said(caches[-1] / "shared_cpu_list")] = int(size) << 10
    return sum(found.values())


class Private:
    """A directory of this user alone. A process of its own removes it when this one has ended, however that was."""

    ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self, parent: Path, name: str = ""):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, self.ENDING)  # until somebody is there who removes it
        try:
            self._make(parent, name)
            reads, self._writes = os.pipe()
            self._guard = os.fork()
            if self._guard == 0:
                self._remove_after(reads)
            os.close(reads)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _make(self, parent: Path, name: str) -> None:
        if name:
            self.path = parent / name
            try:
                self.path.mkdir(mode=0o700)
            except FileExistsError as there:
                raise RuntimeError(f"{self.path} is there; if no other run measures, remove it") from there
        else:
            self.path = Path(tempfile.mkdtemp(prefix=".forebay-bench-io-", dir=parent))

    def _remove_after(self, reads: int) -> NoReturn:
        """In a process of its own, which never goes back to what this one was doing. Signals stay blocked."""
        try:
            os.setsid()
            os.closerange(3, reads)
            os.closerange(reads + 1, 1024)
            os.read(reads, 1)  # ends with the last who could write
            for _ in range(100):  # writers that are about to die may write once more
                shutil.rmtree(self.path, ignore_errors=True)
                if not self.path.exists():
                    os._exit(0)
                time.sleep(0.1)
        finally:
            os._exit(1)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_) -> None:
        os.close(self._writes)
        if os.waitpid(self._guard, 0)[1]:
            raise RuntimeError(f"cannot remove {self.path}; remove it by hand")
