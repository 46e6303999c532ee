"""What the tests of the trajectory's Python face share: a directory in memory, and trajectories that are closed."""

import os
import shutil
import tempfile
import unittest

import forebay

MIB = 1 << 20


class TrajectoryCase(unittest.TestCase):
    def setUp(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.directory = self.scratch(memory)

    def scratch(self, where=None):
        made = tempfile.mkdtemp(prefix="forebay-faces-", dir=where)
        self.addCleanup(shutil.rmtree, made, ignore_errors=True)
        return made

    def open(self, *tiers, **options):
        made = forebay.Trajectory(tiers or [forebay.pool(self.directory, 16 * MIB)], **options)
        self.addCleanup(made.close)
        return made

    def fails(self, status):
        test = self

        class Context:
            def __enter__(self):
                return self

            def __exit__(self, kind, error, traceback):
                test.assertIsInstance(error, forebay.TrajectoryError)
                test.assertEqual(error.status, status, str(error))
                self.words = str(error)
                return True

        return Context()
