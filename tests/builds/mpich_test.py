"""Proves: the arrays of MPICH pass their tests, stand beside those of Open MPI, and each program gets those of its own MPI.

mpich_test.py SOURCES BUILD CMAKE GENERATOR [all]      BUILD is a tree of Open MPI, with all that it has

What is built with MPICH stays in BUILD/mpich for the next time. `all`: also what takes minutes.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "faces"))
from listings import listings_of  # noqa: E402

SOURCES = BUILD = CMAKE = GENERATOR = ""
ALL = False
LEFT_OUT = ("BENCH", "PMEM", "DEVDAX", "MESH")
PROGRAMS = "blocks_test blocks_ranks_test ranks_asleep arrays_face_c arrays_face_cpp arrays_face_fortran mesh_face_c mesh_face_fortran checkpoint_program"
OF_THE_OTHER = "arrays forebay_library forebay_fortran forebay forebay-files forebay_redirect forebay_fault"
FAMILIES = ("openmpi", "mpich")
OTHER = {"openmpi": "mpich", "mpich": "openmpi"}
WRONG = """#include <forebay/arrays.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  forebay_team* team = NULL;
  const int status = forebay_team_create(MPI_COMM_WORLD, NULL, &team);
  printf("%s: %s\\n", status == FOREBAY_E_INVALID ? "refused" : "taken", status == 0 ? "" : forebay_error_get_text());
  return MPI_Finalize();
}
"""


class MpichTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = os.path.join(BUILD, "mpich")
        cls.directory = tempfile.mkdtemp(prefix="forebay-two-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.prefix = os.path.join(cls.directory, "prefix")
        for listing in listings_of(os.path.join(SOURCES, "docs/arrays/arrays.md")):
            if listing.name and listing.name.startswith(("write.", "restart.")):
                Path(cls.directory, listing.name).write_text(listing.text)
        Path(cls.directory, "wrong.c").write_text(WRONG)
        if ALL:  # by `make test-builds`, which has only configured it
            cls.run_(CMAKE, "--build", BUILD, "-j", "2", "--target", *OF_THE_OTHER.split())
        words = [f"-DFOREBAY_{part}=OFF" for part in LEFT_OUT]
        words += [f"-DMPI_{language}_COMPILER={compiler}.mpich" for language, compiler in (("C", "mpicc"), ("CXX", "mpicxx"), ("Fortran", "mpifort"))]  # fmt: skip
        words += [f"-DMPIEXEC_EXECUTABLE={shutil.which('mpiexec.mpich')}", "-DCMAKE_DISABLE_FIND_PACKAGE_zfp=ON"]
        cls.run_(CMAKE, "--preset", "release", "-G", GENERATOR, "-B", cls.tree, *words, cwd=SOURCES)
        cls.run_(CMAKE, "--build", cls.tree, "-j", "2", "--target", "arrays", *PROGRAMS.split())
        cls.installed(BUILD, "library", "development", "arrays", "python")
        cls.installed(cls.tree, "arrays")

    @classmethod
    def run_(cls, *words, cwd=None, returns=0, **variables):
        allowed = {f"OMPI_{name}": "1" for name in ("MCA_rmaps_base_oversubscribe", "MCA_mpi_yield_when_idle", "ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM")}  # fmt: skip
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("CMAKE_", "MAKE"))}
        done = subprocess.run(words, cwd=cwd or cls.directory, env={**environment, **allowed, **variables}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
        if (done.returncode == 0) != (returns == 0):
            raise AssertionError(f"{words} returned {done.returncode}:\n{done.stdout[-8000:]}")
        return done.stdout

    @classmethod
    def installed(cls, tree, *components):
        for component in components:
            cls.run_(CMAKE, "--install", tree, "--prefix", cls.prefix, "--component", component)

    def compiled(self, family, source, library, of=None):
        """A program of one family, with a library (that of the other family where `of` says so), by its description."""
        fortran = source.endswith(".f90")
        described = f"{library}_{of or family}"
        flags = self.run_("pkg-config", "--cflags", "--libs", described, PKG_CONFIG_PATH=f"{self.prefix}/lib/pkgconfig")
        if of:  # its own MPI comes first for the compiler, then that of the library
            flags = re.sub(r"-I\S*(openmpi|mpich)\S*|\S*/libmpi\S*", "", flags)
        program = os.path.join(self.directory, f"{family}-{source.replace('.', '-')}-{of}")
        compiler = ("mpifort" if fortran else "mpicc") + "." + family
        self.run_(compiler, source, "-o", program, f"-Wl,-rpath,{self.prefix}/lib", *flags.split(), "-lm")
        return program

    def on_ranks(self, family, *program, returns=0, **variables):
        return self.run_(f"mpiexec.{family}", "-n", "2", *program, returns=returns, **variables)

    def python(self, family):
        """The interpreter with mpi4py of a family, and what it needs to be told."""
        (packages,) = glob.glob(self.prefix + "/lib/python3*/*-packages")
        if family == "openmpi":
            return "/usr/bin/python3", {"PYTHONPATH": packages}
        place = os.path.join(self.tree, "tests/mpi4py")
        told = {"MPI4PY_MPIABI": "mpich", "LD_LIBRARY_PATH": f"{place}/libraries", "PYTHONPATH": packages}
        if not os.path.exists(f"{place}/python/bin/python"):
            self.skipTest("mpi4py cannot be installed (no index answers)")
        return f"{place}/python/bin/python", told

    def test_arrays_pass_their_tests_with_mpich(self):
        tests = "^(blocks/|faces/(arrays|mesh)$)" if ALL else "^(blocks/(4|small|[A-Z])|faces/(arrays|mesh)$)"
        words = ["--test-dir", self.tree, "-R", tests, "-j", "2", "--output-on-failure"]
        done = self.run_("ctest", *words, *(["--build-config", "Long"] if ALL else []))
        self.assertRegex(done, "100% tests passed")
        self.assertRegex(done, r"blocks/4_ranks \.+ +Passed")

    def test_programs_that_are_killed_and_the_page_with_mpich(self):
        """With the command of the other tree, which knows no MPI."""
        if not ALL:
            self.skipTest("takes minutes")
        asleep = os.path.join(self.tree, "lib/libranks_asleep.so")
        mpiexec, program = shutil.which("mpiexec.mpich"), os.path.join(self.tree, "bin/checkpoint_program")
        forebay, faults = os.path.join(BUILD, "bin/forebay"), os.path.join(BUILD, "lib/libforebay_fault.so")
        tests = os.path.join(SOURCES, "tests")
        words = [mpiexec, program, forebay, faults]
        self.run_(sys.executable, f"{tests}/arrays/killed/killed_test.py", *words, LD_PRELOAD=asleep)
        self.run_(sys.executable, f"{tests}/arrays/killed/resume_test.py", *words, "groups", LD_PRELOAD=asleep)
        python, told = self.python("mpich")
        told |= {
            "PYTHONPATH": os.path.join(SOURCES, "python"),
            "FOREBAY_LIBRARY": f"{self.tree}/lib/libforebay.so.0.1",
            "FOREBAY_ARRAYS_LIBRARY": f"{self.tree}/lib/libforebay_arrays_mpich.so.0.1",
        }
        words = [SOURCES, f"{SOURCES}/include", f"{self.tree}/lib", "mpicc.mpich", "mpifort.mpich"]
        words += [f"{self.tree}/fortran/modules", f"{mpiexec};{forebay};mpicxx.mpich;mpich"]
        self.run_(python, f"{tests}/faces/arrays_document_test.py", *words, LD_PRELOAD=asleep, **told)

    def test_a_program_has_the_arrays_of_its_mpi(self):
        """What one family wrote the other reads: files know no MPI."""
        for family in FAMILIES:
            write = self.compiled(family, "write.c", "libforebay_arrays")
            self.on_ranks(family, write)
            for reader in FAMILIES:
                restart = self.compiled(reader, "restart.f90", "libforebay_arrays_fortran")
                self.assertIn("step 10, time 0.50, 0 wrong", self.on_ranks(reader, restart))
                linked = self.run_("ldd", restart)
                self.assertIn(f"libforebay_arrays_{reader}.so", linked)
                self.assertNotIn(f"libforebay_arrays_{OTHER[reader]}.so", linked)

    def test_a_cmake_project_has_the_arrays_of_the_mpi_that_it_finds(self):
        shutil.copy(os.path.join(SOURCES, "tests/install/outside/CMakeLists.txt"), self.directory)
        for name in ("memory.c", "memory.f90"):  # of the page of trajectories, not used here
            Path(self.directory, name).write_text("int main(void) { return 0; }" if name[-1] == "c" else "end program")
        for languages in ("C", "Fortran"):
            for family in FAMILIES:
                with self.subTest(languages=languages, family=family):
                    tree = os.path.join(self.directory, f"outside-{languages}-{family}")
                    compiler = "mpifort" if languages == "Fortran" else "mpicc"
                    words = [
                        f"-DLANGUAGES={languages}",
                        "-DCOMPONENTS=arrays" + (";fortran" if languages == "Fortran" else ""),
                    ]
                    words += [f"-DMPI_{languages}_COMPILER={compiler}.{family}", f"-DCMAKE_PREFIX_PATH={self.prefix}"]
                    self.run_(CMAKE, "-S", self.directory, "-B", tree, *words)
                    self.run_(CMAKE, "--build", tree)
                    linked = self.run_("ldd", f"{tree}/{languages.lower()}_arrays")
                    self.assertIn(f"libforebay_arrays_{family}.so", linked)
                    self.assertNotIn(f"libforebay_arrays_{OTHER[family]}.so", linked)

    def test_a_program_with_the_arrays_of_the_other_mpi_is_told(self):
        names = {"openmpi": "Open MPI", "mpich": "MPICH"}
        for family in FAMILIES:
            printed = self.on_ranks(family, self.compiled(family, "wrong.c", "libforebay_arrays", of=OTHER[family]))
            for line in printed.splitlines():
                self.assertRegex(
                    line,
                    rf'^refused: the program runs with another MPI \("{names[family]}.*than .*with \({names[OTHER[family]]}',
                )
            self.assertEqual(len(printed.splitlines()), 2, printed)

    def test_python_has_the_arrays_of_its_mpi4py(self):
        for family in FAMILIES:
            with self.subTest(family=family):
                python, told = self.python(family)
                look = "import forebay.arrays, os; print([x.split('/')[-1] for x in open('/proc/self/maps').read().split() if 'libforebay_arrays' in x][0])"
                self.assertIn(f"libforebay_arrays_{family}.so", self.on_ranks(family, python, "-c", look, **told))
                self.on_ranks(family, python, "write.py", **told)
                self.assertIn("step 10, time 0.50, 0 wrong", self.on_ranks(family, python, "restart.py", **told))
                wrong = f"{self.prefix}/lib/libforebay_arrays_{OTHER[family]}.so.0.1"
                said = self.on_ranks(family, python, "write.py", returns=1, FOREBAY_ARRAYS_LIBRARY=wrong, **told)
                self.assertRegex(
                    said, r"ArraysError: .*another (MPI|one) .*than (libforebay_arrays|this library) was built with"
                )

    def test_each_goes_alone(self):
        alone = os.path.join(self.directory, "alone")
        for tree in (BUILD, self.tree):
            self.run_(CMAKE, "--install", tree, "--prefix", alone, "--component", "arrays")
        files = {str(path.relative_to(alone)) for path in Path(alone).rglob("*") if not path.is_dir()}
        of = {family: {name for name in files if family in name} for family in FAMILIES}
        self.assertEqual(files, of["openmpi"] | of["mpich"], "no file is of both")
        self.run_(CMAKE, "--build", self.tree, "--target", "uninstall")
        left = {str(path.relative_to(alone)) for path in Path(alone).rglob("*") if not path.is_dir()}
        self.assertEqual(left, of["openmpi"])
        self.assertFalse(os.path.exists(os.path.join(alone, "include/forebay/mpich")))


if __name__ == "__main__":
    SOURCES, BUILD, CMAKE, GENERATOR = sys.argv[1:5]
    ALL = sys.argv[5:] == ["all"]
    if not shutil.which("mpicc.mpich") or not shutil.which("mpiexec.mpich"):
        print("skipped: no MPICH beside Open MPI: scripts/install-dependencies test")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
