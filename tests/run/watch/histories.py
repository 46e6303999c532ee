"""A program that appends to histories as solvers do, and what a case may have of them. What a history holds follows from
its name, so whoever has a part of it can tell whether that is a beginning; and the program notes outside the case how far
it is, so that what is whole is known though it is killed.

    histories.py NOTES STOP NAME ...      # goes on until STOP exists
"""

import itertools
import os
import struct
import sys
import time

# How one is written is its name's last part: held open, a line at once; held open, in pieces that end anywhere; opened again
# for each line; held open, many lines at once now and then.
KINDS = ("flushed", "pieces", "reopened", "bursts")
BURST, TURNS_OF_BURST = 500, 15  # lines
PAUSE = 0.01
NOTE = struct.Struct("=2q")


def lines(name):
    """For ever."""
    return (f"{name} {line} {'.' * (line * 37 % 90)}\n".encode() for line in itertools.count())


def is_beginning(name, content):
    """Whether it holds nothing else than the first of these lines, of which the last one may be cut."""
    at = 0
    for line in lines(name):
        if at >= len(content):
            return True
        if content[at : at + len(line)] != line[: len(content) - at]:
            return False
        at += len(line)
    return False


class Notes:
    """Of one history: how many bytes it has for sure, and how many when what is being done is done."""

    def __init__(self, directory, name, flags=os.O_RDONLY):
        self.file = os.open(os.path.join(directory, name.replace("/", "-")), flags, 0o644)

    def close(self):
        os.close(self.file)

    def write(self, has, will_have):
        os.pwrite(self.file, NOTE.pack(has, will_have), 0)

    def read(self):
        return NOTE.unpack(os.pread(self.file, NOTE.size, 0))


class History:
    def __init__(self, notes, name):
        self.notes = Notes(notes, name, os.O_WRONLY | os.O_CREAT)
        self.name, self.how = name, os.path.basename(name)
        self.size = self.turns = 0
        self.rest = b""
        self.notes.write(0, 0)
        self.file = open(name, "wb", buffering=0)
        self.lines = lines(name)

    def turn(self):
        self.turns += 1
        if self.how == "bursts" and self.turns % TURNS_OF_BURST:
            return
        if self.how == "reopened":
            self.file.close()
            self.file = open(self.name, "ab", buffering=0)
        text = self.rest + b"".join(itertools.islice(self.lines, BURST if self.how == "bursts" else 1))
        cut = len(text) - self.size % 23 if self.how == "pieces" else len(text)
        text, self.rest = text[:cut], text[cut:]
        self.notes.write(self.size, self.size + len(text))
        self.file.write(text)
        self.size += len(text)
        self.notes.write(self.size, self.size)


def main():
    notes, stop, *names = sys.argv[1:]
    for name in names:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    histories = [History(notes, name) for name in names]
    while not os.path.exists(stop):
        for each in histories:
            each.turn()
        time.sleep(PAUSE)


if __name__ == "__main__":
    main()
