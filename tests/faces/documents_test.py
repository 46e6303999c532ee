"""Proves: every listing of docs/trajectory.md is a whole program that compiles without a warning, runs, and prints what
the text says of it."""

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

# Set from the command line.
SOURCES = C = FORTRAN = INCLUDE = MODULES = LIBRARIES = PACKAGES = ""
COMPILED = {"c": ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1"], "fortran": ["-std=f2008", "-Wall", "-Werror"]}


class Listing:
    def __init__(self, language, name, needs, text):
        self.language, self.name, self.needs, self.text = language, name, needs, text


def listings():
    with open(os.path.join(SOURCES, "docs/trajectory.md")) as file:
        text = file.read()
    head = r"(?:<!-- listing: (?P<name>\S+?)(?:; needs: (?P<needs>\w+))? -->\n)?"
    for match in re.finditer(head + r"```(?P<language>\w*)\n(?P<text>.*?)^```$", text, re.S | re.M):
        yield Listing(match["language"], match["name"], match["needs"], match["text"])


class DocumentTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="forebay-document-")
        cls.listings = {listing.name: listing for listing in listings()}
        os.mkdir(os.path.join(cls.directory, "kept"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.directory, ignore_errors=True)

    def command(self, listing, source):
        program = os.path.join(self.directory, listing.name.replace(".", "-"))
        common = ["-L", LIBRARIES, f"-Wl,-rpath,{LIBRARIES}"]
        if listing.language == "c":
            compile_ = [C, *COMPILED["c"], source, "-o", program, "-I", INCLUDE, *common, "-lforebay", "-lm"]
        elif listing.language == "fortran":
            archive = os.path.join(os.path.dirname(MODULES), "libforebay_fortran.a")
            compile_ = [
                FORTRAN,
                *COMPILED["fortran"],
                source,
                "-o",
                program,
                "-I",
                MODULES,
                archive,
                *common,
                "-lforebay",
            ]
        elif listing.needs:
            return [*PACKAGES.split(";"), source]
        else:
            return [sys.executable, source]
        done = subprocess.run(compile_, cwd=self.directory, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [program]

    def run_listing(self, name):
        listing = self.listings[name]
        if listing.language == "fortran" and not FORTRAN:
            self.skipTest("there is no Fortran compiler")
        source = os.path.join(self.directory, name)
        with open(source, "w") as file:
            file.write(listing.text)
        done = subprocess.run(
            self.command(listing, source), cwd=self.directory, capture_output=True, text=True, timeout=300
        )
        if listing.needs and done.returncode == 77:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_every_listing_has_a_name_and_is_run_here(self):
        with open(__file__) as file:
            here = file.read()
        for listing in listings():
            self.assertIsNotNone(listing.name, f"a listing without a name:\n{listing.text}")
            self.assertIn(f'"{listing.name}"', here)

    def test_memory_gives_what_files_give(self):
        values = []
        for files, memory in (("files.c", "memory.c"), ("files.f90", "memory.f90"), ("files.py", "memory.py")):
            if files.endswith(".f90") and not FORTRAN:
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
        values, message = self.run_listing("interp.f90").splitlines()
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
    SOURCES, INCLUDE, LIBRARIES, C, FORTRAN, MODULES, PACKAGES = sys.argv[1:8]
    del sys.argv[1:8]
    unittest.main()
