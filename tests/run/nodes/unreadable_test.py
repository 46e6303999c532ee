"""What cannot be carried on one of several nodes holds nothing else back, there or elsewhere: it is named, and can be
dropped by name. (A path that is too long: root, whom these nodes know, may read everything.)

unreadable_test.py FOREBAY [unittest arguments]
"""

import os
import shutil
import sys
import unittest

from cluster import Lab, parallel, wait_for

FOREBAY = ""
UNDRAINED = 3  # exit status
PROGRAM = """
import os, sys, time
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
os.makedirs(f"processor{rank}/1")
with open(f"processor{rank}/1/U", "w") as file: file.write(f"U of {rank}\\n")
if rank == 2:
    above = os.open(".", os.O_RDONLY)
    os.chdir(f"processor{rank}")
    for name in ["deep"] + 25 * ["d" * 200]:
        os.mkdir(name); os.chdir(name)
    with open("f", "w") as file: file.write("deep\\n")
    os.fchdir(above)
with open(f"processor{rank}/last", "w") as file: file.write(f"last of {rank}\\n")
open(f"{sys.argv[1]}.{rank}", "w").close()
while os.path.exists(sys.argv[1]): time.sleep(0.01)
"""


class Unreadable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(2)
        cls.addClassCleanup(cls.lab.close)
        with open(os.path.join(cls.lab.shared, "program.py"), "w") as file:
            file.write(PROGRAM)

    def start(self, name, *options):
        self.case = os.path.join(self.lab.shared, name)
        self.addCleanup(shutil.rmtree, self.case, ignore_errors=True)
        for path in ("system", *(f"processor{rank}/0" for rank in range(4))):
            os.makedirs(os.path.join(self.case, path))
        with open(os.path.join(self.case, "system/controlDict"), "w") as file:
            file.write("application any;\n")
        self.hold = os.path.join(self.lab.shared, name + "-hold")
        with open(self.hold, "w"):
            pass
        run = self.lab.start(
            "n1", FOREBAY, "run", "--case", self.lab.seen(self.case), *options, "--", *parallel(), sys.executable,
            "/mnt/shared/program.py", self.lab.seen(self.hold), directory=self.case,
        )  # fmt: skip
        self.addCleanup(lambda: run.poll() is None and run.kill())
        written = [f"{self.hold}.{rank}" for rank in range(4)]
        wait_for(lambda: run.poll() is not None or all(map(os.path.exists, written)), 60, "all ranks have written")
        return run

    def forebay(self, node, *words):
        status, self.output = self.lab.run(node, FOREBAY, *words, "--case", self.lab.seen(self.case))
        return status

    def resume(self, node):
        return self.forebay(node, "drain", "--resume", "--quiet")

    def assert_home(self):
        for rank in range(4):
            for name, text in (("1/U", f"U of {rank}\n"), ("last", f"last of {rank}\n")):
                with open(os.path.join(self.case, f"processor{rank}", name)) as file:
                    self.assertEqual(file.read(), text)

    def drop_and_resume(self):
        self.assertIn("--drop processor2/deep/", self.output)
        self.assert_home()
        self.assertEqual(self.forebay("n2", "clean", "--yes", "--drop", "processor2/deep"), 0, self.output)
        self.assertEqual(self.resume("n2"), 0, self.output)
        self.assert_home()
        self.assertFalse(os.path.exists(os.path.join(self.case, ".forebay")), self.output)

    def test_all_else_of_all_nodes_is_home_when_the_run_ends(self):
        for way in ("namespace", "redirect", "path"):
            with self.subTest(way):
                run = self.start(way, "--via", way)
                os.remove(self.hold)
                self.output, _ = run.communicate(timeout=60)
                self.assertEqual(run.returncode, UNDRAINED, self.output)
                self.drop_and_resume()

    def test_a_resume_on_each_node_after_all_was_killed(self):
        run = self.start("killed", "--drain-when", "end")
        run.kill()
        for node in ("n1", "n2"):
            processes = "pgrep -x 'forebay|forebay-agent|mpirun|orted|python3?(\\.[0-9]+)?'"
            self.lab.run(node, "sh", "-c", f"while p=$({processes}); do kill -9 $p; sleep 0.05; done")
        run.communicate()
        self.assertEqual(self.resume("n1"), UNDRAINED, self.output)
        self.assertEqual(self.resume("n2"), UNDRAINED, self.output)
        self.drop_and_resume()


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
