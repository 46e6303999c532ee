"""A case, a pool and the command, for tests of single commands."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import processes  # noqa: E402,F401

SOURCES = Path(__file__).resolve().parents[2]
SKIPPED = 77
FOREBAY = WRITE_CHECKPOINT = ""
CONTROL = "FoamFile { version 2.0; format ascii; class dictionary; object controlDict; }\napplication simpleFoam;\n"


class CommandCase(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="forebay-commands-")
        self.pool = tempfile.mkdtemp(prefix="forebay-commands-pool-", dir="/dev/shm")
        for each in (self.directory, self.pool):
            self.addCleanup(shutil.rmtree, each, ignore_errors=True)
        self.case = os.path.join(self.directory, "case")
        self.write("system/controlDict", CONTROL)

    def write(self, path, content):
        path = os.path.join(self.case, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w" if isinstance(content, str) else "wb") as file:
            file.write(content)

    def checkpoint(self, name, *value):
        """In the case; `value` is that of its only array, and what may follow its step, time and mesh."""
        path = os.path.join(self.case, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run([WRITE_CHECKPOINT, path, *value], check=True)
        return path

    def keep_trajectory(self, pool, name):
        """In a directory of the case. The Python that runs this test may lack what the package needs."""
        pool = os.path.join(self.case, pool)
        os.makedirs(pool, exist_ok=True)
        subprocess.run(
            [os.environ["TEST_PYTHON"], SOURCES / "tests/commands/keep_trajectory.py", pool, name], check=True
        )

    def in_build_tree(self):
        """The command in a build tree within the sources, where it finds its scripts, wherever this one was built."""
        tree = os.path.join(self.directory, "sources")
        os.makedirs(os.path.join(tree, "build/bin"))
        for name in ("bench", "src"):
            os.symlink(SOURCES / name, os.path.join(tree, name))
        os.symlink(Path(FOREBAY).parents[1] / "lib", os.path.join(tree, "build/lib"))
        if os.path.exists(FOREBAY + "-files"):
            shutil.copy(FOREBAY + "-files", os.path.join(tree, "build/bin"))
        return shutil.copy(FOREBAY, os.path.join(tree, "build/bin"))

    def read(self, path):
        with open(os.path.join(self.case, path)) as file:
            return file.read()

    def environment(self, **more):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("FOREBAY_")}
        return {**kept, "FOREBAY_CONFIG": "", "XDG_CONFIG_HOME": self.directory, **more}

    def call(self, *words, cwd=None, command=None, **more):
        self.done = subprocess.run(
            [command or FOREBAY, *words],
            cwd=cwd or self.directory,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.output = self.done.stdout + self.done.stderr
        return self.done.returncode

    def here(self, *words, **more):
        """A command that takes --case and --pool, with this test's."""
        return self.call(words[0], "--case", self.case, "--pool", self.pool, *words[1:], **more)

    def in_pool(self, pattern):
        return sorted(glob.glob(f"{self.pool}/forebay-{os.geteuid()}/{pattern}"))


def main():
    global FOREBAY, WRITE_CHECKPOINT
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    WRITE_CHECKPOINT = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else ""
    result = unittest.main(module="__main__", verbosity=1, exit=False).result
    # Where something is not installed the whole is called skipped, so that this is seen.
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if result.skipped else 0)
