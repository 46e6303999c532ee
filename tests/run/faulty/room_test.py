"""A pool's budget is the run's own: what neighbours write and free on the same mount neither holds a run nor lets it have
more. Whoever sits before the terminal is told that the program is held back, and why. A budget in which nothing can run is
refused."""

import glob
import os
import pty
import re
import select
import subprocess
import threading
import time
import unittest

import harness
from harness import FOREBAY, FaultyCase, may_mount, wait_for

MB = 1_000_000

# Files of a megabyte, so many for a time; it goes on when the test says so.
WRITER = """
import os, sys, time
times, files, pause, word = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
for step in range(1, times + 1):
    os.makedirs(f"{step}")
    for k in range(files):
        with open(f"{step}/f{k}", "wb") as f: f.write(bytes([97 + k]) * 1000000)
    open(f"{word}-{step}", "w").close()
    time.sleep(pause)
    while os.path.exists(f"{word}-wait-{step}"): time.sleep(0.01)
"""


def allocated(directory):
    """Bytes of all files below, each once."""
    files = {}
    for above, _, names in os.walk(directory):
        for name in names:
            try:
                status = os.lstat(os.path.join(above, name))
            except FileNotFoundError:
                continue
            files[status.st_ino] = status.st_blocks * 512
    return sum(files.values())


class Watched(threading.Thread):
    """The most that a run had in a pool, as often as can be looked."""

    def __init__(self, home):
        super().__init__(daemon=True)
        self.home, self.most, self.ended = home, 0, threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(0.005):
            self.most = max(self.most, allocated(self.home))

    def stop(self):
        self.ended.set()
        self.join()
        return self.most


class OneProcess(FaultyCase):
    ranks = 0

    def writer(self, times, files, pause=0.1, word="word"):
        word = os.path.join(self.records, word)
        return ["/usr/bin/python3", "-c", WRITER, str(times), str(files), str(pause), word]

    def wait_for_time(self, step, word="word"):
        wait_for(lambda: os.path.exists(os.path.join(self.records, f"{word}-{step}")), what=f"time {step}")

    def wait_at(self, step, word="word"):
        path = os.path.join(self.records, f"{word}-wait-{step}")
        with open(path, "w"):
            pass
        return path

    def assert_whole(self, times, files, case=None):
        for step in range(1, times + 1):
            for k in range(files):
                with open(os.path.join(case or self.case, f"{step}/f{k}"), "rb") as file:
                    self.assertEqual(file.read(), bytes([97 + k]) * MB, f"{step}/f{k}")

    def fullest(self):
        [course] = [each["course"] for each in self.report["stability"]]
        return max(course["fill"])


@unittest.skipUnless(may_mount(), "mounting a pool of its own size needs root")
class Neighbours(OneProcess):
    size = 300 * MB

    def setUp(self):
        super().setUp()
        os.rmdir(self.pool)
        self.mount(self.pool, f"size={self.size},mode=0700")
        self.neighbour = os.path.join(self.pool, "neighbour")

    def neighbour_writes(self, bytes_written):
        with open(self.neighbour, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, bytes_written)

    def test_what_a_neighbour_writes_holds_no_run(self):
        wait = self.wait_at(1)
        process = self.start(self.writer(2, 8), ["--budget", "100MB", "--drain-when", "end"])
        self.wait_for_time(1)
        self.neighbour_writes(150 * MB)
        time.sleep(0.5)
        os.unlink(wait)
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertEqual(self.report["nodes"][0]["paused_milliseconds"], 0)
        # 16 MB and what the journal reserves, to within one time.
        self.assertGreater(self.fullest(), 0.1)
        self.assertLess(self.fullest(), 0.22)
        self.assertNotIn("waits for room", self.output)
        self.assert_whole(2, 8)

    def test_what_a_neighbour_frees_is_no_room_for_the_run(self):
        self.neighbour_writes(150 * MB)
        wait = self.wait_at(1)
        process = self.start(self.writer(9, 20, 0.05), ["--budget", "100MB", "--bandwidth", "80M"])
        self.wait_for_time(1)
        os.unlink(self.neighbour)
        watched = Watched(self.homes()[0])
        os.unlink(wait)
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertLess(watched.stop(), 110 * MB, "more than its budget")
        self.assertGreater(self.report["nodes"][0]["paused_milliseconds"], 0)
        self.assertLess(self.fullest(), 1.1)
        self.assert_whole(9, 20)


@unittest.skipUnless(may_mount(), "mounting a pool of its own size needs root")
class TwoRuns(Neighbours):
    size = 150 * MB

    def make_case(self):
        self.case = os.path.join(self.directory, "second")
        super().make_case()
        self.case = os.path.join(self.directory, "case")
        super().make_case()

    def line(self, command, options=()):
        words = super().line(command, options)
        if "second" in " ".join(command):
            words[words.index(self.case)] = os.path.join(self.directory, "second")
            words[words.index(self.report_file)] = os.path.join(self.directory, "second.json")
        return words

    def start_both(self):
        """The first has 5 MB of the 100 that it may have when the second begins, which would like to have as much."""
        wait = self.wait_at(1, "first")
        first = self.start(self.writer(14, 5, 0, "first"), ["--budget", "100MB", "--drain-when", "end"])
        self.wait_for_time(1, "first")
        homes = self.homes()
        second_waits = self.wait_at(1, "second")
        second = self.start(
            self.writer(20, 5, 0.02, "second"),
            ["--budget", "100MB", "--bandwidth", "100M"],
            cwd=os.path.join(self.directory, "second"),
        )
        self.wait_for_time(1, "second")
        [home] = set(self.homes()) - set(homes)
        return first, wait, second, second_waits, Watched(home)

    def test_each_reckons_with_what_the_others_budget_still_allows(self):
        first, wait, second, second_waits, watched = self.start_both()
        os.unlink(second_waits)
        self.wait_for_time(20, "second")
        os.unlink(wait)
        self.assertEqual(self.finish(second), 0, self.output)
        self.assertLess(watched.stop(), 55 * MB, "it took what the first may still have")
        self.assertEqual(self.finish(first), 0, self.output)
        self.assertEqual(self.report["nodes"][0]["paused_milliseconds"], 0, "the second kept the first from its budget")
        self.assert_whole(14, 5)
        self.assert_whole(20, 5, os.path.join(self.directory, "second"))

    def test_a_dead_run_claims_nothing_but_what_it_has(self):
        first, _, second, second_waits, watched = self.start_both()
        for each in harness.processes.tree(first.pid):
            harness.processes.kill(each)
        wait_for(lambda: len(self.of_this_test("forebay-agent")) == 1, what="the end of the first agent")
        os.unlink(second_waits)
        self.assertEqual(self.finish(second), 0, self.output)
        self.assertGreater(watched.stop(), 65 * MB)
        self.assert_whole(20, 5, os.path.join(self.directory, "second"))

    test_what_a_neighbour_writes_holds_no_run = test_what_a_neighbour_frees_is_no_room_for_the_run = None


class Standstill(OneProcess):
    # It is held when two of its files are there, until one of them is on the case, which takes more than two seconds.
    options = ("--budget", "3MB", "--bandwidth", "400k", "--set", "drain.settle=50ms")

    def is_held(self):
        for gate in glob.glob(os.path.join(self.pool, "*/*/s0/gate")):
            with open(gate, "rb") as file:
                return file.read(1) == b"\1"
        return False

    def lines_of(self, process, descriptor):
        """Each line with the seconds since the program was first held back."""
        held, lines, rest = None, [], b""
        while True:
            if held is None and self.is_held():
                held = time.monotonic()
            if not select.select([descriptor], [], [], 0.02)[0]:
                continue
            try:
                read = os.read(descriptor, 4096)
            except OSError:  # a terminal that nobody has open any more
                read = b""
            if not read:
                break
            *whole, rest = (rest + read).split(b"\n")
            lines += [(line.decode(), time.monotonic() - (held or time.monotonic())) for line in whole]
        self.assertEqual(process.wait(), 0, lines)
        self.assertIsNotNone(held, "the program was never held back")
        return lines

    def told(self, terminal):
        command = self.line(self.writer(3, 1, 0.1), self.options)
        reader, writer = pty.openpty() if terminal else os.pipe()
        process = subprocess.Popen(
            command,
            cwd=self.case,
            env=self.environment(),
            stdout=writer,
            stderr=writer,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.started.append(process)
        os.close(writer)
        with os.fdopen(reader, "rb"):
            return self.lines_of(process, reader)

    def assert_told_within(self, seconds, lines):
        said = [(line, when) for line, when in lines if "waits for room" in line]
        self.assertTrue(said, lines)
        line, when = said[0]
        self.assertRegex(
            line,
            re.escape(f"waits for room in its pool: {self.pool} holds ") + r".* of 3.00 MB; \d+ entr(y is|ies are) to",
        )
        self.assertLess(when, seconds, line)
        self.assertEqual(len(said), 1, said)

    def test_the_terminal_is_told_within_two_seconds(self):
        self.assert_told_within(2, self.told(terminal=True))

    def test_a_file_is_told_later(self):
        self.assert_told_within(10, self.told(terminal=False))


class Budget(OneProcess):
    def refusal(self, *options, **environment):
        done = subprocess.run(
            [FOREBAY, "run", "--case", self.case, "--pool", self.pool, *options, "--", *self.writer(1, 0)],
            cwd=self.case,
            env={**self.environment(), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(
            done.stderr, r"forebay: a pool.budget of .* is less than .*; give at least [0-9.]+ kB \(\d+ bytes\)"
        )
        self.assertEqual(self.homes(), [])
        return int(re.search(r"\((\d+) bytes\)", done.stderr)[1])

    def test_one_in_which_nothing_can_run_is_refused_however_it_is_given(self):
        configuration = os.path.join(self.directory, "forebay.toml")
        with open(configuration, "w") as file:
            file.write('[pool]\nbudget = "1kB"\n')
        least = {
            self.refusal("--budget", "1kB"),
            self.refusal("--set", "pool.budget=1"),
            self.refusal(FOREBAY_POOL_BUDGET="100kB"),
            self.refusal(FOREBAY_CONFIG=configuration),
        }
        self.assertEqual(len(least), 1)
        [bytes_] = least
        self.assertEqual(self.refusal("--budget", str(bytes_ - 1)), bytes_)

    def test_the_least_one_does(self):
        least = self.refusal("--budget", "1kB")
        command = self.solver("-strict", "-steps", 4, "-delay", 50, "-bytes", 4_000)
        self.assertEqual(self.run_forebay(command, ["--budget", str(least)]), 0, self.output)
        self.assert_all_home()
        self.assertEqual(self.report["nodes"][0]["paused_milliseconds"], 0)


class BudgetOfRanks(FaultyCase):
    def test_the_least_one_does_for_several(self):
        command = self.solver("-strict", "-steps", 4, "-delay", 50, "-bytes", 4_000)
        self.assertEqual(self.run_forebay(command, ["--budget", "1kB"]), 2)
        least = re.search(r"\((\d+) bytes\)", self.output)[1]
        self.assertEqual(self.run_forebay(command, ["--budget", least]), 0, self.output)
        self.assert_all_home()
        self.assertEqual(self.report["nodes"][0]["paused_milliseconds"], 0)


if __name__ == "__main__":
    harness.main()
