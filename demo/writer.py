#!/usr/bin/python3
"""A stand-in for a solver where there is no OpenFOAM: each rank computes for some milliseconds a step, and writes fields into
the decomposed case that is its working directory, as OpenFOAM does and as controlDict says. It needs neither MPI nor any
package: demo/mpiexec starts the ranks.
"""

import os
import random
import re
import shutil
from pathlib import Path

FIELDS = ("U", "k", "nut", "omega", "p", "phi")
VALUES = 4000  # of a field, on a rank
WORK = 1_000_000  # additions in a step
CONTROL = """FoamFile { version 2.0; format ascii; class dictionary; object controlDict; }
application writer.py;
startFrom startTime;
startTime 0;
stopAt endTime;
endTime 10;
deltaT 1;
writeControl timeStep;
writeInterval 1;
purgeWrite 0;
writeFormat binary;
runTimeModifiable false;
"""


def make(directory: Path, ranks: int) -> Path:
    (directory / "system").mkdir(parents=True)
    (directory / "system/controlDict").write_text(CONTROL)
    for rank in range(ranks):
        write(directory / f"processor{rank}", rank, 0)
    return directory


def write(processor: Path, rank: int, step: int) -> None:
    time = processor / str(step)
    time.mkdir(parents=True)
    for number, field in enumerate(FIELDS):
        head = f'FoamFile {{ version 2.0; format binary; class volScalarField; location "{step}"; object {field}; }}\n'
        values = random.Random((step * 1000 + rank) * 10 + number).randbytes(8 * VALUES)
        end = b"\n// " + b"*" * 73 + b" //\n"
        (time / field).write_bytes(head.encode() + f"{VALUES}(".encode() + values + b")" + end)


def run(rank: int) -> None:
    entries = dict(re.findall(r"(?m)^(\w+) (\d+);", Path("system/controlDict").read_text()))
    steps, interval, kept = (int(entries[key]) for key in ("endTime", "writeInterval", "purgeWrite"))
    processor = Path(f"processor{rank}")
    written: list[int] = []
    for step in range(1, steps + 1):
        if rank == 0:
            print(f"Time = {step}", flush=True)
        sum(range(WORK))
        for number, field in enumerate(FIELDS if rank == 0 else ()):
            residual = 1 / (step * (number + 1))
            print(f"writer:  Solving for {field}, Initial residual = {residual:g}, Final residual = 0", flush=True)
        if step % interval == 0:
            write(processor, rank, step)
            written.append(step)
            if kept and len(written) > kept:
                shutil.rmtree(processor / str(written.pop(0)))
    if rank == 0:
        print("End", flush=True)


if __name__ == "__main__":
    run(int(os.environ["PMI_RANK"]))
