"""The benchmark of global arrays: how figures are judged, and that every part of it runs.

arrays_test.py DIRECTORY-OF-THE-PROGRAMS
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from measure import report
from measure.rounds import Rounds

from arrays import cavity, scattered

programs = Path(sys.argv.pop()) if len(sys.argv) > 1 and not sys.argv[-1].startswith("-") else None


class Judging(unittest.TestCase):
    def judge(self, staged, best_direct, hdf5, ownership=scattered.RUNS):
        rounds = Rounds()
        for name in (scattered.COPY_BESIDE, *scattered.DIRECT, "staged", "staged, first", "staged, first, prepared"):
            rounds.add(name, [1.0])
        rounds.seconds |= {"staged": [staged], "stdio": [best_direct], "hdf5_collective": [hdf5]}
        result = report.Report("x", {})
        scattered.add_goals(result, "here", ownership, rounds)
        return {row.name.rpartition(": ")[2]: row for row in result.results}

    def test_a_fast_staged_checkpoint_meets_its_goals_and_a_slow_one_does_not(self):
        fast, slow = self.judge(2.0, 0.5, 10.0), self.judge(4.0, 0.5, 10.0)
        for name, ratio in (("staged goes on", 5.0), ("staged goes on after", 2.0)):
            self.assertEqual((fast[name].value, fast[name].met), (ratio, True), name)
            self.assertFalse(slow[name].met, name)

    def test_the_best_direct_method_is_the_one_that_counts(self):
        self.assertTrue(self.judge(1.0, 0.5, 0.6)["the best direct method"].met)
        self.assertFalse(self.judge(1.0, 0.8, 0.6)["the best direct method"].met)

    def test_random_elements_are_compared_with_the_best_of_the_others(self):
        row = self.judge(1.0, 1.0, 3.0, scattered.RANDOM)["staged goes on"]
        self.assertEqual((row.value, row.met), (3.0, True))

    def test_what_adios_writes_counts_with_the_redistribution_before_it(self):
        class Told(scattered.Measured):
            def run(self, *_, **__):
                return {name: [2.0] for name in ("redistribution", "hdf5_collective", "pnetcdf_collective")}

            def write_by_adios(self, *_):
                return {"BP5": [3.0]}

        rounds = Rounds()
        nothing = Path()
        measured = Told(nothing, nothing, None, nothing, 1, self.fail, nothing)
        scattered.collect_peers(measured, nothing, 8, scattered.RANDOM, nothing, rounds)
        self.assertEqual(rounds.of("adios2 BP5"), [5.0])

    def test_as_few_copies_are_asked_of_elements_in_random_order(self):
        for ownership in (scattered.RANDOM, scattered.SHUFFLED):
            row = self.judge(9.0, 1.0, 30.0, ownership)["staged goes on after"]
            self.assertEqual((row.value, row.goal, row.met), (9.0, "<= 5", False))

    def test_the_sweep_goes_over_levels_ranks_and_blocks(self):
        points = list(cavity.sweep(False))
        self.assertEqual({point.levels for point in points}, {1, 2, 3})
        self.assertEqual({(p.ranks, p.blocks) for p in points}, {(1, 1), (2, 2), (4, 1), (4, 2), (4, 4)})
        self.assertEqual(len(points), len(set(points)))


@unittest.skipIf(programs is None, "no programs were named")
class Parts(unittest.TestCase):
    """Small ones, on whatever the temporary directory lies on: figures that mean nothing, in the form that is read."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)
        self.result = report.Report("arrays", {})

    def test_arrays_are_measured_with_every_method_and_beside_others(self):
        ours, peers, saturne = (programs / f"{name}_bench" for name in ("blocks", "peers", "saturne"))
        has_saturne = saturne.exists()
        measured = scattered.Measured(ours, peers, saturne if has_saturne else None, self.place, 1, lambda _: None)
        scattered.add_arrays(measured, self.result, 1, scattered.RUNS, "here", self.place)
        names = " ".join(row.name for row in self.result.results)
        for name in (
            "plan",
            "staged, first, prepared",
            "mpi-collective",
            "hdf5 collective",
            "pnetcdf",
            "romio321",
            *(["code saturne"] if has_saturne else []),
        ):
            self.assertIn(name, names)

    def test_a_checkpoint_is_followed_to_the_file_system(self):
        measured = scattered.Measured(programs / "blocks_bench", None, None, self.place, 1, lambda _: None)
        scattered.add_slow(measured, self.result, 1, self.place, True)
        self.assertIsNotNone(self.result.results[0].met)
        scattered.add_slow(measured, self.result, 1, self.place, False)
        self.assertIsNone(self.result.results[2].met)

    def test_the_cavity_is_read_and_written_and_drawn(self):
        sweep = cavity.Sweep(programs / "cavity_bench", self.place, self.place, True, lambda _: None)
        results = sweep.all(self.result)
        self.assertTrue(all(row.value > 0 for row in self.result.results))
        cavity.draw(results, self.place / "pictures")
        self.assertIn("mesh output written", (self.place / "pictures/index.html").read_text())
        self.assertGreater((self.place / "pictures/cavity.png").stat().st_size, 10_000)

    def test_meshes_are_refined_in_memory_and_onto_a_disk(self):
        """The whole command, of which this is one part: its only output is one JSON object."""
        command = [programs / "forebay", "bench", "arrays", "--quick", "--json", "--only", "mesh"]
        done = subprocess.run(
            [*command, "--memory", self.place, "--disk", self.place], capture_output=True, text=True, timeout=60
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual((list(told), told["bench"]), (["forebay_version", "bench", "machine", "results"], "arrays"))
        names = [row["name"] for row in told["results"]]
        for name in (
            "mesh multiplication: tetrahedron, fresh",
            "mesh multiplication, the slower of 2 ranks: pyramid, streaming",
            "tetrahedra to a file on the disk",
        ):
            self.assertTrue(any(name in each for each in names), (name, names))
        for row in told["results"]:
            self.assertTrue(row["value"] > 0 and row["reference"] > 0 and row["ratio"] > 0, row)
            self.assertIn(row["met"], (True, False), row)
        self.assertEqual(list(self.place.iterdir()), [], "something is left")


if __name__ == "__main__":
    unittest.main()
