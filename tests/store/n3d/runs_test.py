"""n3d as a user runs it: stores that agree from one process to the next, an optimisation that makes the objective fall,
pictures, and clear errors.

runs_test.py N3D MPIEXEC PICTURES_SCRIPT
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

N3D = MPIEXEC = PICTURES = ""
PYTHON = "/usr/bin/python3"  # has the distribution's matplotlib; what PICTURES runs with
SMALL = ("--points", "16", "--steps", "12", "--quiet")


class RunsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="n3d-test-")
        self.addCleanup(holder.cleanup)
        self.directory = holder.name

    def call(self, *words, ranks=1):
        return subprocess.run(
            [MPIEXEC, "-n", str(ranks), N3D, *words],
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def result(self, *words, ranks=1, size=SMALL):
        path = os.path.join(self.directory, "result.json")
        done = self.call(*size, *words, "--json", path, ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path) as file:
            return json.load(file)

    def refused(self, *words):
        done = subprocess.run([N3D, *words], cwd=self.directory, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_every_store_gives_the_same_bits_in_a_process_of_its_own(self):
        ranks = 3
        arrays = self.result("--store", "arrays", ranks=ranks)
        files = self.result("--store", "files", "--directory", self.directory, ranks=ranks)
        memory = self.result("--store", "memory", ranks=ranks)
        tiers = ("--tier", "dram:170k", "--tier", f"shared:{self.directory}:10M")
        spilled = self.result("--store", "memory", *tiers, ranks=ranks)
        revolve = self.result("--store", "revolve", "--slots", "2", ranks=ranks)
        pool = ("--slots", "1", "--pool-slots", "1", "--directory", self.directory)
        two_tiers = self.result("--store", "revolve", *pool, ranks=ranks)
        self.assertEqual(files["gradient_checksum"], arrays["gradient_checksum"])
        self.assertEqual(memory["gradient_checksum"], arrays["gradient_checksum"])
        self.assertEqual(spilled["gradient_checksum"], arrays["gradient_checksum"])
        self.assertEqual(revolve["gradient_checksum"], arrays["gradient_checksum"])
        self.assertEqual(two_tiers["gradient_checksum"], arrays["gradient_checksum"])
        self.assertEqual(revolve["value"], arrays["value"])
        # 12 steps with 2 slots: each run four times at most, 4 * 12 - C(6, 3) = 28 in all; one more leads to the end.
        steps = revolve["phases"]["forward"]["count"] + revolve["phases"]["recompute"]["count"]
        self.assertEqual(steps, 28 + 1)
        self.assertEqual(two_tiers["phases"]["recompute"]["count"], revolve["phases"]["recompute"]["count"])

    def test_files_are_one_for_each_step_and_rank_and_stay_only_when_asked(self):
        files = ("--store", "files", "--directory", self.directory)
        self.result(*files, ranks=2)
        self.assertEqual([name for name in os.listdir(self.directory) if name.startswith("velocity")], [])
        state = self.result(*files, "--keep-files", ranks=2)["state_bytes"]
        kept = sorted(name for name in os.listdir(self.directory) if name.startswith("velocity"))
        self.assertEqual(kept, [f"velocity.{n:06}.rank{rank:04}" for n in range(11) for rank in range(2)])
        self.assertEqual(sum(os.path.getsize(os.path.join(self.directory, name)) for name in kept), 11 * state)

    def test_a_few_iterations_make_each_objective_fall(self):
        for objective in ("energy", "dissipation", "tracking"):
            iterations = self.result("--objective", objective, "--iterations", "3", ranks=2)["iterations"]
            values = [iteration["value"] for iteration in iterations]
            self.assertEqual(len(values), 4)
            self.assertEqual(values, sorted(values, reverse=True))
            self.assertLess(values[-1], 0.9 * values[0], objective)

    def test_pictures_are_drawn(self):
        if subprocess.run([PYTHON, "-c", "import matplotlib"], capture_output=True).returncode != 0:
            self.skipTest("matplotlib is not installed")
        self.result("--pictures", self.directory, ranks=2)
        checked = self.call("--check-gradient", "--quick", "--quiet", "--pictures", self.directory)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        subprocess.run([PICTURES, self.directory], check=True, capture_output=True, timeout=60)
        for name in ("spectrum", "vorticity", "gradient"):
            with open(os.path.join(self.directory, f"{name}.png"), "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def test_the_spectrum_holds_the_energy_of_the_flow(self):
        size = ("--points", "16", "--steps", "1", "--time-step", "1e-6", "--quiet")
        self.result("--pictures", self.directory, ranks=2, size=size)
        with open(os.path.join(self.directory, "spectrum.csv")) as file:
            energy = sum(float(line.split(",")[1]) for line in file.readlines()[1:])
        # mean(|u|^2) / 2 of the vortex is 1/8; the little random flow adds to it.
        self.assertAlmostEqual(energy, 0.125, delta=0.01)

    def test_bad_input_is_refused_with_the_reason(self):
        self.assertIn("--points must be even", self.refused("--points", "15"))
        self.assertIn("--steps must be at least 1", self.refused("--steps", "0"))
        self.assertIn("--time-step must be more than 0", self.refused("--time-step", "nan"))
        self.assertIn("--slots must be at least 1", self.refused("--store", "revolve", "--slots", "0"))
        self.assertIn("needs --directory", self.refused("--store", "files"))
        self.assertIn("needs --directory", self.refused("--store", "revolve", "--pool-slots", "2"))
        self.assertIn("--pool-slots is for --store revolve", self.refused("--pool-slots", "2"))
        self.assertIn("/no/such is not a directory", self.refused("--store", "files", "--directory", "/no/such"))
        self.assertIn("--tier is for --store memory", self.refused("--tier", "dram:1M"))
        self.assertIn("--accepted-error is for --store memory", self.refused("--accepted-error", "1e-3"))
        self.assertIn("must be 0 to less than 1", self.refused("--store", "memory", "--accepted-error", "nan"))
        for tier in ("dram", "dram:0", "pool::1M"):
            self.assertIn(f"--tier {tier}: not dram:SIZE", self.refused("--store", "memory", "--tier", tier))
        self.assertIn("tape", self.refused("--store", "tape"))
        self.assertIn("without any; use 4", self.call("--points", "8", ranks=6).stderr)

    def test_an_accepted_error_changes_the_gradient_no_more_than_that(self):
        exact = self.result("--store", "memory", ranks=2)
        near = self.result("--store", "memory", "--accepted-error", "1e-4", ranks=2)
        self.assertNotEqual(near["gradient_checksum"], exact["gradient_checksum"])
        norms = [run["iterations"][0]["gradient_norm"] for run in (exact, near)]
        self.assertAlmostEqual(norms[1] / norms[0], 1, delta=3e-4)

    def test_a_trajectory_without_room_for_a_state_ends_the_run_with_the_figures(self):
        done = self.call(*SMALL, "--store", "memory", "--tier", "dram:10k")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("budget of 10000 bytes", done.stderr)

    def test_a_flow_that_blows_up_is_an_error_and_no_gradient(self):
        done = self.call("--points", "16", "--steps", "60", "--time-step", "5")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the flow has blown up; take a smaller --time-step", done.stderr)

    def test_a_rank_that_cannot_write_ends_the_run(self):
        os.mkdir(os.path.join(self.directory, "velocity.000003.rank0001"))
        done = self.call(*SMALL, "--store", "files", "--directory", self.directory, ranks=2)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("rank 1: cannot open", done.stderr)


if __name__ == "__main__":
    N3D, MPIEXEC, PICTURES = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
