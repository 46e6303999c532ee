"""Proves: Debian's Code_Saturne, unmodified, on 4 ranks with its own MPI-IO, its checkpoint, mesh_output and post-processing
through `forebay run`: the run directory equals a direct run's but for the files named in saturne.EXCLUDED, and a restart from
the drained checkpoint continues bit for bit as one from a direct run's does.

equality_test.py FOREBAY [unittest arguments]
"""

import os
import sys
import unittest

import saturne
from saturne import casetools

FOREBAY = ""
STEPS = 4


class EqualityTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = casetools.Workplace("code-saturne")
        cls.addClassCleanup(cls.place.remove)
        cls.study = saturne.Study(cls.place.directory)

    def forebay(self, run_directory, *options):
        words = [FOREBAY, "run", "--case", run_directory, "--pool", self.place.pool, *options, "--"]
        done = saturne.run_solver(run_directory, words)
        self.assertEqual(casetools.leftovers(run_directory, self.place.pool), [], done.stderr)

    def pair(self, name, **options):
        """Two run directories that are staged alike."""
        staged = self.study.stage(name, STEPS, **options)
        copy = os.path.join(os.path.dirname(staged), name + "-forebay")
        casetools.copy_case(staged, copy)
        return staged, copy

    def assert_equal(self, direct, forebay):
        found = casetools.differences(casetools.snapshot(direct), casetools.snapshot(forebay), saturne.EXCLUDED)
        self.assertEqual(found, [])

    def test_the_run_directory_equals_that_of_a_direct_run_and_a_restart_goes_on_bit_for_bit(self):
        for method, way in (
            ("mpi collective", "namespace"),
            ("stdio serial", "redirect"),
            ("mpi noncollective", "path"),
        ):
            with self.subTest(method):
                name = way
                direct, forebay = self.pair(name, checkpoint_every=2, method=method)
                saturne.run_solver(direct)
                self.forebay(forebay, "--via", way, "--set", "drain.settle=100ms")
                self.assert_equal(direct, forebay)
                self.assertIn("main", saturne.checkpoint_of(forebay))
                self.assertTrue(os.path.isdir(os.path.join(forebay, "postprocessing")))
                restarts = []
                for source in (direct, forebay):
                    checkpoint = os.path.join(source, "checkpoint")
                    restart = self.study.stage(os.path.basename(source) + "-on", 2 * STEPS, restart=checkpoint)
                    saturne.run_solver(restart) if source == direct else self.forebay(restart, "--via", way)
                    restarts.append(saturne.checkpoint_of(restart))
                self.assertEqual(restarts[0], restarts[1])

    def test_a_mesh_that_the_solver_changes_arrives(self):
        direct, forebay = self.pair("cut", cut=True)
        saturne.run_solver(direct)
        self.forebay(forebay)
        self.assert_equal(direct, forebay)
        # It is written as mesh_output, and then becomes the checkpoint's mesh by a rename.
        with open(os.path.join(forebay, "run_solver.log")) as log:
            self.assertIn("Finished writing:    mesh_output", log.read())
        with open(os.path.join(forebay, "mesh_input"), "rb") as mesh:
            self.assertGreater(len(saturne.checkpoint_of(forebay)["mesh_input"]), len(mesh.read()))


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    saturne.need_code_saturne()
    unittest.main(verbosity=2)
