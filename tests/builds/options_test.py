"""Proves: a plain configuration asks for nothing that is not there, and leaves out what nobody asked for."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCES = CMAKE = ""
PARTS = ("MPI", "HDF5", "MESH", "FORTRAN", "PYTHON", "PMEM")


class OptionsTest(unittest.TestCase):
    def directory(self):
        made = tempfile.TemporaryDirectory(prefix="forebay-options-")
        self.addCleanup(made.cleanup)
        return made.name

    def configured(self, *words, tree=None, **variables):
        """The table at the end, by its first words, and the commands that compile."""
        tree = tree or self.directory()
        # No cached answer and no variable of a build around this test.
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("CMAKE_", "MAKE"))}
        environment.update(variables)
        command = [CMAKE, "-S", SOURCES, "-B", tree, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        table = dict(re.findall(r"^--   (\S.*?)  +(.*)$", done.stdout.split("-- forebay ")[1], re.M))
        with open(os.path.join(tree, "compile_commands.json")) as file:
            return table, json.load(file)

    def test_a_plain_build_has_neither_tests_nor_benchmarks_and_no_warning_ends_it(self):
        tree = self.directory()
        table, commands = self.configured("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INSTALL_PREFIX=/usr", tree=tree)
        self.assertEqual(table["tests"], "left out: FOREBAY_TESTS is OFF")
        self.assertEqual(table["benchmarks and n3d"], "left out: FOREBAY_BENCH is OFF")
        self.assertEqual(table["devices of persistent memory"], "left out: FOREBAY_DEVDAX is OFF")
        for each in commands:
            self.assertNotIn("-Werror", each["command"])
            self.assertNotRegex(each["command"], r"_(test|bench)\.dir|/n3d")
            self.assertRegex(each["command"], " -O[23] ")
            self.assertNotIn("Unity", each["command"], "one source at a time, as packagers expect")
        with open(os.path.join(tree, "src/cmake_install.cmake")) as file:
            paths = set(re.findall(r'NEW_RPATH "(.*)"', file.read()))
        self.assertLessEqual(paths, {"", "\\$ORIGIN"}, "a program of the system has no path to libraries")

    def test_every_part_may_be_left_out(self):
        table, commands = self.configured(*(f"-DFOREBAY_{part}=OFF" for part in PARTS), "-DFOREBAY_DEVDAX=ON")
        for part in PARTS:
            self.assertIn(f"left out: FOREBAY_{part} is OFF", table.values())
        self.assertEqual(table["devices of persistent memory"], "left out: needs persistent memory")
        self.assertEqual(table["command, redirection, libforebay"], "yes")
        used = " ".join(each["command"].split(" -o ")[0] for each in commands)  # without names of our own sources
        for word in ("openmpi", "hdf5", "f951", "pmem2"):
            self.assertNotIn(word, used)
        self.assertIn("configure it with -DFOREBAY_MESH=ON", used)

    def test_what_a_part_needs_and_is_missing_is_no_error(self):
        words = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("MPI", "zfp", "GTest")]
        table, _ = self.configured("-DFOREBAY_TESTS=ON", *words)
        self.assertEqual(table["tests"], "left out: GoogleTest not found (Debian: libgtest-dev)")
        self.assertEqual(table["codec zfp"], "left out: zfp not found (Debian: libzfp-dev)")
        self.assertEqual(table["libforebay_arrays"], "left out: MPI not found (Debian: libopenmpi-dev)")

    def half_there(self, *names):
        """A directory with packages that name what is not there."""
        directory = self.directory()
        files = {
            "hdf5-serial.pc": f"Name: HDF5\nDescription: -\nVersion: 1\nCflags: -I{directory}\nLibs: -lhdf5\n",
            "zfp-config.cmake": 'message(FATAL_ERROR "a file of zfp is gone")\n',
            "GTestConfig.cmake": "add_library(GTest::gtest SHARED IMPORTED)\nadd_library(GTest::gtest_main SHARED IMPORTED)\n"
            "set_target_properties(GTest::gtest GTest::gtest_main PROPERTIES IMPORTED_LOCATION /nonexistent.so)\n",
            "f95": "#!/bin/sh\necho 'no licence' >&2\nexit 1\n",
        }
        for name in names:
            with open(os.path.join(directory, name), "w") as file:
                file.write(files[name])
            os.chmod(file.name, 0o755)
        return directory

    def test_a_package_that_is_half_there_is_left_out_with_the_reason(self):
        directory = self.half_there("hdf5-serial.pc", "zfp-config.cmake", "GTestConfig.cmake", "f95")
        words = [f"-D{name}_DIR={directory}" for name in ("zfp", "GTest")]
        table, commands = self.configured(
            "-DFOREBAY_TESTS=ON", *words, FC=f"{directory}/f95", PKG_CONFIG_PATH=directory
        )
        for part, reason, package in (
            ("files of arrays", "hdf5.h: No such file or directory", "libhdf5-dev"),
            ("codec zfp", "a file of zfp is gone", "libzfp-dev"),
            ("tests", "", "libgtest-dev"),
            ("Fortran modules", "", "gfortran"),
        ):
            said = rf"^left out: .* cannot be used \(.*{reason}.*probe.*\.log\) \(Debian: {package}\)"
            self.assertRegex(table[part], said)
        for part in ("forebay mesh", "libforebay_arrays"):
            self.assertEqual(table[part], "left out: needs the files of arrays")
        (advice,) = {
            each for line in commands for each in re.findall(r"FOREBAY_MESH_ADVICE=.*?and build again", line["command"])
        }
        self.assertIn("Debian: libhdf5-dev", advice)

    def test_a_compiler_that_came_later_is_found(self):
        tree, directory = self.directory(), self.half_there("f95")
        parts = [f"-DFOREBAY_{part}=OFF" for part in PARTS if part != "FORTRAN"]
        table, _ = self.configured(*parts, tree=tree, FC=f"{directory}/f95")
        self.assertRegex(table["Fortran modules"], "^left out: a Fortran compiler cannot be used")
        table, _ = self.configured(tree=tree)
        self.assertRegex(table["Fortran modules"], "^GNU ")

    def test_all_that_is_needed_and_missing_is_said_at_once(self):
        with tempfile.TemporaryDirectory(prefix="forebay-options-") as tree:
            words = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("fmt", "toml11")]
            done = subprocess.run(
                [CMAKE, "-S", SOURCES, "-B", tree, *words], capture_output=True, text=True, timeout=300
            )
        self.assertNotEqual(done.returncode, 0)
        for words in ("libfmt-dev", "libtoml11-dev", "docs/install.md"):
            self.assertIn(words, done.stderr)
        self.assertNotIn("libzstd-dev", done.stderr)


if __name__ == "__main__":
    CMAKE = sys.argv.pop(2)
    SOURCES = os.path.abspath(sys.argv.pop(1))
    unittest.main()
