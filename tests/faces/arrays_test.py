"""Proves: each face of arrays, on 1, 2 and 4 ranks and by another method, reads what the others have written, and all
files have the same bytes.

    arrays_test.py MPIEXEC FACE...      each FACE a command, its words separated by ';'
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

MPIEXEC = ""
FACES = []
METHODS = ("mpi-collective", "staged", "stdio")


class FacesTest(unittest.TestCase):
    def setUp(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.directory = tempfile.mkdtemp(prefix="forebay-faces-", dir=memory)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def test_each_reads_what_the_others_have_written(self):
        files = []
        for ranks in (4, 1, 2):
            for number, face in enumerate(FACES):
                method = METHODS[(number + ranks) % len(METHODS)]
                files.insert(0, f"{number}-{ranks}.h5")
                with self.subTest(face=face, ranks=ranks, method=method):
                    words = [MPIEXEC, "-n", str(ranks), *face.split(";"), self.directory, method, *files]
                    done = subprocess.run(words, capture_output=True, text=True, timeout=100)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        contents = set()
        for file in files:
            with open(os.path.join(self.directory, file), "rb") as content:
                contents.add(content.read())
        self.assertEqual(len(contents), 1)


if __name__ == "__main__":
    MPIEXEC, *FACES = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
