"""A case that is renamed, unmounted, read-only, full or removed while a run works on it, links that somebody puts into it, and
marks of runs that never began: each is said at once, ends in time, and with a command that works."""

import functools
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
import unittest

import harness
from harness import UNDRAINED, FaultyCase, drawn, wait_for

WAYS = ("namespace", "redirect", "path")


class NeverBegan(FaultyCase):
    """Killed, all of it, before any rank was let in: nothing was ever written."""

    ranks = 0

    def kill_when(self, condition, rules, prefix):
        self.fault_prefix = prefix
        process = self.start(["sh", "-c", "echo 1 > out"], fault=rules)
        wait_for(condition, what="the run's mark")
        time.sleep(0.3)
        self.kill_tree(process.pid)
        self.kill_left_overs()
        process.wait()
        self.fault_prefix = None

    def mark(self):
        return os.path.exists(os.path.join(self.case, ".forebay/plan.json"))

    def assert_is_nothing(self):
        self.assert_nothing_left()
        self.assertFalse(os.path.exists(os.path.join(self.case, "out")))
        self.assertEqual(self.run_forebay(["sh", "-c", "echo 1 > out"]), 0, self.output)
        os.remove(os.path.join(self.case, "out"))

    def test_before_its_pool_was_made(self):
        for command in (self.resume, self.clean):
            self.kill_when(self.mark, "mkdir:delay=60000ms", self.pool)
            self.assertEqual(command(), 0, self.output)
            self.assert_is_nothing()

    def test_when_its_pool_was_made_and_the_case_not_told(self):
        report = os.path.join(self.case, ".forebay", f"node-{os.uname().nodename}.json")
        self.kill_when(lambda: os.path.exists(report), "write:delay=60000ms", os.path.join(self.case, ".forebay"))
        self.assertEqual(len(self.homes()), 1)
        self.assertEqual(self.resume(), 0, self.output)
        self.assert_is_nothing()


class LinksInTheCase(FaultyCase):
    ranks = 0

    def test_one_in_the_way_is_refused_at_once(self):
        began = time.monotonic()
        process = self.start(
            ["sh", "-c", "mkdir new; echo 1 > new/out; echo 2 > other; sleep 1"], ["--drain-when", "end"]
        )
        wait_for(self.mark_and_pool, what="the pool")
        os.symlink("/etc", os.path.join(self.case, "new"))
        self.assertEqual(self.finish(process, 40), UNDRAINED, self.output)
        self.assertLess(time.monotonic() - began, 20)
        self.assertIn("a symbolic link is in the way", self.output)
        os.remove(os.path.join(self.case, "new"))
        self.assertEqual(self.resume(), 0, self.output)
        with open(os.path.join(self.case, "new/out")) as file:
            self.assertEqual(file.read(), "1\n")
        self.assert_nothing_left()

    def mark_and_pool(self):
        return self.homes() and os.path.exists(os.path.join(self.homes()[0], "tree/case/new/out"))


class Away(FaultyCase):
    ranks = 0

    def start_and_then(self, change, *options, fault=None):
        """Between the first file of the program and its last."""
        process = self.start(
            ["sh", "-c", f"echo 1 > out; {self.until_told()}; echo 2 > late"], [*options, "--patience", "3s"], fault
        )
        self.wait_for_output()
        change()
        self.tell()
        began = time.monotonic()
        status = self.finish(process, 40)
        self.assertLess(time.monotonic() - began, 20, self.output)
        self.assertNotIn("may be dead", self.output)
        return status

    def test_renamed_it_is_followed(self):
        named = self.case
        [way] = drawn(WAYS, "a renamed case")
        moved = os.path.join(self.directory, way)
        self.assertEqual(self.start_and_then(functools.partial(os.rename, named, moved), "--via", way), 0, self.output)
        self.assertIn(f"is {moved} now", self.output)
        self.case = moved
        for name, text in (("out", "1\n"), ("late", "2\n")):
            with open(os.path.join(moved, name)) as file:
                self.assertEqual(file.read(), text)
        self.assert_nothing_left()

    def test_renamed_it_is_followed_by_who_resumes_for_a_killed_agent(self):
        moved = os.path.join(self.directory, "moved")

        def rename_and_kill():
            os.rename(self.case, moved)
            os.kill(self.agent(), signal.SIGKILL)

        self.assertEqual(self.start_and_then(rename_and_kill, "--via", "namespace"), 0, self.output)
        self.case = moved
        for name in ("out", "late"):
            self.assertTrue(os.path.exists(os.path.join(moved, name)), name)
        self.assert_nothing_left()

    def test_renamed_messages_of_the_agent_have_the_name_that_it_has_now(self):
        moved = self.fault_prefix = os.path.join(self.directory, "a new name")
        change = functools.partial(os.rename, self.case, moved)
        self.assertEqual(self.start_and_then(change, fault="write:ENOSPC"), UNDRAINED, self.output)
        self.assertNotIn(self.case, self.output.replace(f"{self.case} is ", ""))
        [told] = [line for line in self.output.splitlines() if "only local" in line and "drain --resume" in line]
        [command] = re.findall(r"`(forebay drain --resume --case [^`]*)`", told)
        self.assertIn("a new name", command)
        self.assertEqual(self.forebay(*shlex.split(command)[1:], "--pool", self.pool), 0, self.output)
        self.case = moved
        self.assertTrue(os.path.exists(os.path.join(moved, "late")))
        self.assert_nothing_left()

    def test_removed_it_is_said_with_a_command_that_works(self):
        self.assertEqual(self.start_and_then(lambda: shutil.rmtree(self.case)), UNDRAINED, self.output)
        self.assertIn("the case was removed during the run", self.output)
        self.assertEqual(len(self.homes()), 1)
        self.assertEqual(
            self.forebay("clean", "--yes", "--pool", self.pool, "--throw-away", "--throw-away"), 0, self.output
        )
        self.assertEqual(self.homes(), [])


@unittest.skipUnless(harness.may_mount(), "mounting needs root")
class OfItsOwnFileSystem(Away):
    def make_case(self):
        self.mount(os.path.join(self.directory, "shared"), "size=3m,mode=0755")
        self.case = os.path.join(self.directory, "shared", "case")
        super().make_case()

    test_renamed_it_is_followed = test_removed_it_is_said_with_a_command_that_works = None
    test_renamed_it_is_followed_by_who_resumes_for_a_killed_agent = None
    test_renamed_messages_of_the_agent_have_the_name_that_it_has_now = None

    def remount(self, options):
        subprocess.run(["mount", "-o", "remount," + options, self.mounts[0]], check=True)

    def test_read_only_it_is_said_what_is_wrong(self):
        self.assertEqual(self.start_and_then(lambda: self.remount("ro")), UNDRAINED, self.output)
        self.assertIn("Read-only file system", self.output)
        self.assertIn("forebay: the case takes nothing", self.output)  # while it waits
        self.remount("rw")
        self.assertEqual(self.resume(), 0, self.output)
        self.assertTrue(os.path.exists(os.path.join(self.case, "late")))
        self.assert_nothing_left()

    def test_taken_out_of_the_tree_it_is_not_waited_for(self):
        status = self.start_and_then(lambda: subprocess.run(["umount", "-l", self.mounts.pop()], check=True))
        self.assertIn(status, (0, UNDRAINED), self.output)
        wait_for(lambda: not self.of_this_test("forebay-agent"), what="the agent's end")


if __name__ == "__main__":
    harness.main()
