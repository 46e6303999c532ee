"""A case whose own server stops to answer, so that whoever calls it can neither go on nor be killed: the run ends with 3 and
says where it hangs, and the commands that look at the case say that it does not answer. Afterwards all comes home."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import harness
from dead_server import DeadServer
from harness import FOREBAY, SKIPPED, UNDRAINED, FaultyCase, drawn, wait_for

WAYS = ("namespace", "redirect", "path")
BOUNDS = {"FOREBAY_DRAIN_PATIENCE": "1s", "FOREBAY_DRAIN_SILENCE": "3s"}


class Hanging(FaultyCase):
    ranks = 0

    def environment(self, fault=None, **more):
        return super().environment(fault, **{**BOUNDS, **more})

    def begin(self, *words, cwd=None):
        process = subprocess.Popen(
            [FOREBAY, *words],
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=cwd,
        )
        self.started.append(process)
        return process

    def end(self, process, seconds):
        try:
            self.output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.fail("it waits for the case")
        return process.returncode


class Frozen(Hanging):
    """Of a file system that is frozen every call that changes something waits in the kernel, deaf to SIGKILL."""

    def make_case(self):
        self.frozen = False
        image, root = os.path.join(self.directory, "image"), os.path.join(self.directory, "shared")
        with open(image, "wb") as file:
            file.truncate(16 << 20)
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        os.mkdir(root)
        subprocess.run(["mount", "-o", "loop", image, root], check=True)
        self.mounts.append(root)
        self.case = os.path.join(root, "case")
        super().make_case()

    def tearDown(self):
        self.freeze(False)
        super().tearDown()

    def freeze(self, frozen):
        if frozen != self.frozen:
            subprocess.run(["fsfreeze", "-f" if frozen else "-u", self.mounts[0]], check=True)
        self.frozen = frozen

    def writes_late(self):
        return ["sh", "-c", f"echo 1 > out; {self.until_told()}; echo 2 > late"]

    def hang(self, *options):
        process = self.start(self.writes_late(), options)
        self.wait_for_output()
        self.freeze(True)
        self.tell()
        return process

    def assert_comes_home(self):
        self.freeze(False)
        wait_for(lambda: not self.of_this_test("forebay-agent"), what="the end of who hung")
        self.assertEqual(self.resume(), 0, self.output)
        for name, text in (("out", "1\n"), ("late", "2\n")):
            with open(os.path.join(self.case, name)) as file:
                self.assertEqual(file.read(), text)
            os.remove(os.path.join(self.case, name))
        self.assert_nothing_left()

    def test_a_run_ends_and_says_where_it_hangs(self):
        [way] = drawn(WAYS, "a frozen case")
        process = self.hang("--via", way)
        self.assertEqual(self.end(process, 15), UNDRAINED, way)
        self.assertIn("has not answered for 1 s (drain.patience), at " + self.case, self.output)
        self.assert_comes_home()

    def test_a_report_that_lies_there_is_not_waited_for_either(self):
        beside = os.path.join(self.mounts[0], "report.json")
        words = ("run", "--pool", self.pool, "--json", beside, "--", *self.writes_late())
        process = self.begin(*words, cwd=self.case)
        self.wait_for_output()
        self.freeze(True)
        self.tell()
        self.assertEqual(self.end(process, 25), UNDRAINED)
        self.assertIn("--json cannot be written, since this does not answer: " + beside, self.output)
        self.assert_comes_home()

    def test_with_a_launcher_too(self):
        process = self.start(["mpirun", "-n", "1", "--oversubscribe", *self.writes_late()])
        self.wait_for_output()
        self.freeze(True)
        self.tell()
        self.assertEqual(self.end(process, 15), UNDRAINED)
        self.assertIn("has not answered for 1 s (drain.patience), at " + self.case, self.output)
        self.assert_comes_home()

    def test_who_resumes_beside_one_that_hangs_does_not_write_and_ends(self):
        process = self.hang()
        self.assertEqual(self.end(process, 15), UNDRAINED)
        resumes = self.begin("drain", "--resume", "--quiet", "--case", self.case, "--pool", self.pool)
        self.assertEqual(self.end(resumes, 15), UNDRAINED, self.output)
        self.assertIn("has been silent", self.output)
        self.assert_comes_home()

    def test_two_signals_end_it_at_once(self):
        process = self.hang("--patience", "1m")
        wait_for(lambda: self.draining(), what="the drain")
        for _ in range(2):
            os.kill(process.pid, signal.SIGTERM)
            time.sleep(0.3)
        self.assertEqual(self.end(process, 3), UNDRAINED, self.output)
        self.assert_comes_home()

    def draining(self):
        with open(os.path.join(self.homes()[0], "status.json")) as file:
            return '"draining"' in file.read()


class Mute(Hanging):
    server = None

    def tearDown(self):
        if self.server:
            self.server.close()
        super().tearDown()

    def test_commands_say_that_it_does_not_answer(self):
        self.leave_dead_run()
        self.server = DeadServer(self.case)  # in the case's place
        self.server.stop()
        of_case = ["--case", self.case, "--pool", self.pool]
        # Before others lock the run: of one that is worked on it shows what the pool tells.
        shown = self.begin("status", "--pool", self.pool)
        self.assertEqual(self.end(shown, 10), 0)
        self.assertIn("does not answer: " + self.case, self.output)
        began = {
            "status": self.begin("status", *of_case),
            "clean": self.begin("clean", "--yes", *of_case),
            "drain": self.begin("drain", "--resume", *of_case),
            "all of clean": self.begin("clean", "--yes", "--pool", self.pool),
        }
        for name, each in began.items():
            with self.subTest(name):
                self.assertEqual(self.end(each, 20), UNDRAINED, self.output)
                self.assertIn("the file system of the case does not answer: " + self.case, self.output)
        self.server.close()
        self.assertEqual(self.resume(), 0, self.output)
        self.assert_nothing_left()


class Staged(Hanging):
    """Who carries staged checkpoints home is another program, which `drain --resume` waits for while that works."""

    def begin_with(self, script):
        """Resumes with a program in that one's place."""
        place = tempfile.mkdtemp(dir=self.directory)
        shutil.copy(FOREBAY, place)
        with open(os.path.join(place, "forebay-files"), "w") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(file.name, 0o755)
        line = [os.path.join(place, "forebay"), "drain", "--resume", "--quiet", "--pool", self.pool]
        self.started.append(
            subprocess.Popen(line, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        )
        return self.started[-1]

    def test_one_that_does_nothing_is_not_waited_for_and_one_that_works_is(self):
        slots = os.path.join(self.pool, f"forebay-{os.geteuid()}", "blocks-0123456789abcdef-0")
        os.makedirs(slots, mode=0o700)
        with open(os.path.join(slots, "slot-0.record"), "w") as file:
            file.write("none\n")
        stuck = self.begin_with("exec sleep 30")
        works = self.begin_with("end=$(($(date +%s) + 9)); while [ $(date +%s) -lt $end ]; do :; done")
        self.assertEqual(self.end(stuck, 20), UNDRAINED, self.output)
        self.assertIn("does not answer", self.output)
        self.assertEqual(self.end(works, 20), 0, self.output)


if __name__ == "__main__":
    needed = ("mkfs.ext4", "fsfreeze", "losetup")
    if not harness.may_mount() or not os.access("/dev/fuse", os.W_OK) or not all(map(shutil.which, needed)):
        print("needs to mount")
        sys.exit(SKIPPED)
    harness.main()
