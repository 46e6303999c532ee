"""A program on two nodes, that can be killed at a given point, and what its nodes hold then.

The nodes are groups of ranks of this machine, each with a pool of its own, or two of a lab (../nodes/lab).
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../run/nodes"))
from cluster import Lab, drawn, wait_for  # noqa: F401

RANKS = (2, 1)  # of each node


class Groups:
    """Two nodes that this machine pretends to be."""

    def __init__(self):
        self.shared = tempfile.mkdtemp(prefix="forebay-killed-", dir="/dev/shm")
        self.pools = [os.path.join(self.shared, f"pool{node}") for node in range(2)]
        for pool in self.pools:
            os.mkdir(pool)

    def close(self):
        shutil.rmtree(self.shared, ignore_errors=True)

    def seen(self, path):
        return path

    def command(self, _node, *words):
        return list(words)

    def ranks(self, node):
        return ["-n", str(RANKS[node])]

    environment = {"RANKS_OF_A_NODE": str(RANKS[0])}


class Nodes:
    """Two nodes that share nothing but a directory."""

    pools = ("/mnt/pmem_fsdax0/blocks",) * 2
    environment = {}

    def __init__(self):
        self.lab = Lab(2)
        self.shared = self.lab.shared
        for node in range(2):
            subprocess.run(self.command(node, "mkdir", self.pools[node]), check=True)

    def close(self):
        self.lab.close()

    def seen(self, path):
        return self.lab.seen(path)

    def command(self, node, *words):
        return self.lab.command(f"n{node + 1}", *words)

    def ranks(self, node):
        return ["--bind-to", "none", "--host", f"n{node + 1}:{RANKS[node]}", "-n", str(RANKS[node])]


class TwoNodes:
    """Runs the program and forebay on them; `case` is the directory that they share."""

    def __init__(self, machine, mpiexec, program, forebay, fault_library):
        self.machine = machine
        self.mpiexec, self.program, self.forebay_command, self.fault_library = mpiexec, program, forebay, fault_library
        self.case = os.path.join(machine.shared, "case")
        os.mkdir(self.case)

    def with_faults(self, rules, words):
        """The words of a command; its program meets the faults where it touches the case."""
        if not rules:
            return list(words)
        settings = {
            "LD_PRELOAD": self.fault_library,
            "FOREBAY_FAULT": rules,
            "FOREBAY_FAULT_PREFIX": self.machine.seen(self.case),
        }
        return ["env", *(f"{name}={value}" for name, value in settings.items()), *words]

    def start(self, *steps, faults=("", "")):
        return self.start_with([self.machine.ranks(node) for node in range(2)], self.machine.pools, steps, faults)

    def start_with(self, ranks, pools, steps, faults):
        words = [self.mpiexec]
        for of_node, pool, rules in zip(ranks, pools, faults, strict=True):
            program = [self.program, self.machine.seen(self.case), "staged", pool, *steps]
            words += [*([":"] if len(words) > 1 else []), *of_node, *self.with_faults(rules, program)]
        return subprocess.Popen(
            self.machine.command(0, *words),
            env={**os.environ, **self.machine.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
        )

    def done(self, *steps, faults=("", "")):
        return self.printed_by(self.start(*steps, faults=faults))

    def done_on_three(self):
        """By a program whose first two nodes are these; of groups of ranks alone."""
        pools = [*self.machine.pools, os.path.join(self.machine.shared, "pool2")]
        os.makedirs(pools[2])
        return self.printed_by(self.start_with([["-n", "2"], ["-n", "2"], ["-n", "1"]], pools, (), ("",) * 3))

    def printed_by(self, run):
        printed, told = run.communicate(timeout=60)
        if run.returncode != 0:
            raise AssertionError(printed + told)
        return printed

    def killed(self, *steps):
        """All of it, when the checkpoints are committed on both nodes and nothing of them carried."""
        run = self.start(*steps, faults=("open:delay=60000ms",) * 2)
        rank_and_process = [run.stdout.readline().split()[1:] for _ in range(sum(RANKS))]
        wait_for(lambda: all(self.records(node) == len(steps) for node in range(2)), 30, "committed")
        for node in range(2):
            processes = [process for rank, process in rank_and_process if (int(rank) >= RANKS[0]) == bool(node)]
            subprocess.run(self.machine.command(node, "kill", "-9", *processes))  # mpirun may have ended some of them
        run.communicate(timeout=60)

    def forebay(self, node, *words, faults=""):
        """Started; the faults are those of its program that carries."""
        words = [self.forebay_command, *words, "--pool", self.machine.pools[node]]
        if faults:
            words = self.with_faults(faults, words)
            words.insert(1, "FOREBAY_FAULT_PROGRAM=forebay-files")
        return subprocess.Popen(
            self.machine.command(node, *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/"
        )

    def ended(self, run):
        """Exit status and what was told."""
        told, _ = run.communicate(timeout=60)
        return run.returncode, told

    def drain(self, node, faults=""):
        return self.ended(self.forebay(node, "drain", "--resume", faults=faults))

    def throw_away(self, node):
        return self.ended(self.forebay(node, "clean", "--yes", "--throw-away", "--throw-away"))

    def forget(self, node):
        """As if it had been killed before its record was there."""
        words = ("find", self.machine.pools[node], "-name", "*.record", "-delete")
        subprocess.run(self.machine.command(node, *words), check=True)

    def change(self, node, name, python):
        """What a pool holds of this name, by a program that has its `path`."""
        found = subprocess.run(
            self.machine.command(node, "find", self.machine.pools[node], "-name", name), capture_output=True, text=True
        )
        program = f"import os, shutil, sys\npath = sys.argv[1]\n{python}"
        subprocess.run(self.machine.command(node, "python3", "-c", program, found.stdout.strip()), check=True)

    def held(self, node):
        """The names of files in a pool."""
        found = subprocess.run(
            self.machine.command(node, "find", self.machine.pools[node], "-type", "f", "-printf", "%f\n"),
            capture_output=True,
            text=True,
        )
        return sorted(found.stdout.split())

    def records(self, node):
        return sum(name.endswith(".record") for name in self.held(node))

    def keep(self):
        """What everything looks like now, to return to."""
        shutil.copytree(self.case, self.case + ".kept")
        for node in range(2):
            pool = self.machine.pools[node]
            subprocess.run(self.machine.command(node, "cp", "-a", pool, pool + ".kept"), check=True)

    def come_back(self):
        shutil.rmtree(self.case)
        shutil.copytree(self.case + ".kept", self.case)
        for node in range(2):
            pool = self.machine.pools[node]
            again = f"rm -rf {pool} && cp -a {pool}.kept {pool}"
            subprocess.run(self.machine.command(node, "sh", "-c", again), check=True)

    def on_case(self):
        return sorted(os.listdir(self.case))

    def content(self, name="a.h5"):
        with contextlib.suppress(FileNotFoundError), open(os.path.join(self.case, name), "rb") as file:
            return file.read()
