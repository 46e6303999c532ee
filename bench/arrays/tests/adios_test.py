"""Proves that ADIOS2 of PyPI writes what the benchmark times, and that nothing of it stays.

adios_test.py DIRECTORY-OF-PACKAGES      exit status 77 (skipped) where it cannot be installed
"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from arrays import adios, scattered

packages = Path(sys.argv.pop())


class Adios(unittest.TestCase):
    def test_each_engine_writes_a_file_for_each_rank_and_leaves_none(self):
        with tempfile.TemporaryDirectory() as place:
            nothing = Path("/nowhere")
            measured = scattered.Measured(nothing, None, None, nothing, 1, self.fail, python)
            figures = measured.write_by_adios(100_000, Path(place))
            self.assertEqual(set(figures), {"BP4", "BP5"})
            self.assertGreater(min(min(seconds) for seconds in figures.values()), 0)
            self.assertEqual(list(Path(place).iterdir()), [])


if __name__ == "__main__":
    python = adios.interpreter(packages, print)
    if python is None:
        sys.exit(77)
    unittest.main()
