"""Each rank's block of a global array, written by ADIOS2: what others need for the same arrays, as peers_bench has it.

The package of PyPI knows no MPI, so each rank writes a file of its own, and no rank waits for another one: the least that
ADIOS2 can take. Run by mpirun; rank 0 prints JSON, in seconds from when the first rank begins until the last is through.
"""

import argparse
import json
import os
import shutil
import time
from pathlib import Path

import adios2
import numpy
from mpi4py import MPI

ENGINES = ("BP4", "BP5")


def write(engine: str, path: Path, block: numpy.ndarray, sync: bool) -> None:
    io = adios2.Adios().declare_io(engine)
    io.set_engine(engine)
    values = io.define_variable("values", block, [block.size], [0], [block.size], True)
    with io.open(str(path), adios2.bindings.Mode.Write) as file:
        file.begin_step()
        file.put(values, block)
        file.end_step()
    for part in path.iterdir() if sync else ():
        descriptor = os.open(part, os.O_WRONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def seconds_to_write(engine: str, path: Path, block: numpy.ndarray, sync: bool) -> float:
    world = MPI.COMM_WORLD
    world.Barrier()
    begin = time.monotonic()
    write(engine, path, block, sync)
    seconds = world.allreduce(time.monotonic(), MPI.MAX) - world.allreduce(begin, MPI.MIN)
    shutil.rmtree(path)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--sync", action="store_true")
    options = parser.parse_args()
    rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
    block = numpy.arange(options.items * rank // ranks, options.items * (rank + 1) // ranks, dtype="f8")
    path = options.directory / f"adios-bench-{rank}.bp"
    figures = {
        engine: [seconds_to_write(engine, path, block, options.sync) for _ in range(options.repeat)]
        for engine in ENGINES
    }
    if rank == 0:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
