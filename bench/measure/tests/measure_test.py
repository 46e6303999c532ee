"""Figures and reports of the benchmarks, without running one."""

import json
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from measure import figures, processes, report, result_file


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


class ResultFiles(unittest.TestCase):
    KIND = result_file.Kind("page of notes", "notes: ")

    def setUp(self):
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, name):
        result_file.write(self.directory / name, "notes: newer", self.KIND, "--to")
        return (self.directory / name).read_text()

    def test_nothing_an_empty_file_and_one_of_the_same_kind_are_replaced(self):
        (self.directory / "older").write_text("notes: older, and longer")
        (self.directory / "empty").touch()
        for name in ("new", "older", "empty"):
            self.assertEqual(self.write(name), "notes: newer")
        self.assertEqual(len(list(self.directory.iterdir())), 3, "no part is left")

    def test_another_file_stays_as_it_is(self):
        (self.directory / "data").write_text("mine")
        (self.directory / "directory").mkdir()
        for name, why in (("data", "exists and is no page of notes"), ("directory", "is a directory")):
            self.assertRaisesRegex(result_file.Refused, f"{name} {why}.*--to", self.write, name)
        self.assertEqual((self.directory / "data").read_text(), "mine")

    def test_nothing_is_written_through_a_link(self):
        (self.directory / "older").write_text("notes: older")
        for name, target, why in (
            ("link", "older", "a link to a file"),
            ("dangling", "none", "a link that leads nowhere"),
        ):
            (self.directory / name).symlink_to(target)
            self.assertRaisesRegex(result_file.Refused, f"{name} is {why}", self.write, name)
        self.assertEqual((self.directory / "older").read_text(), "notes: older")
        self.assertFalse((self.directory / "none").exists())

    def test_a_pipe_is_written_to_also_behind_a_link(self):
        os.mkfifo(self.directory / "pipe")
        (self.directory / "link").symlink_to("pipe")
        for name in ("pipe", "link"):
            reader = os.open(self.directory / "pipe", os.O_RDONLY | os.O_NONBLOCK)
            self.addCleanup(os.close, reader)
            result_file.write(self.directory / name, "notes: newer", self.KIND, "--to")
            self.assertEqual(os.read(reader, 99), b"notes: newer")

    def test_a_file_that_cannot_be_written_leaves_the_one_before(self):
        (self.directory / "older").write_text("notes: older")
        with mock.patch.object(Path, "replace", side_effect=OSError), self.assertRaises(OSError):
            self.write("older")
        self.assertEqual([each.name for each in self.directory.iterdir()], ["older"])


class PlainFigures(unittest.TestCase):
    def test_a_figure_has_its_digits_and_no_exponent(self):
        for value, said in ((0.9996, "1"), (999.6, "1000"), (9996, "9996"), (0.00002, "0.00002"), (1234567, "1234567"),
                            (0.921, "0.921"), (99.96, "100"), (-3.2, "-3.2"), (0, "0")):  # fmt: skip
            self.assertEqual(figures.plain(value), said)
        self.assertEqual(figures.plain(1234.5678, 6), "1234.57")


class Reports(unittest.TestCase):
    def test_json_has_every_key_and_marks_a_figure_without_reference(self):
        result = report.Report("x", {"cores": 2})
        result.add("a: alone", 3.0, "ms")
        result.add("a: compared", 3.0, "ms", reference=6.0, goal="<= 1", met=True)
        parsed = json.loads(result.as_json())
        self.assertEqual(set(parsed), {"forebay_version", "bench", "machine", "results"})
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
