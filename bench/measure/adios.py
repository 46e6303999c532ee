"""The Python that has ADIOS2, where there is one or PyPI gives one."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

PACKAGE = "adios2==2.12.1.1001"
PATIENCE = 200  # seconds for an index that may not answer


def interpreter(directory: Path, say: Callable[[str], None]) -> Path | None:
    """None where it cannot be installed. `directory` must not be there yet; it is this run's."""
    if importlib.util.find_spec("adios2") is not None:
        return Path(sys.executable)
    say(f"installing {PACKAGE} of PyPI for this run")
    python = directory / "bin/python"
    try:
        subprocess.run(
            [sys.executable, "-m", "venv", "--system-site-packages", directory], check=True, timeout=PATIENCE
        )
        subprocess.run([python, "-m", "pip", "install", "-q", PACKAGE], check=True, timeout=PATIENCE)
    except (OSError, subprocess.SubprocessError) as why:
        say(f"ADIOS2 is left out: {why}")
        return None
    return python
