"""The pool of one node runs full, and nobody there can make room: the run says so, and goes on from a whole time.

full_test.py FOREBAY [unittest arguments]
"""

import json
import os
import sys
import unittest

from cluster import Lab, differences, parallel, report_of, wait_for

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "equivalence"))
import casetools  # noqa: E402

FOREBAY = ""
POOL_FULL = 6  # exit status
SOLVER = ["icoFoam", "-parallel"]


class FullTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(2)
        cls.addClassCleanup(cls.lab.close)
        for node, size in (("n1", "100m"), ("n2", "2m")):
            cls.on(node, f"mkdir /mnt/pool && mount -t tmpfs -o size={size},mode=0700 pool /mnt/pool")
        cls.original = cls.lab.make_case("original", "cavity", "--ranks", "4", "--steps", "50")
        # Ranks that iterate more exchange thousands of messages.
        casetools.substitute(
            os.path.join(cls.original, "system/fvSolution"),
            ("preconditioner +DIC;", "preconditioner DIC; maxIter 2;"),
            ("nCorrectors +2;", "nCorrectors 1; momentumPredictor no;"),
        )
        cls.direct = cls.lab.copy_case(cls.original, "direct")
        cls.solve(cls.direct)

    @classmethod
    def on(cls, node, script):
        status, output = cls.lab.run(node, "sh", "-c", script)
        assert status == 0, output
        return output

    @classmethod
    def solve(cls, case):
        cls.on("n1", f"cd {cls.lab.seen(case)} && {' '.join(parallel() + SOLVER)}")

    def assert_whole(self, case, time, output="", ignore=()):
        for rank in range(4):
            each = os.path.join(f"processor{rank}", time)
            found = differences(os.path.join(case, each), os.path.join(self.direct, each), ignore)
            self.assertEqual(found, [], f"time {time} of rank {rank}\n{output}")

    def has_begun(self):
        return self.lab.run("n2", "sh", "-c", "ls /mnt/pool/*/*/s0/tree/*/processor2/0.01/U")[0] == 0

    def test_the_run_says_so_and_can_go_on_from_the_last_time_that_is_whole_on_all_nodes(self):
        for way in ("namespace", "redirect"):
            with self.subTest(way):
                case = self.lab.copy_case(self.original, way)
                json_file = os.path.join(self.lab.shared, f"{way}.json")
                run = self.lab.start(
                    "n1", FOREBAY, "run", "--case", self.lab.seen(case), "--pool", "/mnt/pool", "--via", way,
                    "--drain-when", "end", "--json", self.lab.seen(json_file), "--", *parallel(), *SOLVER,
                    directory=case,
                )  # fmt: skip
                self.addCleanup(lambda run=run: run.poll() is None and run.kill())
                wait_for(self.has_begun, 60, "the first times")
                self.on("n2", "kill -9 $(pgrep -x forebay-agent)")
                output, _ = run.communicate(timeout=90)
                report = report_of(json_file)
                self.assertEqual(run.returncode, report["program_status"] or POOL_FULL, output)
                self.assertRegex(output, r"n2: a pool ran full .* for processor[23]/[0-9.]+(/\S+)? \(No space left")
                if report["last_complete"]:
                    self.assert_whole(case, report["last_complete"], output)
                words = f"{FOREBAY} restartable --set-aside --json --case {self.lab.seen(case)}"
                # OpenFOAM starts without the last file of a time, which nobody may have had room for; what it makes of
                # such a start is compared below.
                time = json.loads(self.on("n1", words))["restartable"]
                self.assert_whole(case, time, output, ignore=["functionObjectProperties"])
                casetools.set_control(case, "startFrom", "latestTime")
                self.solve(case)
                self.assert_whole(case, "0.25", ignore=["time"])  # its sum is rounded otherwise


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
