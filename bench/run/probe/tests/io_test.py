"""Proves: `forebay bench io` measures a tmpfs and a disk, tells predict of them, refuses what cannot be, and leaves nothing.

io_test.py FOREBAY IO_PROBE. The figures mean nothing: blocks are small, and other tests run beside it.
"""

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
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from measure import processes  # noqa: E402

from run.probe.medium import PHASES  # noqa: E402

FOREBAY = PROBE = ""
LITTLE = "--quick --writers 1 --transfer 256,4k --block 8M".split()
ALLOWED = sorted(os.sched_getaffinity(0))


def sockets(*cpus):
    """A node whose sockets have one of these cpus each."""
    return {"HWLOC_SYNTHETIC": f"pack:{len(cpus)} core:1 pu:1(indexes={','.join(map(str, cpus))})"}


def environment(**more):
    unset = ("FOREBAY_", "OMPI_", "PMI_", "PMIX_", "SLURM_")
    return {**{key: value for key, value in os.environ.items() if not key.startswith(unset)}, **more}


def lives(pid):
    """A zombie, which nobody has waited for yet, has no words."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


class IoTest(unittest.TestCase):
    def setUp(self):
        self.memory, self.disk = (Path(tempfile.mkdtemp(prefix="forebay-io-", dir=each)) for each in ("/dev/shm", "/var/tmp"))  # fmt: skip
        for each in (self.memory, self.disk):
            self.addCleanup(shutil.rmtree, each, ignore_errors=True)

    def call(self, *words, status=0, **more):
        done = subprocess.run([FOREBAY, *map(str, words)], cwd=self.disk, env=environment(**more), capture_output=True, text=True, timeout=120)  # fmt: skip
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def io(self, *words, **more):
        return self.call("bench", "io", *words, **more)

    def nothing_is_left(self, *expected):
        self.assertEqual(sorted(each.name for each in [*self.memory.iterdir(), *self.disk.iterdir()]), sorted(expected))

    def started(self, *words, **more):
        """Returns when a writer of it writes."""
        begun = subprocess.Popen([FOREBAY, *map(str, words)], env=environment(**more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
        self.addCleanup(begun.kill)
        while not list(self.memory.glob(".forebay-bench-io-*/*.0")):
            self.assertIsNone(begun.poll(), "it ended before it wrote")
            time.sleep(0.002)
        [private] = self.memory.iterdir()
        self.assertEqual(private.stat().st_mode & 0o777, 0o700)
        return begun

    def test_it_measures_memory_and_disk_and_predict_prices_with_what_it_found(self):
        began = time.monotonic()
        (self.disk / "my.toml").write_text("# forebay bench io, 2026-11-01\nname = 'older'\n")
        told = json.loads(self.io(self.memory, self.disk, "--shared", self.disk, *LITTLE, "--json", "-o", "my.toml", "--page", "my.html"))  # fmt: skip
        self.assertLess(time.monotonic() - began, 3 * 30)
        self.nothing_is_left("my.toml", "my.html")
        self.assertEqual(told["bench"], "io")
        rows = {row["name"]: row for row in told["results"]}
        self.assertFalse([name for name in rows if re.search(r"\b[2-9] (writers|processes)", name)])
        for directory in (self.memory, self.disk):
            for words in ("write, file, fresh, 4 KiB", "write, mapped, recycled, 256 B", "read, mapped, 4 KiB"):
                row = rows[f"{directory}: {words}, 1 writer"]
                self.assertGreater(row["value"], 0)
                self.assertEqual(row["reference"] is None, "file" in words)
                self.assertIn("from cache", row["note"])
            for phase in PHASES:
                self.assertGreater(rows[f"{directory}: {phase}, 1 process"]["value"], 0)
        self.assertIn(f"{self.disk}: write, file, fresh, 4 KiB, 1 writer, fsync", rows)
        self.assertFalse([name for name in rows if name.startswith(str(self.memory)) and "fsync" in name])
        page = (self.disk / "my.html").read_text()
        self.assertIn("<polyline", page)
        self.assertNotIn("<script", page)
        asked = "--ranks 4 --files 9 --bytes 1MB --step 0.5s --json".split()
        priced = json.loads(self.call("predict", "--machine", "nfs", "--machine", self.disk / "my.toml", *asked))
        sources = {each["name"]: each["from"] for each in priced["sources"]}
        for key in ("shared.client", "medium.write", "medium.creates"):
            self.assertRegex(sources[key], r"^measured: \d{4}-\d\d-\d\d, ")
        self.assertNotRegex(sources["shared.write"], "^measured: .*" + str(self.disk))

    def test_one_socket_has_no_remote_one_and_two_have(self):
        options = (self.memory, *LITTLE, "--transfer", "4k")
        self.assertIn("no remote socket", self.io(*options, **sockets(ALLOWED[0])))
        if len(ALLOWED) > 1:
            told = self.io(*options, **sockets(*ALLOWED[:2]))
            self.assertIn("write, mapped, recycled, 4 KiB, 1 writer, remote socket", told)
            self.assertNotIn("no remote socket", told)

    def test_it_uses_no_cpu_but_those_that_it_may(self):
        """The first one of the node is often another job's, in a container or a step of a scheduler."""
        os.sched_setaffinity(0, ALLOWED[-1:])
        self.addCleanup(os.sched_setaffinity, 0, ALLOWED)
        begun = self.started("bench", "io", self.memory, *LITTLE, "--transfer", "4k")
        used = set()
        while begun.poll() is None:
            for each in processes.descendants(begun.pid):
                try:
                    used |= os.sched_getaffinity(each)
                except ProcessLookupError:
                    continue
        self.assertIn("(tmpfs, 1 core;", begun.communicate()[0])
        self.assertEqual(used, {ALLOWED[-1]})

    def test_it_refuses_before_it_writes(self):
        (self.disk / "file").write_text("mine")
        (self.disk / "link").symlink_to("file")
        for words, message in (
            ((self.memory, "--block", "9000G"), r" free, and needs [\d.]+ TB, twice what is written"),
            ((self.memory / "missing",), f"not a directory: {self.memory}/missing"),
            ((self.disk / "file",), "not a directory"),
            ((self.memory, "--shared", "missing"), "not a directory: missing"),
            ((self.memory, "-o", "missing/my.toml"), "missing/my.toml cannot be written"),
            ((self.memory, "-o", self.disk), f"{self.disk} is a directory"),
            ((self.memory, "-o", self.disk / "file"), "exists and is no profile of forebay bench io"),
            ((self.memory, "--page", self.disk / "file"), "exists and is no page of forebay bench io"),
            ((self.memory, "-o", "link"), "link is a link to a file"),
            ((self.memory, "--page", "link"), "link is a link to a file"),
            ((), "name a directory on each medium"),
            ((self.memory, "--transfer", "100"), "multiple of 64"),
            ((self.memory, "--writers", "0"), "--writers"),
        ):
            with self.subTest(words):
                self.assertRegex(self.io(*words, "--quick", status=2), message)
                self.nothing_is_left("file", "link")
                self.assertEqual((self.disk / "file").read_text(), "mine")

    def test_processes_whose_job_has_no_name_do_not_meet(self):
        """Another run beside this one would have the same names."""
        said = self.io("--shared", self.disk, "--quick", status=2, PMI_RANK="0", PMI_SIZE="2")
        self.assertIn("2 processes, and no variable names their job", said)
        self.nothing_is_left()

    def test_a_signal_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(number):
                begun = self.started("bench", "io", self.memory, "--quick", "--block", "64M")
                writers = processes.descendants(begun.pid)
                begun.send_signal(number)
                output = begun.communicate(timeout=60)[0]  # ends with the last process that holds its output
                self.assertNotIn("Traceback", output)
                self.nothing_is_left()
                ends = time.monotonic() + 10  # those that were killed with it are about to be gone
                while [each for each in writers if lives(each)]:
                    self.assertLess(time.monotonic(), ends, "writers live on")
                    time.sleep(0.002)

    def test_what_was_measured_before_a_writer_was_killed_is_told_and_nothing_is_left(self):
        begun = self.started(
            "bench", "io", self.memory, self.disk, *LITTLE, "--transfer", "4k", "-o", self.disk / "my.toml"
        )
        while not list(self.disk.glob(".forebay-bench-io-*")):
            self.assertIsNone(begun.poll(), "it ended before it measured the disk")
            time.sleep(0.002)
        while begun.poll() is None:
            for each in processes.descendants(begun.pid):
                if processes.name(each) == "io_probe" and not processes.descendants(each):
                    try:
                        os.kill(each, signal.SIGKILL)
                    except ProcessLookupError:
                        continue
        output = begun.communicate(timeout=60)[0]
        self.assertEqual(begun.returncode, 1, output)
        self.assertRegex(output, f"bench: {self.disk}: .*io_probe ended with status")
        self.assertIn(f"{self.memory} (tmpfs", output)
        self.assertIn("write = ", (self.disk / "my.toml").read_text())
        self.nothing_is_left("my.toml")

    def test_doctor_measures_the_pools_by_it(self):
        begun = self.started("doctor", "--measure", FOREBAY_POOL_PATHS=str(self.memory))
        begun.terminate()
        output = begun.communicate(timeout=60)[0]
        self.assertIn("pool of socket 0", output)
        self.nothing_is_left()

    def test_a_signal_before_its_directory_is_guarded_leaves_nothing(self):
        program = """import os, pathlib, signal, sys, tempfile
sys.path.insert(0, sys.argv[1])
from measure import launch
from run.probe import place
make = tempfile.mkdtemp
tempfile.mkdtemp = lambda **how: (make(**how), os.kill(os.getpid(), signal.SIGTERM))[0]
launch.clean_up_when_terminated()
with place.Private(pathlib.Path(sys.argv[2])):
    sys.exit(0)"""
        done = subprocess.run([sys.executable, "-c", program, Path(__file__).resolve().parents[3], self.memory], capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 128 + signal.SIGTERM, done.stderr)
        self.nothing_is_left()

    def test_an_orphan_makes_nothing(self):
        """Who has started it, and removes the directory, may be gone before it begins."""
        cell = {"directory": str(self.memory), "cpus": ALLOWED[:1], "seconds": 0.01, "kind": "files", "most": 9}
        for more in ({"parent": 1}, {"directory": str(self.memory / "removed")}):
            done = subprocess.run([PROBE, json.dumps({**cell, **more})], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.nothing_is_left()

    def test_doctor_says_why_it_does_not_measure(self):
        done = subprocess.run([FOREBAY, "doctor", "--measure"], env=environment(FOREBAY_POOL_PATHS="/missing/pool"), capture_output=True, text=True)  # fmt: skip
        self.assertIn("problem: ", done.stdout)
        self.assertEqual(done.stderr, "forebay: nothing is measured; solve the problems above first\n")

    def test_persistent_memory_is_mapped_by_libpmem2(self):
        if "libpmem2" not in subprocess.run(["ldd", PROBE], capture_output=True, text=True, check=True).stdout:
            self.skipTest("built without libpmem2")
        cell = {"directory": str(self.memory), "cpus": ALLOWED[:1], "seconds": 0.01, "kind": "data", "path": "map", "op": "write", "fresh": True, "transfer": 4096, "bytes": [1 << 20]}  # fmt: skip
        for more, persistent in (({}, False), ({"PMEM2_FORCE_GRANULARITY": "CACHE_LINE"}, True)):
            done = subprocess.run([PROBE, json.dumps(cell)], env=environment(**more), capture_output=True, text=True)
            self.assertEqual(json.loads(done.stdout)["persistent"], persistent, done.stderr)


if __name__ == "__main__":
    PROBE, FOREBAY = sys.argv.pop(2), sys.argv.pop(1)
    unittest.main()
