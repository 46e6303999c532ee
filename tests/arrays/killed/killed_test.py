"""Proves: when a rank is killed while a checkpoint is written, the one before stands whole under its name; staged, the new
one is in the pool and the next program carries it.

    killed_test.py MPIEXEC PROGRAM FOREBAY FAULT_LIBRARY
"""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MPIEXEC = PROGRAM = FOREBAY = FAULTS = ""
LAYOUT = 3  # writes of rank 0 before those of data
# Where the write is held long enough to be hit.
HELD = "fsync:delay=20000ms"


class KilledTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="forebay-killed-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.case, self.pool = os.path.join(self.scratch, "case"), os.path.join(self.scratch, "pool")
        for directory in (self.case, self.pool):
            os.mkdir(directory)

    def start(self, method, *step, faults="", of_ranks=(0, 1)):
        settings = {
            "LD_PRELOAD": FAULTS,
            "FOREBAY_FAULT": faults,
            "FOREBAY_FAULT_PREFIX": self.case,
            "FOREBAY_FAULT_PROGRAM": os.path.basename(PROGRAM),
        }
        words = [MPIEXEC]
        for rank in range(2):
            words += [*([":"] if rank else []), "-n", "1"]
            if faults and rank in of_ranks:
                words += ["env", *(f"{name}={value}" for name, value in settings.items())]
            words += [PROGRAM, self.case, method, self.pool, *step]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def done(self, *words):
        run = self.start(*words)
        printed, told = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, printed + told)
        return printed

    def wait_until(self, condition, otherwise):
        end = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), end, otherwise)
            time.sleep(0.01)

    def wait_for(self, directory, name):
        """A file of this name somewhere below."""

        def is_there():
            return any(re.fullmatch(name, file) for _, _, files in os.walk(directory) for file in files)

        self.wait_until(is_there, f"no {name} in {directory}")

    def inspected(self):
        done = subprocess.run([FOREBAY, "inspect", "--json", os.path.join(self.case, "a.h5")], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def expect_ended_at_step(self, run, step):
        """Not well, and the file of this step is whole under its name."""
        run.communicate(timeout=60)
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual(sorted(each for each in os.listdir(self.case) if each[0] != "."), ["a.h5", "a.h5.json"])
        self.assertEqual(self.inspected()["step"], step)

    def killed_while_writing(self, method, rank=1):
        run = self.start(method, "2", faults=HELD)
        processes = dict(run.stdout.readline().split()[1:] for _ in range(2))
        self.wait_for(self.case, r"\.fb-\w{16}")
        if method == "staged":
            self.wait_for(self.pool, r"slot-\d\.record")
        os.kill(int(processes[str(rank)]), signal.SIGKILL)
        self.expect_ended_at_step(run, 1)
        # The launcher does not wait for ranks that it kills.
        for process in processes.values():
            self.wait_until(lambda entry=f"/proc/{process}": not os.path.exists(entry), f"process {process} lives on")

    def remove_unnamed(self):
        for unnamed in glob.glob(os.path.join(self.case, ".fb-*")):
            os.unlink(unnamed)

    def test_the_checkpoint_before_stays(self):
        for method, rank in (
            ("serial", 1),
            ("stdio", 0),
            ("mpi-independent", 0),
            ("mpi-noncollective", 1),
            ("mpi-collective", 0),
        ):
            with self.subTest(method):
                self.done(method, "1")
                self.killed_while_writing(method, rank)
                self.assertIn("step 1\n", self.done(method))
                self.remove_unnamed()

    def test_the_checkpoint_before_stays_when_a_rank_dies_in_the_middle_of_the_data(self):
        self.done("stdio", "1")
        for method, rank, faults in (
            ("serial", 0, "writeback:kill"),
            ("stdio", 1, "writeback:kill"),
            ("mpi-independent", 1, "write:kill"),
            ("mpi-noncollective", 0, f"write:kill:after={LAYOUT}"),
            ("mpi-collective", 1, "write:kill"),
        ):
            with self.subTest(method):
                run = self.start(method, "2", faults=faults, of_ranks=(rank,))
                self.expect_ended_at_step(run, 1)
                (unnamed,) = glob.glob(os.path.join(self.case, ".fb-????????????????"))
                self.assertEqual(os.path.getsize(unnamed), os.path.getsize(os.path.join(self.case, "a.h5")))
                self.remove_unnamed()

    def sidecar(self):
        with open(os.path.join(self.case, "a.h5.json"), encoding="utf-8") as file:
            return file.read()

    def test_a_sidecar_is_never_taken_for_that_of_another_file(self):
        # The sidecar is renamed first, the file then.
        for method in ("stdio", "staged"):
            with self.subTest(method):
                self.done(method, "1")
                self.assertEqual(self.inspected()["written"]["method"], method)
                before = self.sidecar()
                if method != "staged":
                    self.expect_ended_at_step(self.start(method, "2", faults="rename:EIO:after=1:count=1"), 1)
                    self.assertEqual(self.sidecar(), before)
                self.expect_ended_at_step(self.start(method, "2", faults="rename:kill:after=1"), 1)
                found = self.inspected()
                self.assertEqual((found["written"], found["sidecar_of_another_file"]), (None, True))
                self.done(method, "3")
                self.assertEqual((self.inspected()["step"], self.inspected()["written"]["method"]), (3, method))
                self.remove_unnamed()

    def test_what_fails_once_is_carried_when_it_is_tried_again(self):
        self.done("staged", "1")
        run = self.start("staged", "2", faults="rename:EIO:after=1:count=1")
        printed, told = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, printed + told)
        self.assertEqual((self.inspected()["step"], self.inspected()["written"]["method"]), (2, "staged"))

    def test_the_staged_one_arrives_later(self):
        self.done("staged", "1")
        self.killed_while_writing("staged")
        self.assertIn("step 2\n", self.done("staged"))
        self.assertEqual(sorted(os.listdir(self.case)), ["a.h5", "a.h5.json"])

    def forebay(self, *words):
        done = subprocess.run([FOREBAY, *words, "--pool", self.pool], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def test_the_staged_one_is_brought_home_without_its_program(self):
        self.done("staged", "1")
        self.killed_while_writing("staged")
        checkpoint = os.path.join(self.case, "a.h5")
        status, told = self.forebay("status")
        self.assertEqual((status, checkpoint in told, "drain --resume" in told), (0, True, True), told)
        (staged,) = json.loads(self.forebay("status", "--json", "--case", self.case)[1])["runs"]
        self.assertEqual((staged["checkpoint"], staged["alive"]), (checkpoint, False))
        status, told = self.forebay("clean", "--yes")
        self.assertEqual((status, checkpoint in told), (3, True), told)
        status, told = self.forebay("drain", "--resume")
        self.assertEqual((status, told), (0, f"checkpoint {checkpoint}: brought home\n"))
        self.assertEqual(sorted(os.listdir(self.case)), ["a.h5", "a.h5.json"])
        self.assertIn("step 2\n", self.done("staged"))
        self.assertEqual(self.forebay("drain", "--resume"), (0, "nothing to resume on this node\n"))

    def test_a_staged_one_is_thrown_away_when_told_twice(self):
        self.done("staged", "1")
        self.killed_while_writing("staged")
        status, told = self.forebay("clean", "--yes", "--throw-away", "--throw-away")
        self.assertEqual((status, "removed" in told), (0, True), told)
        self.assertEqual(sum(len(files) for _, _, files in os.walk(self.pool)), 0)
        self.assertIn("step 1\n", self.done("staged"))

    def test_of_one_whose_record_is_damaged_clean_does_not_say_that_it_can_be_brought_home(self):
        self.done("staged", "1")
        self.killed_while_writing("staged")
        for record in glob.glob(os.path.join(self.pool, "**", "*.record"), recursive=True):
            with open(record, "w", encoding="utf-8") as file:
                file.write("damaged")
        status, told = self.forebay("clean", "--yes")
        self.assertEqual((status, "brings it home" in told, "cannot bring it home" in told), (3, False, True), told)
        status, told = self.forebay("clean", "--yes", "--throw-away", "--throw-away")
        self.assertEqual((status, "removed" in told), (0, True), told)

    def test_a_newer_file_of_somebody_else_is_not_replaced(self):
        self.done("staged", "1")
        self.killed_while_writing("staged")
        self.done("serial", "3")
        status, told = self.forebay("drain", "--resume")
        self.assertEqual((status, os.path.join(self.case, "a.h5") in told), (5, True), told)
        self.assertIn("step 3\n", self.done("serial"))
        self.assertIn("step 3\n", self.done("staged"))
        self.assertEqual(self.forebay("drain", "--resume"), (0, "nothing to resume on this node\n"))

    def test_what_cannot_be_brought_home_stays(self):
        self.done("staged", "1")
        self.killed_while_writing("staged")
        away = self.case + "-away"
        os.rename(self.case, away)
        status, told = self.forebay("drain", "--resume")
        self.assertEqual((status, self.case in told), (3, True), told)
        os.rename(away, self.case)
        self.assertEqual(self.forebay("drain", "--resume")[0], 0)
        self.assertIn("step 2\n", self.done("staged"))


if __name__ == "__main__":
    MPIEXEC, PROGRAM, FOREBAY, FAULTS = sys.argv[1:5]
    unittest.main(argv=sys.argv[:1])
