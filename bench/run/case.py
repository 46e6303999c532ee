"""OpenFOAM cases for measuring: made once, copied where they are needed, reset between runs."""

import re
import shutil
import subprocess
from pathlib import Path

from measure import launch

HERE = Path(__file__).resolve().parent
# In the sources the maker lies with the tests; an installed benchmark has it beside itself.
MAKERS = (HERE.parents[1] / "tests/run/cases/make-case", HERE / "cases/make-case")
NEVER = 1_000_000  # a write interval that no benchmark reaches


SIZES = ("coarse", "30k", "62k")  # of make-case; coarse tells nothing but that everything works


def make(size: str, ranks: int, directory: Path, steps: int = 100) -> Path:
    """A decomposed motorBike case at `directory`; its mesh is kept by the maker for the next time."""
    maker = next((path for path in MAKERS if path.exists()), None)
    if maker is None:
        raise RuntimeError(f"no make-case at {' or '.join(map(str, MAKERS))}")
    command = [maker, "motorBike", directory, "--ranks", str(ranks), "--format", "binary", "--purge", "1"]
    command += ["--interval", "1", "--steps", str(steps), "--cells", size]
    done = subprocess.run(command, capture_output=True, text=True, env=launch.environment(), check=False)
    if done.returncode != 0:
        raise RuntimeError(f"cannot make the motorBike case: {done.stderr.strip()}")
    return directory


def control(case: Path, **entries: object) -> None:
    """Sets top-level entries of system/controlDict: control(case, writeInterval=1, purgeWrite=1, endTime=20)."""
    path = case / "system/controlDict"
    text = path.read_text()
    for key, value in entries.items():
        text, changed = re.subn(rf"(?m)^{key}\s.*;", f"{key} {value};", text)
        if not changed:
            text += f"\n{key} {value};\n"
    path.write_text(text)


def is_time(name: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?(e[-+]?\d+)?", name) is not None


def reset(case: Path) -> None:
    """Removes what a run left: every time but 0, groups, and post-processing."""
    for directory in [case, *case.glob("processor*")]:
        if directory.is_dir():
            for entry in directory.iterdir():
                if (is_time(entry.name) and entry.name != "0") or entry.name in ("postProcessing", "dynamicCode"):
                    shutil.rmtree(entry)
    for group in case.glob("processors*"):
        shutil.rmtree(group)


def times(case: Path, ranks: int) -> list[str]:
    """The times that a case holds for rank 0, collated or not, apart from 0, in order."""
    found = set()
    for directory in [case / "processor0", case / f"processors{ranks}", *case.glob(f"processors{ranks}_0-*")]:
        if directory.is_dir():
            found |= {entry.name for entry in directory.iterdir() if is_time(entry.name) and entry.name != "0"}
    return sorted(found, key=float)
