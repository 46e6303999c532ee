"""What the programs behind `forebay bench NAME` have in common: flags that all of them know, and what they tell."""

import argparse
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from . import result_file
from .report import Report


def new_parser(bench: str, description: str, forebay: str, quick: str) -> argparse.ArgumentParser:
    """`forebay`, `quick`: what the flags of these names mean here."""
    made = argparse.ArgumentParser(prog=f"forebay bench {bench}", description=description)
    made.add_argument("--forebay", type=Path, default=Path("forebay"), help=forebay)
    made.add_argument("--quick", action="store_true", help=f"{quick}, within a minute")
    made.add_argument("--json", action="store_true", help="one JSON object on standard output instead of a table")
    return made


def add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mbit", type=int, default=800, help="bandwidth of the slow shared directory, 0: unlimited")
    parser.add_argument("--create-ms", type=int, default=10, help="delay of each create there, 0: none")


def find_forebay(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    found = shutil.which(options.forebay)
    if found is None:
        parser.error(f"no such program: {options.forebay}; give its path with --forebay")
    options.forebay = Path(found).resolve()


def choose_parts(parser: argparse.ArgumentParser, options: argparse.Namespace, known: Iterable[str]) -> None:
    """Turns --only into a list."""
    options.only = options.only.split(",")
    for part in options.only:
        if part not in known:
            parser.error(f"unknown part '{part}'; known: {', '.join(known)}")


def need_directories(parser: argparse.ArgumentParser, *directories: Path) -> None:
    for directory in directories:
        if not directory.is_dir():
            parser.error(f"not a directory: {directory}")


def need_own(parser: argparse.ArgumentParser, to: Path | None, kind: result_file.Kind, option: str) -> None:
    """Before anything is measured: there may be no file of another kind."""
    try:
        if to:
            result_file.check(to, kind, option)
    except result_file.Refused as refused:
        parser.error(str(refused))


def say(text: object) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def tell(options: argparse.Namespace, result: Report) -> None:
    print(result.as_json() if options.json else result.as_table())
