"""Proves: nothing that was handed out changes a stored state, and no memory that a program still shows is used again;
neither by steps that are over or cancelled, nor by consumers that heed no read-only mark, nor by forked children."""

import os
import signal
import time
import unittest

import forebay
import numpy as np
from cases import MIB, TrajectoryCase
from forebay import Status


class OpenStepTest(TrajectoryCase):
    def multistep(self, tiers, error=None, **options):
        """A scheme that needs what it wrote three steps ago, and a part of it."""
        states = self.open(*tiers, **options)
        states.declare("u", 10000, accepted_error=error)
        kept, parts = {}, {}
        for step in range(60):
            with states.begin(step, step) as state:
                u = state["u"]
                u[:] = 1 + step if step < 3 else kept.pop(step - 3) + 3
                kept[step], parts[step] = u, u[100:200]
            if step >= 3:
                self.assertTrue((parts.pop(step - 3) == 1 + step - 3).all(), f"step {step}")
        for state in states.reverse():
            np.testing.assert_allclose(state["u"], 1 + state.step, rtol=1e-3)

    def test_what_a_multistep_scheme_keeps_stays_what_it_was(self):
        self.multistep([forebay.pool(self.directory, 16 * MIB)])

    def test_in_a_first_tier_of_three_states(self):
        self.multistep([forebay.dram(3 * 86016), forebay.shared(self.scratch(), 1e8)], segment_bytes=86016)

    def test_with_an_accepted_error(self):
        self.multistep([forebay.pool(self.directory, 16 * MIB)], error=1e-6)

    def test_with_an_accepted_error_in_a_kept_store(self):
        self.multistep([forebay.pool(self.directory, 16 * MIB)], error=1e-6, keep=True)

    def leapfrog(self, keep, error=None):
        """Writes straight into what begin gives, from what it keeps of the step before the last in the way of `keep`."""
        states = self.open(forebay.dram(3 * 86016), forebay.shared(self.scratch(), 1e8), segment_bytes=86016)
        states.declare("u", 10000, accepted_error=error)
        kept = []
        for step in range(60):
            with states.begin(step, step) as state:
                if step < 2:
                    state["u"][:] = 1 + step
                else:
                    np.add(kept.pop(0)(), 2, out=state["u"])
                kept.append(keep(state["u"]))
        for state in states.reverse():
            np.testing.assert_allclose(state["u"], 1 + state.step, rtol=1e-3)

    def test_a_leapfrog_keeps_two_steps_in_whatever_way(self):
        def by_generator(array):
            yield array

        def by_view(array):
            view = memoryview(array)
            return lambda: np.asarray(view)

        ways = {
            "closure": lambda array: lambda: array,
            "part": lambda array: lambda part=array[::-1]: part[::-1],
            "memoryview": by_view,
            "generator": lambda array: by_generator(array).__next__,
            "object array": lambda array: np.array([None, array], dtype=object)[1:].item,
        }
        for way, keep in ways.items():
            for error in (None, 1e-6):
                with self.subTest(way=way, error=error):
                    self.leapfrog(keep, error)

    def test_memory_of_an_open_step_that_nothing_shows_is_used_again(self):
        states = self.open()
        states.declare("u", 10000)
        places = []
        for step in range(6):
            with states.begin(step, step) as state:
                state["u"][:] = step
                places.append(state["u"].ctypes.data)
        self.assertEqual(len(set(places)), 1)

    def test_an_array_outlives_its_state(self):
        states = self.open(forebay.dram(8 * 8192), segment_bytes=8192)
        states.declare("u", 900)
        with states.begin(0, 0) as state:
            state["u"][:] = 1
            part = state["u"][100:]
        states.drop(0)
        for step in range(1, 6):
            states.put(step, step, np.full(900, -1.0))
        self.assertTrue((part == 1).all())

    def test_no_part_of_a_committed_step_writes_to_it(self):
        states = self.open()
        states.declare("u", 1000)
        states.declare("v", (2, 3), np.complex64, order="F")
        with states.begin(0, 0) as state:
            state["u"][:] = 1
            state["v"][:] = 2
            views = [state["u"][10:20], state["u"].view("i8"), state["v"].T, memoryview(state["u"]).cast("B")]
        for view in views:
            try:
                view[:] = view[:] * 0 if isinstance(view, np.ndarray) else bytes(len(view))
            except (ValueError, TypeError):
                pass
        self.assertTrue((states.get(0, "u") == 1).all() and (states.get(0, "v") == 2).all())

    def test_no_part_of_a_cancelled_step_writes_to_the_next(self):
        states = self.open()
        states.declare("u", 1000)
        state = states.begin(0, 0)
        view = state["u"][:]
        state.cancel()
        with states.begin(0, 0) as state:
            state["u"][:] = 1
            view[:] = -5
        view[:] = -6
        self.assertTrue((states.get(0) == 1).all())

    def test_assignment_writes_to_the_state(self):
        states = self.open()
        states.declare("u", (2, 3))
        states.declare("v", ())
        with states.begin(0, 0) as state:
            state["u"] = [[1, 2, 3], [4, 5, 6]]
            state["v"] = 7
            state["v"] += 1
            with self.assertRaises(ValueError):
                state["u"] = [1, 2]
        np.testing.assert_array_equal(states.get(0), [[1, 2, 3], [4, 5, 6]])
        self.assertEqual(states.get(0, "v"), 8)

    def test_dlpack_gets_a_copy(self):
        states = self.open()
        states.declare("u", 1000)
        states.put(0, 0, np.ones(1000))
        state = states.get(0)
        for shown in (state, state[10:20]):
            writable = np.from_dlpack(shown)
            self.assertFalse(np.shares_memory(writable, state))
        self.assertIs(type(state + 1), np.ndarray)


class ForkTest(TrajectoryCase):
    def in_child(self, work):
        """What a child did; it hangs no longer than 20 s."""
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            code = 99
            try:
                code = work() or 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def filled(self, first, **options):
        states = self.open(first, forebay.shared(self.scratch(), 64 * MIB), segment_bytes=1 << 18, **options)
        states.declare("u", 10000)
        for step in range(20):
            states.put(step, step, np.full(10000, float(step)))
        return states

    def uses(self, states):
        def gets():
            states.get(0)

        def begins():
            states.begin(99, 0)

        calls = [
            lambda: states.put(99, 0, np.full(10000, -7.0)), lambda: states.drop(3), states.rewind, gets, begins,
            lambda: states.reverse(10), lambda: states.interpolate(0.5), lambda: states.keep(False), lambda: len(states),
            lambda: states.declare("u", 10000), lambda: states.move(0, 1), lambda: states.tiers,
        ]  # fmt: skip
        for number, call in enumerate(calls):
            try:
                call()
                return 1 + number
            except forebay.TrajectoryError as error:
                if error.status != Status.FORKED:
                    return 50 + number
        states.close()
        return 0

    def test_every_use_in_a_child_is_one_status_and_changes_nothing(self):
        for first in (forebay.dram(4 * MIB), forebay.pool(self.directory, 4 * MIB)):
            for keep in (False, True) if first.kind == "pool" else (False,):
                with self.subTest(first=first.kind, keep=keep):
                    states = self.filled(first, keep=keep)
                    self.in_child(lambda states=states: self.uses(states))
                    for step in range(20, 40):
                        states.put(step, step, np.full(10000, float(step)))
                    for step in range(40):
                        self.assertTrue((states.get(step) == step).all(), step)
                    states.close()

    def test_a_child_that_lives_on_keeps_no_store_from_the_next(self):
        options = {"keep": True, "name": "kept"}
        for end in ("close", "kill"):
            with self.subTest(end=end):
                directory = self.scratch("/dev/shm")
                ready, living = os.pipe(), os.pipe()
                opener = os.fork()
                if opener == 0:
                    states = forebay.Trajectory([forebay.pool(directory, MIB)], **options)
                    states.declare("u", 10)
                    states.put(1, 0, np.ones(10))
                    os.close(living[1])
                    if os.fork() == 0:
                        os.read(living[0], 1)  # until the test ends
                        os._exit(0)
                    if end == "close":
                        states.close()
                    os.write(ready[1], b"x")
                    time.sleep(20)
                    os._exit(0)
                os.read(ready[0], 1)
                os.kill(opener, signal.SIGKILL)
                os.waitpid(opener, 0)
                with forebay.Trajectory([forebay.pool(directory, MIB)], **options) as states:
                    self.assertTrue((states.get(1) == 1).all())
                os.close(living[1])

    def test_a_child_may_have_a_trajectory_of_its_own(self):
        states = self.filled(forebay.dram(4 * MIB))

        def work():
            with forebay.Trajectory([forebay.dram(4 * MIB)]) as own:
                own.declare("u", 3)
                own.put(1, 0, [1, 2, 3])
                return int(own.get(1)[2] != 3)

        self.in_child(work)
        self.assertEqual(len(states), 20)

    def test_a_child_reads_arrays_that_it_has(self):
        states = self.filled(forebay.pool(self.directory, 4 * MIB))
        shown = states.get(19)
        self.in_child(lambda: int(not (shown == 19).all()))


if __name__ == "__main__":
    unittest.main()
