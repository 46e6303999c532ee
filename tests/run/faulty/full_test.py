"""Programs that ignore what they cannot write, as OpenFOAM does: a run in which a write failed ends with 6 and names the
file, whoever was there to see it, and calls no time complete that may be cut."""

import glob
import json
import os
import shutil
import signal
import sys

import harness
from harness import POOL_FULL, FaultyCase, may_mount, wait_for

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "equivalence"))
import casetools  # noqa: E402

WAYS = ("namespace", "redirect")  # by the way path no library can be loaded

# They sleep first, for who kills or holds the drain meanwhile.
BEGIN = """
import os, sys, time
open(sys.argv[1] + "/begun", "w").close()
while os.path.exists(sys.argv[1] + "/wait"): time.sleep(0.01)
"""
END = """
open(sys.argv[1] + "/ended", "w").close()
"""
# Megabytes in files of so many times, without a look at what becomes of them.
WRITER = """
for step in range(1, int(sys.argv[2]) + 1):
    try: os.makedirs(f"{step}", exist_ok=True)
    except OSError: continue
    for k in range(4):
        try:
            with open(f"{step}/f{k}", "wb", buffering=0) as f: f.write(bytes([97 + k]) * 1000000)
        except OSError: pass
"""
APPENDER = """
files = [open(f"grows{k}", "ab", buffering=0) for k in range(4)]
for step in range(60):
    for f in files:
        try: f.write(bytes(250000))
        except OSError: pass
"""
# The error is seen, and what is written in the end is whole.
CAREFUL = """
def put(size):
    with open("state", "wb", buffering=0) as f: f.write(bytes(size)); assert f.tell() == size
try: put(30000000)
except (OSError, AssertionError): os.unlink("state"); put(1000)
"""


class SmallPool(FaultyCase):
    """One that root mounts, or has mounted for the user (../as_user)."""

    ranks = 0
    options = "size=20m"

    def setUp(self):
        super().setUp()
        os.rmdir(self.pool)
        if may_mount():
            return self.mount(self.pool, f"{self.options},mode=0700")
        self.pool = os.environ.get("FOREBAY_TEST_SMALL_POOL")
        if self.pool is None or self.options != SmallPool.options:
            self.skipTest("mounting a small pool needs root")


class FullPool(SmallPool):
    def python(self, text, *words):
        return ["/usr/bin/python3", "-c", BEGIN + text + END, self.records, *map(str, words)]

    def writer(self, steps=10):
        return self.python(WRITER, steps)

    def start_waiting(self, program, *options):
        for name in os.listdir(self.records):
            os.unlink(os.path.join(self.records, name))
        for name in filter(str.isdigit, os.listdir(self.case)):
            shutil.rmtree(os.path.join(self.case, name))  # its links would take the pool's few inodes
        with open(os.path.join(self.records, "wait"), "w"):
            pass
        process = self.start(program, options)
        wait_for(lambda: os.path.exists(os.path.join(self.records, "begun")), what="the program")
        return process

    def go_on(self):
        os.unlink(os.path.join(self.records, "wait"))

    def go_on_to_the_end(self):
        self.go_on()
        wait_for(lambda: os.path.exists(os.path.join(self.records, "ended")), what="the end of the program")

    def run_with_the_drain_held(self, program, *options):
        """While the program writes the agent is stopped: else it might make room in time."""
        process = self.start_waiting(program, *options)
        agent = self.agent()
        os.kill(agent, signal.SIGSTOP)
        self.go_on_to_the_end()
        os.kill(agent, signal.SIGCONT)
        return self.finish(process)

    def assert_named(self, status, name="[0-9]+/f[0-3]", reason="No space left on device"):
        self.assertEqual(status, POOL_FULL, self.output)
        self.assertRegex(self.output, f"[0-9]+ calls? failed,? (the first )?for {name} \\({reason}\\)")

    def assert_complete_is_whole(self, last):
        for k in range(4):
            self.assertEqual(os.path.getsize(os.path.join(self.case, f"{last}/f{k}")), 1000000, f"time {last} is cut")

    def test_the_first_file_is_named(self):
        for via in WAYS:
            with self.subTest(via):
                self.assert_named(self.run_with_the_drain_held(self.writer(), "--drain-when", "end", "--via", via))
                self.assertEqual(self.report["program_status"], 0)
                if self.report["last_complete"]:
                    self.assert_complete_is_whole(self.report["last_complete"])

    def test_a_drain_that_is_not_held_makes_room_or_the_file_is_named(self):
        status = self.run_forebay(self.writer(), ["--drain-when", "end"])
        if status != 0:
            return self.assert_named(status)
        for step in range(1, int(self.writer()[-1]) + 1):
            self.assert_complete_is_whole(step)

    def test_also_when_the_agent_was_killed_before(self):
        for via in WAYS:
            with self.subTest(via):
                process = self.start_waiting(self.writer(), "--drain-when", "end", "--via", via)
                os.kill(self.agent(), signal.SIGKILL)
                self.go_on()
                self.assert_named(self.finish(process))

    def assert_full_pool_told_without_library(self, all_are_killed):
        process = self.start_waiting(self.writer(), "--drain-when", "end", "--via", "path")
        os.kill(self.agent(), signal.SIGSTOP if all_are_killed else signal.SIGKILL)
        self.go_on_to_the_end()
        if all_are_killed:
            self.kill_tree(process.pid)
        status = self.finish(process)
        if all_are_killed:
            wait_for(lambda: not self.of_this_test("forebay-agent"), what="the end of the agent")
            status = self.resume()
        self.assertEqual(status, POOL_FULL, self.output)
        self.assertIn("could not be seen", self.output)

    def test_also_where_no_library_can_be_loaded_the_pool_tells_who_drains_for_a_dead_agent(self):
        self.assert_full_pool_told_without_library(all_are_killed=False)

    def test_also_where_no_library_can_be_loaded_the_pool_tells_who_resumes(self):
        self.assert_full_pool_told_without_library(all_are_killed=True)

    def test_and_by_who_resumes_when_all_were_killed(self):
        process = self.start_waiting(self.writer(8), "--drain-when", "end")
        os.kill(self.agent(), signal.SIGSTOP)
        self.go_on_to_the_end()
        self.kill_tree(process.pid)
        self.finish(process)
        wait_for(lambda: not self.of_this_test("forebay-agent"), what="the end of the agent")
        self.assert_named(self.resume())
        self.assertEqual(self.homes(), [])

    def test_files_that_grow_until_the_pool_is_full(self):
        self.assert_named(self.run_with_the_drain_held(self.python(APPENDER)), "grows[0-3]")

    def test_a_program_that_writes_again_later_does_not_undo_it(self):
        self.assert_named(self.run_forebay(self.python(CAREFUL)), "state")
        self.assertEqual(os.path.getsize(os.path.join(self.case, "state")), 1000)

    def test_where_no_library_can_be_loaded_the_summary_says_what_is_not_seen(self):
        status = self.run_forebay(self.writer(), ["--drain-when", "end", "--via", "path"])
        self.assertIn(status, (0, POOL_FULL), self.output)
        self.assertIn("whether the program's writes failed could not be seen", self.output)

    def test_what_fits_is_no_trouble(self):
        self.assertEqual(self.run_forebay(self.writer(2)), 0, self.output)
        self.assertNotIn("failed", self.output)


class FewInodes(FullPool):
    options = "size=200m,nr_inodes=70"

    def writer(self, steps=10):
        return super().writer(3 * steps if steps > 2 else 1)

    def assert_named(self, status, name="[0-9]+(/f[0-3])?", reason="No space left on device"):
        super().assert_named(status, name, reason)

    test_files_that_grow_until_the_pool_is_full = test_a_program_that_writes_again_later_does_not_undo_it = None


class Solver(SmallPool):
    """icoFoam fills its pool."""

    ranks = 2
    steps = 50
    options = "size=2m"

    def make_case(self):
        casetools.make_case("cavity", self.case, "--ranks", str(self.ranks), "--steps", str(self.steps))
        # Ranks that iterate more exchange thousands of messages, and beside other tests all wait for those.
        casetools.substitute(
            os.path.join(self.case, "system/fvSolution"),
            ("preconditioner +DIC;", "preconditioner DIC; maxIter 2;"),
            ("nCorrectors +2;", "nCorrectors 1; momentumPredictor no;"),
        )

    def environment(self, fault=None, **more):
        return {**super().environment(fault, **more), "WM_PROJECT_DIR": "/usr/share/openfoam"}

    def solver(self, case):
        mpirun = ["mpirun", "--mca", "mpi_yield_when_idle", "1", "-n", str(self.ranks), "--oversubscribe"]
        return [*mpirun, "--bind-to", "none", "icoFoam", "-parallel", "-case", case]

    def differences(self, time, direct):
        return [
            f"{time}/{name} of {rank}"
            for rank in (f"processor{each}" for each in range(self.ranks))
            for name in ("U", "p", "phi", "uniform/time")
            if content(self.case, rank, time, name) != content(direct, rank, time, name)
        ]

    def check(self, way, stop, go_on=None):
        direct = self.case + "-direct"
        shutil.copytree(self.case, direct, symlinks=True)
        casetools.run(self.solver(direct), direct)
        process = self.start(self.solver(self.case), ["--via", way, "--drain-when", "end"])
        agent = self.agent()
        first = os.path.join(self.pool, "*/*/s0/tree/case/processor0/0.01/U")
        wait_for(lambda: glob.glob(first), what="the first time")
        os.kill(agent, stop)
        if go_on is not None:
            wait_for(lambda: not self.of_this_test("icoFoam"), what="the end of the program")
            os.kill(agent, go_on)
        status = self.finish(process)
        # It sees some of the errors itself.
        self.assertEqual(status, self.report["program_status"] or POOL_FULL, self.output)
        self.assertRegex(
            self.output, r"\d+ calls? failed,? (the first )?for processor[01]/[0-9.]+(/\S+)? \(No space left"
        )
        # What was not looked at before the pool was full is not called complete.
        for last in filter(None, [self.report["last_complete"]]):
            self.assertEqual(self.differences(last, direct), [], self.output)
        self.assertEqual(self.forebay("restartable", "--set-aside", "--json", "--case", self.case), 0, self.output)
        newest = json.loads(self.output)["restartable"]
        self.assertEqual(self.differences(newest, direct), [], self.output)
        casetools.set_control(self.case, "startFrom", "latestTime")
        casetools.run(self.solver(self.case), self.case)
        self.assertEqual(self.differences("0.25", direct), [])

    def test_the_last_complete_time_is_whole_and_can_be_restarted_from(self):
        for way in WAYS:
            with self.subTest(way):
                self.check(way, signal.SIGKILL)
            self.tearDown()
            self.setUp()

    def test_also_where_the_agent_lives_and_sees_it_late(self):
        self.check("namespace", signal.SIGSTOP, signal.SIGCONT)


def content(*path):
    try:
        with open(os.path.join(*path), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


class FailingPool(FaultyCase):
    """The library that fails stands behind forebay's."""

    ranks = 0

    def environment(self, fault=None, **more):
        return {**super().environment(fault, **more), "FOREBAY_FAULT_PROGRAM": "python3"}

    def test_a_quota_and_a_device(self):
        for reason, text in (("EDQUOT", "Disk quota exceeded"), ("EIO", "Input/output error")):
            with self.subTest(reason):
                command = ["/usr/bin/python3", "-c", BEGIN + WRITER, self.records, "3"]
                status = self.run_forebay(command, fault=f"write:{reason}:after=5:count=1")
                self.assertEqual(status, POOL_FULL, self.output)
                self.assertIn(f"1 call failed for 2/f1 ({text})", self.output)


if __name__ == "__main__":
    harness.main()
