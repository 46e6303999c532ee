"""Proves: plans and schedules are those of the library, a solver that follows one finds every state, and the package
checkpoint_schedules (in the virtual environment of the test, where there is one) agrees and can drive it too."""

import sys
import unittest

import forebay
import forebay.schedule as fs
import numpy as np

try:
    import checkpoint_schedules
except ImportError:
    checkpoint_schedules = None

DT = 0.05


class Solver:
    """A nonlinear model whose adjoint starts from the state before the step. With `dependencies`, what the adjoint of
    several steps needs may stay with it."""

    def __init__(self, n=7):
        self.u, self.w = np.linspace(0, 1, n), None
        self.before = {}
        self.at = 0
        self.runs = 0

    def save(self, step):
        assert step.step == self.at
        step["u"][:] = self.u

    def load(self, state):
        self.u, self.at = state["u"].copy(), state.step
        self.before = {state.step: self.u}

    def forward(self, n, for_adjoint):
        assert n == self.at
        if for_adjoint:
            self.before[n] = self.u
        self.u, self.at = self.u + DT * (np.sin(np.roll(self.u, 1)) - self.u), n + 1
        self.runs += 1

    def adjoint(self, n):
        w = self.w
        self.w = w + DT * (np.cos(self.before.pop(n)) * np.roll(w, -1) - w)

    def end_forward(self):
        self.w = self.u


def gradient(schedule, steps=None):
    solver = Solver()
    with forebay.Trajectory([forebay.dram(1 << 24)], segment_bytes=65536) as states:
        states.declare("u", solver.u.size)
        calls = {name: getattr(solver, name) for name in ("save", "load", "forward", "end_forward", "adjoint")}
        fs.follow(schedule, states, steps=steps, **calls)
        return solver, len(states)


class PlanTest(unittest.TestCase):
    def test_everything_is_stored_when_it_fits(self):
        plan = fs.plan(100, 1000, forward_seconds=1, adjoint_seconds=2, dram=fs.Costs(50_000), pool=fs.Costs(50_000))
        self.assertTrue(plan.store_all)
        self.assertEqual((plan.ram, plan.disk, plan.forward_steps), (50, 49, 99))
        self.assertAlmostEqual(plan.predicted_seconds, 300)

    def test_less_room_costs_more_forward_steps(self):
        costs = [
            fs.plan(1000, 8, forward_seconds=1, adjoint_seconds=2, dram=fs.Costs(8 * slots, 0.01, 0.01))
            for slots in (1000, 100, 10, 1)
        ]
        self.assertEqual([plan.store_all for plan in costs], [True, False, False, False])
        self.assertEqual(costs, sorted(costs, key=lambda plan: plan.predicted_seconds))
        self.assertEqual(costs[-1].forward_steps, 1000 * 999 // 2)

    def test_what_makes_no_sense_is_refused(self):
        with self.assertRaises(forebay.TrajectoryError) as raised:
            fs.plan(10, 1000, forward_seconds=1, adjoint_seconds=1)
        self.assertEqual(raised.exception.status, forebay.Status.INVALID)
        with self.assertRaises(ValueError):
            fs.plan(10, -5, forward_seconds=1, adjoint_seconds=1)
        for arguments in ((0, 1), (2, 0), (2, -1, 5)):
            with self.assertRaises(forebay.TrajectoryError):
                fs.Schedule(*arguments)

    def test_a_solver_that_follows_a_plan_finds_every_state(self):
        everything, _ = gradient(fs.Schedule(60, 59))
        for ram, disk in ((1, 0), (3, 0), (2, 4), (0, 7), (100, 100)):
            solver, left = gradient(fs.Schedule(60, ram, disk))
            np.testing.assert_array_equal(solver.w, everything.w)
            self.assertEqual(left, 0)
        plan = fs.plan(60, 56, forward_seconds=1, adjoint_seconds=1, dram=fs.Costs(56 * 4))
        solver, _ = gradient(plan)
        np.testing.assert_array_equal(solver.w, everything.w)
        self.assertEqual(solver.runs, plan.forward_steps + 60)  # also the steps whose adjoint follows at once

    def test_actions_compare_by_name_and_arguments(self):
        forward = fs.Forward(0, 3, True, False, fs.StorageType.RAM)
        self.assertEqual(forward, fs.Forward(0, 3, True, False, fs.StorageType.RAM))
        self.assertNotEqual(forward, fs.Forward(0, 3, True, False, fs.StorageType.DISK))
        self.assertNotEqual(fs.Copy(0, fs.StorageType.RAM, fs.StorageType.WORK), forward)
        self.assertNotEqual(fs.EndForward(), fs.EndReverse())


@unittest.skipUnless(checkpoint_schedules, "the package checkpoint_schedules is not there")
class PackageTest(unittest.TestCase):
    def theirs(self, *arguments):
        schedule = checkpoint_schedules.MultistageCheckpointSchedule(*arguments)
        for action in schedule:
            yield action
            if isinstance(action, checkpoint_schedules.EndReverse):
                return

    def test_its_binomial_schedule_is_ours(self):
        for steps in (1, 2, 3, 10, 37, 100):
            for slots in (1, 2, 3, 5, 9, 36, 99):
                for in_ram, on_disk in ((slots, 0), (0, slots)):
                    ours = list(fs.Schedule(steps, in_ram, on_disk))
                    theirs = list(self.theirs(steps, in_ram, on_disk))
                    self.assertEqual(len(ours), len(theirs), (steps, slots))
                    for a, b in zip(ours, theirs, strict=True):
                        self.assertTrue(a == b, f"{steps} steps, {slots} slots: {a} is not {b}")

    def test_two_tiers_differ_in_nothing_but_the_tier(self):
        for steps, ram, disk in ((20, 2, 3), (100, 3, 10), (50, 10, 2)):
            ours = [[x for x in a.args if not hasattr(x, "name")] for a in fs.Schedule(steps, ram, disk)]
            theirs = [[x for x in a.args if not hasattr(x, "name")] for a in self.theirs(steps, ram, disk)]
            self.assertEqual(ours, theirs)

    def test_its_schedules_drive_the_same_solver(self):
        everything, _ = gradient(fs.Schedule(60, 59))
        for schedule in (
            checkpoint_schedules.MultistageCheckpointSchedule(60, 2, 3),
            checkpoint_schedules.MixedCheckpointSchedule(60, 6),
            checkpoint_schedules.TwoLevelCheckpointSchedule(10, binomial_snapshots=3),
            checkpoint_schedules.SingleDiskStorageSchedule(move_data=True),
            checkpoint_schedules.SingleMemoryStorageSchedule(),
        ):
            with self.subTest(schedule=type(schedule).__name__):
                solver, _ = gradient(schedule, steps=60)
                np.testing.assert_array_equal(solver.w, everything.w)


if __name__ == "__main__":
    if "--needs-package" in sys.argv:
        sys.argv.remove("--needs-package")
        assert checkpoint_schedules, "the package checkpoint_schedules is not there"
    unittest.main()
