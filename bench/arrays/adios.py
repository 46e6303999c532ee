"""The Python that has ADIOS2, where there is one or PyPI gives one."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
INSTALLERS = (HERE.parents[1] / "tests/with_packages", HERE / "with_packages")  # in the source tree, or installed
PACKAGE = "adios2==2.12.1.1001"


def interpreter(directory: Path, say: Callable[[str], None]) -> Path | None:
    """None where it cannot be installed. `directory` keeps it for the next time."""
    if importlib.util.find_spec("adios2") is not None:
        return Path(sys.executable)
    say(f"looking for {PACKAGE} of PyPI")
    installer = next(path for path in INSTALLERS if path.exists())
    command = [installer, directory, sys.executable, PACKAGE, "-c", "import sys; print(sys.executable)"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        say("ADIOS2 is left out")
        return None
    return Path(done.stdout.strip())
