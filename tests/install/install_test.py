"""Proves: what `make install PREFIX=DIR [DESTDIR=DIR]` puts there works from there, without the source tree."""

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCES = BUILD_TREE = ""


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="forebay-install-")
        cls.prefix = os.path.join(cls.directory, "a prefix")
        cls.install(PREFIX=cls.prefix)
        cls.forebay = os.path.join(cls.prefix, "bin/forebay")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.directory, ignore_errors=True)

    @classmethod
    def install(cls, **variables):
        # -o: what is built is taken as it is.
        words = [f"{name}={value}" for name, value in variables.items()]
        done = subprocess.run(
            ["make", "-C", SOURCES, "-o", "build", "install", f"BUILD_TREE={BUILD_TREE}", *words],
            env={**os.environ, "MAKEFLAGS": "", "MAKEOVERRIDES": ""},
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)

    def call(self, forebay, *words):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("FOREBAY_")}
        return subprocess.run(
            [forebay, *words], cwd=self.directory, env=environment, capture_output=True, text=True, timeout=60
        )

    def runs_by_redirect(self, forebay):
        """The library is found from the command's own place, whatever the prefix is called."""
        case, pool = (tempfile.mkdtemp(prefix=name, dir=self.directory) for name in ("case", "pool"))
        with open(os.path.join(case, "input"), "w") as file:
            file.write("from the case")
        script = "cat input > output && echo $LD_PRELOAD > library"
        done = self.call(forebay, "run", "--case", case, "--pool", pool, "--via", "redirect", "--", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(case, "output")) as file:
            self.assertEqual(file.read(), "from the case")
        with open(os.path.join(case, "library")) as file:
            library = file.read().strip()
        self.assertTrue(library.startswith(os.path.dirname(os.path.dirname(os.path.realpath(forebay)))), library)

    def test_the_installed_command_finds_its_library(self):
        self.runs_by_redirect(self.forebay)

    def test_doctor_has_no_complaint_about_the_library(self):
        done = self.call(self.forebay, "doctor")
        self.assertNotIn("is not beside", done.stdout)

    def test_a_package_is_made_below_destdir(self):
        root = os.path.join(self.directory, "root")
        self.install(PREFIX="/opt/forebay", DESTDIR=root)
        self.assertEqual(os.listdir(root), ["opt"])
        self.runs_by_redirect(os.path.join(root, "opt/forebay/bin/forebay"))
        self.assertTrue(os.path.exists(os.path.join(root, "opt/forebay/share/man/man1/forebay-run.1")))

    def test_programs_are_built_against_what_is_installed(self):
        """The first listings of docs/trajectory.md, outside of the source tree, by the commands that it gives."""
        with open(os.path.join(SOURCES, "docs/trajectory.md")) as file:
            listings = dict(
                re.findall(r"<!-- listing: (memory\.\w+) -->\n```\w+\n(.*?)^```$", file.read(), re.S | re.M)
            )
        for name, text in listings.items():
            with open(os.path.join(self.directory, name), "w") as file:
                file.write(text)
        library = os.path.join(self.prefix, "lib")
        environment = {**os.environ, "PKG_CONFIG_PATH": os.path.join(library, "pkgconfig")}

        def call(*words, **extra):
            done = subprocess.run(
                words, cwd=self.directory, env={**environment, **extra}, capture_output=True, text=True, timeout=60
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        path = f"-Wl,-rpath,{library}"
        call(
            "cc",
            "memory.c",
            "-o",
            "c",
            path,
            *shlex.split(call("pkg-config", "--cflags", "--libs", "libforebay")),
            "-lm",
        )
        printed = [call("./c")]
        if os.path.exists(os.path.join(library, "libforebay_fortran.a")):
            modules = os.path.join(self.prefix, "include/forebay")
            libraries = ["-L", library, path, "-lforebay_fortran", "-lforebay"]
            call("gfortran", "memory.f90", "-o", "fortran", "-I", modules, *libraries)
            printed.append(call("./fortran"))
        (packages,) = glob.glob(glob.escape(library) + "/python3*/*-packages")
        printed.append(call("/usr/bin/python3", "memory.py", PYTHONPATH=packages))
        for text in printed:
            self.assertAlmostEqual(float(text) / float(printed[0]), 1, delta=1e-9)

    def test_there_is_a_manual_page_for_every_command(self):
        done = self.call(self.forebay, "--help")
        listed = done.stdout.split("Subcommands:")[1].split("Examples:")[0]
        names = [
            line.split()[0] for line in listed.splitlines() if line.startswith("  ") and not line.startswith("   ")
        ]
        self.assertIn("run", names)
        pages = sorted(os.path.basename(path) for path in glob.glob(glob.escape(self.prefix) + "/share/man/man1/*"))
        self.assertEqual(pages, sorted(["forebay.1", *(f"forebay-{name}.1" for name in names)]))

    def test_completion_is_where_shells_look(self):
        for path in ("bash-completion/completions/forebay", "zsh/site-functions/_forebay", "fish/vendor_completions.d/forebay.fish"):  # fmt: skip
            with open(os.path.join(self.prefix, "share", path)) as file:
                self.assertIn("forebay", file.read(), path)

    def test_the_installed_benchmarks_start(self):
        done = self.call(self.forebay, "bench", "nosuch")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("openfoam", done.stderr)
        done = self.call(self.forebay, "bench", "openfoam", "--sizes", "nosuch")
        self.assertIn("unknown size 'nosuch'", done.stderr)

    def test_a_command_alone_says_that_the_benchmarks_are_not_there(self):
        alone = os.path.join(self.directory, "alone/bin")
        os.makedirs(alone)
        shutil.copy(self.forebay, alone)
        done = self.call(os.path.join(alone, "forebay"), "bench", "openfoam")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot find the benchmarks", done.stderr)
        self.assertIn("installed forebay, or one in a build tree", done.stderr)


if __name__ == "__main__":
    BUILD_TREE = os.path.abspath(sys.argv.pop(2))
    SOURCES = os.path.abspath(sys.argv.pop(1))
    unittest.main()
