"""States that all nodes have carried are safe, and whole over all ranks.

restart_points_test.py FOREBAY [unittest arguments]
"""

import json
import os
import shutil
import sys
import time
import unittest

from cluster import Lab, interrupt, parallel, report_of

FOREBAY = ""
RANKS = {"n1": (0, 1), "n2": (2, 3)}
# Every rank writes vorticity at each step and its state at some, removes its last state when it has written the next,
# and waits for the others, as solvers do that exchange messages.
SOLVER = """
import os, shutil, sys, time
state_every, steps, pause, extra = eval(sys.argv[1])
rank = int(os.environ["OMPI_COMM_WORLD_RANK"]); last = None
for step in range(1, steps + 1):
    names = ["vorticity"] + ["U", "p"] * (step % state_every == 0) + extra.get((step, rank), [])
    os.makedirs(f"processor{rank}/{step}")
    for name in names:
        with open(f"processor{rank}/{step}/{name}", "w") as file: file.write(f"{name} of {step}\\n" + "x" * 20000)
    if "p" in names:
        if last: shutil.rmtree(f"processor{rank}/{last}")
        last = step
    open(f"{sys.argv[2]}/{step}.{rank}", "w").close()
    while not all(os.path.exists(f"{sys.argv[2]}/{step}.{other}") for other in range(4)): time.sleep(0.01)
    if rank == 3 and os.path.exists(f"{sys.argv[2]}/die"): os.kill(os.getpid(), 9)
    time.sleep(pause)
"""


class RestartPoints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(2)
        cls.addClassCleanup(cls.lab.close)
        with open(os.path.join(cls.lab.shared, "solver.py"), "w") as file:
            file.write(SOLVER)

    def start(self, name, schedule, *options):
        self.case = os.path.join(self.lab.shared, name)
        self.addCleanup(shutil.rmtree, self.case, ignore_errors=True)
        self.meeting = os.path.join(self.lab.shared, name + "-meeting")
        os.mkdir(self.meeting)
        for path in ["system", *(f"processor{rank}/0" for rank in range(4))]:
            os.makedirs(os.path.join(self.case, path))
        self.write("system/controlDict", "application any;\npurgeWrite 1;\n")
        for rank in range(4):
            for field in ("U", "p"):
                self.write(f"processor{rank}/0/{field}", f"{field} of 0\n")
        self.json = os.path.join(self.lab.shared, name + ".json")
        run = self.lab.start(
            "n1", FOREBAY, "run", "--case", self.lab.seen(self.case), "--json", self.lab.seen(self.json),
            "--safe-interval", "1s", *options, "--", *parallel(), sys.executable, "/mnt/shared/solver.py",
            repr(schedule), self.lab.seen(self.meeting), directory=self.case,
        )  # fmt: skip
        self.addCleanup(lambda: run.poll() is None and interrupt(run))
        return run

    def write(self, name, text):
        with open(os.path.join(self.case, name), "w") as file:
            file.write(text)

    def has_state(self, ranks, step):
        paths = [os.path.join(self.case, f"processor{rank}/{step}/{name}") for rank in ranks for name in ("U", "p")]
        return all(os.path.exists(path) and os.path.getsize(path) > 20_000 for path in paths)

    def reports(self):
        for node in RANKS:
            try:
                yield node, report_of(os.path.join(self.case, ".forebay", f"node-{node}.json"))
            except (OSError, ValueError):
                pass  # not there yet, or being rewritten

    def called_safe(self):
        """Pairs of ranks and a time that a node calls safe for them, or both nodes for all ranks."""
        safe = {node: set(report["safe_times"]) for node, report in self.reports() if report["phase"] == "running"}
        found = {(RANKS[node], step) for node, steps in safe.items() for step in steps}
        if len(safe) == len(RANKS):
            found |= {(range(4), step) for step in set.intersection(*safe.values())}
        return found

    def test_only_whole_states_become_safe(self):
        for way in ("redirect", "path"):
            with self.subTest(way):
                run = self.start(way, (5, 45, 0.1, {}), "--via", way)
                safe, had = set(), False
                while run.poll() is None:
                    for ranks, step in self.called_safe():
                        if not self.has_state(ranks, step) and (ranks, step) in self.called_safe():
                            self.fail(f"{step} is called safe for {ranks}, and not whole on the case")
                        safe |= {step} if len(ranks) == 4 else set()
                    states = [step for step in range(1, 46) if self.has_state(range(4), step)]
                    phases = {report["phase"] for _, report in self.reports()}
                    if had and not states and phases == {"running"}:
                        self.fail("the last state went from the case")
                    had = bool(states)
                    time.sleep(0.05)
                output = run.communicate()[0]
                self.assertEqual(run.returncode, 0, output)
                self.assertGreaterEqual(len(safe), 1, "states became safe over all ranks")
                self.assertEqual(report_of(self.json)["last_safe"], "45")

    def test_a_state_that_all_nodes_have_is_there_after_a_rank_has_died(self):
        run = self.start("extra", (5, 1000, 0.1, {(10, 0): ["phi"]}), "--via", "redirect")
        newest = 0
        while run.poll() is None and newest < 40:
            newest = max([newest, *(int(step) for ranks, step in self.called_safe() if len(ranks) == 4)])
            time.sleep(0.05)
        open(os.path.join(self.meeting, "die"), "w").close()
        output = run.communicate(timeout=60)[0]
        self.assertNotEqual(run.returncode, 0, output)
        last = report_of(self.json)["last_complete"]
        self.assertGreaterEqual(int(last), 40)
        there = [rank for rank in range(4) if self.has_state([rank], last)]
        self.assertEqual(there, [0, 1, 2, 3], f"of time {last}\n" + output)
        status, text = self.lab.run("n1", FOREBAY, "restartable", "--json", "--case", self.lab.seen(self.case))
        self.assertEqual(status, 0, text)
        self.assertGreaterEqual(int(json.loads(text)["restartable"]), int(last), text)


if __name__ == "__main__":
    FOREBAY = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
