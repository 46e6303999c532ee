"""The shared directory that runs are measured against: the standard slow one, or a plain directory, said aloud."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import processes

SLOW_SHARED = Path(__file__).resolve().parent / "slow-shared"


class Shared:
    """A directory that stands for the shared file system while the context lasts.

    `slow` tells whether it is the throttled one; `description` goes into every result that was measured on it.
    `brick_mb`: see bench/measure/slow-shared. `plain`: a plain directory is all that is asked for. `through_sudo`: who is
    not root has the slow one made by sudo, which may ask for a password on a terminal.
    """

    def __init__(
        self,
        directory: Path,
        mbit: int = 800,
        create_ms: int = 10,
        brick_mb: int = 0,
        *,
        plain: bool = False,
        through_sudo: bool = False,
    ):
        self.directory = directory
        self.slow = False
        self._plain = plain
        self._as_root = sudo() if through_sudo else []
        self.description = ""
        self._settings = [str(mbit), str(create_ms), str(brick_mb)]

    def __enter__(self):
        if self._plain:
            self.directory.mkdir(parents=True)
            self.description = "a plain directory, as fast as this machine's disk"
            return self
        self.directory.mkdir(parents=True)  # this user's, whoever mounts there
        done = subprocess.run(
            self._command("up", *self._settings),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            self.slow = True
            mbit, create_ms, brick_mb = self._settings
            bricks = "2 bricks" if brick_mb == "0" else f"2 bricks of {brick_mb} MB that were written before"
            creates = f"{create_ms} ms a create, 1 I/O thread" if create_ms != "0" else "creates not delayed"
            self.description = f"GlusterFS, {bricks}, {mbit} mbit/s each way, {creates}"
        else:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1].removeprefix("slow-shared: ")
            self.description = f"a plain directory, because the slow shared file system cannot be set up ({reason})"
        return self

    def __exit__(self, *_):
        if self.slow:
            subprocess.run(self._command("down"), check=True)

    def _command(self, verb: str, *words: str | Path) -> list[str | Path]:
        return [*self._as_root, SLOW_SHARED, verb, self.directory, *words]

    def server_cpu_seconds(self) -> float:
        """Processor time of the file server's processes so far; 0 for a plain directory."""
        return self._cpu_seconds("server")

    def client_cpu_seconds(self) -> float:
        """Processor time of this node's mount of it so far; 0 for a plain directory."""
        return self._cpu_seconds("client")

    def _cpu_seconds(self, side: str) -> float:
        if not self.slow:
            return 0.0
        listed = subprocess.run(self._command("pids"), capture_output=True, text=True, check=True)
        lines = (line.split() for line in listed.stdout.splitlines())
        return processes.cpu_seconds(int(pid) for which, pid in lines if which == side)

    def profile(self) -> dict[str, int]:
        """Calls that reached the file server since the last time this was asked, by name (CREATE, UNLINK, ...).

        Empty for a plain directory. The first call starts the counting.
        """
        if not self.slow:
            return {}
        inside = self._command("inside", "gluster", "--mode=script", "volume", "profile", "shared")
        subprocess.run([*inside, "start"], capture_output=True, check=False)  # fails where it is on already
        listed = subprocess.run([*inside, "info", "incremental"], capture_output=True, text=True, check=True)
        calls: dict[str, int] = {}
        for line in listed.stdout.splitlines():
            # "      0.24      98.62 us      26.99 us     170.25 us              8      CREATE"
            words = line.split()
            if len(words) == 9 and words[-1].isupper() and words[-2].isdigit():
                calls[words[-1]] = calls.get(words[-1], 0) + int(words[-2])
        return calls


def sudo() -> list[str]:
    """The words that make a command root's, where this user is not root and may become it; on a terminal sudo asks."""
    if os.geteuid() == 0 or not shutil.which("sudo"):
        return []
    asks = ["-p", "[sudo] password for %p, to make the slow shared directory: "] if sys.stdin.isatty() else ["-n"]
    words = ["sudo", *asks]
    return words if subprocess.run([*words, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0 else []
