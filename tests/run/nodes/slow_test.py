"""Two nodes on the standard slow shared directory (GlusterFS, throttled), where they see each other's files late.

slow_test.py FOREBAY [unittest arguments]
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from cluster import HERE, SKIP, Lab, differences, parallel, report_of

FOREBAY = ""
SLOW = os.path.join(HERE, "../../../bench/measure/slow-shared")


class SlowTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.mkdtemp(prefix="forebay-slow-", dir="/var/tmp")
        cls.addClassCleanup(shutil.rmtree, directory, ignore_errors=True)
        mount = os.path.join(directory, "shared")
        cls.addClassCleanup(subprocess.run, [SLOW, "down", mount])
        up = subprocess.run([SLOW, "up", mount], capture_output=True, text=True)
        if up.returncode != 0:
            print(up.stderr.strip())
            os._exit(SKIP if up.returncode == SKIP else 1)
        cls.lab = Lab(2, "--shared", mount)
        cls.addClassCleanup(cls.lab.close)
        cls.lab.shared = mount

    def test_a_run_with_purging_equals_the_direct_one(self):
        original = os.path.join(self.lab.state, "original")  # made where it is fast
        options = ["--ranks", "4", "--steps", "60", "--interval", "20", "--purge", "1"]
        subprocess.run([os.path.join(HERE, "..", "cases", "make-case"), "cavity", original, *options], check=True)
        case = self.lab.copy_case(original, "case")
        direct = self.lab.copy_case(original, "direct")
        words = f"cd {self.lab.seen(direct)} && {' '.join(parallel())} icoFoam -parallel"
        status, output = self.lab.run("n1", "sh", "-c", words)
        self.assertEqual(status, 0, output)
        json = os.path.join(self.lab.shared, "report.json")
        status, output = self.lab.run(
            "n1", FOREBAY, "run", "--case", self.lab.seen(case), "--json", self.lab.seen(json),
            "--safe-interval", "2s", "--", *parallel(), "icoFoam", "-parallel", directory=case,
        )  # fmt: skip
        self.assertEqual(status, 0, output)
        self.assertEqual(differences(case, direct), [])
        self.assertEqual(report_of(json)["last_safe"], "0.3")


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
