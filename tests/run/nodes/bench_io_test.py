"""`forebay bench io --shared` on two nodes: one process of each measures, and the first one tells of both.

bench_io_test.py FOREBAY [unittest arguments]
"""

import json
import os
import sys
import time
import tomllib
import unittest

from cluster import Lab, parallel

FOREBAY = ""


class BenchIoTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(2)
        cls.addClassCleanup(cls.lab.close)

    def bench(self, *options):
        shared = os.path.join(self.lab.shared, self.id().split(".")[-1])
        os.mkdir(shared)
        words = [FOREBAY, "bench", "io", "--shared", self.lab.seen(shared), "--quick", "--block", "8M", *options]
        return shared, *self.lab.run("n1", *parallel(), *words)

    def test_nodes_measure_together_and_one_tells(self):
        shared, status, output = self.bench("--json", "-o", "/mnt/shared/my.toml")
        self.assertEqual(status, 0, output)
        told = json.JSONDecoder().raw_decode(output[output.index('{\n "forebay_version"') :])[0]
        names = [row["name"].split(": ")[1] for row in told["results"]]
        self.assertIn("create, 1 process", names)
        self.assertIn("create, 2 processes, 2 nodes", names)
        self.assertIn("write, file, fresh, 1 MiB, 2 writers, fsync, 2 nodes", names)
        with open(os.path.join(self.lab.shared, "my.toml"), "rb") as file:
            profile = tomllib.load(file)
        self.assertIn("2 nodes", profile["shared"]["operations_per_s"]["from"])
        self.assertEqual(os.listdir(shared), [])

    def test_why_nothing_is_measured_is_told_to_all_at_once(self):
        began = time.monotonic()
        shared, status, output = self.bench("--block", "9000G")
        self.assertEqual(status, 2, output)
        self.assertEqual(output.count("twice what is written"), 1, output)
        self.assertNotIn("did not come", output)
        self.assertLess(time.monotonic() - began, 50)
        self.assertEqual(os.listdir(shared), [])

    def test_where_a_node_does_not_see_it_that_is_told(self):
        status, output = self.lab.run("n1", *parallel(), "sh", "-c", f'mkdir -p /tmp/x$(hostname) && exec "{FOREBAY}" bench io --quick --shared /tmp/xn1')  # fmt: skip
        self.assertNotEqual(status, 0, output)
        self.assertIn("not a directory: /tmp/xn1", output)


if __name__ == "__main__":
    FOREBAY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
