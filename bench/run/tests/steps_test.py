"""Steps, turns and cases of the benchmark of solvers, without a solver.

steps_test.py
"""

import itertools
import os
import shutil
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from measure import figures, report

from run import case, solver, steps
from run import variants as v
from run.solver import Run


def run_of(*lengths: float) -> v.Measured:
    marks = [0.0]
    for length in lengths:
        marks.append(marks[-1] + length)
    return v.Measured(Run(0.0, marks[-1], 0, [str(k) for k in range(len(lengths))], marks))


def alternating(outputs: list[float], equations: list[float], turns: list[range]) -> Run:
    """Steps that take so long from the last equation to the next step's first, and so long from the first to the last."""
    run = Run(0.0, times=[str(k) for k in range(1, len(equations) + 1)], turns=turns)
    now = 0.0
    for output, solving in zip([0.0, *outputs], equations, strict=True):
        run.first_solved.append(now + output)
        now += output + solving
        run.last_solved.append(now)
    return run


class Steps(unittest.TestCase):
    def test_a_disturbance_in_one_run_falls_out_and_a_cost_of_every_run_stays(self):
        repetitions = [
            {v.NONE_SHARED: run_of(1, 2, 3), v.DIRECT_KEEP: run_of(1.5, 2.5, 3.5)},
            {v.NONE_SHARED: run_of(1, 50, 3), v.DIRECT_KEEP: run_of(1.5, 2.5, 3.5)},
            {v.NONE_SHARED: run_of(1, 2, 3), v.DIRECT_KEEP: run_of(90, 2.5, 3.5)},
        ]
        self.assertAlmostEqual(steps.added_by_runs(v.DIRECT_KEEP, 3)(repetitions), 0.5)

    def test_steps_are_compared_with_the_same_steps_only(self):
        repetitions = [{v.NONE_SHARED: run_of(4, 3, 2, 1), v.DIRECT_KEEP: run_of(14, 13)}]
        self.assertAlmostEqual(steps.added_by_runs(v.DIRECT_KEEP, 2)(repetitions), 10)

    def test_a_run_is_compared_with_itself_and_what_its_helpers_do_later_counts(self):
        # Of two turns of six steps, of which the even ones write; the run gets slower. Between them it was stopped, and
        # what a step takes that was not over by then is not known.
        outputs = [10, 14, 11, 15, 12, 99, 20, 27, 22, 29, 24]
        run = alternating(outputs, [5, 6] * 6, [range(6), range(6, 12)])
        run.helpers_per_step = 0.25
        added = [[3.5 + 0.25, 3.5 + 0.25], [6.25, 6.25]]
        self.assertEqual(run.added_by_output(), added)
        self.assertEqual(run.without_output(), [[16, 17, 18], [26, 28, 30]])
        estimate = steps.added(steps.Repetitions([{v.TMPFS_KEEP: v.Measured(run)}], [], []), v.TMPFS_KEEP, 3)
        self.assertEqual((estimate.value, estimate.samples), (5, 1))

    def test_the_interval_is_over_repetitions_whatever_the_turns_of_each_say(self):
        def repetition(length):  # three turns of which each says the same
            turns = [range(6), range(6, 12), range(12, 18)]
            return {v.TMPFS_KEEP: v.Measured(alternating(([10, 10 + length] * 9)[:-1], [70] * 18, turns))}

        near = [repetition(length) for length in (1, 2, 3, 4)]
        estimate = steps.added(steps.Repetitions(near, [], []), v.TMPFS_KEEP, 3)
        self.assertEqual((estimate.value, estimate.samples), (2.5, 4))
        self.assertLess(estimate.low, 2)
        self.assertGreater(estimate.high, 3)

    def goals(self, ours, tmpfs, direct, floor=(1, 0.9, 1.1)):
        result = report.Report("x", {})
        estimates = (figures.Estimate(*values, 5) for values in (ours, tmpfs, direct, floor))
        steps.add_goals(result, "case", v.FOREBAY_PURGE, *estimates)
        *judged, of_floor = result.results
        self.assertEqual((of_floor.met, of_floor.reference), (None, floor[0] * 1e3))
        return [row.met for row in judged], judged[-1].note

    def test_goals_are_met_near_tmpfs_and_far_below_direct(self):
        self.assertEqual(self.goals((2.1, 2, 2.2), (2, 1.9, 2.1), (420, 400, 440)), ([True, True], ""))
        self.assertEqual(self.goals((5, 4, 6), (2, 1.9, 2.1), (420, 400, 440)), ([False, False], ""))

    def test_a_value_that_only_noise_can_give_meets_no_goal(self):
        self.assertEqual(self.goals((-50, -60, -40), (-8, -9, -7), (250, 240, 260)), ([False, False], ""))

    def test_where_the_solver_alone_takes_more_than_the_goal_the_row_says_so_and_is_not_met(self):
        met, note = self.goals((4.1, 4, 4.2), (4, 3.9, 4.1), (200, 190, 210), floor=(3, 2.9, 3.1))
        self.assertEqual(met, [True, False])
        self.assertIn("writes that are thrown away add 0.015 of it", note)

    def test_where_a_bare_tmpfs_takes_more_than_the_goal_the_row_says_so_and_is_not_met(self):
        met, note = self.goals((4.1, 4, 4.2), (4, 3.9, 4.1), (200, 190, 210))
        self.assertEqual((met, note), ([True, False], "a bare tmpfs adds 0.020 of it"))

    def test_a_solver_that_did_not_reach_its_end_gives_no_figure(self):
        unfinished = Run(0.0, 1.0, 1, ["1", "2"], [0.1, 0.2])
        with self.assertRaises(RuntimeError):
            unfinished.step_lengths()


# Says when it ran, 200 times a step, and announces each step as a solver does. Its steps are as long as a solver's (70 ms), so
# that it is stopped before it begins another.
SOLVER = """
import sys, time
for step in range(1, 25):
    print(f"Time = {step}", flush=True)
    for moment in range(200):
        if moment in (20, 60, 100, 110, 180):
            name = {20: "Ux", 60: "Uy", 180: "k"}.get(moment, "p")
            print(f"GAMG:  Solving for {name}, Initial residual = 1, Final residual = 0.1, No Iterations 2", flush=True)
        print(time.monotonic(), step, file=sys.stderr, flush=True)
        time.sleep(0.0003)
print("End", flush=True)
"""


TURN = 6  # steps


class Turns(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="forebay-bench-test-")
        self.addCleanup(holder.cleanup)
        self.directory = Path(holder.name)

    def start(self, name: str, program: str = SOLVER, how: str = "") -> solver.Running:
        """Without `exec` the solver is a child of the process that is started."""
        script = self.directory / f"{name}.py"
        script.write_text(program)
        command = ["sh", "-c", f"{how} {sys.executable} {script} 2> {self.directory / name}; true"]
        return solver.Running(command, self.directory / f"{name}.log", dict(os.environ), self.directory)

    def test_only_one_goes_on_at_a_time_and_each_reaches_its_end(self):
        names = ("one", "other")
        began = time.monotonic()
        runs = solver.run_in_turns([lambda name=name: self.start(name) for name in names], TURN)
        elapsed = time.monotonic() - began
        moments = [(float(line.split()[0]), name) for name in names for line in self.lines(name)]
        self.assertEqual(len(moments), 2 * 24 * 200)
        order = [name for _, name in sorted(moments)]
        switches = sum(name != after for name, after in itertools.pairwise(order))
        # Each is started and has its turns, and may run on a little before it is stopped.
        self.assertLessEqual(switches, 2 * (1 + 24 // TURN))
        for run in runs:
            self.assertEqual((run.status, run.times), (0, [str(step) for step in range(1, 25)]))
            self.assertEqual(len(run.step_lengths()), 24)
        self.assertLess(sum(sum(run.step_lengths()) for run in runs), elapsed)

    def test_the_equations_of_each_step_of_a_turn_lie_in_it(self):
        one, _ = solver.run_in_turns([lambda name=name: self.start(name) for name in ("one", "other")], TURN)
        self.assertEqual(one.turns, [range(first, first + TURN) for first in range(0, 24, TURN)])
        self.assertEqual((len(one.first_solved), len(one.last_solved)), (24, 24))
        moments = [float(line.split()[0]) for line in self.lines("one")]
        in_turn = [step for turn in one.turns for step in turn[:-1]]
        for step in in_turn:
            length = moments[(step + 1) * 200 + 20] - moments[step * 200 + 180]
            self.assertAlmostEqual(one.first_solved[step + 1] - one.last_solved[step], length, delta=0.02)
        for before, first, last, after in zip(
            one.marks, one.first_solved, one.last_solved, one.marks[1:], strict=False
        ):
            self.assertTrue(before < first < last < after)

    def test_what_the_helpers_take_for_a_step_is_counted_beside_a_run_that_is_not_stopped(self):
        agent = self.directory / f"{solver.HELPER}-agent"  # the name by which it is known; this one never rests
        shutil.copy("/bin/sh", agent)
        script = self.directory / "solver.py"
        script.write_text(SOLVER)
        line = f"{agent} -c 'while :; do :; done' & {sys.executable} {script} 2> /dev/null; kill $!"
        run = solver.run_with_helpers(["sh", "-c", line], self.directory / "log", dict(os.environ), self.directory)
        self.assertEqual(len(run.times), 24)
        mean = sum(run.step_lengths()[solver.FIRST_STEPS :]) / (24 - solver.FIRST_STEPS)
        self.assertTrue(0.05 * mean < run.helpers_per_step < 1.1 * mean, f"{run.helpers_per_step} of {mean}")
        # It is taken out of what lies between the equations.
        without = (run.last_solved[-1] - run.last_solved[solver.FIRST_STEPS]) / (23 - solver.FIRST_STEPS)
        self.assertAlmostEqual(without, mean - run.helpers_per_step, delta=0.2 * run.helpers_per_step)

    def lines(self, name: str) -> list[str]:
        return (self.directory / name).read_text().splitlines()

    def test_one_that_fails_lets_the_others_end(self):
        starts = [lambda: self.start("bad", "print('no')"), lambda: self.start("good")]
        bad, good = solver.run_in_turns(starts, TURN)
        self.assertEqual((bad.times, len(good.times)), ([], 24))

    def test_when_one_cannot_be_started_none_goes_on(self):
        endless = "import os\nprint(os.getpid())" + SOLVER.replace("range(200)", "iter(int, 1)")

        def none() -> solver.Running:
            raise RuntimeError("no such program")

        with self.assertRaises(RuntimeError):
            solver.run_in_turns([lambda: self.start("one", endless, "exec"), none], TURN)
        pid = int((self.directory / "one.log").read_text().splitlines()[0])
        self.assertFalse(Path(f"/proc/{pid}").exists())


class Cases(unittest.TestCase):
    def test_control_replaces_an_entry_and_adds_a_missing_one(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "system/controlDict"
            path.parent.mkdir()
            path.write_text("writeInterval   5;\nstopAt endTime;\n")
            case.control(Path(directory), writeInterval=1, purgeWrite=0)
            self.assertEqual(path.read_text(), "writeInterval 1;\nstopAt endTime;\n\npurgeWrite 0;\n")

    def test_reset_leaves_inputs_and_time_zero(self):
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            for name in ("processor0/0", "processor0/constant", "processor0/10", "processors2/10", "postProcessing"):
                (root / name).mkdir(parents=True)
            case.reset(root)
            left = sorted(str(path.relative_to(root)) for path in root.glob("**/*"))
            self.assertEqual(left, ["processor0", "processor0/0", "processor0/constant"])


if __name__ == "__main__":
    unittest.main()
