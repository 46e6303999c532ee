"""Proves, with OpenFOAM's own tools: what decomposePar, redistributePar and a solver make of ranks' directories under
forebay is what they make directly: links out of them are followed, they are removed and made anew, and what forebay makes
by itself has the modes of a direct run."""

import os
import re
import shutil
import sys
import unittest

import casetools

FOREBAY = ""
WAYS = ["redirect", "path"] + ["namespace"] * casetools.namespaces_work()
SETTINGS = """FoamFile { version 2.0; format ascii; class dictionary; object decomposeParDict; }
numberOfSubdomains 2; method simple; simpleCoeffs { n (2 1 1); delta 0.001; }
"""


def times_in(directory):
    return sorted((name for name in os.listdir(directory) if re.fullmatch(r"\d[\d.e-]*", name)), key=float)


def modes(case):
    """Of the directories; time directories and those in them are made by the ranks."""
    found = {}
    for directory, _, _ in os.walk(case):
        status = os.lstat(directory)
        found[os.path.relpath(directory, case)] = (oct(status.st_mode), status.st_gid)
    return found


class RanksTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = casetools.Workplace("of-ranks")
        self.addCleanup(self.place.remove)
        self.base = os.path.join(self.place.directory, "base")
        casetools.make_case("cavity", self.base, "--ranks", "1", "--steps", "4", "--interval", "2", "--format", "ascii")
        with open(os.path.join(self.base, "system/decomposeParDict"), "w") as file:
            file.write(SETTINGS)
        casetools.set_control(self.base, "startFrom", "latestTime")

    def under(self, way, *words, name=None, options=(), umask=0o022):
        """The base case, the command run in a copy of it, directly or by a way in."""
        case = os.path.join(self.place.directory, name or way)
        if not os.path.exists(case):
            casetools.copy_case(self.base, case)
        before = [FOREBAY, "run", "--quiet", "--pool", self.place.pool, "--via", way, *options, "--"]
        line = ["mpirun", "-n", "2", *words, "-parallel"]
        casetools.run(
            ["sh", "-c", f'umask {umask:o}; exec "$@"', "sh", *([] if way == "direct" else before), *line], case
        )
        return case

    def prepare(self, *tools):
        for tool in tools:
            casetools.run(tool.split(), self.base)

    def assert_same(self, direct, case):
        self.assertEqual(casetools.snapshot(case), casetools.snapshot(direct))

    def test_a_restart_finds_the_time_index_behind_the_link_of_decomposePar(self):
        self.prepare("icoFoam", "decomposePar -latestTime")
        time = times_in(os.path.join(self.base, "processor0"))[-1]
        self.assertTrue(os.path.islink(os.path.join(self.base, f"processor0/{time}/uniform")))
        casetools.set_control(self.base, "endTime", str(float(time) * 2))
        direct = self.under("direct", "icoFoam")
        for way in WAYS:
            with self.subTest(way=way):
                case = self.under(way, "icoFoam")
                last = times_in(os.path.join(case, "processor0"))[-1]
                with open(os.path.join(case, f"processor0/{last}/uniform/time")) as file:
                    self.assertEqual(re.search(r"index\s+(\d+)", file.read()).group(1), "8")
                self.assert_same(direct, case)

    def test_redistributePar_makes_the_directories_of_ranks_and_makes_them_anew(self):
        direct = self.under("direct", "redistributePar", "-decompose")
        self.assertTrue(os.path.isfile(os.path.join(direct, "processor1/0/U")))
        for way in WAYS:
            with self.subTest(way=way):
                case = self.under(way, "redistributePar", "-decompose")
                self.assert_same(direct, case)
        self.under("direct", "redistributePar", "-decompose")
        for way in WAYS:
            with self.subTest(way=way, again=True):
                self.assert_same(direct, self.under(way, "redistributePar", "-decompose", "-overwrite"))

    def test_what_openfoam_collates_by_itself_is_what_a_direct_run_leaves(self):
        """The mesh of the group lies out of the case, behind a relative link."""
        self.prepare("decomposePar -fileHandler collated")
        os.rename(os.path.join(self.base, "processors2/constant"), os.path.join(self.place.directory, "of-group"))
        os.symlink("../../of-group", os.path.join(self.base, "processors2/constant"))
        casetools.set_control(self.base, "purgeWrite", "1")
        expected = None
        for way in ("direct", *WAYS):
            with self.subTest(way=way):  # by one name: OpenFOAM puts the path of the case into these files
                case = self.under(way, "icoFoam", "-fileHandler", "collated", name="case")
                found = casetools.snapshot(case)
                self.assertEqual(len(times_in(os.path.join(case, "processors2"))), 2)
                expected = expected or found
                if way == "path":  # which is another one there
                    self.assertEqual(set(found), set(expected))
                else:
                    self.assertEqual(found, expected)
                shutil.rmtree(case)

    def test_a_solver_needs_the_directories(self):
        with self.assertRaisesRegex(RuntimeError, "not decomposed"):
            self.under(WAYS[0], "icoFoam")

    def test_what_forebay_makes_by_itself_has_the_modes_of_a_direct_run(self):
        self.prepare("decomposePar -fileHandler collated")
        if os.getuid() == 0:
            os.chown(self.base, -1, 23456)
        os.chmod(self.base, 0o2750)
        direct = self.under("direct", "icoFoam", umask=0o027)
        for way in WAYS:
            with self.subTest(way=way):
                case = self.under(way, "icoFoam", umask=0o027)
                self.assertEqual(modes(case), modes(direct))
        direct = self.under("direct", "icoFoam", "-fileHandler", "collated", name="direct-collated", umask=0o027)
        case = self.under("redirect", "icoFoam", name="collated", options=["--layout", "collated"], umask=0o027)
        expected = {path: mode for path, mode in modes(direct).items() if path.startswith("processors")}
        self.assertEqual({path: mode for path, mode in modes(case).items() if path.startswith("processors")}, expected)


if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    casetools.need_openfoam()
    unittest.main()
