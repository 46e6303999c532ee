"""Figures and reports of the benchmarks, without running one."""

import json
import os
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from measure import figures, processes, report


class Figures(unittest.TestCase):
    def test_the_interval_holds_the_median_and_narrows_with_agreement(self):
        wide, narrow = figures.estimate([1, 5, 9, 2, 8]), figures.estimate([5, 5.1, 4.9, 5, 5])
        self.assertEqual(wide.value, 5)
        self.assertTrue(wide.low <= 5 <= wide.high)
        self.assertLess(narrow.high - narrow.low, wide.high - wide.low)

    def test_orders_differ_between_repetitions_and_agree_between_benchmark_runs(self):
        items = list(range(9))
        self.assertEqual(figures.shuffled(items, 3), figures.shuffled(items, 3))
        self.assertNotEqual(figures.shuffled(items, 3), figures.shuffled(items, 4))
        self.assertEqual(sorted(figures.shuffled(items, 3)), items)

    def test_the_middle_half_forgets_disturbances(self):
        self.assertEqual(figures.middle_mean([1, 900, 2, 3, 4, 3, 2, -70]), 2.5)
        self.assertEqual(figures.middle_mean([7]), 7)


class Processes(unittest.TestCase):
    def test_touched_memory_was_there_and_is_given_back(self):
        def resident():
            return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

        size, before = 64 << 20, resident()
        processes.touch_memory(size)
        self.assertGreater(processes.peak_resident_bytes(os.getpid()), before + size // 2)
        self.assertLess(resident(), before + size // 2)

    def test_processor_time_is_counted_finer_than_by_ticks(self):
        def counted() -> float:
            time.sleep(0.001)  # the scheduler counts what runs at its next tick only, what sleeps at once
            return processes.exact_cpu_seconds(os.getpid())

        outer = time.process_time()
        began = counted()
        inner = time.process_time()
        while time.process_time() < inner + 0.003:
            pass
        least = time.process_time() - inner
        exactly = counted() - began
        self.assertGreater(exactly, least - 0.0002)
        self.assertLess(exactly, time.process_time() - outer + 0.0002)
        self.assertEqual(processes.exact_cpu_seconds(2**22 + 1), 0)


class Reports(unittest.TestCase):
    def test_json_has_every_key_and_marks_a_figure_without_reference(self):
        result = report.Report("x", {"cores": 2})
        result.add("a: alone", 3.0, "ms")
        result.add("a: compared", 3.0, "ms", reference=6.0, goal="<= 1", met=True)
        parsed = json.loads(result.as_json())
        self.assertEqual(set(parsed), {"bench", "machine", "results"})
        alone, compared = parsed["results"]
        for key in ("name", "value", "unit", "reference", "ratio", "goal", "met"):
            self.assertIn(key, alone)
        self.assertIn(report.NO_REFERENCE, alone["note"])
        self.assertEqual((compared["ratio"], compared["met"]), (0.5, True))

    def test_the_table_names_a_section_once(self):
        result = report.Report("x", {})
        result.add("a: one", 1, "ms")
        result.add("a: two", 2, "ms", goal="< 1", met=False)
        table = result.as_table()
        self.assertEqual(table.count("\na\n"), 1)
        self.assertIn("NO", table)


if __name__ == "__main__":
    unittest.main()
