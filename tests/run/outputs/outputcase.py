"""A case, a pool and the command, for tests of what shell scripts leave: directly, and by each way in."""

import concurrent.futures
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import processes  # noqa: E402
from drawn import drawn  # noqa: E402,F401

SKIPPED = 77
WAYS = ("namespace", "redirect", "path")
FOREBAY = ""

# Exit codes of the command.
USAGE, UNDRAINED, CONFLICT, BUSY = 2, 3, 5, 7


class OutputCase(unittest.TestCase):
    maxDiff = None
    _said, _numbers = threading.local(), itertools.count()

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="forebay-outputs-")
        self.pool = tempfile.mkdtemp(prefix="forebay-outputs-pool-", dir="/dev/shm")
        for each in (self.directory, self.pool):
            self.addCleanup(shutil.rmtree, each, ignore_errors=True)
            self.addCleanup(subprocess.run, ["chmod", "-R", "u+rwx", each], stderr=subprocess.DEVNULL, check=False)

    def case(self, name, **files):
        """An empty directory, or one with these files."""
        path = os.path.join(self.directory, name)
        os.mkdir(path)
        for file, text in files.items():
            with open(os.path.join(path, file), "w") as out:
                out.write(text)
        return path

    def environment(self):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("FOREBAY_")}
        return {**kept, "FOREBAY_CONFIG": "", "XDG_CONFIG_HOME": self.directory}

    @property
    def output(self):
        """What the process printed that finish() of this thread waited for last."""
        return getattr(self._said, "text", "")

    @output.setter
    def output(self, text):
        self._said.text = text

    def in_each_way(self, check):
        """Calls `check(way)` for all ways in at once: what takes its time is waiting. They share the pool."""
        with concurrent.futures.ThreadPoolExecutor(len(WAYS)) as threads:
            done = {way: threads.submit(check, way) for way in WAYS}
        for way, each in done.items():
            with self.subTest(way=way):
                each.result()

    def start(self, words, cwd):
        mark = f"{os.getpid()}-{next(self._numbers)}"
        process = subprocess.Popen(
            words, cwd=cwd, env={**self.environment(), processes.MARK: mark},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        process.mark = mark
        return process

    def finish(self, process, seconds=60):
        self.output, _ = process.communicate(timeout=seconds)
        return process.returncode

    def kill_all(self, process):
        """The starter, the agent and the program, killed at once: all that names this test's directory or its pool."""
        processes.kill_mentioning(self.directory, self.pool)
        process.communicate(timeout=30)

    def kill_run(self, process):
        """The same of one run alone."""
        processes.Processes(process.mark, "", "").kill_all()
        process.communicate(timeout=30)

    def line(self, way, script, *options):
        if way == "direct":
            return ["sh", "-c", script]
        return [FOREBAY, "run", "-q", "--pool", self.pool, "--via", way, *options, "--", "sh", "-c", script]

    def run_in(self, case, way, script, *options):
        """The exit status; `way` may be "direct"."""
        return self.finish(self.start(self.line(way, script, *options), case))

    def forebay(self, *words):
        return self.finish(self.start([FOREBAY, words[0], "--pool", self.pool, *words[1:]], self.directory))

    def read(self, *path):
        with open(os.path.join(self.directory, *path)) as file:
            return file.read()

    def assert_pool_is_empty(self):
        left = [name for _, directories, files in os.walk(self.pool) for name in files]
        self.assertEqual(left, [], "left in the pool")


def files(root):
    """Path to content, of everything in `root` that is a file and may be read, but for an unfinished run's mark."""
    found = {}
    for directory, below, names in os.walk(root):
        below[:] = [name for name in below if name != ".forebay"]
        for name in names:
            path = os.path.join(directory, name)
            with open(path, errors="surrogateescape") as file:
                found[os.path.relpath(path, root)] = file.read()
    return found


def main():
    global FOREBAY
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    sys.modules["outputcase"].FOREBAY = FOREBAY
    result = unittest.main(module="__main__", verbosity=1, exit=False).result
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if result.skipped else 0)
