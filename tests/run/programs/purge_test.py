"""Proves: "the agent hard-links each file when it is closed, so the program's own purge cannot race it; a test deletes
immediately after closing".

Each program deletes every file of a time as soon as it is closed, begins the next time, and is killed in the middle of
it. The case must then hold the earlier time, whole, though no instant had more than one file of it.
"""

import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "equivalence"))
import casetools  # noqa: E402

FOREBAY = ""

PROGRAM = r"""
import os, shutil, signal, sys, time

REMOVAL, PAUSE = sys.argv[1], float(sys.argv[2])
rank = os.environ.get("OMPI_COMM_WORLD_RANK")
top = os.path.join(os.getcwd(), f"processor{rank}") if rank else os.getcwd()
NAMES = ["U", "p", "odd%2Fname", "uniform/time", "uniform/functionObjects/functionObjectProperties"]


def write(step, name, part=1.0):
    path = os.path.join(top, str(step), name)
    text = f"{step} {name}\n".encode() * 400
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
    os.write(file, text[: int(len(text) * part)])
    return path, file


def remove(path):
    if REMOVAL == "relative":
        os.chdir(top)
        os.unlink(os.path.relpath(path, top))
    elif REMOVAL == "descriptor":
        directory = os.open(os.path.dirname(path), os.O_RDONLY)
        os.unlink(os.path.basename(path), dir_fd=directory)
        os.close(directory)
    else:
        os.remove(path)


for step in range(1, 4):
    os.makedirs(os.path.join(top, str(step), "uniform/functionObjects"))
    for name in NAMES:
        path, file = write(step, name)
        os.close(file)
        remove(path)
        time.sleep(PAUSE)
    if REMOVAL == "with directory":
        shutil.rmtree(os.path.join(top, str(step)))
os.makedirs(os.path.join(top, "4"))
write(4, "U", 0.5)
if rank:
    open(os.path.join(top, "ready"), "w").close()
    while not all(os.path.exists(os.path.join(top, f"../processor{each}/ready")) for each in range(2)):
        time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""

NAMES = ["U", "p", "odd%2Fname", "uniform/time", "uniform/functionObjects/functionObjectProperties"]


class PurgeTest(unittest.TestCase):
    def setUp(self):
        self.place = casetools.Workplace("purge")
        self.addCleanup(self.place.remove)
        self.number = 0

    def make_case(self):
        self.number += 1
        self.case = os.path.join(self.place.directory, f"case{self.number}")
        os.makedirs(os.path.join(self.case, "system"))
        with open(os.path.join(self.case, "system/controlDict"), "w") as file:
            file.write("application none;\npurgeWrite 1;\n")

    def run_killed(self, removal, pause, way, launcher=()):
        words = [FOREBAY, "run", "--quiet", "--case", self.case, "--pool", self.place.pool, "--via", way]
        words += ["--patience", "5s", "--", *launcher, sys.executable, "-c", PROGRAM, removal, str(pause)]
        done = subprocess.run(
            words, cwd=self.case, env=casetools.environment(), capture_output=True, timeout=60, text=True
        )
        self.assertNotEqual(done.returncode, 0)
        return done.stdout + done.stderr

    def assert_whole(self, directory, output):
        top = os.path.join(self.case, directory)
        found = {}
        for below, _, names in os.walk(os.path.join(top, "3")):
            for name in names:
                path = os.path.join(below, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, os.path.join(top, "3"))] = file.read()
        self.assertEqual(found, {name: f"3 {name}\n".encode() * 400 for name in NAMES}, output)
        for older in ("1", "2"):
            self.assertEqual([names for _, _, names in os.walk(os.path.join(top, older)) if names], [], output)

    def test_a_serial_program_that_deletes_at_once(self):
        for removal in ("absolute", "relative", "descriptor", "with directory"):
            for way, pause in (("redirect", 0), ("redirect", 0.02), ("namespace", 0)):
                with self.subTest(removal=removal, way=way, pause=pause):
                    self.make_case()
                    output = self.run_killed(removal, pause, way)
                    self.assert_whole("", output)

    def test_ranks_that_delete_at_once(self):
        for way in ("redirect", "namespace"):
            with self.subTest(way=way):
                self.make_case()
                for rank in range(2):
                    os.makedirs(os.path.join(self.case, f"processor{rank}/constant"))
                output = self.run_killed("absolute", 0, way, ["mpirun", "-n", "2"])
                for rank in range(2):
                    self.assert_whole(f"processor{rank}", output)

    def test_ranks_have_the_library_where_nothing_is_purged_too(self):
        # By it they reach their own directories without walking through the shared file system (src/run/redirect/state.h).
        self.make_case()
        with open(os.path.join(self.case, "system/controlDict"), "w") as file:
            file.write("application none;\n")
        for rank in range(2):
            os.makedirs(os.path.join(self.case, f"processor{rank}/constant"))
        tell = 'echo "$LD_PRELOAD" > "$FOREBAY_CASE/${FOREBAY_KEEP##*/}/preloaded"; [ -s "$FOREBAY_PAGE" ]'
        words = [FOREBAY, "run", "--quiet", "--case", self.case, "--pool", self.place.pool, "--via", "namespace", "--"]
        done = subprocess.run(
            [*words, "mpirun", "-n", "2", "sh", "-c", tell],
            cwd=self.case,
            env=casetools.environment(),
            capture_output=True,
            timeout=60,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        for rank in range(2):
            with open(os.path.join(self.case, f"processor{rank}/preloaded")) as file:
                self.assertIn("libforebay_redirect.so", file.read())


if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    signal.alarm(250)
    unittest.main()
