"""Issue, "Faults": pool full (back-pressure; if nothing can drain, the program gets no-space, the run's exit is not 0
even when the program's was, and the open time is never called complete). design.md: absence never deletes anything."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import harness
from harness import CONFLICT, LOST, POOL_FULL, UNDRAINED, FaultyCase, may_mount, wait_for

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "equivalence"))
import casetools  # noqa: E402
import processes  # noqa: E402


@unittest.skipUnless(may_mount(), "mounting a small pool needs root")
class MountedPool(FaultyCase):
    size = ""

    def setUp(self):
        super().setUp()
        os.rmdir(self.pool)
        self.mount(self.pool, f"size={self.size},mode=0700")


class HeldBack(MountedPool):
    """A program that waits for room, of which the agent is gone, and whoever would have gone on in its place."""

    size = "24m"
    ranks = 0
    script = "i=0; while [ $i -lt 40 ]; do i=$((i + 1)); head -c 1000000 /dev/zero > f$i; done; true"

    def hold(self):
        """The run, the node's first `forebay exec`, its keeper and its agent."""
        run = self.start(["sh", "-c", self.script], ["--bandwidth", "2M", "--set", "drain.silence=3s"])
        agent = self.agent()
        wait_for(lambda: any(each["paused_milliseconds"] > 0 for each in self.status()), 30, "the pause")
        keeper = processes.parent_of(agent)
        return run, processes.parent_of(keeper), keeper, agent

    def assert_came_home(self):
        self.assertEqual(sorted(os.listdir(self.case)), sorted(["system", *(f"f{i}" for i in range(1, 41))]))
        self.assert_nothing_left()

    def test_it_goes_on_when_keeper_and_agent_are_killed(self):
        run, _, *killed = self.hold()
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.finish(run, 40), UNDRAINED, self.output)
        self.assertIn(self.resume(), (0, POOL_FULL), self.output)
        self.assert_came_home()

    def test_when_all_of_forebay_is_killed_who_resumes_lets_it_go_on(self):
        run, *killed = self.hold()
        for pid in (run.pid, *killed):
            os.kill(pid, signal.SIGKILL)
        self.assertIn(self.resume(seconds=40), (0, POOL_FULL), self.output)
        self.assert_came_home()


@unittest.skipUnless(may_mount(), "mounting needs root")
class NotMounted(FaultyCase):
    """The file system of a dead run's only pool, with its journal, is not mounted: it is not called gone."""

    ranks = 0

    def mount_pool(self):
        subprocess.run(["mount", "--bind", self.content, self.pool], check=True)
        self.mounts.append(self.pool)

    def setUp(self):
        super().setUp()
        self.content = tempfile.mkdtemp(prefix="forebay-faulty-content-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.content, ignore_errors=True)
        self.mount_pool()

    def test_it_is_told_with_a_command_that_works_when_it_is_mounted_again(self):
        self.leave_dead_run()
        # The kernel lets a mount go a moment after the last process of the namespace that had it has ended.
        wait_for(lambda: subprocess.run(["umount", self.pool]).returncode == 0, what="the pool to be unmounted")
        self.mounts.remove(self.pool)
        for command in (self.resume, self.clean, self.show):
            self.assertEqual(command(), 0 if command == self.show else UNDRAINED, self.output)
            self.assertIn(f"not mounted here now: {self.pool}", self.output)
            self.assertNotIn("is gone (", self.output)
        [told] = re.findall(r"`(forebay drain --resume --case [^`]*)`", self.output)
        self.mount_pool()
        self.assertEqual(self.forebay(*shlex.split(told)[1:], "--pool", self.pool), 0, self.output)
        with open(os.path.join(self.case, "out")) as file:
            self.assertEqual(file.read(), "1\n")
        self.assert_nothing_left()

    def show(self):
        return self.forebay("status", "--case", self.case, "--pool", self.pool)


class SmallPool(MountedPool):
    size = "36m"

    # 4 ranks x 3 fields x 250 kB: 3 MB a step, 60 MB in all.
    def steps(self):
        return self.solver("-strict", "-steps", 20, "-delay", 60, "-bytes", 250_000)

    def run_small(self, *options):
        self.assertEqual(self.run_forebay(self.steps(), ["--verify", "written", *options], seconds=100), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()
        [node] = self.report["nodes"]
        return node

    def test_a_pool_much_smaller_than_the_output_is_enough_while_the_drain_makes_room(self):
        self.run_small("--via", "namespace")

    def test_the_program_is_paused_when_the_shared_directory_is_slower(self):
        # Stopped: without the library there is no gate.
        node = self.run_small("--via", "path", "--bandwidth", "12M")
        self.assertGreater(node["paused_milliseconds"], 0)

    def test_with_redirect_it_waits_at_the_gate(self):
        node = self.run_small("--via", "redirect", "--bandwidth", "12M")
        self.assertGreater(node["paused_milliseconds"], 0)

    def test_what_was_held_for_the_end_is_carried_when_its_room_is_needed(self):
        self.run_small("--drain-when", "end")

    def test_a_paused_program_goes_on_when_its_agent_is_killed(self):
        process = self.start(self.steps(), ["--bandwidth", "6M", "--set", "drain.silence=3s"])
        agent = self.agent()
        wait_for(lambda: any(run["paused_milliseconds"] > 0 for run in self.status()), 30, "the pause")
        os.kill(agent, 9)
        self.finish(process, 60)
        self.assertNotEqual(process.returncode, 0, "a pool ran full without an agent, and the run succeeded")
        completed = self.completed()
        self.resume()
        files = self.on_case()
        for path, size in completed.items():
            self.assertEqual(files.get(path), harness.content(path, size), path)

    def test_when_nothing_can_drain_the_program_gets_no_space_and_the_run_says_so(self):
        # The program ignores failed writes and ends with status 0, as OpenFOAM does.
        status = self.run_forebay(
            self.solver("-steps", 20, "-delay", 40, "-bytes", 250_000),
            ["--patience", "2s"],
            fault="fsync:ENOSPC",
            seconds=100,
        )
        self.assertEqual(self.report["program_status"], 0, self.output)
        self.assertIn(status, (POOL_FULL, UNDRAINED), self.output)
        self.assertIn("No space left on device", self.output)
        self.assertIn("ran full", self.output)
        self.assertIn("larger pool (--pool", self.output)
        self.assertIn("not called complete", self.output)
        whole = {
            each
            for each in range(1, 21)
            if all(
                f"processor{rank}/{each}/{name}" in self.completed()
                for rank in range(self.ranks)
                for name in harness.FIELDS
            )
        }
        [node] = self.report["nodes"]
        for entry in node["drain"]["timeline"]:
            if entry["complete"] >= 0:
                self.assertIn(int(entry["time"]), whole, "a time with a cut file is called complete")
        self.assertEqual(self.resume(fault=""), POOL_FULL, self.output)
        files = self.on_case()
        for path, size in self.completed().items():
            self.assertEqual(files.get(path), harness.content(path, size), path)


class FillingPool(MountedPool):
    size = "64m"

    def fill_until_the_end_of(self, process):
        with open(os.path.join(self.pool, "ballast"), "wb", buffering=0) as file:
            while process.poll() is None:
                try:
                    file.write(bytes(4096))
                except OSError:
                    time.sleep(0.001)  # ranks make room again and again

    def assert_the_last_complete_time_is_whole(self, options, *of_solver):
        process = self.start(self.solver("-steps", 3000, *of_solver), options)
        agent = self.agent()
        self.solvers()
        time.sleep(1)
        os.kill(agent, 9)
        time.sleep(0.5)
        before = self.newest_followed()
        filler = threading.Thread(target=self.fill_until_the_end_of, args=[process], daemon=True)
        filler.start()
        self.assertNotEqual(self.finish(process), 0, self.output)
        filler.join()
        self.assertIn("No space left on device", self.output)
        last = int(self.report["last_complete"])
        files = self.on_case()
        for rank in range(self.ranks):
            for field in [*harness.FIELDS, harness.LATE]:
                path = f"processor{rank}/{last}/{field}"
                self.assertTrue(harness.is_whole(path, files[path]), f"{path} of the last complete time is cut")
        return last, before


class PoolThatFillsWithoutAnAgent(FillingPool):
    def test_where_times_stay(self):
        self.assert_the_last_complete_time_is_whole(
            ["--drain-when", "end", "--via", "redirect"], "-delay", 20, "-crash", 150, "-bytes", 3000
        )


class PurgedPoolThatFillsWithoutAnAgent(FillingPool):
    purge = 1

    def test_where_times_are_purged(self):
        last, before = self.assert_the_last_complete_time_is_whole(
            [], "-delay", 3, "-crash", 1500, "-bytes", 30_000, "-purge", 1
        )
        self.assertGreaterEqual(last, before, self.output)


class PoolSmallerThanTheInputs(MountedPool):
    """In which the agent's log finds no room either."""

    size = "4m"

    def make_case(self):
        super().make_case()
        with open(os.path.join(self.case, "processor1/constant/polyMesh/faces"), "wb") as file:
            file.write(bytes(16 << 20))

    def test_a_rank_whose_staging_fails_does_not_start_and_no_input_goes(self):
        before = casetools.snapshot(self.case)
        self.assertNotEqual(self.run_forebay(self.solver("-steps", 2), ["--copy", "*"]), 0, self.output)
        self.assertIn("No space left on device", self.output)
        self.assertFalse(any(path.startswith("processor1/") for path in self.completed()), "it ran without its inputs")
        after = casetools.snapshot(self.case)
        self.assertEqual({path: after.get(path) for path in before}, before)
        self.assert_nothing_left()


class WipedPool(FaultyCase):
    def test_a_pool_that_was_wiped_is_reported_as_lost_and_nothing_on_the_case_is_deleted(self):
        inputs = os.path.join(self.case, "processor0/0")
        os.makedirs(inputs)
        with open(os.path.join(inputs, "U"), "w") as file:
            file.write("initial\n")
        process = self.start(self.solver("-steps", 10, "-delay", 100))
        wait_for(lambda: any("/2/" in path for path in self.on_case()), what="a drained time")
        before = {path for path in self.on_case() if ".fb-" not in path}
        shutil.rmtree(self.homes()[0], ignore_errors=True)
        self.assertEqual(self.finish(process) != 0, True)
        self.assertIn(LOST, (process.returncode, self.report["nodes"][0]["drain"]["trouble"]), self.output)
        self.assertIn("emptied", self.output)
        self.assertIn("go on from the time that is safe", self.output)
        self.assertEqual(before - set(self.on_case()), set(), "files of the case were deleted")
        with open(os.path.join(inputs, "U")) as file:
            self.assertEqual(file.read(), "initial\n")
        for rank in range(self.ranks):
            self.assertTrue(os.path.exists(os.path.join(self.case, f"processor{rank}/constant/polyMesh/points")))


class ManyFiles(FaultyCase):
    ranks = 0

    def test_an_overflowed_queue_of_events_loses_no_file_and_deletes_nothing(self):
        with open("/proc/sys/fs/inotify/max_queued_events") as file:
            limit = int(file.read())
        files = limit // 2 + 2000  # a file is made and closed: two events
        os.mkdir(os.path.join(self.case, "flood"))  # watched from the start
        victim = os.path.join(self.case, "removed-by-the-program")
        with open(victim, "w") as file:
            file.write("an input\n")
        script = f"{self.until_told()}; rm removed-by-the-program; exec {' '.join(self.solver('-flood', files))}"
        process = self.start(["sh", "-c", script])
        agent = self.agent()
        wait_for(self.homes, what="the pool")
        wait_for(lambda: any(run["phase"] == "running" for run in self.status()), what="the program")
        os.kill(agent, 19)
        self.tell()
        wait_for(
            lambda: not self.of_this_test("sh") and not self.of_this_test("stepFoam"), 60, "the end of the program"
        )
        os.kill(agent, 18)
        self.assertEqual(self.finish(process, 120), CONFLICT, self.output)
        self.assertIn("overflowed", self.output)
        self.assertRegex(self.output, "1 name gone locally, but kept on the case.*removed-by-the-program")
        self.assertEqual(len(os.listdir(os.path.join(self.case, "flood"))), files)
        self.assertTrue(os.path.exists(victim), "a deletion was carried though events were lost")


if __name__ == "__main__":
    harness.main()
