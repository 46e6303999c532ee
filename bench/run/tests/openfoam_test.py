"""`forebay bench openfoam --quick`, on the coarsest mesh: every part of it runs, and it prints one JSON object.

openfoam_test.py FOREBAY
"""

import json
import math
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

SKIPPED = 77
CASE = "coarse cells, 2 ranks: "
FOREBAY = ""


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        small = ("--sizes", "coarse", "--ranks", "2", "--repetitions", "1", "--mbit", "0", "--create-ms", "0")
        cls.done = subprocess.run(
            [FOREBAY, "bench", "openfoam", "--quick", "--json", *small],
            env={**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1"},  # beside other tests
            capture_output=True,
            text=True,
            timeout=450,
        )
        assert cls.done.returncode == 0, cls.done.stderr
        cls.told = json.loads(cls.done.stdout)
        cls.rows = {row["name"].removeprefix(CASE): row for row in cls.told["results"]}

    def test_the_object_says_what_was_measured_where(self):
        self.assertEqual(list(self.told), ["forebay_version", "bench", "machine", "results"])
        self.assertEqual(self.told["bench"], "openfoam")
        machine = self.told["machine"]
        self.assertGreaterEqual(machine["cores"], 1)
        self.assertRegex(machine["shared"], "GlusterFS|a plain directory, because")

    def test_every_result_has_the_form_that_programs_read(self):
        self.assertEqual(len(self.rows), len(self.told["results"]), "two results of one name")
        for name, row in self.rows.items():
            with self.subTest(name):
                self.assertTrue(math.isfinite(row["value"]) and row["unit"])
                self.assertEqual(row["goal"] is None, row["met"] is None, "judged by a goal, and only so")
                self.assertIn(row["met"], (True, False, None))
                self.assertEqual("no reference in this run" in row.get("note", ""), row["reference"] is None)
                if row["reference"]:
                    self.assertTrue(math.isfinite(row["ratio"]))

    def test_runs_of_every_kind_are_compared(self):
        for name in ("bare tmpfs, purgeWrite 1", "bare tmpfs, all kept", "writes thrown away", "direct, all kept",
                     "forebay, draining live"):  # fmt: skip
            self.assertIn(f"added to a step, {name}", self.rows)
        for name in ("forebay, purgeWrite 1", "forebay, drain at the end"):
            for reference, goal in (("bare tmpfs", "<= 1.1 of"), ("direct", "<= 0.01 of")):
                self.assertIn(goal, self.rows[f"added to a step, {name}, against {reference}"]["goal"])
            self.assertIsNotNone(self.rows[f"added to a step, {name}, against writes thrown away"]["reference"])
            for what in ("a step without output", "writing by itself"):
                compared = self.rows[f"{what}, {name}, against bare tmpfs"]
                self.assertGreater(min(compared["value"], compared["reference"], compared["ratio"]), 0, compared)
        for reference in ("no output, case on the shared directory", "direct, all kept"):
            self.assertGreater(self.rows[f"whole run, forebay, draining live, against {reference}"]["value"], 0)
        self.assertGreater(self.rows["a step without output"]["value"], 0)
        self.assertGreater(self.rows["processor time of the agent, forebay, draining live, against direct"]["value"], 0)
        for way in ("path", "redirect"):
            self.assertEqual(self.rows[f"forebay exec, {way}: added to true"]["goal"], "< 5 ms, interval included")
        self.assertTrue(self.rows["peak resident memory of the agent, forebay, draining live"]["met"])


if __name__ == "__main__":
    FOREBAY = Path(sys.argv.pop(1)).resolve()
    if shutil.which("simpleFoam") is None or shutil.which("mpirun") is None:
        print("skipped: the package openfoam is not installed")
        sys.exit(SKIPPED)
    unittest.main()
