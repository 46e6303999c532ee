"""The `forebay` that pip installs: starts the command that lies in this package, whose programs in Python run in this
interpreter."""

import os
import pathlib
import sys


def main():
    command = str(pathlib.Path(__file__).resolve().parent / "_root/bin/forebay")
    os.environ.setdefault("FOREBAY_PYTHON", sys.executable)
    os.execv(command, ["forebay", *sys.argv[1:]])
