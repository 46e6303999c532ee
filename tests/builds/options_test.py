"""Proves: a plain configuration asks for nothing that is not there, and leaves out what nobody asked for."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCES = CMAKE = ""
PARTS = ("MPI", "HDF5", "MESH", "FORTRAN", "PYTHON", "DEVDAX")


class OptionsTest(unittest.TestCase):
    def configured(self, *words):
        """The table at the end, by its first words, and the commands that compile."""
        tree = tempfile.TemporaryDirectory(prefix="forebay-options-")
        self.addCleanup(tree.cleanup)
        # No cached answer and no variable of a build around this test.
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("CMAKE_", "MAKE"))}
        command = [CMAKE, "-S", SOURCES, "-B", tree.name, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=110)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        table = dict(re.findall(r"^--   (\S.*?)  +(.*)$", done.stdout.split("-- forebay ")[1], re.M))
        with open(os.path.join(tree.name, "compile_commands.json")) as file:
            return table, json.load(file)

    def test_a_plain_build_has_neither_tests_nor_benchmarks_and_no_warning_ends_it(self):
        table, commands = self.configured("-DCMAKE_BUILD_TYPE=Release")
        self.assertEqual(table["tests"], "left out: FOREBAY_TESTS is OFF")
        self.assertEqual(table["benchmarks and n3d"], "left out: FOREBAY_BENCH is OFF")
        for each in commands:
            self.assertNotIn("-Werror", each["command"])
            self.assertNotRegex(each["command"], r"_(test|bench)\.dir|/n3d")
            self.assertRegex(each["command"], " -O[23] ")

    def test_every_part_may_be_left_out(self):
        table, commands = self.configured(*(f"-DFOREBAY_{part}=OFF" for part in PARTS))
        for part in PARTS:
            self.assertIn(f"left out: FOREBAY_{part} is OFF", table.values())
        self.assertEqual(table["command, redirection, libforebay"], "yes")
        used = " ".join(each["command"] for each in commands)
        for word in ("openmpi", "hdf5", "f951", "pmem2"):
            self.assertNotIn(word, used)

    def test_what_a_part_needs_and_is_missing_is_no_error(self):
        words = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("MPI", "zfp", "GTest")]
        table, _ = self.configured("-DFOREBAY_TESTS=ON", *words)
        self.assertEqual(table["tests"], "left out: GoogleTest or Python 3 not found")
        self.assertEqual(table["codec zfp"], "left out: zfp, or OpenMP for C, not found")
        self.assertEqual(table["libforebay_arrays"], "left out: MPI or the files of arrays not found")

    def test_all_that_is_needed_and_missing_is_said_at_once(self):
        with tempfile.TemporaryDirectory(prefix="forebay-options-") as tree:
            words = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("fmt", "toml11")]
            done = subprocess.run(
                [CMAKE, "-S", SOURCES, "-B", tree, *words], capture_output=True, text=True, timeout=110
            )
        self.assertNotEqual(done.returncode, 0)
        for words in ("libfmt-dev", "libtoml11-dev", "docs/install.md"):
            self.assertIn(words, done.stderr)
        self.assertNotIn("libzstd-dev", done.stderr)


if __name__ == "__main__":
    CMAKE = sys.argv.pop(2)
    SOURCES = os.path.abspath(sys.argv.pop(1))
    unittest.main()
