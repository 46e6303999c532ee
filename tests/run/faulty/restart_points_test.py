"""What a run calls safe or complete can be restarted from: it has all files of the solver's state on every rank, however
often function objects write beside it. A state that newer times do not replace stays until one does."""

import os
import sys
import time

import harness
from harness import FaultyCase

WAYS = ("namespace", "redirect")  # by path a program removes what it purges itself: docs/run/limits.md

# Every rank writes the files of each step, with OpenFOAM's header and without its closing line, removes its last whole state when it has written the next, and perhaps dies
# instead of writing a file.
SOLVER = """
import os, shutil, sys, time
names_of_step, steps, pause, killed_at = eval(sys.argv[1]), *eval(sys.argv[2])
rank = int(os.environ["OMPI_COMM_WORLD_RANK"]); states = []
header = "FoamFile { version 2.0; format ascii; class volScalarField; object %s; }\\n"
for step in range(1, steps + 1):
    os.makedirs(f"processor{rank}/{step}")
    names = names_of_step(step)
    for name in names:
        if "/" in name: os.makedirs(os.path.dirname(f"processor{rank}/{step}/{name}"), exist_ok=True)
        if (step, rank, name) == killed_at: time.sleep(1); os.kill(os.getpid(), 9)
        with open(f"processor{rank}/{step}/{name}", "w") as file: file.write(header % name + "x" * 20000)
    if "p" in names:
        for older in states: shutil.rmtree(f"processor{rank}/{older}")
        states = [step]
    time.sleep(pause)
time.sleep(5 if killed_at else 0)
"""


class RestartPoints(FaultyCase):
    ranks = 2
    purge = 1

    def make_case(self):
        super().make_case()
        for rank in range(self.ranks):
            os.mkdir(os.path.join(self.case, f"processor{rank}/0"))
            for name in ("U", "p"):
                with open(os.path.join(self.case, f"processor{rank}/0/{name}"), "w") as file:
                    file.write(f"{name} of 0\n")

    def command(self, names_of_step, steps, pause, killed_at=None):
        schedule = repr((steps, pause, killed_at))
        line = [sys.executable, "-c", SOLVER, names_of_step, schedule]
        return ["mpirun", "-n", str(self.ranks), "--oversubscribe", "--bind-to", "none", *line]

    def on_case(self, step, *names):
        """Every rank's files of this step lie on the case, whole."""
        return all(
            os.path.exists(path) and os.path.getsize(path) > 20_000
            for rank in range(self.ranks)
            for path in (os.path.join(self.case, f"processor{rank}/{step}/{name}") for name in names)
        )

    def states_on_case(self, steps):
        return [step for step in range(1, steps + 1) if self.on_case(step, "U", "p")]

    def phases(self):
        return {run["phase"] for run in self.status()}

    def each_way(self):
        for way in WAYS:
            print(way, end=" ", file=sys.stderr, flush=True)
            yield way
            self.tearDown()
            self.setUp()

    def test_only_a_time_with_the_whole_state_is_called_safe(self):
        for way in self.each_way():
            steps = 70
            more = "uniform/functionObjects/functionObjectProperties"
            names = f"lambda step: ['U', 'uniform/time'] + (['p', '{more}'] if step % 10 == 0 else ['vorticity'])"
            process = self.start(self.command(names, steps, 0.08), ["--via", way, "--safe-interval", "1s"])
            called_safe, there = set(), []
            while process.poll() is None:
                before, there = there, self.states_on_case(steps)
                if before and not there:
                    self.assertIsNotNone(process.poll(), f"{before} went, and no other state is there")
                for run in self.status():
                    named = {*run["safe_times"], *filter(None, [run["drain"]["newest_safe"]])}
                    missing = [step for step in named if not self.on_case(step, "U", "p")]
                    if missing and run["phase"] == "running" and self.phases() == {"running"}:
                        self.fail(f"{missing} are called safe, and not whole on the case: {run}")
                    called_safe |= named
                time.sleep(0.05)
            self.assertEqual(self.finish(process), 0, self.output)
            self.assertGreaterEqual(len(called_safe), 2, "states became safe during the run")

    def test_when_a_rank_dies_in_the_middle_of_a_state_the_one_before_comes_home(self):
        for way in self.each_way():
            names = "lambda step: ['vorticity', 'U', 'p'] if step % 4 == 0 else ['vorticity']"
            process = self.start(self.command(names, 12, 0.3, (12, 1, "p")), ["--via", way])
            self.assertNotEqual(self.finish(process), 0, self.output)
            self.assertEqual(self.report["last_complete"], "8", self.output)
            self.assertEqual(self.states_on_case(12), [8], self.output)


if __name__ == "__main__":
    harness.main()
