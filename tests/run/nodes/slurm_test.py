"""forebay run beneath Slurm, over two nodes: `forebay run -- srun -n 4 -N 2 --mpi=pmix SOLVER -parallel`; and the scripts
of the pages for users: a job, its submission, a requeue, an epilog, a resume on a node of somebody's choice.

slurm_test.py FOREBAY [unittest arguments]
"""

import json
import os
import re
import subprocess
import sys
import unittest
from unittest import mock

from cluster import HERE, SKIP, Lab, common_times, differences, report_of, wait_for
from pages import listing

FOREBAY = ""
ENVIRONMENT = ["env", "SLURM_CONF=/mnt/lab/slurm.conf"]
SRUN = ["srun", "-n", "4", "-N", "2", "--mpi=pmix"]


class SlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(2)
        cls.addClassCleanup(cls.lab.close)
        epilog = os.path.join(cls.lab.state, "epilog")
        with open(epilog, "w") as file:
            file.write(listing("epilog", "administrators.md").replace(" forebay ", f" {FOREBAY} "))
        words = [os.path.join(HERE, "slurm"), "up", cls.lab.state, "2", epilog]
        up = subprocess.run(words, capture_output=True, text=True)
        if up.returncode != 0:
            cls.lab.close()
            print(up.stderr.strip())
            os._exit(SKIP if up.returncode == SKIP else 1)
        cls.original = cls.lab.make_case("original", "cavity", "--ranks", "4", "--steps", "4")
        cls.json = os.path.join(cls.lab.shared, "report.json")
        cls.direct, status, output = cls.on_a_copy("direct", cls.directly)
        assert status == 0, output

    @classmethod
    def on_a_copy(cls, name, run, *options):
        """Open MPI's ranks crash now and then when srun starts them, with forebay or without (one of 74 direct runs, beside
        other tests): then once more, on another copy."""
        for attempt in range(3):
            case = cls.lab.copy_case(cls.original, f"{name}-{attempt}")
            status, output = run(case, *options)
            if "Signal: Segmentation fault" not in output or "\nTime = " in output:
                break
        return case, status, output

    @classmethod
    def directly(cls, case):
        words = f"cd {cls.lab.seen(case)} && {' '.join(SRUN)} icoFoam -parallel"
        return cls.lab.run("n1", *ENVIRONMENT, "sh", "-c", words)

    @classmethod
    def by_forebay(cls, case, *options):
        return cls.lab.run(
            "n1", *ENVIRONMENT, FOREBAY, "run", "--case", cls.lab.seen(case), "--json", cls.lab.seen(cls.json), *options,
            "--", *SRUN, "icoFoam", "-parallel", directory=case,
        )  # fmt: skip

    def test_a_run_by_srun_equals_the_direct_one(self):
        case, status, output = self.on_a_copy("verbatim", self.by_forebay)
        self.assertEqual(status, 0, output)
        self.assertEqual(differences(case, self.direct), [])
        # The step stays until the drain has ended: batch systems kill what a step leaves behind.
        self.assertEqual([node["phase"] for node in report_of(self.json)["nodes"]], ["done", "done"])

    def test_srun_fills_node_after_node_so_each_has_one_collated_group(self):
        case, status, output = self.on_a_copy("collated", self.by_forebay, "--layout", "collated")
        self.assertEqual(status, 0, output)
        groups = sorted(name for name in os.listdir(case) if name.startswith("processors"))
        self.assertEqual(groups, ["processors4_0-1", "processors4_2-3"])

    def test_an_undivided_case_on_several_nodes_is_refused(self):
        case = os.path.join(self.lab.shared, "undivided")
        os.mkdir(case)
        status, output = self.by_forebay(case)
        self.assertEqual(status, 2, output)
        self.assertEqual(os.listdir(case), [])

    # What a user does who reads the pages.

    def as_user(self, script, case, **stands_for):
        """Of n1, with forebay installed in the home directory. What stands for the reader's own is replaced."""
        for shown, own in {"/shared/motorBike": self.lab.seen(case), **stands_for}.items():
            script = script.replace(shown, own)
        home = os.path.join(self.lab.shared, "home")
        os.makedirs(os.path.join(home, ".local/bin"), exist_ok=True)
        if not os.path.lexists(f"{home}/.local/bin/forebay"):
            os.symlink(FOREBAY, f"{home}/.local/bin/forebay")
        path = f"{self.lab.seen(home)}/.local/bin:{os.environ['PATH']}"
        user = ["env", f"HOME={self.lab.seen(home)}", f"PATH={path}", "USER=root"]
        status, output = self.lab.run("n1", *ENVIRONMENT, *user, "bash", "-ec", script, directory=case)
        self.assertEqual(status, 0, output)
        return output

    def submit(self, case):
        """The job of the page, for two nodes of two cores."""
        job = listing("job", "cluster-quickstart.md").replace("=48", "=2").replace("=180G", "=1G")
        with open(os.path.join(case, "job.sh"), "w") as file:
            file.write(job.replace("simpleFoam", "icoFoam"))
        said = self.as_user(listing("submit", "cluster-quickstart.md"), case)
        return re.search(r"Submitted batch job (\d+)", said)[1]

    def begun(self, name, make_case, *options):
        """A case and its job, whose program works: of ranks that crash when srun starts them see on_a_copy."""
        for attempt in range(3):
            case = make_case(f"{name}-{attempt}", *options)
            job = self.submit(case)
            wait_for(
                lambda case=case, job=job: "\nTime = " in self.read(case, "log.icoFoam") or self.has_ended(job),
                60,
                "a step",
            )
            if "\nTime = " in self.read(case, "log.icoFoam"):
                return case, job
        raise AssertionError(self.read(case, "log.job"))

    def read(self, case, name):
        try:
            with open(os.path.join(case, name)) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def slurm(self, *words):
        return self.lab.run("n1", *ENVIRONMENT, *words)[1].strip()

    def state_of(self, job):
        return self.slurm("squeue", "-h", "-j", job, "-o", "%T")

    def has_ended(self, job):
        return self.state_of(job) in ("", "COMPLETED", "FAILED", "CANCELLED")

    def end_of(self, job, case):
        """Also of the epilogs."""
        wait_for(lambda: self.has_ended(job), 60, f"the end of job {job}")
        wait_for(lambda: self.slurm("sinfo", "-h", "-t", "idle", "-o", "%D") == "2", 30, "idle nodes")
        return self.read(case, "log.job")

    def endless_case(self, name, *options):
        case = self.lab.make_case(name, "cavity", "--ranks", "4", "--steps", "1000000", *options)
        control = os.path.join(case, "system/controlDict")
        with open(control) as file:
            text = re.sub(r"startFrom\s.*;", "startFrom latestTime;", file.read())
        with open(control, "w") as file:
            file.write(text)
        return case

    def newest(self, case):
        return max(map(float, common_times(case, 4)), default=0)

    def check_whole(self, case, log):
        """Nothing is left of the run, and all that its newest complete time has is on the case."""
        self.assertFalse(os.path.exists(os.path.join(case, ".forebay")), log)
        status, output = self.lab.run("n1", FOREBAY, "restartable", "--json", directory=case)
        self.assertEqual(status, 0, output)
        newest = json.loads(output)["restartable"]
        self.assertIn(newest, common_times(case, 4), log)

    def test_the_job_of_the_quick_start(self):
        self.assertIn("to gain:", self.as_user(listing("look", "cluster-quickstart.md"), self.original))
        case, job = self.begun("job", lambda name: self.lab.copy_case(self.original, name))
        log = self.end_of(job, case)
        self.assertIn("forebay run ended with 0\n", log)
        self.assertIn("exit status           0", log)
        self.assertIn("Time = ", self.read(case, "log.icoFoam"))
        ours = ("log", "log.job", "log.icoFoam", "job.sh", "report.json")
        self.assertEqual(differences(case, self.direct, ours), [])

    def test_a_requeue_goes_on_and_a_signal_before_the_limit_leaves_a_whole_case(self):
        case, job = self.begun("requeued", self.endless_case, "--interval", "5")
        first = wait_for(lambda: self.newest(case), 60, "a time on the case")
        self.slurm("scontrol", "requeue", job)
        wait_for(lambda: self.newest(case) > first + 0.1, 90, "progress of the job that was requeued")
        self.assertIn("Restarts=1", self.slurm("scontrol", "show", "job", job))
        self.assertIn("newest restartable time", self.read(case, "log.job"))
        # What --signal=TERM@600 does ten minutes before the limit.
        self.slurm("scancel", "--signal=TERM", job)
        log = self.end_of(job, case)
        self.assertIn("forebay run ended with 143\n", log)
        self.check_whole(case, log)

    def test_what_a_killed_job_left_is_brought_home_by_the_epilog(self):
        """The shared file system takes so little that the drain lasts longer than Slurm waits for it."""
        with mock.patch.dict(os.environ, FOREBAY_DRAIN_WHEN="end", FOREBAY_DRAIN_BANDWIDTH="20k"):
            case, job = self.begun("killed", self.endless_case)
        wait_for(lambda: "\nTime = 0.06\n" in self.read(case, "log.icoFoam"), 60, "12 times in the pools")
        # Where the program was fast, some have had to leave a pool that was nearly full.
        self.assertLess(self.newest(case), 0.06)
        self.slurm("scancel", job)
        log = self.end_of(job, case)
        self.assertIn(": Killed", log, "Slurm killed the step while it drained")
        self.as_user(listing("resume-job", "after-a-crash.md"), case)  # on the node that has the mark to remove
        self.check_whole(case, log)
        self.assertGreaterEqual(self.newest(case), 0.04)


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
