"""Somebody else's server that is dead: programs of the same user stand in its file system and have files of it open, mounts
lie below it. A run, its resume and doctor have nothing to do with it, and end as always."""

import glob
import json
import os
import shutil
import subprocess
import sys
import time
import unittest.mock

import harness
from dead_server import DeadServer
from harness import SKIPPED, FaultyCase, wait_for

WAYS = ("namespace", "redirect", "path")
USER = 54321  # nobody else's runs are to be disturbed, nor theirs to disturb this
IN_TIME = 20


class DeadServers(FaultyCase):
    ranks = 0

    def setUp(self):
        super().setUp()
        self.other = os.path.join(self.directory, "other")
        os.mkdir(self.other)
        os.chmod(self.directory, 0o755)
        for path in (self.directory, self.pool):
            subprocess.run(["chown", "-R", f"{USER}:{USER}", path], check=True)
        self.server = DeadServer(self.other)
        self.addCleanup(self.server.close)

    def tearDown(self):
        self.server.close()  # before the mounts that lie below it
        super().tearDown()

    def as_user(self, *words, **more):
        return subprocess.Popen(
            words, user=USER, group=USER, extra_groups=[], env=self.environment(HOME=self.case), **more
        )

    def forebay_in_time(self, *words):
        """Its exit status; what does not end is told with what it waits for."""
        began = time.monotonic()
        process = self.as_user(harness.FOREBAY, *words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self.case)
        self.started.append(process)
        try:
            output, _ = process.communicate(timeout=IN_TIME)
        except subprocess.TimeoutExpired:
            self.server.close()
            self.fail(f"{words[0]} waits for somebody else's server, after {time.monotonic() - began:.0f} s")
        self.output = output.decode()
        return process.returncode

    def stand_in_it(self):
        """A program whose working directory and whose file lie there, which ends only when the server is gone."""
        other = self.as_user("sh", "-c", "exec 9>> file; exec sleep 300", cwd=self.other)
        self.started.append(other)
        wait_for(lambda: os.path.exists(f"/proc/{other.pid}/fd/9"), what="the open file")
        return other

    def run_on_case(self, way, name):
        words = ("run", "-q", "--pool", self.pool, "--via", way, "--", "sh", "-c", f"echo {way} > {name}")
        self.assertEqual(self.forebay_in_time(*words), 0, self.output)
        with open(os.path.join(self.case, name)) as file:
            self.assertEqual(file.read(), way + "\n")

    def test_a_program_that_stands_in_it_and_has_its_file_open_holds_up_no_run(self):
        self.stand_in_it()
        self.server.stop()
        for way in WAYS:
            self.run_on_case(way, way)
        self.assert_nothing_left_of(USER)

    def test_a_program_that_stands_in_what_was_taken_out_of_the_tree_holds_up_no_run(self):
        self.stand_in_it()
        subprocess.run(["umount", "-l", self.other], check=True)
        self.server.stop()
        self.run_on_case("path", "out")

    def test_a_resume_passes_by_it(self):
        self.stand_in_it()
        run = self.as_user(
            harness.FOREBAY, "run", "-q", "--case", self.case, "--pool", self.pool, "--drain-when", "end", "--via", "path",
            "--", "sh", "-c", "echo 1 > out; exec sleep 300", cwd=self.case, start_new_session=True,
        )  # fmt: skip
        self.started.append(run)
        wait_for(lambda: glob.glob(os.path.join(self.pool, "*/*/s0/tree/case/out")), what="the file in the pool")
        self.kill_tree(run.pid)
        self.kill_left_overs()
        run.wait()
        self.server.stop()
        words = ("drain", "--resume", "--quiet", "--case", self.case, "--pool", self.pool)
        self.assertEqual(self.forebay_in_time(*words), 0, self.output)
        self.assertTrue(os.path.exists(os.path.join(self.case, "out")))

    def test_mounts_below_it_and_links_to_it_are_not_waited_for_by_long(self):
        local = os.path.join(self.other, "local")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", local], check=True)
        self.mounts.append(local)
        link = os.path.join(self.directory, "tmp")
        os.symlink(self.other, link)
        self.server.stop()
        os.environ["TMPDIR"] = link
        self.addCleanup(os.environ.pop, "TMPDIR")
        with unittest.mock.patch.dict(os.environ, PATH=f"{self.other}:{os.environ['PATH']}"):  # for launchers
            self.assertEqual(self.forebay_in_time("doctor", "--json"), 0, self.output)
        [below] = [each for each in json.loads(self.output)["mounts"] if each["path"] == local]
        self.assertFalse(below["writable"])
        self.run_on_case("namespace", "out")

    def assert_nothing_left_of(self, user):
        base = os.path.join(self.pool, f"forebay-{user}")
        self.assertEqual(os.listdir(base) if os.path.isdir(base) else [], [])


if __name__ == "__main__":
    if not harness.may_mount() or not os.access("/dev/fuse", os.W_OK) or not shutil.which("umount"):
        print("needs to mount")
        sys.exit(SKIPPED)
    harness.main()
