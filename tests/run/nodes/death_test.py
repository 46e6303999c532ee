"""A node dies in the middle of a run: what is safe, what the run says, and how the rest comes home.

death_test.py FOREBAY [unittest arguments]
"""

import os
import sys
import time
import unittest

from cluster import Lab, common_times, parallel, report_of, times_of, wait_for

FOREBAY = ""
POOLS = ["--pool", "/mnt/pmem_fsdax0", "--pool", "/mnt/pmem_fsdax1"]  # images that survive the node's death
INTERVAL = 3.0


def value(name):
    return float(name)


class DeathTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(2, "--disk")
        cls.addClassCleanup(cls.lab.close)

    def age(self, case, time_):
        """Since the program wrote it."""
        return time.time() - os.stat(os.path.join(case, "processor0", time_, "uniform/time")).st_mtime

    def is_whole(self, case, time):
        """The ranks that died may have left one that they were just writing, like those of a direct run."""
        return all(
            {"U", "p", "phi"} <= set(os.listdir(os.path.join(case, f"processor{rank}", time))) for rank in range(4)
        )

    def test_a_dead_node_costs_at_most_the_safety_interval(self):
        # "drains the newest complete time at least every T (default 10 minutes), so that a dead node costs at most T
        # even with purgeWrite 1"
        case = self.lab.make_case("dying", "cavity", "--ranks", "4", "--steps", "1000000", "--purge", "1")
        seen = self.lab.seen(case)
        run = self.lab.start(
            "n1", FOREBAY, "run", "--case", seen, "--json", "/mnt/shared/report.json", *POOLS,
            "--safe-interval", f"{INTERVAL:g}s", "--set", "drain.silence=3s", "--", *parallel(), "icoFoam", "-parallel",
            directory=case,
        )  # fmt: skip
        self.addCleanup(lambda: run.poll() is None and run.kill())
        # Two states have been carried by both nodes; the older one may have left the case since.
        safe = set()

        def two_safe():
            safe.update(common_times(case, 4))
            return run.poll() is not None or len(safe) >= 2

        wait_for(two_safe, 60, "two times safe over all ranks")
        if run.poll() is not None:
            self.fail(f"the run ended by itself: {run.communicate()[0]}")
        time.sleep(2 * INTERVAL)
        status_text = self.lab.run("n2", FOREBAY, "status", "--case", seen)[1]
        self.assertRegex(status_text, r"safe +time \d")
        self.lab.kill("n2")
        safe_at_death = common_times(case, 4)
        ages = {name: self.age(case, name) for name in safe_at_death}
        output, _ = run.communicate(timeout=60)

        newest = max(safe_at_death, key=value)
        self.assertLess(ages[newest], INTERVAL + 4, f"time {newest} is the newest that all ranks have on the case")
        self.assertNotEqual(run.returncode, 0, output)
        self.assertIn("node n2 has been silent", output)
        self.assertIn("drain --resume", output)
        report = report_of(os.path.join(self.lab.shared, "report.json"))
        self.assertIn(report["last_safe"], safe_at_death, "what the run calls safe is there; it may know of less")
        self.assertLess(ages[report["last_safe"]], 2 * INTERVAL + 2)
        self.assertIn(newest, common_times(case, 4), "the newest safe time is not taken away after a death")
        first = next(node for node in report["nodes"] if node["node"] == "n1")
        self.assertEqual(
            (first["phase"], first["drain"]["undrained"]["files"]), ("done", 0), "the survivor drains its part"
        )

        # The node comes back with its disks.
        self.lab.restart("n2")
        status, text = self.lab.run("n2", FOREBAY, "drain", "--resume", "--case", seen, *POOLS)
        self.assertEqual(status, 0, text)
        recovered = max((time for time in common_times(case, 4) if self.is_whole(case, time)), key=value)
        self.assertGreaterEqual(value(recovered), value(newest))
        # At most one time apart: the last one that all nodes had complete is there for all ranks.
        newer = {name for rank in range(4) for name in times_of(case, rank) if value(name) > value(recovered)}
        self.assertLessEqual(len(newer), 2, newer)
        self.assertFalse(os.path.exists(os.path.join(case, ".forebay")), "the run is forgotten when all is home")
        shorter = f"sed -i -E 's/^endTime .*/endTime {value(recovered) + 0.01:g};/; s/^startFrom .*/startFrom startTime;/; s/^startTime .*/startTime {recovered};/' system/controlDict"
        status, text = self.lab.run(
            "n1", "sh", "-c", f"cd {seen} && {shorter} && {' '.join(parallel())} icoFoam -parallel"
        )
        self.assertEqual(status, 0, "a restart from the recovered time works: " + text[-2000:])


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
