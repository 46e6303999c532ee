"""forebay run beneath Slurm, over two nodes: `forebay run -- srun -n 4 -N 2 --mpi=pmix SOLVER -parallel`.

slurm_test.py FOREBAY [unittest arguments]
"""

import os
import subprocess
import sys
import unittest

from cluster import HERE, SKIP, Lab, differences, report_of

FOREBAY = ""
ENVIRONMENT = ["env", "SLURM_CONF=/mnt/lab/slurm.conf"]
SRUN = ["srun", "-n", "4", "-N", "2", "--mpi=pmix"]


class SlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(2)
        cls.addClassCleanup(cls.lab.close)
        up = subprocess.run([os.path.join(HERE, "slurm"), "up", cls.lab.state, "2"], capture_output=True, text=True)
        if up.returncode != 0:
            cls.lab.close()
            print(up.stderr.strip())
            os._exit(SKIP if up.returncode == SKIP else 1)
        cls.original = cls.lab.make_case("original", "cavity", "--ranks", "4", "--steps", "4")
        cls.direct = cls.lab.copy_case(cls.original, "direct")
        words = f"cd {cls.lab.seen(cls.direct)} && {' '.join(SRUN)} icoFoam -parallel"
        status, output = cls.lab.run("n1", *ENVIRONMENT, "sh", "-c", words)
        assert status == 0, output

    def forebay(self, case, *options):
        json = os.path.join(self.lab.shared, "report.json")
        status, output = self.lab.run(
            "n1", *ENVIRONMENT, FOREBAY, "run", "--case", self.lab.seen(case), "--json", self.lab.seen(json), *options,
            "--", *SRUN, "icoFoam", "-parallel",
        )  # fmt: skip
        return status, output, json

    def test_a_run_by_srun_equals_the_direct_one(self):
        case = self.lab.copy_case(self.original, "verbatim")
        status, output, json = self.forebay(case)
        self.assertEqual(status, 0, output)
        self.assertEqual(differences(case, self.direct), [])
        # The step stays until the drain has ended: batch systems kill what a step leaves behind.
        self.assertEqual([node["phase"] for node in report_of(json)["nodes"]], ["done", "done"])

    def test_srun_fills_node_after_node_so_each_has_one_collated_group(self):
        case = self.lab.copy_case(self.original, "collated")
        status, output, _ = self.forebay(case, "--layout", "collated")
        self.assertEqual(status, 0, output)
        groups = sorted(name for name in os.listdir(case) if name.startswith("processors"))
        self.assertEqual(groups, ["processors4_0-1", "processors4_2-3"])

    def test_an_undivided_case_on_several_nodes_is_refused(self):
        case = os.path.join(self.lab.shared, "undivided")
        os.mkdir(case)
        status, output, _ = self.forebay(case)
        self.assertEqual(status, 2, output)
        self.assertEqual(os.listdir(case), [])


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
