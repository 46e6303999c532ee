"""Proves: every listing of docs/arrays/arrays.md is a whole program that compiles without a warning and runs on several ranks; what
one language has written the others read on other numbers of ranks."""

import json
import os
import subprocess

import h5py
import listings


class ArraysDocumentTest(listings.DocumentCase):
    document = "docs/arrays/arrays.md"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        family = cls.tools.more[3]
        cls.libraries = (f"forebay_arrays_{family}", "forebay")
        cls.modules = (f"forebay_arrays_fortran_{family}", "forebay_fortran")

    def run_on(self, ranks, name):
        mpiexec, *_ = self.tools.more
        return self.run_listing(name, mpiexec, "-n", str(ranks))

    def compiled(self, listing, source):
        if listing.language != "cpp":
            return super().compiled(listing, source)
        compiler = self.tools.more[2]
        program = os.path.join(self.directory, "restart-cpp")
        found = [
            "-L",
            self.tools.libraries,
            f"-Wl,-rpath,{self.tools.libraries}",
            *(f"-l{name}" for name in self.libraries),
        ]
        words = [compiler, "-std=c++20", "-Wall", "-Wextra", "-O1", source, "-I", self.tools.include, "-o", program]
        done = subprocess.run([*words, *found], cwd=self.directory, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [program]

    def test_every_listing_has_a_name_and_is_run_here(self):
        self.all_have_a_name_and_are_run_in(__file__)

    def test_what_one_writes_the_others_read(self):
        contents = set()
        for write, restart, ranks in (
            ("write.c", "restart.py", 4),
            ("write.py", "restart.f90", 1),
            ("write.f90", "restart.c", 3),
            ("write.c", "restart.cpp", 2),
        ):
            if not self.tools.fortran and ".f90" in write + restart:
                continue
            self.run_on(ranks, write)
            with open(os.path.join(self.directory, "restart.h5"), "rb") as file:
                contents.add(file.read())
            told, refused = self.run_on(2, restart).splitlines()
            self.assertEqual(told, "step 10, time 0.50, 0 wrong")
            self.assertTrue(refused.startswith("FOREBAY_E_INVALID: of another mesh, 'box of 20000 cells'"), refused)
        self.assertEqual(len(contents), 1)
        self.assertEqual(self.run_listing("look.py"), "(20000, 3) float64 [42.   42.25 42.5 ]\n")
        self.inspected()

    def inspected(self):
        forebay = self.tools.more[1]
        done = subprocess.run(
            [forebay, "inspect", "--json", os.path.join(self.directory, "restart.h5")], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        held = json.loads(done.stdout)
        self.assertEqual([each["name"] for each in held["arrays"]], ["pressure", "velocity"])

    def test_steps_are_the_same_from_every_language(self):
        contents = set()
        for steps, ranks in (("steps.py", 1), ("steps.c", 4), ("steps.f90", 3)):
            if not self.tools.fortran and steps.endswith(".f90"):
                continue
            self.run_on(ranks, steps)
            with open(os.path.join(self.directory, "flow-000020.vtkhdf"), "rb") as file:
                contents.add(file.read())
        self.assertEqual(len(contents), 1)
        with h5py.File(os.path.join(self.directory, "flow-000020.vtkhdf")) as file:
            self.assertEqual(file["VTKHDF/CellData/velocity"][41].tolist(), [42, 42.25, 42.5])
            self.assertEqual(file["VTKHDF/PointData/height"].shape, (404,))
            self.assertEqual(set(file["VTKHDF/Types"]), {12})
        with open(os.path.join(self.directory, "flow.vtkhdf.series")) as file:
            self.assertEqual([each["time"] for each in json.load(file)["files"]], [0, 0.5, 1])

    def test_lists_come_back(self):
        self.assertEqual(self.run_on(2, "lists.py"), "6000 corners of 1000 cells\n")


if __name__ == "__main__":
    listings.main()
