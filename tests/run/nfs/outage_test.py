"""The server of NFS ends while results are carried, and comes back; or it does not, for longer than patience lasts. Run in
the virtual machine (machine.py)."""

import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../faulty"))

import harness  # noqa: E402
from harness import FaultyCase, wait_for  # noqa: E402

OUTAGE = 20


def server(word):
    with open("/run/server", "w") as steering:
        steering.write(word + "\n")


class Case(FaultyCase):
    def make_case(self):
        place = tempfile.mkdtemp(dir="/shared")
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        self.case = os.path.join(place, "case")
        super().make_case()

    def begin(self, steps, patience):
        process = self.start(
            self.solver("-steps", steps, "-delay", 400, "-bytes", 20_000),
            ["--patience", patience, "--set", "drain.silence=60s"],
        )
        wait_for(lambda: any(".fb-" not in name for name in self.on_case()), 60, "the first drained file")
        return process


class Outage(Case):
    ranks = 2

    def test_a_server_that_ends_and_comes_back_costs_nothing_but_time(self):
        process = self.begin(40, "120s")
        server("stops")
        time.sleep(OUTAGE)
        self.assertIsNone(process.poll(), "the run ended during the outage")
        server("starts")
        self.assertEqual(self.finish(process, 240), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()


class Absence(Case):
    ranks = 0  # mpirun itself hangs, whose working directory is the case

    def test_a_server_that_stays_away_ends_the_run_with_3_and_a_resume_brings_the_rest(self):
        process = self.begin(20, "5s")
        server("stops")
        try:
            status = self.finish(process, 120)
        finally:
            server("starts")
        self.assertEqual(status, harness.UNDRAINED, self.output)
        self.assertIn(self.case, self.output)
        self.assertEqual(self.resume(), 0, self.output)
        self.assert_all_home()
        self.assert_nothing_left()


if __name__ == "__main__":
    harness.main()
