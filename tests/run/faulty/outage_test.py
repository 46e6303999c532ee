"""Issue, "Faults": the shared directory vanishes for 20 s. Here a real one, GlusterFS (bench/measure/slow-shared): its server
ends and comes back, and it is unmounted, its client killed, and mounted anew. Nothing is lost."""

import os
import shutil
import signal
import subprocess
import sys
import time

import harness
from harness import SKIPPED, FaultyCase, processes, wait_for

SLOW = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../bench/measure/slow-shared")
OUTAGE = 20


class Outage(FaultyCase):
    def make_case(self):
        self.shared = os.path.join(self.directory, "shared")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)  # once it is unmounted
        self.addCleanup(subprocess.run, [SLOW, "down", self.shared])
        # Unthrottled: what counts here is the outage.
        subprocess.run([SLOW, "up", self.shared, "0", "0"], check=True, stdout=subprocess.DEVNULL)
        self.case = os.path.join(self.shared, "case")
        super().make_case()

    def assert_nothing_left(self):
        self.assertEqual(self.homes(), [])
        self.assertFalse(os.path.exists(os.path.join(self.case, ".forebay")), "the control directory is left")

    def pids(self, kind):
        lines = subprocess.run([SLOW, "pids", self.shared], check=True, capture_output=True, text=True).stdout
        return [int(line.split()[1]) for line in lines.splitlines() if line.startswith(kind)]

    def kill(self, kind, name, number=signal.SIGKILL):
        for pid in self.pids(kind):
            if processes.name_of(pid).startswith(name):
                processes.kill(pid, number)

    def begin(self, steps, *options):
        process = self.start(
            self.solver("-steps", steps, "-delay", 150, "-bytes", 20_000, *options),
            ["--patience", "60s", "--set", "drain.silence=60s"],
        )
        # A rank that begins later does not find the case.
        wait_for(
            lambda: len({path.split("/")[0] for path in self.completed()}) == self.ranks, what="files of all ranks"
        )
        wait_for(self.on_case, what="the first drained time")
        return process

    def test_a_server_that_ends_and_comes_back_after_a_while_costs_nothing_but_time(self):
        process = self.begin(100)
        self.kill("server", "glusterfsd")
        time.sleep(OUTAGE)
        self.assertRaises(OSError, open, os.path.join(self.case, "system/controlDict"))
        self.assertIsNone(process.poll(), "the run ended during the outage")
        subprocess.run(
            [SLOW, "inside", self.shared, "gluster", "volume", "start", "shared", "force"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self.assertEqual(self.finish(process, 120), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()

    def newest_local(self):
        directory = os.path.join(self.homes()[0], "tree/case/processor1")
        return max(int(name) for name in os.listdir(directory) if name.isdigit())

    def test_ranks_do_not_wait_for_a_mount_that_does_not_answer(self):
        # The kernel lets names of it expire after a second, and asks for them again: whoever walks through it waits.
        process = self.begin(60, "-absolute")
        self.kill("client", "glusterfs", signal.SIGSTOP)
        try:
            time.sleep(2.5)
            before = self.newest_local()
            time.sleep(2)
            written = self.newest_local() - before
        finally:
            self.kill("client", "glusterfs", signal.SIGCONT)
        self.assertGreater(written, 5)
        self.assertEqual(self.finish(process, 120), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()

    def test_one_that_is_unmounted_and_mounted_anew_is_found_again(self):
        process = self.begin(30)
        with open(os.path.join(self.shared + ".state", "net")) as file:
            server = file.read().strip() + ".1"
        self.kill("client", "glusterfs")
        subprocess.run(["umount", "-l", self.shared], check=True)
        time.sleep(3)
        state = self.shared + ".state"
        subprocess.run(
            ["glusterfs", f"--volfile-server={server}", "--volfile-id=shared", f"--log-file={state}/log/client.log",
             f"--pid-file={state}/client.pid", self.shared],
            check=True,
        )  # fmt: skip
        wait_for(lambda: os.path.isdir(self.case), what="the case on the new mount")
        status = self.finish(process, 120)
        # Whether the run itself could end well is one thing (its exit status tells); losing something is another.
        if status != 0:
            self.assertEqual(status, harness.UNDRAINED, self.output)
            self.assertEqual(self.resume(), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()


if __name__ == "__main__":
    probe = os.path.join("/var/tmp", f"forebay-outage-probe-{os.getpid()}")
    up = subprocess.run([SLOW, "up", probe, "0", "0"], capture_output=True, text=True)
    subprocess.run([SLOW, "down", probe], check=False)
    if os.path.isdir(probe):
        os.rmdir(probe)
    if up.returncode == SKIPPED:
        print(up.stderr.strip())
        sys.exit(SKIPPED)
    harness.main()
