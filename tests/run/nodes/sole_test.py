"""Ranks of several nodes that may write the same files: refused, or those files stay on the shared file system.

sole_test.py FOREBAY [unittest arguments]
"""

import os
import sys
import unittest

from cluster import Lab, parallel

FOREBAY = ""
# Each rank writes its own part of one file, and a file of its own.
PARTS = """rank=$OMPI_COMM_WORLD_RANK
printf '%s' "part $rank;" | dd of=results/all bs=7 seek=$rank conv=notrunc status=none
hostname > results/of-$rank
test -s input"""


class SoleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(2)
        cls.addClassCleanup(cls.lab.close)

    def setUp(self):
        self.case = os.path.join(self.lab.shared, self.id().split(".")[-1])
        os.makedirs(os.path.join(self.case, "results"))
        with open(os.path.join(self.case, "input"), "w") as file:
            file.write("input\n")

    def forebay(self, launcher, *options):
        return self.lab.run(
            "n1", FOREBAY, "run", "--case", self.lab.seen(self.case), *options, "--", *launcher, "sh", "-c", PARTS,
            directory=self.case,
        )  # fmt: skip

    def test_a_line_that_names_several_nodes_is_refused_before_it_starts(self):
        # "Files that ranks of several nodes write at once stay on the shared file system, or the run is refused"
        status, output = self.forebay(parallel())
        self.assertEqual(status, 2, output)
        self.assertIn("stage.direct", output)
        self.assertEqual(sorted(os.listdir(self.case)), ["input", "results"], "nothing was touched")

    def test_the_second_node_is_refused_where_the_line_does_not_tell(self):
        hosts = os.path.join(self.lab.shared, "hosts")
        with open(hosts, "w") as file:
            file.write("n1 slots=1\nn2 slots=1\n")
        launcher = ["mpirun", "-n", "2", "--mca", "orte_default_hostfile", self.lab.seen(hosts), "--bind-to", "none"]
        status, output = self.forebay(launcher)
        self.assertNotEqual(status, 0, output)
        self.assertRegex(output, r"n[12] and n[12]\)")
        self.assertIn("stage.direct", output)

    def test_directories_that_stay_direct_may_be_written_by_several_nodes_at_once(self):
        for way in ("path", "redirect", "namespace"):
            with self.subTest(way):
                for name in os.listdir(os.path.join(self.case, "results")):
                    os.remove(os.path.join(self.case, "results", name))
                status, output = self.forebay(parallel(), "--set", "stage.direct=results", "--via", way)
                self.assertEqual(status, 0, output)
                with open(os.path.join(self.case, "results", "all")) as file:
                    self.assertEqual(file.read(), "part 0;part 1;part 2;part 3;")
                owners = []
                for rank in range(4):
                    with open(os.path.join(self.case, "results", f"of-{rank}")) as file:
                        owners.append(file.read().strip())
                self.assertEqual(sorted(owners), ["n1", "n1", "n2", "n2"])
                self.assertFalse(os.path.islink(os.path.join(self.case, "results")))
                self.assertFalse(os.path.exists(os.path.join(self.case, ".forebay")))


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
