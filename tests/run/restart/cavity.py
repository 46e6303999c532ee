"""The case of the campaign: cavity on a finer mesh, what an uninterrupted run of it writes, and which of that a case has.

An uninterrupted run tells every byte of every field at every time, so a file is whole where it is equal to that run's.
"""

import os
import re
import shutil

import casetools
from plans import FOREIGN, OBJECTS_EVERY, STATE_EVERY, STEPS

CELLS = 120  # in each direction: a step takes some milliseconds, and a state has files worth cutting
DELTA = 5e-6
SOLUTION = ("U", "p")  # icoFoam starts with these
STATE = ("U", "p", "phi", "uniform/time")  # and goes on with these as if it had never been stopped
WHOLE, CUT, ABSENT, OTHER = "whole", "cut", "absent", "of other content"
CLOSING = re.compile(rb"\n// \*{20,} //\n+\Z")

OBJECTS = {
    "vorticity": "vorticity { type vorticity; libs (fieldFunctionObjects); executeControl timeStep;"
    f" executeInterval {OBJECTS_EVERY}; writeControl timeStep; writeInterval {OBJECTS_EVERY}; }}",
    "writeObjects": "objects { type writeObjects; libs (utilityFunctionObjects); objects (U p);"
    f" writeControl timeStep; writeInterval {OBJECTS_EVERY}; }}",
}


def name_of(step):
    return f"{step * DELTA:.6g}"


def step_of(name):
    return round(float(name) / DELTA)


def is_time(name):
    return re.fullmatch(r"\d+(\.\d+)?(e-?\d+)?", name) is not None


def solver(ranks, program="icoFoam", io_ranks=()):
    if ranks == 1:
        return [program]
    # Ranks that spin while they wait are in each other's way on fewer processors.
    line = ["mpirun", "--mca", "mpi_yield_when_idle", "1", "-n", str(ranks), program, "-parallel"]
    return line + (["-fileHandler", "collated"] if io_ranks else [])


def of_groups(io_ranks):
    """What the environment needs so that OpenFOAM's collated file handler makes these groups."""
    return {"FOAM_IORANKS": f"({' '.join(map(str, io_ranks))})"} if len(io_ranks) > 1 else {}


def with_foreign_writer(directory):
    """Makes a program there that is icoFoam, with a writer beside it (foreign.c)."""
    library, program = os.path.join(directory, "foreign.so"), os.path.join(directory, "foreignFoam")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "foreign.c")
    casetools.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], directory)
    with open(program, "w") as file:
        file.write(f'#!/bin/sh\nLD_PRELOAD="{library}${{LD_PRELOAD:+:$LD_PRELOAD}}" exec icoFoam "$@"\n')
    os.chmod(program, 0o755)
    return program


def foreign_text(time):
    """What foreign.c writes."""
    header = "version     2.0;\n    format      ascii;\n    class       dictionary;\n    object      foreign;"
    return f"FoamFile\n{{\n    {header}\n}}\n// * * * * * * * * //\n\ntime {time};\n".encode()


def make_case(directory, ranks, cells):
    """What is solved is no flow that anybody would look at: steps are so short that two iterations do. Ranks that iterate
    more exchange ten thousand messages in a second, and where there are more ranks than processors all would wait for
    those."""
    casetools.make_case("cavity", directory, "--ranks", "1", "--interval", str(STATE_EVERY), "--steps", "1")
    casetools.substitute(os.path.join(directory, "system/blockMeshDict"), (r"\(20 20 1\)", f"({cells} {cells} 1)"))
    casetools.substitute(
        os.path.join(directory, "system/fvSolution"),
        ("preconditioner +DIC;", "preconditioner DIC; maxIter 2;"),
        ("nCorrectors +2;", "nCorrectors 1; momentumPredictor no;"),
    )
    for key, value in (("deltaT", DELTA), ("endTime", name_of(STEPS)), ("startFrom", "latestTime")):
        casetools.set_control(directory, key, value)
    casetools.run(["blockMesh"], directory)
    if ranks > 1:
        with open(os.path.join(directory, "system/decomposeParDict"), "w") as file:
            file.write(
                "FoamFile { version 2.0; format ascii; class dictionary; object decomposeParDict; }\n"
                f"numberOfSubdomains {ranks};\nmethod simple;\nsimpleCoeffs {{ n ({ranks} 1 1); delta 0.001; }}\n"
            )
        casetools.run(["decomposePar"], directory)


def with_objects(case, purge, objects):
    casetools.set_control(case, "purgeWrite", purge)
    with open(os.path.join(case, "system/controlDict"), "a") as file:
        file.write("functions\n{\n" + "".join(f"    {OBJECTS[each]}\n" for each in objects if each != FOREIGN) + "}\n")


def content(path):
    with open(path, "rb") as file:
        return file.read()


def payload(data):
    """What a block of a collated file keeps of a rank's file: what is between the header and the closing line."""
    start = re.search(rb"// (\* )+\* //\n\n", data)
    closing = CLOSING.search(data)
    return data[start.end() : closing.start() if closing else None].strip(b"\n") if start else None


class Reference:
    """The uninterrupted run of so many ranks, with all function objects and without purge."""

    def __init__(self, directory, ranks, cells):
        self.ranks = ranks
        self.start = os.path.join(directory, f"start-{ranks}")
        self.ended = os.path.join(directory, f"ended-{ranks}")
        make_case(self.start, ranks, cells)
        casetools.copy_case(self.start, self.ended)
        with_objects(self.ended, 0, OBJECTS)
        casetools.run(solver(ranks), self.ended, timeout=1200)
        self.with_foreign_writer = with_foreign_writer(directory)
        self.cache = {}

    def new_case(self, directory, plan):
        casetools.copy_case(self.start, directory)
        with_objects(directory, plan.purge, plan.objects)
        if plan.io_ranks:
            for each in self.directories():
                shutil.rmtree(os.path.join(directory, each))
            casetools.run(["decomposePar", "-fileHandler", "collated"], directory, **of_groups(plan.io_ranks))

    def directories(self):
        return [""] if self.ranks == 1 else [f"processor{rank}" for rank in range(self.ranks)]

    def expected(self, rank, time, name):
        if name == FOREIGN:
            return foreign_text(time)
        key = (rank, time, name)
        if key not in self.cache:
            self.cache[key] = content(os.path.join(self.ended, self.directories()[rank], time, name))
        return self.cache[key]

    def names(self, step, objects):
        """What a run with these function objects writes at a step."""
        found = set()
        if step == 0:
            return {"U", "p"}
        if step % OBJECTS_EVERY == 0:
            found |= {"vorticity"} if "vorticity" in objects else set()
            found |= {"U", "p", "uniform/time"} if "writeObjects" in objects else set()
        if step % STATE_EVERY == 0:
            found |= {"U", "p", "phi", "uniform/time"}
        return found | {FOREIGN} if found and FOREIGN in objects else found

    def kept(self, step, last, plan):
        """Whether a run that got to `last` has not purged the time of this step."""
        states = range(STATE_EVERY, last + 1, STATE_EVERY)
        return plan.purge == 0 or step not in states[: -plan.purge]


class Case:
    """What is on a case, compared with the reference."""

    def __init__(self, directory, reference):
        self.directory, self.reference = directory, reference
        self.known = {}

    def path(self, rank, time, name=""):
        return os.path.join(self.directory, self.reference.directories()[rank], time, name)

    def groups(self):
        """Directories of collated files, with the ranks that each holds."""
        ranks = self.reference.ranks
        for name in os.listdir(self.directory):
            match = re.fullmatch(rf"processors{ranks}(?:_(\d+)-(\d+))?", name)
            if match:
                first, last = (int(match[1]), int(match[2])) if match[1] else (0, ranks - 1)
                yield os.path.join(self.directory, name), first, last

    def times(self):
        """Names of all times of any rank, the newest first."""
        places = {os.path.join(self.directory, each) for each in self.reference.directories()}
        places |= {group for group, _, _ in self.groups()}
        found = set()
        for place in places:
            found |= {each for each in os.listdir(place) if is_time(each)} if os.path.isdir(place) else set()
        return sorted(found, key=float, reverse=True)

    def file(self, rank, time, name):
        """WHOLE, CUT, ABSENT or OTHER: a rank's file at a time, be it in its own directory or in a collated one."""
        if os.path.isdir(self.path(rank, time)):
            return self.compare(self.path(rank, time, name), rank, time, name, None)
        for group, first, last in self.groups():
            if first <= rank <= last:
                return self.compare(os.path.join(group, time, name), rank, time, name, rank - first)
        return ABSENT

    def compare(self, path, rank, time, name, block):
        try:
            status = os.stat(path)
            key = (rank, path, status.st_ino, status.st_size, status.st_mtime_ns)
            if key not in self.known:
                self.known[key] = self.judge(content(path), rank, time, name, block)
            return self.known[key]
        except (FileNotFoundError, NotADirectoryError):
            return ABSENT

    def judge(self, data, rank, time, name, block):
        if name == "uniform/time":  # holds the time of a clock: whole where it has its closing line
            return WHOLE if CLOSING.search(data) else CUT
        expected = self.reference.expected(rank, time, name)
        if data == expected and (block is None or name == FOREIGN):  # a dictionary that all ranks write alike is one
            return WHOLE
        if block is None:
            return CUT if expected.startswith(data) else OTHER
        # A group: its block must hold this rank's field, and it must end as the writer of collated files ends it.
        if not data.endswith(b")"):
            return CUT
        for each in re.finditer(rb"// Processor(\d+)\n\n(\d+)\n\(", data):
            if int(each[1]) == block:
                found = data[each.end() : each.end() + int(each[2])]
                return WHOLE if payload(expected) in found else OTHER
        return OTHER

    def has(self, time, names):
        return all(self.file(rank, time, name) == WHOLE for rank in range(self.reference.ranks) for name in names)

    def newest(self, names):
        """The newest step that all ranks have these names of, whole; the start counts."""
        for time in self.times():
            if float(time) == 0 or self.has(time, names):
                return step_of(time)
        return None
