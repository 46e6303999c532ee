"""Proves: "Codes whose ranks share a directory and put the rank into the file name get their locality from redirect: a
new file is made in the pool of the creating process's own socket and linked from the tree."

Two cores are made two sockets, each with a pool on a mount of its own. The same program runs directly and under
forebay, and must leave the same case.
"""

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

FOREBAY = ""
RANKS = 2

PROGRAM = r"""
import os, sys, time

act, go = sys.argv[1:3]
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
placed = os.environ.get("FOREBAY_SOCKET_POOL", "home")
os.makedirs("states", exist_ok=True)


def name(step):
    return f"states/u.{step}.{rank}"


def write(path, mode, text):
    with open(path, mode) as file:
        file.write(text * 3000)


for step in range(6):
    write(name(step), "w", f"{step} {rank} ")
write(os.path.abspath(f"log.{rank}"), "x", "log ")
if act == "names":
    os.remove(name(0))
    write(name(0) + ".new", "w", "new ")
    os.replace(name(0) + ".new", name(1))
    write(name(2), "a", "more ")
    os.rename(name(3), f"states/v.{rank}")
    write(name(3), "w", "again ")
    os.truncate(name(4), 100)
    os.chmod(name(4), 0o600)
    os.mkdir(f"own.{rank}")
    write(f"own.{rank}/a", "w", "a ")
    os.rename(f"own.{rank}", f"other.{rank}")
    os.mkdir(f"made.{rank}")
    write(f"made.{rank}/a", "w", "a ")
    os.rename(f"made.{rank}", f"0.{rank}5")
    assert not os.path.islink(name(5)) and os.lstat(name(5)).st_nlink == 1
    os.link(name(5), f"states/w.{rank}")
    assert os.lstat(name(5)).st_nlink == 2
    try:
        os.open(name(5), os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        sys.exit("O_EXCL made what was there")
    except FileExistsError:
        pass
if act == "ranks":
    os.mkdir(f"processor{rank}/1")
    write(f"processor{rank}/1/U", "w", f"{rank} ")
if act == "planted" and placed != "home":
    os.symlink("/etc/hostname", os.path.join(placed, "evil"))
    os.symlink(os.path.join(placed, "evil"), f"planted.evil.{rank}")
    os.symlink(os.path.join(placed, "../run.json"), f"planted.up.{rank}")
    os.symlink(os.path.join(os.path.dirname(placed), "run.json"), f"planted.beside.{rank}")
open(f"{go}.{rank}", "w").close()
until = time.monotonic() + 60
while not os.path.exists(go) and time.monotonic() < until:
    time.sleep(0.02)
if act == "killed":
    write(name(5), "a", "after ")
    write(f"states/late.{rank}", "w", "late ")
"""


class PlacementTest(unittest.TestCase):
    decomposed = False

    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="placement-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        memory = tempfile.mkdtemp(prefix="placement-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, memory, ignore_errors=True)
        self.pools = [memory, os.path.join(self.base, "pool")]
        os.mkdir(self.pools[1])
        if os.stat(memory).st_dev == os.stat(self.base).st_dev:
            self.skipTest("/tmp and /dev/shm are one mount")
        self.program = os.path.join(self.base, "program.py")
        with open(self.program, "w") as file:
            file.write(PROGRAM)

    def make(self, name):
        case = os.path.join(self.base, name, "case")
        os.makedirs(os.path.join(case, "system"))
        with open(os.path.join(case, "input"), "w") as file:
            file.write("input\n")
        if self.decomposed:
            with open(os.path.join(case, "system/controlDict"), "w") as file:
                file.write("application anyFoam;\n")
            for rank in range(RANKS):
                os.makedirs(os.path.join(case, f"processor{rank}/constant"))
                with open(os.path.join(case, f"processor{rank}/constant/points"), "w") as file:
                    file.write(f"points of {rank}\n")
        return case

    def start(self, case, act, command=()):
        environment = dict(os.environ, HWLOC_SYNTHETIC="pack:2 [numa] core:1 pu:1", HWLOC_THISSYSTEM="1")
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        last = ["-parallel"] if self.decomposed else []
        line = ["mpirun", "-n", str(RANKS), "--map-by", "ppr:1:numa", "--bind-to", "numa"]
        self.go = os.path.join(os.path.dirname(case), "go")
        self.output = open(os.path.join(self.base, "output"), "w+")
        self.addCleanup(self.output.close)
        return subprocess.Popen(
            [*command, *line, sys.executable, self.program, act, self.go, *last],
            cwd=case,
            env=environment,
            stdout=self.output,
            stderr=subprocess.STDOUT,
        )

    def said(self):
        self.output.seek(0)
        return self.output.read()

    def wait_for_ranks(self, process):
        until = time.monotonic() + 60
        while len(glob.glob(self.go + ".*")) < RANKS and time.monotonic() < until and process.poll() is None:
            time.sleep(0.02)
        self.assertEqual(len(glob.glob(self.go + ".*")), RANKS, self.said())

    def finish(self, process):
        open(self.go, "w").close()
        return process.wait(timeout=90)

    def forebay(self, act, during=lambda: None):
        """Runs the program directly and under forebay; the two cases."""
        direct, case = self.make("direct"), self.make("forebay")
        process = self.start(direct, act)
        self.assertEqual(self.finish(process), 0, self.said())
        pools = [word for pool in self.pools for word in ("--pool", pool)]
        process = self.start(case, act, [FOREBAY, "run", "--case", case, "--via", "redirect", *pools, "--"])
        try:
            self.wait_for_ranks(process)
            during()
            self.assertEqual(self.finish(process), 0, self.said())
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
        return direct, case

    def assert_same(self, direct, case):
        done = subprocess.run(["diff", "-r", "--no-dereference", direct, case], capture_output=True, text=True)
        self.assertEqual(done.stdout + done.stderr, "", self.said())
        for directory, _, names in os.walk(direct):
            for name in names:
                path = os.path.join(directory, name)
                there = os.lstat(os.path.join(case, os.path.relpath(path, direct)))
                self.assertEqual(
                    (os.lstat(path).st_mode, os.lstat(path).st_nlink), (there.st_mode, there.st_nlink), path
                )

    def assert_pools_empty(self):
        for pool in self.pools:
            left = [os.path.join(directory, name) for directory, _, names in os.walk(pool) for name in names]
            self.assertEqual(left, [], self.said())

    def tree(self):
        return glob.glob(f"{self.pools[0]}/forebay-*/*/s0/tree/case")[0]

    def test_each_file_lies_in_the_pool_of_its_ranks_socket_until_it_is_carried_home(self):
        devices = {}

        def look():
            for rank in range(RANKS):
                for path in (f"states/u.0.{rank}", f"log.{rank}"):
                    devices.setdefault(rank, set()).add(os.stat(os.path.join(self.tree(), path)).st_dev)

        direct, case = self.forebay("write", look)
        home, other = (os.stat(pool).st_dev for pool in self.pools)
        self.assertEqual(sorted(map(tuple, devices.values())), sorted([(home,), (other,)]))
        self.assert_same(direct, case)
        self.assert_pools_empty()

    def test_each_ranks_directory_is_staged_and_written_on_its_own_socket_and_nowhere_else(self):
        self.decomposed = True
        found = {}

        def look():
            for pool in self.pools:
                for directory in glob.glob(f"{pool}/forebay-*/*/s*/processor*"):
                    inside = sorted(os.listdir(directory)), os.listdir(os.path.join(directory, "constant"))
                    self.assertEqual(inside, (["1", "constant"], ["points"]))
                    written = os.lstat(os.path.join(directory, "1/U"))
                    self.assertEqual(written.st_dev, os.stat(pool).st_dev)
                    found.setdefault(os.path.basename(directory), []).append(pool)

        direct, case = self.forebay("ranks", look)
        self.assertEqual(sorted(found), ["processor0", "processor1"])
        self.assertEqual(sorted(sum(found.values(), [])), sorted(self.pools), found)
        self.assert_same(direct, case)
        self.assert_pools_empty()

    def test_placed_files_are_removed_renamed_and_changed_like_any_other(self):
        placed = []

        def look():
            placed.extend(glob.glob(f"{self.pools[1]}/forebay-*/*/s1/placed/*"))
            linked = set()
            for directory, _, names in os.walk(self.tree()):
                paths = [os.path.join(directory, name) for name in names]
                linked.update(os.readlink(path) for path in paths if os.path.islink(path))
            self.assertEqual([path for path in placed if path not in linked], [], "files without a name")

        direct, case = self.forebay("names", look)
        self.assertNotEqual(placed, [])
        self.assert_same(direct, case)
        self.assert_pools_empty()

    def test_what_a_killed_agent_left_is_carried_when_the_run_is_resumed(self):
        def kill():
            with open(glob.glob(f"{self.pools[0]}/forebay-*/*/s0/status.json")[0]) as file:
                os.kill(json.load(file)["agent_pid"], signal.SIGKILL)

        direct, case = self.forebay("killed", kill)
        self.assert_same(direct, case)
        self.assert_pools_empty()

    def test_a_link_to_anything_but_a_placed_file_is_never_followed(self):
        direct, case = self.forebay("planted")
        planted = glob.glob(f"{case}/planted.*")
        self.assertGreaterEqual(len(planted), 3)
        for path in planted:
            self.assertTrue(os.path.islink(path), path)
            os.unlink(path)
        self.assert_same(direct, case)
        self.assert_pools_empty()


if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    if shutil.which("mpirun") is None or len(os.sched_getaffinity(0)) < 2:
        print("needs mpirun and two processors")
        sys.exit(77)
    unittest.main()
