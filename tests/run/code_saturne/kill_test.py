"""Proves: "Code_Saturne unlinks its old checkpoint before it writes the new one and never syncs: the drained side must
always hold a whole one". The program, or everything with the agent, is killed at random moments; main and auxiliary on
the case are then those of one and the same checkpoint, as a run that was left alone wrote it, and Code_Saturne goes on
from them. FOREBAY_TEST_SEED repeats a run.

kill_test.py FOREBAY [unittest arguments]
"""

import os
import random
import subprocess
import sys
import time
import unittest

import saturne
from saturne import casetools, processes

FOREBAY = ""
STEPS, EVERY = 400, 20
CELLS = 16


class KillTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = casetools.Workplace("code-saturne-kill")
        cls.addClassCleanup(cls.place.remove)
        cls.study = saturne.Study(cls.place.directory, CELLS)
        seed = int(os.environ.get("FOREBAY_TEST_SEED", time.time_ns() % 1_000_000))
        print(f"seed {seed} (FOREBAY_TEST_SEED)")
        cls.points = random.Random(seed)
        cls.staged = cls.study.stage("killed", STEPS, checkpoint_every=EVERY, output_every=-1)
        cls.known = {}

    def start(self, run_directory):
        self.words = [FOREBAY, "run", "--case", run_directory, "--pool", self.place.pool]
        return subprocess.Popen(
            [*self.words, "--set", "drain.settle=400ms", "--", *saturne.solver()],
            cwd=run_directory, env=saturne.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip

    def kill(self, *names):
        for name in names:
            for pid in processes.mentioning(self.place.directory, name):
                processes.kill(pid)

    def assert_one_checkpoint(self, run_directory):
        """Both files are of one step, and just what a direct run of so many steps leaves; returns the step."""
        found = saturne.checkpoint_of(run_directory)
        self.assertEqual(sorted(found), ["auxiliary", "main", "mesh_input"])
        step = saturne.step_of(os.path.join(run_directory, "checkpoint", "main"))
        if step not in self.known:
            direct = self.study.stage(f"direct-{step}", step, output_every=-1)
            saturne.run_solver(direct)
            self.known[step] = saturne.checkpoint_of(direct)
        self.assertEqual(found, self.known[step], f"the checkpoint of step {step} is not whole")
        return step

    def assert_goes_on(self, run_directory, step):
        checkpoint = os.path.join(run_directory, "checkpoint")
        restart = self.study.stage(
            os.path.basename(run_directory) + "-on", step + 1, output_every=-1, restart=checkpoint
        )
        saturne.run_solver(restart)
        self.assertEqual(saturne.step_of(os.path.join(restart, "checkpoint", "main")), step + 1)

    def run_until(self, run_directory, seconds):
        """Until some checkpoint is on the case, and then for so long."""
        process = self.start(run_directory)
        self.addCleanup(process.stdout.close)
        there = os.path.join(run_directory, "checkpoint", "auxiliary")
        casetools.wait_for(lambda: os.path.exists(there) or process.poll() is not None)
        self.assertIsNone(process.poll(), "it ended before it could be killed")
        time.sleep(seconds)
        return process

    def test_a_killed_program_leaves_a_whole_checkpoint(self):
        for trial in range(2):
            case = f"{self.staged}-program-{trial}"
            casetools.copy_case(self.staged, case)
            process = self.run_until(case, self.points.uniform(0, 1.5))
            self.kill("cs_solver")
            output, _ = process.communicate(timeout=60)
            self.assertNotEqual(process.returncode, 0, output)
            step = self.assert_one_checkpoint(case)
            self.assertEqual(casetools.leftovers(case, self.place.pool), [], output)
        self.assert_goes_on(case, step)

    def test_when_all_is_killed_the_case_has_a_whole_checkpoint_and_resuming_brings_no_other(self):
        case = f"{self.staged}-all"
        casetools.copy_case(self.staged, case)
        process = self.run_until(case, self.points.uniform(0, 1.5))
        self.kill("forebay", "forebay-agent", "mpirun", "cs_solver")
        process.communicate(timeout=60)
        casetools.wait_for(lambda: not processes.mentioning(self.place.directory, "cs_solver"))
        before = self.assert_one_checkpoint(case)
        resumed = subprocess.run(
            [FOREBAY, "drain", "--resume", "--quiet", "--case", case, "--pool", self.place.pool],
            env=saturne.environment(), capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertGreaterEqual(self.assert_one_checkpoint(case), before)
        self.assertEqual(casetools.leftovers(case, self.place.pool), [])


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    saturne.need_code_saturne()
    unittest.main(verbosity=2)
