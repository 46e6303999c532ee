"""Proves: every listing of docs/store/trajectory.md is a whole program that compiles without a warning, runs, and prints what
the text says of it."""

import math
import os

import listings


class TrajectoryDocumentTest(listings.DocumentCase):
    document, libraries, modules = "docs/store/trajectory.md", ("forebay",), ("forebay_fortran",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.mkdir(os.path.join(cls.directory, "kept"))

    def python(self, listing):
        return self.tools.more if listing.needs else super().python(listing)

    def test_every_listing_has_a_name_and_is_run_here(self):
        self.all_have_a_name_and_are_run_in(__file__)

    def test_memory_gives_what_files_give(self):
        values = []
        for files, memory in (("files.c", "memory.c"), ("files.f90", "memory.f90"), ("files.py", "memory.py")):
            if files.endswith(".f90") and not self.tools.fortran:
                continue
            printed = self.run_listing(files)
            self.assertEqual(self.run_listing(memory), printed, memory)
            values.append(float(printed))
        for value in values:
            self.assertAlmostEqual(value / values[0], 1, delta=1e-9)
        last = self.run_listing("schedule.py").splitlines()
        self.assertAlmostEqual(float(last[-1]) / values[0], 1, delta=1e-9)
        self.assertTrue(last[0].startswith("10 states"), last[0])

    def test_tiers_spill_and_come_back(self):
        medium, moved, *_ = self.run_listing("tiers.py").splitlines()[1].split()
        self.assertGreater(int(moved), 0, medium)

    def test_an_accepted_error_makes_states_smaller_and_the_gradient_little_worse(self):
        stored, gradient = self.run_listing("encoded.py").splitlines()
        raw, small = (int(word.rstrip(",")) for word in stored.split() if word.rstrip(",").isdigit())
        self.assertLess(4 * small, raw)
        self.assertLessEqual(float(stored.split()[-1]), 1e-4)
        self.assertLessEqual(float(gradient.split()[-1]), 3e-4)

    def test_a_full_tier_is_told_with_figures(self):
        message, count = self.run_listing("full.c").splitlines()
        self.assertRegex(message, r"\d")
        self.assertGreater(int(count.split()[0]), 10)

    def test_what_one_program_kept_the_other_finds(self):
        self.run_listing("keep_forward.py")
        self.assertEqual(self.run_listing("keep_adjoint.py").split("\n"), ["nothing was lost", "4950", ""])
        self.assertEqual(os.listdir(os.path.join(self.directory, "kept")), [])

    def test_the_optimisation_descends(self):
        values = [float(line.split()[1]) for line in self.run_listing("optimise.py").splitlines()]
        self.assertEqual(values, sorted(values, reverse=True))
        self.assertEqual(len(values), 4)

    def test_times_between_steps(self):
        values, message = self.run_listing("between.f90").splitlines()
        self.assertEqual([float(value) for value in values.split()], [3.5, 7.0, 10.5])
        self.assertIn("outside", message)

    def test_the_tape_gives_the_gradient(self):
        u, factors = 0.5, []
        for _ in range(200):
            factors.append(1 - 0.02 * u)
            u += 0.01 * (1 - u * u)
        kept, gradient = self.run_listing("tape.py").splitlines()
        self.assertAlmostEqual(float(gradient), 2 * u * math.prod(factors), delta=1e-9)
        self.assertLessEqual(int(kept.split()[-1]), 10)


if __name__ == "__main__":
    listings.main()
