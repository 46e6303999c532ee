"""While the gate is closed, opening for writing in the tree waits; reading and other places do not."""

import mmap
import os
import signal
import subprocess
import sys

from harness import Pair, finish, report, write

PROGRAM = r"""
import os, signal, sys
case, away, gate = sys.argv[1:4]
os.chdir(case)
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"handled\n"))
open("input.txt").read(); open(away, "w").close(); os.listdir(".")
os.write(1, b"before\n")
STEP
os.write(1, b"did not wait\n" if open(gate, "rb").read(1) == b"\1" else b"after\n")
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


def await_sleep(program):
    """Until it waits for something, or has ended."""
    while program.poll() is None:
        with open(f"/proc/{program.pid}/stat") as file:
            if file.read().rsplit(") ", 1)[1][0] == "S":
                return
        os.sched_yield()


def run(pair, step):
    pair.renew()
    pair.stage()
    path = os.path.join(pair.local, "gate")
    with open(path, "wb") as file:
        file.write(b"\1\0\0\0")
    with open(path, "r+b") as file:
        gate = mmap.mmap(file.fileno(), 4)
    program = subprocess.Popen(
        ["/usr/bin/python3", "-c", PROGRAM.replace("STEP", step), pair.case, pair.shared + "/away.txt", path],
        env=pair.environment(FOREBAY_GATE=path),
        stdout=subprocess.PIPE,
    )
    problems = []
    if program.stdout.readline() != b"before\n":
        problems.append("reading, or writing elsewhere, waited")
    await_sleep(program)
    program.send_signal(signal.SIGUSR1)
    await_sleep(program)
    gate[0:4] = b"\0\0\0\0"  # nobody is woken: the library looks again by itself
    out = program.communicate(timeout=10)[0].splitlines()
    if sorted(out) != [b"after", b"handled"]:
        problems.append(f"output {out}")
    return problems


library = os.path.abspath(sys.argv[1])
with Pair(library, build) as pair:
    finish([report(f"the gate holds {name} back", run(pair, step)) for name, step in STEPS.items()])
