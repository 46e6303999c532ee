"""Issue, "Stability": every report has the time of each step, bounded, and what forebay did during the longest ones;
`forebay report` shows them, and the program that was held back, on a page, and compares two runs."""

import json
import re
import subprocess
import unittest
from pathlib import Path

import harness
from harness import FaultyCase, may_mount

SLOW = 8  # takes a second longer than the others
STEPS = 14


class Reported(FaultyCase):
    def run_steps(self, *of_solver, options=()):
        solver = self.solver("-strict", "-steps", STEPS, "-slow", SLOW, *of_solver)
        self.assertEqual(self.run_forebay(solver, options, seconds=100), 0, self.output)
        [told] = self.report["stability"]
        return told

    def show(self, *reports, page=False):
        to = Path(self.directory, "page.html")
        more = ["--page", to] if page else []
        done = subprocess.run([harness.FOREBAY, "report", *reports, *more], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, to.read_text() if page else ""

    def slow_step(self, told, least):
        """It is among the ten longest. (Others may be as long on a busy machine.)"""
        self.assertIn(str(SLOW), told["worst"]["time"])
        place = told["worst"]["time"].index(str(SLOW))
        step = {key: column[place] for key, column in told["worst"].items()}
        self.assertGreater(step["end"] - step["begin"], least, told["worst"])
        return step


class Stability(Reported):
    def test_a_slow_step_is_told_with_what_forebay_did_then(self):
        told = self.run_steps("-delay", 40)
        step = self.slow_step(told, 0.9)
        self.assertEqual((told["times"], told["times_together"]), (STEPS - 1, 0))
        self.assertEqual((told["program"], told["ranks"]), ("stepFoam", self.ranks))
        self.assertEqual(self.report["written_time_program"], "stepFoam")
        self.assertLessEqual(told["program_ended"], told["course"]["end"][-1])
        self.assertLess(told["median"], told["longest"])
        self.assertEqual(step["held"], 0)
        self.assertGreater(step["carried_bytes"], 0, "the times before it were drained meanwhile")
        self.assertAlmostEqual(sum(told["course"]["times"]), STEPS - 1)
        self.assertEqual(sum(told["course"]["written_bytes"]), self.report["local"]["bytes"])
        self.assertEqual(sum(told["course"]["carried_bytes"]), self.report["shared"]["bytes"])
        text, page = self.show(self.report_file, page=True)
        self.assertRegex(text, rf"before time {SLOW}: \d\.\d+ s at .*; drain .*, pool \d+ % full")
        self.assertIn(f"before time {SLOW}: ", page)
        self.assertNotIn('class="held"', page)

    def test_nor_is_it_hidden_where_steps_are_noticed_by_what_was_left_of_them(self):
        self.purge = 1
        self.make_case_anew()
        self.slow_step(self.run_steps("-delay", 60, "-purge", 1, "-whole"), 0.15)

    def median(self, report):
        return json.loads(Path(report).read_text())["stability"][0]["median"]

    def make_case_anew(self):
        subprocess.run(["rm", "-r", self.case], check=True)
        self.make_case()

    def test_two_reports_are_compared(self):
        self.run_steps("-delay", 100, "-steps", 6)
        first = Path(self.report_file).rename(Path(self.directory, "first.json"))
        self.make_case_anew()
        self.run_steps("-delay", 400, "-steps", 6)
        text, page = self.show(first, self.report_file, page=True)
        medians = [self.median(each) for each in (first, self.report_file)]
        ratio = float(re.search(r"per written time, median .* ([\d.]+)\n", text)[1])
        self.assertAlmostEqual(ratio, medians[1] / medians[0], delta=0.006)
        self.assertIn("the longest between written times of A", text)
        for heading in ("The course of A", "The course of B", "The longest between written times of B"):
            self.assertIn(heading, page)
        self.assertEqual(page.count("<svg"), 4, "each for desktops and for telephones")


@unittest.skipUnless(may_mount(), "mounting a small pool needs root")
class SmallPool(Reported):
    def setUp(self):
        super().setUp()
        Path(self.pool).rmdir()
        self.mount(self.pool, "size=36m,mode=0700")

    def test_where_a_small_pool_holds_the_program_report_and_page_show_when(self):
        told = self.run_steps("-delay", 60, "-bytes", 350_000, options=["--bandwidth", "12M", "--verify", "written"])
        held = sum(told["course"]["held"])
        [node] = self.report["nodes"]
        self.assertAlmostEqual(held, node["paused_milliseconds"] / 1e3, delta=0.05)
        self.assertGreater(held, 0.2)
        # Not all of it: what comes behind the last time's beginning is in no step.
        self.assertGreater(sum(told["worst"]["held"]), 0.1)
        self.assertGreater(max(told["course"]["fill"]), 0.5)
        text, page = self.show(self.report_file, page=True)
        self.assertIn("; held back ", text)
        self.assertIn('class="held"', page)
        self.assertIn('class="busy"', page)


if __name__ == "__main__":
    unittest.main()
