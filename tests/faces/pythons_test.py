"""Proves: with the oldest Python that is promised, 3.9, and with the newest ones that are here, the trajectory's face does
what its tests say.

pythons_test.py WITH_PACKAGES DIRECTORY         the virtual environments with NumPy go below DIRECTORY
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).parent
WITH_PACKAGES, DIRECTORY = sys.argv[1:]
TESTS = ("lifetime", "values", "types", "trajectory")
SKIPPED = 77
# Between two that are looked at; and the one with which the other tests run.
NOT_NEEDED = ("3.10", "3.12", f"3.{sys.version_info.minor}")


def pythons():
    """By version, those of the path and of pyenv."""
    found = {}
    for path in pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")).glob(
        "versions/3.*/bin/python"
    ):
        found.setdefault(re.match(r"3\.\d+", path.parts[-3])[0], str(path))
    for minor in range(9, 20):
        on_path = shutil.which(f"python3.{minor}", path=os.pathsep.join(("/usr/bin", "/usr/local/bin")))
        if on_path:
            found[f"3.{minor}"] = on_path
    return {version: path for version, path in found.items() if int(version[2:]) >= 9}


class Pythons(unittest.TestCase):
    def test_each_passes(self):
        ran = 0
        for version, python in sorted(pythons().items()):
            if version in NOT_NEEDED:
                continue
            for test in TESTS:
                with self.subTest(python=version, test=test):
                    place = os.path.join(DIRECTORY, version)
                    words = [WITH_PACKAGES, place, python, "numpy", "-Wignore", str(HERE / f"{test}_test.py")]
                    done = subprocess.run(words, capture_output=True, text=True, timeout=250, check=False)
                    if done.returncode == SKIPPED:
                        break
                    ran += 1
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        print("ran:", ran, "tests with", ", ".join(sorted(pythons())), file=sys.stderr)
        if ran == 0:
            sys.exit(SKIPPED)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
