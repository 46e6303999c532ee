"""The benchmark of trajectories: how figures are judged, and that every part of the program runs.

trajectory_test.py TRAJECTORY_BENCH
"""

import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from measure import report

from store import flow, states

program = Path(sys.argv.pop()) if len(sys.argv) > 1 and not sys.argv[-1].startswith("-") else None


class Judging(unittest.TestCase):
    def judge(self, ours, reference):
        result = report.Report("x", {})
        states.compare(result, "rate", 1.0, "GB/s", ours, reference, 0.9, "a copy")
        return result.results[0]

    def test_a_rate_is_compared_with_that_of_the_neighbouring_slice(self):
        row = self.judge([1.0, 10.0, 2.0], [1.0, 10.0, 2.0])
        self.assertEqual((row.ratio, row.met), (1.0, True))

    def test_a_slower_rate_misses_its_goal(self):
        row = self.judge([2.0, 2.1, 1.9], [1.0, 1.0, 1.0])
        self.assertAlmostEqual(row.ratio, 0.5)
        self.assertFalse(row.met)

    def test_a_spread_that_reaches_below_the_goal_misses_it_whatever_the_median(self):
        row = self.judge([1.0, 1.0, 4.0], [1.0, 1.0, 1.0])
        self.assertEqual((row.ratio, row.met), (1.0, False))

    def test_small_states_are_judged_by_commits_a_second(self):
        result = report.Report("x", {})
        states.add_written(result, "fast", "4 KiB", 1_000_000, [1.0, 1.0], [0.5, 0.5])
        states.add_written(result, "slow", "4 KiB", 1_000_000, [1.0, 2.0], [0.5, 0.5])
        self.assertEqual([row.met for row in result.results], [True, False])

    def test_lossy_states_are_judged_by_size_and_error(self):
        figures = {name: [1.0, 1.0] for name in ("put", "put_raw", "sweep", "sweep_raw")}
        figures |= {"busy_put": 1.0, "busy_sweep": 1.0, "raw_bytes": 160, "stored_bytes": 10}
        figures |= {"error": 2e-4, "codec": 4, "decoded_ahead": 1.0}
        result = report.Report("x", {})
        states.add_lossy_rows(result, "steady", 1e-4, 15, 10**9, figures)
        self.assertEqual([row.met for row in result.results], [True, False, None, None])


class Parts(unittest.TestCase):
    """Small ones, on whatever the temporary directory lies on: figures that mean nothing, in the form that is read."""

    def setUp(self):
        if program is None:
            self.skipTest("no trajectory_bench was named")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        pool, disk = Path(directory.name) / "pool", Path(directory.name) / "disk"
        pool.mkdir()
        disk.mkdir()
        self.measured = states.Measured(program, pool, disk, True, lambda _: None)

    def slices(self, figures, *names):
        for name in names:
            self.assertEqual(len(figures[name]), 2, name)
            self.assertTrue(all(seconds > 0 for seconds in figures[name]), name)

    def test_states_are_read_where_they_were_written(self):
        figures = self.measured.part("steady", 4096, 500, 2)
        self.slices(figures, "put", "put_copy", "in_place", "in_place_copy", "get", "read")
        self.assertEqual(figures["copied"], 0)

    def test_fresh_segments_are_paired_with_touched_pages(self):
        self.slices(self.measured.part("fresh", 65536, 50, 2), "put", "touch")

    def test_about_half_of_the_states_are_spilled(self):
        figures = self.measured.part("spill", 1 << 20, 64, 2)
        self.slices(figures, "put", "raw_write", "sweep", "raw_read")
        for spilled in figures["spilled_bytes"]:
            self.assertTrue(0.3 < spilled / (64 << 20) < 0.8, spilled)

    def test_files_are_removed_again(self):
        for ranks in ("1", "3"):
            self.slices(self.measured.part("files", 4096, 50, 2, "--ranks", ranks), "put", "written", "get", "read")
            self.assertEqual(list(self.measured.pool.iterdir()), [])

    def test_a_kept_store_is_found_whole_and_removed(self):
        figures = self.measured.part("reopen", 4096, 2000, 2)
        self.slices(figures, "open", "walk", "index_bytes_per_record")
        self.assertEqual(list(self.measured.pool.iterdir()), [])

    def test_lossy_states_are_smaller_and_within_their_error(self):
        figures = self.measured.part("lossy", 8 * 16**3, 30, 2, "--flow", "turbulent", "--accepted", "1e-3")
        self.slices(figures, "put", "put_raw", "sweep", "sweep_raw")
        self.assertLess(figures["stored_bytes"], figures["raw_bytes"] / 2)
        self.assertTrue(0 < figures["error"] <= 1e-3, figures["error"])

    def test_runs_of_n3d_come_in_pairs(self):
        bench = program.with_name("n3d_bench")
        if not bench.exists():
            self.skipTest("n3d is not built: it needs MPI and FFTW")
        result = report.Report("x", {})
        soon = time.monotonic() + 1
        flow.Runs(bench.with_name("n3d"), bench, self.measured.pool, True, soon, lambda _: None).add_pairs(result)
        (row,) = result.results
        self.assertTrue(0.1 < row.ratio < 10, row)

    def test_what_cannot_be_measured_says_why(self):
        with self.assertRaisesRegex(RuntimeError, "whole lines"):
            self.measured.part("steady", 100, 1, 1)
        with self.assertRaisesRegex(RuntimeError, "no flow calm"):
            self.measured.part("lossy", 8 * 16**3, 1, 1, "--flow", "calm")


if __name__ == "__main__":
    unittest.main()
