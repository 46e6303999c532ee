"""Proves: ranks' directories are directories of the case like any other. What a direct run may do with them a run under
forebay may do, by every way in: remove them and make them anew, rename them, follow links that lead out of them, move
files between them and the rest. Where pools lie on several mounts, what cannot be followed is refused beforehand.

    ranks_test.py FOREBAY [one] [several]      with pools on one mount, on two
"""

import glob
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "equivalence"))
from casetools import Workplace, environment, leftovers, namespaces_work

FOREBAY = ""
RANKS = 2
POOL_FULL = 6  # exit status
WAYS = ["redirect", "path"] + ["namespace"] * namespaces_work()

PROGRAM = r"""
import os, shutil, sys, time

act, meeting = sys.argv[1:3]
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
own, others = f"processor{rank}", [f"processor{k}" for k in range(2)]


def meet(name):
    open(os.path.join(meeting, f"{name}.{rank}"), "w").close()
    until = time.monotonic() + 60
    while not all(os.path.exists(os.path.join(meeting, f"{name}.{k}")) for k in range(2)):
        assert time.monotonic() < until, name
        time.sleep(0.01)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def read(path):
    with open(path) as file:
        return file.read()


def fill(directory, text):
    os.makedirs(f"{directory}/0/uniform")
    os.mkdir(f"{directory}/1")
    write(f"{directory}/0/U", text)
    write(f"{directory}/0/uniform/time", text * 2)
    write(f"{directory}/1/U", text * 3)


meet("began")
if act == "own":
    shutil.rmtree(own)
    fill(own, f"new {rank}\n")
elif act == "all" and rank == 0:
    for each in others:
        shutil.rmtree(os.path.abspath(each))
    for each in others:
        fill(os.path.abspath(each), f"anew {each}\n")
elif act == "away":
    os.rename(own, f"old{rank}")
    fill(own, f"after {rank}\n")
elif act == "gone" and rank == 0:
    shutil.rmtree("processor1")
elif act in ("links", "inner"):
    for each in ("0/uniform/time", "constant/polyMesh/points", *["constant/far"] * (act == "links")):
        text = read(f"{own}/{each}")
        assert text == read(os.path.abspath(f"{own}/{each}")), each
        write(f"{own}/" + each.replace("/", "."), text)
    os.mkdir(f"{own}/1")
    os.symlink("../../0", f"{own}/1/start")
    os.symlink("../../../far", f"{own}/1/out")
    write(f"{own}/1/read", read(os.path.abspath(f"{own}/1/start/shared")))
    if act == "links":
        write(f"{own}/1/far", read(os.path.abspath(f"{own}/1/out")))
elif act == "moves":
    write(os.path.abspath(f"{own}/a"), "a\n")
    os.rename(os.path.abspath(f"{own}/a"), os.path.abspath(f"a.{rank}"))
    write(f"{own}/b", "b\n")
    os.rename(f"{own}/b", f"b.{rank}")
    write(f"c.{rank}", "c\n")
    os.link(os.path.abspath(f"c.{rank}"), os.path.abspath(f"{own}/c"))
    os.mkdir(os.path.abspath(f"{own}/made"))
    write(os.path.abspath(f"{own}/made/d"), "d\n")
    os.rename(os.path.abspath(f"{own}/made"), os.path.abspath(f"made.{rank}"))
    os.chdir(os.path.abspath(own))
    write("e", "e\n")
    os.rename("e", f"../e.{rank}")
    assert os.getcwd().endswith("/case/" + own), os.getcwd()
    os.chdir("..")
elif act == "across" and rank == 1:
    write("big", "b" * 4_000_000)
    try:
        os.rename(os.path.abspath("big"), os.path.abspath(f"{own}/big"))
    except OSError as error:
        write("refused", error.strerror)
elif act == "write":
    os.mkdir(f"{own}/1")
    write(f"{own}/1/U", f"{rank}\n")
meet("done")
while not os.path.exists(os.path.join(meeting, "go")):
    time.sleep(0.01)
"""


def tree_of(root):
    found = {}
    for directory, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(directory, name)
            status = os.lstat(path)
            kind = (
                stat.S_IFMT(status.st_mode),
                stat.S_IMODE(status.st_mode),
                status.st_nlink * stat.S_ISREG(status.st_mode),
            )
            text = os.readlink(path) if os.path.islink(path) else None
            if stat.S_ISREG(status.st_mode):
                with open(path) as file:
                    text = file.read()
            found[os.path.relpath(path, root)] = (*kind, text)
    return found


class Ranks:
    mounts = 1

    def setUp(self):
        self.place = Workplace("ranks")
        self.addCleanup(self.place.remove)
        self.pools = [self.place.pool]
        if self.mounts == 2:
            self.pools.append(os.path.join(self.place.directory, "pool"))
            os.mkdir(self.pools[1])
            if os.stat(self.pools[0]).st_dev == os.stat(self.pools[1]).st_dev:
                self.skipTest("/tmp and /dev/shm are one mount")
        self.program = os.path.join(self.place.directory, "program.py")
        with open(self.program, "w") as file:
            file.write(PROGRAM)

    def write(self, path, text=None):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text or f"{os.path.basename(path)}\n")

    def make(self, name, links=False):
        case = os.path.join(self.place.directory, name, "case")
        self.write(f"{case}/system/controlDict", "application any;\n")
        for rank in range(RANKS):
            own = f"{case}/processor{rank}"
            self.write(f"{own}/0/p", f"start {rank}\n")
            self.write(f"{own}/constant/properties", f"properties {rank}\n")
            if links:
                self.write(f"{case}/meshes/{rank}/points")
                self.write(f"{case}/0/uniform/time")
                self.write(f"{case}/0/shared")
                os.symlink("../../0/uniform", f"{own}/0/uniform")
                os.symlink(f"../../meshes/{rank}", f"{own}/constant/polyMesh")
                self.write(f"{case}/../far")
                os.symlink("../../../far", f"{own}/constant/far")
        return case

    def start(self, case, act, before=()):
        meeting = os.path.join(os.path.dirname(case), "meeting")
        os.makedirs(meeting)
        settings = environment(HWLOC_SYNTHETIC="pack:2 [numa] core:1 pu:1", HWLOC_THISSYSTEM="1")
        if self.mounts == 2:
            del settings["OMPI_MCA_hwloc_base_binding_policy"]
        binding = ["--map-by", "ppr:1:numa", "--bind-to", "numa"] if self.mounts == 2 else []
        with open(os.path.join(os.path.dirname(case), "output"), "w") as output:
            return meeting, subprocess.Popen(
                [*before, "mpirun", "-n", str(RANKS), *binding, sys.executable, self.program, act, meeting, "-parallel"],
                cwd=case, env=settings, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def said(self, case):
        with open(os.path.join(os.path.dirname(case), "output")) as file:
            return file.read()

    def run_case(self, case, act, before=(), during=lambda: None):
        meeting, process = self.start(case, act, before)
        try:
            until = time.monotonic() + 60
            while len(glob.glob(f"{meeting}/done.*")) < RANKS and process.poll() is None and time.monotonic() < until:
                time.sleep(0.01)
            if process.poll() is None:
                during()
            open(f"{meeting}/go", "w").close()
            return process.wait(timeout=90)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()

    def forebay(self, way):
        pools = [word for pool in self.pools for word in ("--pool", pool)]
        return [FOREBAY, "run", "--via", way, *pools, "--"]

    def check(self, act, ways, during=lambda: None, again="", **case):
        direct = self.make(f"direct{again}", **case)
        self.assertEqual(self.run_case(direct, act), 0, self.said(direct))
        for way in ways:
            with self.subTest(act=act, way=way):
                under = self.make(f"{way}{again}", **case)
                self.assertEqual(self.run_case(under, act, self.forebay(way), during), 0, self.said(under))
                found, expected = tree_of(under), tree_of(direct)
                if during == self.kill_agent:  # what nobody has seen removed stays
                    found = {path: entry for path, entry in found.items() if path in expected}
                self.assertEqual(found, expected, self.said(under))
                self.assertNotIn("emptied", self.said(under))
                for pool in self.pools:
                    self.assertEqual(leftovers(under, pool), [])

    def kill_agent(self):
        with open(glob.glob(f"{self.pools[0]}/forebay-*/*/s0/status.json")[0]) as file:
            os.kill(json.load(file)["agent_pid"], signal.SIGKILL)


class OneMount(Ranks, unittest.TestCase):
    def test_a_rank_removes_its_own_directory_and_makes_it_anew(self):
        self.check("own", WAYS)

    def test_one_rank_removes_all_ranks_directories_and_makes_them_anew(self):
        self.check("all", WAYS)

    def test_ranks_rename_their_directories_away(self):
        self.check("away", WAYS)

    def test_a_rank_s_directory_that_was_removed_goes_from_the_case(self):
        self.check("gone", WAYS)

    def test_links_that_lead_out_of_a_rank_s_directory_lead_where_they_do_in_the_case(self):
        self.check("inner", WAYS, links=True)
        # By the way path no relative link leads out of the case: the tree stands elsewhere.
        self.check("links", [way for way in WAYS if way != "path"], again="far", links=True)

    def test_files_move_between_ranks_directories_and_the_rest_of_the_case(self):
        self.check("moves", WAYS)

    def test_what_a_killed_agent_left_of_directories_made_anew_comes_home(self):
        self.check("own", WAYS[-1:], during=self.kill_agent)
        self.check("away", WAYS[:1], during=self.kill_agent, again="away")

    def test_outputs_go_through_the_case_s_link_to_a_rank_s_directory_and_the_link_stays(self):
        for way in [*WAYS, "auto"]:
            with self.subTest(way=way):
                case = self.make(f"linked-{way}")
                for rank in range(RANKS):
                    far = os.path.join(os.path.dirname(case), "elsewhere", f"p{rank}")
                    os.makedirs(os.path.dirname(far), exist_ok=True)
                    os.rename(f"{case}/processor{rank}", far)
                    # A relative link out of the case is not for a namespace: another way is taken by itself.
                    os.symlink(f"../elsewhere/p{rank}" if way == "auto" else far, f"{case}/processor{rank}")
                    os.symlink("/", f"{far}/constant/out")
                during = self.kill_agent if way == "redirect" else lambda: None
                self.assertEqual(self.run_case(case, "write", self.forebay(way), during), 0, self.said(case))
                for rank in range(RANKS):
                    self.assertTrue(os.path.islink(f"{case}/processor{rank}"))
                    with open(os.path.join(os.path.dirname(case), "elsewhere", f"p{rank}/1/U")) as file:
                        self.assertEqual(file.read(), f"{rank}\n")
                if way == "auto" and namespaces_work():
                    self.assertIn("by redirect: a namespace cannot follow the relative link", self.said(case))


class SeveralMounts(Ranks, unittest.TestCase):
    mounts = 2

    def test_ranks_remove_and_rename_their_directories(self):
        for act in ("own", "away", "gone"):
            self.setUp()
            self.check(act, ["redirect"])

    def test_a_killed_agent_has_them_resumed(self):
        self.check("away", ["redirect"], during=self.kill_agent)

    def test_redirect_follows_links_out_of_a_rank_s_directory(self):
        self.check("links", ["redirect", "auto"], links=True)

    @unittest.skipUnless(os.geteuid() == 0, "mounting a small pool needs root")
    def test_a_rename_into_a_pool_that_has_no_room_for_the_file_is_noted(self):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m,mode=0700", "none", self.pools[1]], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.pools[1]])
        for way in ("redirect", "namespace"):
            with self.subTest(way=way):
                case = self.make(way)
                self.assertEqual(self.run_case(case, "across", self.forebay(way)), POOL_FULL, self.said(case))
                self.assertIn("1 call failed for processor1/big (No space left on device)", self.said(case))
                self.assertEqual(tree_of(case)["refused"][-1], "No space left on device")
                self.assertEqual(os.path.getsize(f"{case}/big"), 4_000_000)
                self.assertEqual(sorted(os.listdir(f"{case}/processor1")), ["0", "constant"])
                for pool in self.pools:
                    self.assertEqual(leftovers(case, pool), [])

    def test_what_cannot_be_followed_is_refused_before_the_program_starts(self):
        for way in WAYS[1:]:
            with self.subTest(way=way):
                case = self.make(way, links=True)
                before = tree_of(case)
                self.assertNotEqual(self.run_case(case, "links", self.forebay(way)), 0)
                self.assertIn("leads out of the rank's directory", self.said(case))
                self.assertIn("--via redirect", self.said(case))
                self.assertEqual(tree_of(case), before)


if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    if shutil.which("mpirun") is None or len(os.sched_getaffinity(0)) < 2:
        print("needs mpirun and two processors")
        sys.exit(77)
    unittest.main()
