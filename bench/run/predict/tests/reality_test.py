"""Proves: two runs against the throttled directory end when `forebay predict` says, within a quarter.

reality_test.py FOREBAY. Needs root, like bench's slow shared directory; two minutes.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from measure.shared import Shared  # noqa: E402

SKIPPED = 77
WITHIN = 0.25
FOREBAY = ""
CONTROL = "application simpleFoam;\nstartFrom startTime;\nstartTime 0;\ndeltaT 1;\nendTime {steps};\nwriteControl timeStep;\nwriteInterval 1;\npurgeWrite 0;\n"  # fmt: skip
# A step is a pause: a processor that other tests use, too, would not be told apart.
SOLVER = """#!/usr/bin/python3
import os, sys, time
rank, (steps, step, size) = os.environ["OMPI_COMM_WORLD_RANK"], map(float, sys.argv[1:])
content = os.urandom(int(size))
for number in range(1, int(steps) + 1):
    time.sleep(step)
    os.makedirs(f"processor{rank}/{number}", exist_ok=True)
    with open(f"processor{rank}/{number}/U", "wb") as file:
        file.write(content)
"""


class RealityTest(unittest.TestCase):
    def setUp(self):
        self.scratch = Path(tempfile.mkdtemp(prefix="forebay-reality-"))
        self.pool = tempfile.mkdtemp(prefix="forebay-reality-", dir="/dev/shm")
        for each in (self.scratch, self.pool):
            self.addCleanup(shutil.rmtree, each, ignore_errors=True)

    def compare(self, steps: int, step: float, megabytes: int, cap: str, budget: str):
        """Two ranks, all times kept, by a drain that is capped below what the program writes."""
        settings = ("--budget", budget, "--set", f"drain.bandwidth={cap}")
        with Shared(self.scratch / "shared") as shared:
            if not shared.slow:
                print(f"skipped: {shared.description}")
                sys.exit(SKIPPED)
            case = shared.directory / "case"
            for rank in range(2):
                (case / f"processor{rank}/constant").mkdir(parents=True)
            (case / "system").mkdir()
            (case / "system/controlDict").write_text(CONTROL.format(steps=steps))
            (case / "solver").write_text(SOLVER)
            (case / "solver").chmod(0o755)
            asked = ("--machine", "slow-shared", "--ranks", "2", "--files", "1", "--dirs", "1", "--bytes", f"{megabytes}MB", "--step", f"{step}s")  # fmt: skip
            said = subprocess.run([FOREBAY, "predict", "--case", case, *asked, *settings, "--json"], check=True, capture_output=True, text=True).stdout  # fmt: skip
            run = [
                FOREBAY,
                "run",
                "--quiet",
                "--case",
                case,
                "--pool",
                self.pool,
                "--set",
                f"pool.budget={budget}",
                *settings[2:],
            ]
            report = self.scratch / "report.json"
            mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
            done = subprocess.run([*run, "--json", report, "--", *mpirun, "./solver", str(steps), str(step), str(megabytes * 1e6)], cwd=case, capture_output=True, text=True, timeout=180)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
        told, seen = json.loads(said), json.loads(report.read_text())
        predicted = next(each["value"] for each in told["results"] if each["key"] == "run_live")
        print(f"predicted {predicted:.1f} s, held from step {told['held_from_step']['live']:.0f}; seen {seen['wall_seconds']:.1f} s")  # fmt: skip
        self.assertAlmostEqual(seen["wall_seconds"] / predicted, 1, delta=WITHIN)

    def test_steps_of_half_a_second(self):
        self.compare(steps=40, step=0.5, megabytes=10, cap="20MB", budget="200MB")

    def test_steps_of_a_third_of_a_second(self):
        self.compare(steps=60, step=0.3, megabytes=5, cap="15MB", budget="150MB")


if __name__ == "__main__":
    FOREBAY = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
