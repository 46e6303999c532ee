"""Issue, "Faults": shared directory full, read-only, vanishing, returning EIO or short writes. Nothing lost, nothing
half-written under a final name, non-zero exit while anything is undrained and a message that says what to do."""

import os
import subprocess
import threading
import time
import unittest

import harness
from harness import UNDRAINED, FaultyCase, may_mount, wait_for
from visits import Visits


class Faults(FaultyCase):
    """By the preloaded library: calls below the case fail, in the agent, in run, and in what resumes."""

    def run_with(self, rules, later="", after=0.0, options=(), steps=6):
        process = self.start(self.solver("-steps", steps, "-delay", 60), ["--patience", "3s", *options], fault=rules)
        if after:
            time.sleep(after)
            self.set_fault(later)
        return self.finish(process)

    def test_a_directory_that_vanishes_for_some_seconds_costs_nothing_but_time(self):
        process = self.start(self.solver("-steps", 10, "-delay", 100), ["--patience", "30s"], fault="")
        wait_for(self.on_case, what="the first drained time")
        self.set_fault("all:ENOTCONN")
        time.sleep(4)
        self.set_fault("")
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()

    def test_one_that_stays_away_is_given_up_and_said_so_and_resumed_later(self):
        process = self.start(self.solver("-steps", 6, "-delay", 60), ["--patience", "2s"], fault="")
        self.solvers()
        wait_for(self.completed, what="the first files")
        # Only what the drain does: the reports and locks of the run pass, as when a quota of files is used up.
        self.set_fault("fsync:EIO,rename:EIO")
        self.finish(process, 100)
        self.assertEqual(process.returncode, UNDRAINED, self.output)
        self.assertIn("forebay drain --resume", self.output)
        for path, data in self.on_case().items():
            if ".fb-" not in path:
                self.assertTrue(harness.is_whole(path, data), path)
        self.assertEqual(len(self.homes()), 1, "what is only local was removed")
        self.assertEqual(self.resume(fault=""), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()

    def test_writes_that_fail_or_are_short_now_and_then_are_tried_again(self):
        self.assertEqual(
            self.run_with("write:short:count=200,write:EIO:after=20:count=5,fsync:EIO:after=3:count=3"), 0, self.output
        )
        self.assert_all_home()
        self.assert_nothing_left()

    def test_names_that_cannot_be_made_now_and_then_are_made_later(self):
        process = self.start(self.solver("-steps", 6, "-delay", 60), ["--patience", "30s"], fault="")
        self.solvers()
        wait_for(self.completed, what="the first files")
        self.set_fault("rename:EIO:after=2:count=4,mkdir:EIO:after=4:count=3,open:EIO:after=10:count=6")
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()

    def test_half_written_names_that_cannot_be_removed_at_once_are_removed_later(self):
        process = self.start(self.solver("-steps", 6, "-delay", 60), ["--patience", "30s"], fault="")
        self.solvers()
        wait_for(self.completed, what="the first files")
        self.set_fault("rename:EIO,unlink:ENOTEMPTY")
        # More than are written at once: some are left by attempts that failed.
        wait_for(lambda: len(self.temporaries()) > 8, what="half-written names")
        # What a server that comes back may say of a directory that it lists as empty.
        self.set_fault("unlink:ENOTEMPTY")
        wait_for(lambda: len(self.on_case_by_name()) == 6 * 5 * self.ranks, what="all files on the case")
        time.sleep(3)
        self.assertIsNone(process.poll(), "the run ended and left half-written names")
        self.set_fault("")
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()

    def temporaries(self):
        return {part for path in self.on_case() for part in path.split("/") if part.startswith(".fb-")}

    def on_case_by_name(self):
        return [path for path in self.on_case() if ".fb-" not in path]

    def test_a_log_of_the_job_that_finds_no_room_ends_nothing(self):
        with open("/dev/full", "w") as full:
            line = self.line(self.solver("-steps", 3, "-delay", 50), ["--set", "no.such=key"])
            self.assertEqual(subprocess.run(line, env=self.environment(), stdout=full, stderr=full).returncode, 2)
            line = self.line(self.solver("-steps", 3, "-delay", 50))
            self.assertEqual(subprocess.run(line, env=self.environment(), stdout=full, stderr=full).returncode, 0)
        self.read_report()
        self.assertEqual(self.report["exit_status"], 0)
        self.assert_all_home()
        self.assert_nothing_left()

    def test_a_slow_directory_does_not_slow_the_program(self):
        # Until the program has ended the directory takes four files every two seconds: the program would need a minute.
        files = 6 * 5 * self.ranks
        process = self.start(self.solver("-steps", 6, "-delay", 50), fault="fsync:delay=2000ms")
        wait_for(lambda: len(self.completed()) == files, 60, what="the end of the program")
        home = sum(len(names) for number in range(1, 7) for _, _, names in self.walk_of_time(number))
        self.set_fault("")
        self.assertLess(home, files / 2, "the program waited for the directory")
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_all_home()

    def walk_of_time(self, number):
        for rank in range(self.ranks):
            yield from os.walk(os.path.join(self.case, f"processor{rank}", str(number)))


class Faultless(FaultyCase):
    def test_it_is_left_alone_while_the_ranks_work(self):
        # The agent tells of itself every 5 s, reads other nodes' reports only where it waits for ranks, and `forebay run`
        # looks ever more rarely. Each costs the node's mount of a shared file system a millisecond of the processors on
        # which the ranks compute. A look with each of the forty steps, or at 10 Hz, would be forty.
        process = self.start(
            self.solver("-steps", 120, "-delay", 100), ["--drain-when", "end", "--safe-interval", "2s"]
        )
        self.solvers()
        time.sleep(3)
        visits = Visits(os.path.join(self.case, ".forebay"))
        self.addCleanup(visits.close)
        self.assertLessEqual(visits.within(4), 12)
        self.assertEqual(len(self.solvers()), self.ranks)
        self.assertGreater(visits.within(8), 0, "not even the end was seen")
        self.assertEqual(self.finish(process), 0, self.output)


@unittest.skipUnless(may_mount(), "mounting a small file system needs root")
class SmallFileSystem(FaultyCase):
    """Real ones: a tmpfs as the case's file system."""

    def make_case(self):
        self.mount(os.path.join(self.directory, "shared"), "size=3m,mode=0755")
        self.case = os.path.join(self.directory, "shared", "case")
        super().make_case()

    def remount(self, options):
        subprocess.run(["mount", "-o", "remount," + options, self.mounts[0]], check=True)

    def test_a_full_directory_leaves_the_rest_local_until_there_is_room(self):
        status = self.run_forebay(self.solver("-steps", 5, "-delay", 60, "-bytes", 100_000), ["--patience", "2s"])
        self.assertEqual(status, UNDRAINED, self.output)
        self.assertIn("No space left on device", self.output)
        self.assertIn("forebay drain --resume", self.output)
        for path, data in self.on_case().items():
            if ".fb-" not in path:
                self.assertTrue(harness.is_whole(path, data), path)
        self.remount("size=60m")
        self.assertEqual(self.resume(), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()

    def test_room_made_during_the_run_is_used_and_the_run_succeeds(self):
        process = self.start(self.solver("-steps", 8, "-delay", 100, "-bytes", 100_000), ["--patience", "30s"])
        wait_for(lambda: len(self.completed()) > 100, what="more than fits")
        time.sleep(1)
        self.remount("size=60m")
        self.assertEqual(self.finish(process), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()

    def test_a_directory_that_becomes_read_only_leaves_the_rest_local(self):
        process = self.start(
            self.solver("-steps", 6, "-delay", 100), ["--patience", "2s", "--set", "drain.silence=20s"]
        )
        wait_for(self.on_case, what="the first drained time")
        back = threading.Timer(9, self.remount, ["rw"])
        try:
            # A descriptor that is open for writing makes it busy for a moment.
            wait_for(
                lambda: subprocess.run(["mount", "-o", "remount,ro", self.mounts[0]], capture_output=True).returncode
                == 0
            )
            back.start()
            self.assertEqual(self.finish(process, 100), UNDRAINED, self.output)
        finally:
            back.join()
        self.assertIn("forebay drain --resume", self.output)
        self.assertEqual(self.resume(), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()


if __name__ == "__main__":
    harness.main()
