"""Programs that belong to a forebay, and benchmark programs that print what they have measured as JSON."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path


def figures_of(
    what: str, command: Sequence[str | Path], environment: dict[str, str] | None = None, within: float | None = None
) -> dict:
    """`what` names the program in an error: the command may begin with a launcher. `within`: seconds."""
    try:
        begun = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            output, errors = begun.communicate(timeout=within)
        except BaseException:
            begun.kill()  # and is not waited for: a call to a file system that hangs ends when that comes back
            raise
        if begun.returncode != 0:
            raise RuntimeError(f"{what} ended with status {begun.returncode}: {errors.strip()}")
        return json.loads(output)
    except (OSError, ValueError, subprocess.TimeoutExpired) as why:
        raise RuntimeError(f"{what}: {why}") from why


def beside(forebay: Path, name: str) -> Path | None:
    """A library or program that belongs to this forebay, in a build tree or installed."""
    root = forebay.parent.parent
    places = (forebay.parent, root / "lib", root / "lib/forebay", *root.glob("lib/*/forebay"))
    return next((place / name for place in places if (place / name).exists()), None)


def need(forebay: Path, name: str) -> Path:
    found = beside(forebay, name)
    if found is None:
        raise RuntimeError(f"no {name} beside {forebay}; was everything built?")
    return found
