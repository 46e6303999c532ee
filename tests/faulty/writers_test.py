"""Issue, "Programs that outlive the one that was started": the end waits for who still writes, says for whom, and gives
nothing its final name that might be cut."""

import os
import signal
import sys
import time

import harness
from harness import UNDRAINED, FaultyCase, wait_for

WAYS = ("namespace", "redirect", "path")

# Leaves its parent, its session, its standard files and its environment behind, and goes on writing.
DAEMON = """
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
if "CLEAN" not in os.environ: os.execve(sys.executable, sys.orig_argv, {"CLEAN": "1"})
"""
WRITES = (
    DAEMON
    + """
with open("slow", "w") as file:
    for i in range(12):
        print(i, file=file, flush=True)
        time.sleep(0.1)
"""
)
# What it has mapped has no descriptor any more.
MAPPED = """
import mmap, os, time
with open("slow", "wb+") as file:
    file.truncate(36)
    memory = mmap.mmap(file.fileno(), 36)
if os.fork(): os._exit(0)
for i in range(12):
    memory[3 * i : 3 * i + 3] = b"%2d\\n" % i
    time.sleep(0.1)
"""
WHOLE = [str(i) for i in range(12)]


class Writers(FaultyCase):
    ranks = 0

    def script(self, text, *options, program="bash"):
        return self.start([program, "-c", text], ["--set", "drain.settle=600ms", *options])

    def lines(self, name):
        return [line.strip() for line in self.on_case().get(name, b"(missing)").decode().splitlines()]

    def assert_whole(self, process, name="slow", message=""):
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertEqual(self.lines(name), WHOLE, f"{message}: {self.output}")
        self.assert_nothing_left()

    def test_what_a_program_leaves_to_others_is_whole_when_the_run_ends(self):
        slowly = "while read -r line; do echo $line; sleep 0.1; done > slow"
        leaves = {
            "a process substitution": f"exec > >({slowly}); seq 0 11",
            "a process in the background": f"(seq 0 11 | {slowly}) & sleep 0.3",
        }
        for way in WAYS:
            for message, text in leaves.items():
                with self.subTest(f"{way}: {message}"):
                    self.assert_whole(self.script(text, "--via", way), message=message)
                    os.remove(os.path.join(self.case, "slow"))

    def test_a_daemon_is_waited_for(self):
        self.assert_whole(self.script(WRITES, program=sys.executable))

    def test_who_has_a_file_mapped_is_waited_for(self):
        self.assert_whole(self.script(MAPPED, program=sys.executable))

    def test_who_opens_its_file_for_each_line_is_waited_for(self):
        self.assert_whole(self.script("(for i in $(seq 0 11); do echo $i >> slow; sleep 0.1; done) & sleep 0.3"))

    def test_who_has_not_yet_written_to_a_drained_file_is_waited_for(self):
        text = "seq 0 9 > slow; sleep 2; (sleep 1.5; seq 10 11) >> slow & sleep 0.1"
        self.assert_whole(self.script(text, "--set", "drain.settle=100ms"))

    def test_who_holds_a_file_for_ever_is_named_and_all_else_is_home(self):
        for way in WAYS:
            with self.subTest(way):
                process = self.script(
                    "echo 1 > held; echo 2 > other; sleep 300 > /dev/null 2>&1 3>> held & exit 0",
                    "--via",
                    way,
                    "--patience",
                    "3s",
                )
                wait_for(lambda: self.on_case().get("other") == b"2\n", what="the other file")
                wait_for(lambda: any(run["waits_for"] for run in self.status()), what="a word of whom is waited for")
                [sleeper] = self.holders("held")
                self.forebay("status", "--case", self.case, "--pool", self.pool)
                self.assertRegex(self.output, rf"waits, since\s+sleep \(process {sleeper}\) has held open for writing")
                self.assertEqual(self.finish(process), UNDRAINED, self.output)
                for words in (f"sleep (process {sleeper})", "held", "drain.patience", "--resume"):
                    self.assertIn(words, self.output)
                self.assertNotIn("held", self.on_case())
                if way == "path":
                    self.assertEqual(self.resume(), UNDRAINED, self.output)
                    self.assertNotIn("held", self.on_case())
                    self.assertIn(f"sleep (process {sleeper}) has held open", self.output)
                os.kill(sleeper, signal.SIGKILL)
                self.assertEqual(self.resume(), 0, self.output)
                self.assertEqual(self.on_case()["held"], b"1\n")
                self.assert_nothing_left()
                os.remove(os.path.join(self.case, "held"))
                os.remove(os.path.join(self.case, "other"))

    def test_who_only_lives_on_is_told_of(self):
        began = time.monotonic()
        process = self.script("echo 1 > one; sleep 300 > /dev/null 2>&1 & exit 0")
        self.assertEqual(self.finish(process), 0, self.output)
        self.assertLess(time.monotonic() - began, 20)
        self.assertRegex(self.output, r"still running when all was home: sleep \(process \d+\)")
        self.assert_nothing_left()
        for pid in self.left_over_sleeps:
            os.kill(pid, signal.SIGKILL)

    def test_who_outlives_program_and_agent_is_waited_for(self):
        process = self.script("(for i in $(seq 0 11); do echo $i; sleep 0.15; done > slow) & sleep 1")
        wait_for(lambda: self.holders("slow"), what="the writer")
        os.kill(self.agent(), signal.SIGKILL)
        self.assert_whole(process)

    def holders(self, name):
        """Processes that have a file of the tree open for writing."""
        found = []
        for home in self.homes():
            path = os.path.join(home, "tree/case", name)
            if not os.path.exists(path):
                continue
            wanted = os.stat(path)
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    for each in os.listdir(f"/proc/{pid}/fd"):
                        status = os.stat(f"/proc/{pid}/fd/{each}")
                        written = os.lstat(f"/proc/{pid}/fd/{each}").st_mode & 0o200
                        if written and (status.st_dev, status.st_ino) == (wanted.st_dev, wanted.st_ino):
                            found.append(int(pid))
                            break
                except OSError:
                    continue
        return found

    @property
    def left_over_sleeps(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ") as file:
                    if self.pool in file.read() and self.comm(pid) == "sleep":
                        found.append(int(pid))
            except OSError:
                continue
        return found

    def comm(self, pid):
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()


if __name__ == "__main__":
    harness.main()
