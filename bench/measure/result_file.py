"""Files that a user names for results: a new one, or one of the same kind that is replaced; never through a link."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

SOON = 512  # bytes


class Refused(Exception):
    """What is there, and what to do."""


@dataclass(frozen=True)
class Kind:
    """`name`: what its files are called. `begin`: how each of them begins; `told`: what it says soon after."""

    name: str
    begin: str | bytes
    told: bytes = b""

    def has(self, file: BinaryIO) -> bool:
        begin = self.begin.encode() if isinstance(self.begin, str) else self.begin
        head = file.read(len(begin) + SOON)
        return head.startswith(begin) and self.told in head


def check(to: Path, kind: Kind, option: str) -> None:
    """Raises Refused where what is there may not be replaced. An empty file is nobody's, and a pipe or a terminal, also
    behind a link like /dev/stdout, is written to."""
    status = _status(to)
    if status is None or not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        return
    if stat.S_ISDIR(status.st_mode):
        raise Refused(f"{to} is a directory: name a file with {option}")
    if to.is_symlink():
        raise Refused(f"{to} is a link to a file: remove it, or give another {option}")
    with to.open("rb") as file:
        if status.st_size and not kind.has(file):
            raise Refused(f"{to} exists and is no {kind.name}: remove it, or give another {option}")


def write(to: Path, content: str | bytes, kind: Kind, option: str) -> None:
    """It appears only when it is whole."""
    check(to, kind, option)
    whole = content.encode() if isinstance(content, str) else content
    status = _status(to)
    if status is not None and not stat.S_ISREG(status.st_mode):
        to.write_bytes(whole)
        return
    part = to.with_name(f".forebay-part-{os.getpid()}")
    with part.open("xb") as file:
        try:
            file.write(whole)
            file.close()
            part.replace(to)
        except OSError:
            part.unlink()
            raise


def _status(to: Path) -> os.stat_result | None:
    """Of what a link leads to; where that is nothing, the link's own, which counts as a file."""
    try:
        return to.stat()
    except FileNotFoundError:
        pass
    if to.is_symlink():
        raise Refused(f"{to} is a link that leads nowhere: remove it, or give another name")
    return None
