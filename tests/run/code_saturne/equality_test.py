"""Proves: Debian's Code_Saturne, unmodified, on 4 ranks with its own MPI-IO, its checkpoint, mesh_output and post-processing
through `forebay run`: the run directory equals a direct run's (../parity) but for what tells times (saturne.TELL_TIMES),
and a restart from the drained checkpoint continues bit for bit as one from a direct run's does.

equality_test.py FOREBAY [unittest arguments]
"""

import os
import sys
import unittest

import saturne
from saturne import casetools, oracle

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

    def run_both(self, name, way, **options):
        """The run directories of a direct run and of one under forebay, when they have been found equal."""
        judge = saturne.oracle_from(self.study.stage(name, STEPS, **options), self.place, FOREBAY)
        (direct,) = judge.run_directly(saturne.solver(), times=1)  # all else it does alike each time
        self.assertEqual(direct.status, 0, direct.errors)
        # What several ranks write at once has no order.
        settings = oracle.Settings(way, options=("--set", "drain.settle=100ms"), ordered=False)
        verdict = judge.run_under_forebay(saturne.solver(), settings)
        self.assertEqual(verdict.lines(), [])
        return direct.case, verdict.run.case

    def test_the_run_directory_equals_that_of_a_direct_run_and_a_restart_goes_on_bit_for_bit(self):
        for method, way in (
            ("mpi collective", "namespace"),
            ("stdio serial", "redirect"),
            ("mpi noncollective", "path"),
        ):
            with self.subTest(method):
                direct, forebay = self.run_both(way, way, checkpoint_every=2, method=method)
                self.assertIn("main", saturne.checkpoint_of(forebay))
                self.assertTrue(os.path.isdir(os.path.join(forebay, "postprocessing")))
                restarts = []
                for name, source in ((way, direct), (way + "-forebay", forebay)):
                    checkpoint = os.path.join(source, "checkpoint")
                    restart = self.study.stage(name + "-on", 2 * STEPS, restart=checkpoint)
                    saturne.run_solver(restart) if source == direct else self.forebay(restart, "--via", way)
                    restarts.append(saturne.checkpoint_of(restart))
                self.assertEqual(restarts[0], restarts[1])

    def test_a_mesh_that_the_solver_changes_arrives(self):
        _, forebay = self.run_both("cut", "redirect", cut=True)
        # It is written as mesh_output, and then becomes the checkpoint's mesh by a rename.
        with open(os.path.join(forebay, "run_solver.log")) as log:
            self.assertIn("Finished writing:    mesh_output", log.read())
        with open(os.path.join(forebay, "mesh_input"), "rb") as mesh:
            self.assertGreater(len(saturne.checkpoint_of(forebay)["mesh_input"]), len(mesh.read()))


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    saturne.need_code_saturne()
    unittest.main(verbosity=2)
