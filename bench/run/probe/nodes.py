"""Nodes that measure a shared file system together: they meet through files in it, whatever started them."""

import json
import os
import socket
import time
from pathlib import Path

from measure.figures import plural

PATIENCE = 60.0  # seconds to wait for others, above what they may take to measure
RANK_NAMES = (  # srun's number of tasks is that of the step: in a batch script there is one, too, but no others
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)
# What names one start of processes, and no other one beside it or later.
JOB_NAMES = (("PMIX_NAMESPACE",), ("OMPI_MCA_ess_base_jobid",), ("SLURM_JOB_ID", "SLURM_STEP_ID"))


def rank_and_size() -> tuple[int, int]:
    for rank, size in RANK_NAMES:
        if rank in os.environ and size in os.environ:
            return int(os.environ[rank]), int(os.environ[size])
    return 0, 1


def name_of_job() -> str | None:
    """Of the directory, the same on all nodes; another run's is another one. None where nothing tells the runs apart."""
    known = next((names for names in JOB_NAMES if all(each in os.environ for each in names)), None)
    if known is None:
        return None
    job = "-".join(os.environ[each].replace("/", "_") for each in known)
    return f".forebay-bench-io-{os.getuid()}-{job}"


class Alone:
    index, count = 0, 1

    def meet(self, told: object) -> list:
        return [told]


class Nodes:
    """The first ranks of all nodes, in the order of ranks. Made by all ranks; `index` is None on the others."""

    def __init__(self, directory: Path, rank: int, size: int, limit: float = 0.0, refusal: str = ""):
        """`limit`: seconds that the others may take to measure. `refusal`: why this one, the first, takes no part."""
        self._rank, self._ranks = rank, list(range(size))
        self._meetings, self._patience = 0, PATIENCE
        self._directory = directory
        self._wait_for({directory.name}, directory.parent)
        self._fd = self._enter()
        hosts, refusals = zip(*self.meet([socket.gethostname(), refusal]), strict=True)
        self.refusal = refusals[0]
        self._patience += limit
        self._ranks = [each for each, host in enumerate(hosts) if host not in hosts[:each]]
        self.count = len(self._ranks)
        self.index = self._ranks.index(rank) if rank in self._ranks else None

    def _enter(self) -> int:
        """Where others may write beside it, its name could be taken by what is theirs, or lead elsewhere."""
        fd = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        found = os.fstat(fd)
        if found.st_uid != os.geteuid() or found.st_mode & 0o777 != 0o700:
            os.close(fd)
            raise RuntimeError(f"{self._directory} is there, and not yours alone; name another directory by --shared")
        return fd

    def meet(self, told: object) -> list:
        """Goes on when all are here; what each told, in their order."""
        names = self._tell(told)
        self._wait_for(set(names))
        if self._meetings > 2:  # all have read that of the last one; of the first one others may still be reading
            os.unlink(f"{self._meetings - 1}.{self._rank}", dir_fd=self._fd)
        return [json.loads(self._read(each)) for each in names]

    def make(self, name: str) -> Path:
        os.mkdir(name, 0o700, dir_fd=self._fd)
        return self._directory / name

    def leave(self) -> None:
        """The first one, which removes the directory, is the last to go."""
        try:
            names = self._tell(None)
        except FileNotFoundError:
            # A replicated file system may show the name to the first one before it has said so here.
            if self._rank == 0:
                raise
            return
        if self._rank == 0:
            self._wait_for(set(names))

    def _tell(self, told: object) -> list[str]:
        """The names of what all tell at this meeting."""
        self._meetings += 1
        hidden = f".{self._rank}"
        made = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=self._fd)
        with open(made, "w") as file:
            file.write(json.dumps(told))
        os.rename(hidden, f"{self._meetings}.{self._rank}", src_dir_fd=self._fd, dst_dir_fd=self._fd)
        return [f"{self._meetings}.{each}" for each in self._ranks]

    def _read(self, name: str) -> str:
        with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=self._fd)) as file:
            return file.read()

    def _names(self, directory: Path | None) -> set[str]:
        """Opened each time, and listed: a network file system may remember a missing name as such."""
        flags = os.O_RDONLY | os.O_DIRECTORY
        fd = os.open(directory, flags) if directory else os.open(".", flags, dir_fd=self._fd)
        try:
            return set(os.listdir(fd))
        finally:
            os.close(fd)

    def _wait_for(self, names: set[str], directory: Path | None = None) -> None:
        """In the directory where all meet, or in another one."""
        ends = time.monotonic() + self._patience
        while missing := names - self._names(directory):
            if time.monotonic() > ends:
                patience, self._patience = self._patience, 0.0  # once is enough
                raise RuntimeError(
                    f"{len(missing)} of {plural(len(names), 'process')} did not come to {self._directory} within {patience:g} s: "
                    "do all nodes see this directory?"
                )
            time.sleep(0.005)
