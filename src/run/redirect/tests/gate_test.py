"""While the gate is closed, opening for writing in the tree waits; reading and other places do not."""

import mmap
import os
import signal
import subprocess
import sys
import time

from harness import Pair, finish, report, write

PROGRAM = r"""
import os, signal, sys, time
case, away = sys.argv[1:3]
os.chdir(case)
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"handled\n"))
open("input.txt").read(); open(away, "w").close(); os.listdir(".")
os.write(1, b"before\n")
begin = time.monotonic()
STEP
os.write(1, b"after\n" if time.monotonic() - begin > 0.25 else b"did not wait\n")
"""
STEPS = {
    "a new file": "os.close(os.open(case + '/new', os.O_CREAT | os.O_WRONLY))",
    "a relative path": "os.close(os.open('relative', os.O_CREAT | os.O_WRONLY))",
    "a descriptor of a directory": "d = os.open('.', os.O_RDONLY); os.close(os.open('at', os.O_CREAT | os.O_WRONLY, dir_fd=d))",
    "a staged link": "open('input.txt', 'a').write('more')",
}


def build(case, shared):
    write(f"{case}/input.txt", "input\n")
    write(f"{shared}/away.txt", "")


def run(pair, step):
    pair.renew()
    pair.stage()
    path = os.path.join(pair.local, "gate")
    with open(path, "wb") as file:
        file.write(b"\1\0\0\0")
    with open(path, "r+b") as file:
        gate = mmap.mmap(file.fileno(), 4)
    program = subprocess.Popen(
        ["/usr/bin/python3", "-c", PROGRAM.replace("STEP", step), pair.case, pair.shared + "/away.txt"],
        env=pair.environment(FOREBAY_GATE=path),
        stdout=subprocess.PIPE,
    )
    problems = []
    if program.stdout.readline() != b"before\n":
        problems.append("reading, or writing elsewhere, waited")
    time.sleep(0.2)
    program.send_signal(signal.SIGUSR1)
    time.sleep(0.1)
    if program.poll() is not None:
        problems.append("it did not wait")
    gate[0:4] = b"\0\0\0\0"  # nobody is woken: the library looks again by itself
    out = program.communicate(timeout=10)[0].splitlines()
    if sorted(out) != [b"after", b"handled"]:
        problems.append(f"output {out}")
    return problems


library = os.path.abspath(sys.argv[1])
with Pair(library, build) as pair:
    finish([report(f"the gate holds {name} back", run(pair, step)) for name, step in STEPS.items()])
