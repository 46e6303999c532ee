"""Benchmark programs that print what they have measured as JSON."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path


def figures_of(what: str, command: Sequence[str | Path], environment: dict[str, str] | None = None) -> dict:
    """`what` names the program in an error: the command may begin with a launcher."""
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{what} ended with status {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)
    except (OSError, ValueError) as why:
        raise RuntimeError(f"{what}: {why}") from why
