"""Proves: ranks of two nodes that write the same files by MPI-IO are refused before they start, with the line to use.

nodes_test.py FOREBAY [unittest arguments]
"""

import os
import re
import sys
import unittest

import saturne
from saturne import casetools

sys.path.insert(0, os.path.join(saturne.TESTS, "nodes"))

from cluster import Lab  # noqa: E402

FOREBAY = ""


class NodesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(2)
        cls.addClassCleanup(cls.lab.close)
        cls.place = casetools.Workplace("code-saturne-nodes")
        cls.addClassCleanup(cls.place.remove)
        cls.study = saturne.Study(cls.place.directory)

    def forebay(self, case, *options):
        launcher = ["mpirun", "--host", "n1:2,n2:2", "-n", "4", "--bind-to", "none", "-x", "USER"]
        return self.lab.run(
            "n1", "env", "USER=root", "OMP_NUM_THREADS=1", FOREBAY, "run", "--case", self.lab.seen(case), *options, "--",
            *launcher, "./cs_solver", "--mpi",
        )  # fmt: skip

    def test_two_nodes_are_refused_with_the_line_to_use(self):
        staged = self.study.stage("nodes", 2)
        case = os.path.join(self.lab.shared, "nodes")
        casetools.copy_case(staged, case)
        before = casetools.snapshot(case)
        status, output = self.forebay(case)
        self.assertEqual(status, 2, output)
        self.assertEqual(casetools.differences(before, casetools.snapshot(case)), [], "nothing was touched")
        flags = re.findall(r"--direct \w+", output)
        self.assertEqual(flags, ["--direct checkpoint", "--direct postprocessing"], output)


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    saturne.need_code_saturne()
    unittest.main(verbosity=2)
