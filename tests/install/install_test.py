"""Proves: what `make install PREFIX=DIR [DESTDIR=DIR]` puts there works from there, without the source tree."""

import fnmatch
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.append(str(Path(__file__).resolve().parents[1]))
from pages import listing  # noqa: E402

SOURCES = BUILD_TREE = ""


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="forebay-install-")
        cls.prefix = os.path.join(cls.directory, "a prefix")
        cls.install(PREFIX=cls.prefix)
        cls.forebay = os.path.join(cls.prefix, "bin/forebay")
        arrays = glob.glob(glob.escape(cls.prefix) + "/lib/libforebay_arrays_*.so")
        cls.family = re.sub(r".*_(\w+)\.so", r"\1", arrays[0]) if arrays else ""  # of the MPI that it was built with

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
        return done.stdout

    def uninstall(self, **variables):
        command = ["make", "-C", SOURCES, "uninstall", f"BUILD_TREE={BUILD_TREE}"]
        done = subprocess.run(command, env={**os.environ, "MAKEFLAGS": "", "MAKEOVERRIDES": "", **variables}, capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

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
        script = f"cd '{case}' && cat input > output && echo $LD_PRELOAD > library"
        done = self.call(forebay, "run", "--case", case, "--pool", pool, "--via", "redirect", "--", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(case, "output")) as file:
            self.assertEqual(file.read(), "from the case")
        with open(os.path.join(case, "library")) as file:
            library = file.read().strip()
        self.assertTrue(library.startswith(os.path.dirname(os.path.dirname(os.path.realpath(forebay)))), library)

    def test_the_installation_ends_with_what_lets_a_shell_find_the_command(self):
        (said,) = re.findall(r"export PATH=.*", self.install(PREFIX=self.prefix))
        found = ["bash", "-c", f"{said}; type -p forebay"]
        self.assertEqual(subprocess.check_output(found, text=True).strip(), self.forebay)
        with mock.patch.dict(os.environ, PATH=f"{self.prefix}/bin:{os.environ['PATH']}"):
            self.assertNotIn("export", self.install(PREFIX=self.prefix), "it is found already")
        package = os.path.join(self.directory, "package")
        self.assertNotIn("export", self.install(PREFIX=self.prefix, DESTDIR=package))

    @unittest.skipUnless(os.geteuid() == 0, "only root can be the root of a sudo")
    def test_what_sudo_leaves_in_a_tree_belongs_to_the_user_whose_tree_it_is(self):
        place = tempfile.mkdtemp(dir=self.directory)
        owned = [
            os.path.join(SOURCES, "scripts/owned"),
            "sh",
            "-c",
            "mkdir build; echo > build/cache; ln -s / link; exit 3",
        ]
        for user, left in ((0, 0), (12345, 12345)):
            tree = os.path.join(place, str(user))
            os.mkdir(tree)
            os.chown(tree, user, user)
            sudo = {**os.environ, "SUDO_UID": "12345", "SUDO_GID": "12345"}
            self.assertEqual(subprocess.run(owned, cwd=tree, env=sudo).returncode, 3)
            for path in ("build", "build/cache", "link"):
                self.assertEqual(os.lstat(os.path.join(tree, path)).st_uid, left, path)
        self.assertEqual(os.stat("/").st_uid, 0)

    def test_the_installed_command_finds_its_library(self):
        self.runs_by_redirect(self.forebay)

    def test_doctor_has_no_complaint_about_the_library(self):
        done = self.call(self.forebay, "doctor")
        self.assertNotIn("is not beside", done.stdout)

    def test_what_is_installed_serves_a_user_without_rights(self):
        """Who may write nothing of it, and has none of the sources and nothing of the build tree."""
        place = tempfile.mkdtemp(prefix="forebay-installed-")
        self.addCleanup(shutil.rmtree, place)
        os.chmod(place, 0o755)
        prefix = os.path.join(place, "prefix")
        self.install(PREFIX=prefix)
        (packages,) = glob.glob(prefix + "/lib/python3*/*-packages")
        script = """set -e
            mkdir "$HOME/case" "$HOME/pool"
            cd "$HOME/case"
            echo from the case > input
            forebay run --pool "$HOME/pool" -- sh -c 'cat input > output'
            grep -q "from the case" output
            forebay run --quiet --json report.json --pool "$HOME/pool" -- touch more
            forebay report report.json --page "$HOME/page.html" > /dev/null
            grep -q "The course" "$HOME/page.html"
            forebay doctor > /dev/null
            forebay predict --machine nfs --ranks 4 --files 9 --bytes 1MB --step 1s --page "$HOME/predicted.html" > /dev/null
            grep -q "contradict themselves" "$HOME/predicted.html"
            forebay bench io "$HOME/pool" --quick --writers 1 --transfer 4k --block 1M -o "$HOME/my.toml" > /dev/null
            forebay predict --machine nfs --machine "$HOME/my.toml" --ranks 4 --files 9 --bytes 1MB --step 1s > /dev/null
            python3 -c "import forebay"
            test -r "$1/share/man/man1/forebay-run.1"
            """
        environment = {"PATH": f"{prefix}/bin:/usr/bin:/bin", "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1"}
        as_user = os.path.join(SOURCES, "tests/as_user")
        done = subprocess.run([as_user, "sh", "-c", script, "sh", prefix], cwd="/", env=environment, capture_output=True, text=True, timeout=60)  # fmt: skip
        if done.returncode == 77:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_licence_and_documents_are_installed_and_programs_are_the_command_alone(self):
        documents = os.path.join(self.prefix, "share/doc/forebay")
        for name in ("LICENSE", "README.md", "docs/install.md", "docs/exit-codes.md"):
            self.assertTrue(os.path.exists(os.path.join(documents, name)), name)
        self.assertEqual(os.listdir(os.path.join(self.prefix, "bin")), ["forebay"])
        for name in ("CONTRIBUTING.md", "docs/design.md", "docs/gaps.md", "docs/rooms.svg", "docs/man"):
            self.assertFalse(os.path.exists(os.path.join(documents, name)), f"{name} is for developers")
        for name in self.files_below(documents):
            if not name.endswith(".md"):
                continue
            with open(os.path.join(documents, name)) as file:
                links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read())
            for link in links:
                place = os.path.join(documents, os.path.dirname(name), link)
                self.assertTrue(os.path.exists(place), f"{name} has a link to {link}, which is not installed")

    def test_the_page_tells_where_all_is_and_how_it_is_removed(self):
        prefix = os.path.join(self.directory, "to be removed")
        self.install(PREFIX=prefix)
        with open(os.path.join(SOURCES, "docs/upgrade.md")) as file:
            page = file.read()
        table = page.split("| installed | where |\n")[1].split("\n\n")[0]
        places = [
            each + "*" * each.endswith("/") for line in table.splitlines()[1:] for each in re.findall("`([^`]+)`", line)
        ]
        installed = self.files_below(prefix)
        self.assertGreater(len(installed), 50)
        for name in installed:
            self.assertTrue(
                any(fnmatch.fnmatch(name, place) for place in places), f"docs/upgrade.md does not tell of {name}"
            )
        for place in places:
            self.assertTrue(fnmatch.filter(installed, place), f"nothing is installed at {place}")
        (packages,) = glob.glob(glob.escape(prefix) + "/lib/python3*/*-packages")
        for python in ("forebay/__init__.py", "forebay/_installed.py"):
            subprocess.run(["/usr/bin/python3", "-m", "py_compile", os.path.join(packages, python)], check=True)
        self.assertEqual(listing("uninstall", "upgrade.md"), "make uninstall\n")
        kept = os.path.join(prefix, "share/of-another")
        os.mkdir(kept)
        self.uninstall()
        self.assertEqual(self.files_below(prefix), [])
        self.assertEqual(os.listdir(prefix), ["share"], "what forebay did not make stays")
        os.rmdir(kept)

    def test_directories_of_the_system_are_no_part_of_what_is_removed(self):
        root = os.path.join(self.directory, "system")
        self.install(PREFIX="/usr/local", DESTDIR=root)
        self.uninstall(DESTDIR=root)
        self.assertEqual(self.files_below(root), [])
        left = [os.path.join(above, name) for above, names, _ in os.walk(root) for name in names]
        self.assertTrue(os.path.isdir(os.path.join(root, "usr/local/share/man/man1")))
        self.assertEqual([name for name in left if "forebay" in os.path.relpath(name, root)], [])

    def test_pip_lists_and_removes_what_cmake_installed(self):
        environment = os.path.join(self.directory, "with forebay")
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", "--without-pip", environment], check=True)  # fmt: skip
        (of_venv,) = glob.glob(glob.escape(environment) + "/lib/python3*")
        open(os.path.join(of_venv, "site-packages", "of_another.py"), "w").close()
        before = self.files_below(environment)
        self.install(PREFIX=environment)
        python = os.path.join(environment, "bin/python3")
        # CMake asked another Python where packages go; theirs have another name for it.
        (packages,) = glob.glob(glob.escape(environment) + "/lib/python3*/*-packages")

        def pip(*words):
            variables = {**os.environ, "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1"}
            done = subprocess.run([python, "-m", "pip", *words], env=variables, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return done.stdout

        self.assertIn("forebay/_installed.py", pip("show", "--files", "forebay"))
        pip("uninstall", "--yes", "forebay")
        self.assertEqual([name for name in os.listdir(packages) if "forebay" in name], [])
        self.uninstall()
        self.assertEqual(self.files_below(environment), before)

    def files_below(self, directory):
        return [
            os.path.relpath(os.path.join(above, name), directory)
            for above, _, names in os.walk(directory)
            for name in names
        ]

    def test_the_python_package_goes_where_its_python_looks_or_where_it_is_told(self):
        """Below a virtual environment of the Python that the configuration found, without any PYTHONPATH."""
        with open(os.path.join(BUILD_TREE, "CMakeCache.txt")) as file:
            cache = dict(re.findall(r"^([^#/][^:]*):[A-Z]+=(.*)$", file.read(), re.M))
        self.assertEqual(cache["FOREBAY_PYTHON_PACKAGES"], "")
        where = os.path.join(SOURCES, "python/packages_below.py")
        environment = os.path.join(self.directory, "environment")
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", environment], check=True)
        its_python = os.path.join(environment, "bin/python3")
        system, home = "/usr/bin/python3", os.path.expanduser("~/.local")
        places = [(its_python, environment, 0), (its_python, home, 1)]
        places += [(system, "/usr/local", 0), (system, home, 0), (system, "/opt/x", 1)]
        for python, prefix, looks in places:
            done = subprocess.run([python, where, prefix], capture_output=True, text=True)
            self.assertEqual(done.returncode, looks, done.stderr)
            path = done.stdout.strip()
            self.assertEqual(os.path.commonpath([path, prefix]), os.path.realpath(prefix))
            looked_at = (
                "import site; print(site.getsitepackages(), site.ENABLE_USER_SITE and site.getusersitepackages())"
            )
            done = subprocess.run([python, "-c", looked_at], capture_output=True, text=True)
            self.assertEqual(path in done.stdout, not looks, done.stdout)

    def test_a_package_is_made_below_destdir(self):
        root = os.path.join(self.directory, "root")
        self.install(PREFIX="/opt/forebay", DESTDIR=root)
        self.assertEqual(os.listdir(root), ["opt"])
        self.runs_by_redirect(os.path.join(root, "opt/forebay/bin/forebay"))
        self.assertTrue(os.path.exists(os.path.join(root, "opt/forebay/share/man/man1/forebay-run.1")))

    def test_programs_are_built_against_what_is_installed(self):
        """The first listings of docs/store/trajectory.md, outside of the source tree, by the commands that it gives."""
        self.write_listings("docs/store/trajectory.md", r"memory\.\w+")
        programs = self.compiled_by("memory", "libforebay", "libforebay_fortran")
        printed = [self.built(*program) for program in (*programs, ["/usr/bin/python3", "memory.py"])]
        for text in printed:
            self.assertAlmostEqual(float(text) / float(printed[0]), 1, delta=1e-9)

    def test_parallel_programs_are_built_against_what_is_installed(self):
        """The listings of docs/arrays/arrays.md that restart, in the same way; the MPI comes with the flags, too."""
        if not self.family:
            self.skipTest("built without MPI")
        self.write_listings("docs/arrays/arrays.md", r"(?:write|restart)\.\w+")
        programs = self.compiled_by(
            "restart", f"libforebay_arrays_{self.family}", f"libforebay_arrays_fortran_{self.family}"
        )
        ranks = ("mpiexec", "-n", "2")
        self.built(*ranks, "/usr/bin/python3", "write.py")
        for program in (*programs, ["/usr/bin/python3", "restart.py"]):
            self.assertIn("step 10, time 0.50, 0 wrong", self.built(*ranks, *program))

    def write_listings(self, document, name):
        with open(os.path.join(SOURCES, document)) as file:
            found = re.findall(rf"<!-- listing: ({name}) -->\n```\w+\n(.*?)^```$", file.read(), re.S | re.M)
        for name, text in found:
            with open(os.path.join(self.directory, name), "w") as file:
                file.write(text)

    def built(self, *words):
        """What a program prints that uses what is installed, or a step on the way to it."""
        library = os.path.join(self.prefix, "lib")
        (packages,) = glob.glob(glob.escape(library) + "/python3*/*-packages")
        environment = {**os.environ, "PKG_CONFIG_PATH": os.path.join(library, "pkgconfig"), "PYTHONPATH": packages}
        for name in ("MCA_rmaps_base_oversubscribe", "ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM"):
            environment[f"OMPI_{name}"] = "1"
        done = subprocess.run(words, cwd=self.directory, env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def compiled_by(self, listing, library, modules):
        """The programs of a listing in C, C++ and, where the module is installed, in Fortran."""
        directory = os.path.join(self.prefix, "lib")
        programs = []
        languages = [
            ("cc", "c", library),
            ("gfortran", "f90", modules),
            ("c++ -std=c++20", "cpp", library),
        ]
        for compiler, ending, described in languages:
            if not os.path.exists(os.path.join(directory, f"pkgconfig/{described}.pc")):
                continue
            if not os.path.exists(os.path.join(self.directory, f"{listing}.{ending}")):
                continue
            flags = shlex.split(self.built("pkg-config", "--cflags", "--libs", described))
            program = f"{listing}-{ending}"
            words = [f"{listing}.{ending}", "-o", program, f"-Wl,-rpath,{directory}", *flags, "-lm"]
            self.built(*compiler.split(), *words)
            programs.append([f"./{program}"])
        return programs

    def has(self, library):
        return os.path.exists(os.path.join(self.prefix, "lib", library))

    def outside(self, languages, components, *more):
        """What the configuration of a project of these languages says that asks for these, and its directory."""
        place = tempfile.mkdtemp(prefix="outside-", dir=self.directory)
        sources = os.path.join(SOURCES, "tests/install/outside")
        for name in os.listdir(sources):
            shutil.copy(os.path.join(sources, name), place)
        for name in glob.glob(glob.escape(self.directory) + "/*.*"):
            if name.endswith((".c", ".cpp", ".f90")):
                shutil.copy(name, place)
        words = ["-B", "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DLANGUAGES={languages}", f"-DCOMPONENTS={components}", *more]  # fmt: skip
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("CMAKE_", "MAKE"))}
        done = subprocess.run(["cmake", *words], cwd=place, env=environment, capture_output=True, text=True, timeout=60)
        return done, place

    def built_outside(self, languages, components):
        """The project, and what its programs print that are there in every language."""
        done, place = self.outside(languages, components)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.built("cmake", "--build", os.path.join(place, "build"), "-j", "2")
        program = {"C": "c", "CXX": "cpp", "Fortran": "fortran"}
        states = [self.built(os.path.join(place, "build", program[each] + "_states")) for each in languages.split(";")]
        if "arrays" not in components:
            return states, []
        started = ("mpiexec", "-n", "2")
        arrays = [self.built(*started, os.path.join(place, "build", program[each] + "_arrays")) for each in languages.split(";")]  # fmt: skip
        return states, arrays

    def written_listings(self):
        """Those that the projects compile; and, where there are arrays, what their programs read."""
        self.write_listings("docs/store/trajectory.md", r"memory\.\w+")
        self.write_listings("docs/arrays/arrays.md", r"(?:write|restart)\.\w+")
        if self.family:
            self.built("mpiexec", "-n", "2", "/usr/bin/python3", "write.py")

    def test_a_cmake_project_is_built_with_what_is_installed(self):
        """In C, C++ and, where the modules are installed, Fortran, from components."""
        self.written_listings()
        languages, components = "C;CXX", "trajectory"
        if self.family:
            components += ";arrays"
        if self.has("libforebay_fortran.a"):
            languages, components = languages + ";Fortran", components + ";fortran"
        states, arrays = self.built_outside(languages, components)
        for text in states:
            self.assertAlmostEqual(float(text) / float(states[0]), 1, delta=1e-9)
        for text in arrays:
            self.assertIn("step 10, time 0.50, 0 wrong", text)

    def test_a_cmake_project_needs_no_other_language_than_its_own(self):
        if not self.family:
            self.skipTest("built without MPI")
        self.written_listings()
        states, arrays = self.built_outside("CXX", "arrays")
        self.assertIn("step 10, time 0.50, 0 wrong", arrays[0])
        if self.has(f"libforebay_arrays_fortran_{self.family}.a"):
            states, arrays = self.built_outside("Fortran", "arrays;fortran")
            self.assertIn("step 10, time 0.50, 0 wrong", arrays[0])
        self.assertGreater(float(states[0]), 0)

    def test_without_mpi_a_cmake_project_has_all_but_the_arrays(self):
        if not self.family:
            self.skipTest("built without MPI")
        self.write_listings("docs/store/trajectory.md", r"memory\.\w+")
        without = "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON"
        done, place = self.outside("C", "trajectory", "-DOPTIONAL=arrays", without)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        targets = os.listdir(os.path.join(place, "build/CMakeFiles"))
        self.assertIn("c_states.dir", targets)
        self.assertNotIn("c_arrays.dir", targets)
        done, _ = self.outside("C", "arrays", without)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"There\s+is\s+no\s+MPI\s+for\s+a\s+language\s+of\s+this\s+project")

    def test_a_component_that_is_not_there_is_named(self):
        self.write_listings("docs/store/trajectory.md", r"memory\.\w+")
        done, _ = self.outside("C", "trajectory;mesh")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"There\s+is\s+no\s+component\s+mesh,")
        without = os.path.join(self.directory, "without the module")
        shutil.copytree(self.prefix, without, symlinks=True, ignore=shutil.ignore_patterns("libforebay_fortran.a"))
        self.addCleanup(shutil.rmtree, without)
        with mock.patch.object(self, "prefix", without):
            done, _ = self.outside("C", "trajectory;fortran")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"libforebay_fortran\.a\s+is\s+not\s+installed")

    def test_pip_installs_the_python_package_from_the_source_tree(self):
        """Into a virtual environment with the libraries below it, where the package finds them."""
        self.write_listings("docs/store/trajectory.md", r"memory\.\w+")
        sources, environment = (os.path.join(self.directory, name) for name in ("python sources", "pip environment"))
        # pip leaves what it builds there.
        shutil.copytree(os.path.join(SOURCES, "python"), sources, ignore=shutil.ignore_patterns("__pycache__"))
        subprocess.run(
            ["/usr/bin/python3", "-m", "venv", "--system-site-packages", "--without-pip", environment], check=True
        )
        python = os.path.join(environment, "bin/python3")
        variables = {key: value for key, value in os.environ.items() if not key.startswith(("FOREBAY_", "PYTHON"))}
        variables["PYTHONDONTWRITEBYTECODE"] = "1"

        def run(*words):
            return subprocess.run([python, *words], cwd=self.directory, env=variables, capture_output=True, text=True, timeout=110)  # fmt: skip

        done = run("-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", sources)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = run("memory.py")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"libforebay\.so\.0\.1, which `make install` puts below its PREFIX")
        for library in glob.glob(glob.escape(self.prefix) + "/lib/libforebay.so*"):
            shutil.copy(library, os.path.join(environment, "lib"), follow_symlinks=False)
        done = run("memory.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(float(done.stdout), 0)
        done = run("-m", "pip", "show", "--files", "forebay")
        self.assertIn("Version: " + self.call(self.forebay, "--version").stdout.split()[-1], done.stdout)
        for name in ("forebay/py.typed", "forebay/trajectory.pyi", "forebay/schedule.py"):
            self.assertIn(name, done.stdout)

    def test_there_is_a_manual_page_for_every_command(self):
        done = self.call(self.forebay, "--help")
        listed = done.stdout.split("Common commands:")[1].split("Examples:")[0]
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
        self.assertIn("there are: io, openfoam, trajectory, arrays", done.stderr)
        for name, flag, message in (
            ("openfoam", "--sizes", "unknown size 'nosuch'"),
            ("trajectory", "--only", "unknown part 'nosuch'"),
            ("arrays", "--only", "unknown part 'nosuch'"),
        ):
            done = self.call(self.forebay, "bench", name, flag, "nosuch")
            self.assertIn(message, done.stderr)
        kept = glob.glob(glob.escape(self.prefix) + "/share/**/__pycache__", recursive=True)
        self.assertEqual(kept, [], "pip, and who removes an archive's files, would leave them")

    def test_what_benchmarks_share_is_none_itself(self):
        done = self.call(self.forebay, "bench", "case")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('no benchmark is called "case"', done.stderr)

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
