"""Nodes that measure a shared file system together: they meet through files in it, whatever started them."""

import json
import os
import socket
import time
from pathlib import Path

PATIENCE = 60.0  # seconds to wait for others
RANK_NAMES = (  # srun's number of tasks is that of the step: in a batch script there is one, too, but no others
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)
JOB_NAMES = ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_JOB_ID", "SLURM_STEP_ID")


def rank_and_size() -> tuple[int, int]:
    for rank, size in RANK_NAMES:
        if rank in os.environ and size in os.environ:
            return int(os.environ[rank]), int(os.environ[size])
    return 0, 1


def name_of_job() -> str:
    """Of the directory, the same on all nodes; another run's is another one."""
    return "-".join(
        [".forebay-bench-io", str(os.getuid()), *(os.environ[each] for each in JOB_NAMES if each in os.environ)]
    )


class Alone:
    index, count = 0, 1

    def meet(self, told: object) -> list:
        return [told]

    def leave(self) -> None:
        pass


class Nodes:
    """The first ranks of all nodes, in the order of ranks. Made by all ranks; `index` is None on the others."""

    def __init__(self, directory: Path, rank: int, size: int):
        self._directory = directory
        self._rank, self._ranks = rank, list(range(size))
        self._meetings = 0
        self._wait_for(directory.parent, {directory.name})
        hosts = self.meet(socket.gethostname())
        self._ranks = [each for each, host in enumerate(hosts) if host not in hosts[:each]]
        self.count = len(self._ranks)
        self.index = self._ranks.index(rank) if rank in self._ranks else None

    def meet(self, told: object) -> list:
        """Goes on when all are here; what each told, in their order."""
        names = self._tell(told)
        self._wait_for(self._directory, set(names))
        if self._meetings > 2:  # all have read that of the last one; of the first one others may still be reading
            (self._directory / f"{self._meetings - 1}.{self._rank}").unlink()
        return [json.loads((self._directory / each).read_text()) for each in names]

    def leave(self) -> None:
        """The first one, which removes the directory, is the last to go."""
        names = self._tell(None)
        if self.index == 0:
            self._wait_for(self._directory, set(names))

    def _tell(self, told: object) -> list[str]:
        """The names of what all tell at this meeting."""
        self._meetings += 1
        hidden = self._directory / f".{self._rank}"
        hidden.write_text(json.dumps(told))
        hidden.rename(self._directory / f"{self._meetings}.{self._rank}")
        return [f"{self._meetings}.{each}" for each in self._ranks]

    def _wait_for(self, directory: Path, names: set[str]) -> None:
        """Directories are listed: a name that was missing may be remembered as such by a network file system."""
        ends = time.monotonic() + PATIENCE
        while missing := names - set(os.listdir(directory)):
            if time.monotonic() > ends:
                raise RuntimeError(
                    f"{len(missing)} of {len(names)} processes did not come to {directory} within {PATIENCE:g} s: "
                    "do all nodes see this directory?"
                )
            time.sleep(0.005)
