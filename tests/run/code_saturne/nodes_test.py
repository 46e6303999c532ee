"""Proves: ranks of two nodes that write the same files by MPI-IO are refused before they start, with the line to use; with
that line the run directory equals a direct run's (../parity) but for the content of files that tell times.

nodes_test.py FOREBAY [unittest arguments]
"""

import os
import re
import sys
import unittest

import saturne
from saturne import casetools, oracle

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
        cls.staged = saturne.Study(cls.place.directory).stage("nodes", 2)

    def case(self, name):
        path = os.path.join(self.lab.shared, name)
        casetools.copy_case(self.staged, path)
        return path

    def solver(self, *before, directory):
        launcher = ["mpirun", "--host", "n1:2,n2:2", "-n", "4", "--bind-to", "none", "--wdir", directory]
        exported = [
            word for name in ("USER", "OMP_NUM_THREADS", "OMPI_MCA_mpi_yield_when_idle") for word in ("-x", name)
        ]
        return self.lab.run(
            "n1", "env", "USER=root", "OMP_NUM_THREADS=1", "OMPI_MCA_mpi_yield_when_idle=1",
            *before, *launcher, *exported, "./cs_solver", "--mpi",
        )  # fmt: skip

    def forebay(self, case, *options):
        seen = self.lab.seen(case)
        return self.solver(FOREBAY, "run", "--case", seen, *options, "--", directory=seen)

    def test_two_nodes_are_refused_with_the_line_to_use_which_works(self):
        case = self.case("nodes")
        before = casetools.snapshot(case)
        status, output = self.forebay(case)
        self.assertEqual(status, 2, output)
        self.assertEqual(casetools.snapshot(case), before, "nothing was touched")
        flags = re.findall(r"--direct \w+", output)
        self.assertEqual(flags, ["--direct checkpoint", "--direct postprocessing"], output)

        status, output = self.forebay(case, *" ".join(flags).split())
        self.assertEqual(status, 0, output)
        direct = self.case("direct")
        status, output = self.solver(directory=self.lab.seen(direct))
        self.assertEqual(status, 0, output)
        judge = saturne.oracle_from(self.staged, self.place, FOREBAY)
        settings = oracle.Settings("redirect", ordered=False)
        self.assertEqual(judge.compare_cases(direct, case, settings).lines(), [])
        self.assertEqual(sorted(saturne.checkpoint_of(case)), ["auxiliary", "main", "mesh_input"])


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    saturne.need_code_saturne()
    unittest.main(verbosity=2)
