"""Proves: the Python face shows states in place as numpy arrays, keeps what an array shows, and tells errors; with
several ranks, each with a part of its own in the same directory."""

import gc
import os
import signal
import subprocess
import sys
import threading
import unittest

import forebay
import numpy as np
from cases import MIB, TrajectoryCase
from forebay import Status, _library


class InPlaceTest(TrajectoryCase):
    def test_states_of_all_types_and_shapes_come_back(self):
        states = self.open()
        types = [np.float64, np.float32, np.complex128, np.complex64, np.int32, np.uint8, np.bool_, ">f8"]
        for i, dtype in enumerate(types):
            self.assertEqual(states.declare(f"c{i}", (2, 3, 4), dtype), 2 * i)
            self.assertEqual(states.declare(f"f{i}", (2, 3, 4), dtype, order="F"), 2 * i + 1)
        expected = {}
        for step in range(20):
            with states.begin(step, step / 4) as state:
                for name in states.fields:
                    values = np.random.default_rng(step).integers(0, 2, (2, 3, 4)) * (step + 1) % 256
                    state[name][...] = values
                    expected[step, name] = state[name].copy()
        for state in states.reverse():
            for name in states.fields:
                array = state[name]
                self.assertEqual(array.dtype, expected[state.step, name].dtype)
                self.assertEqual(array.shape, (2, 3, 4))
                self.assertTrue(array.flags.f_contiguous if name.startswith("f") else array.flags.c_contiguous)
                np.testing.assert_array_equal(array, expected[state.step, name])

    def test_get_copies_nothing(self):
        states = self.open()
        states.declare("u", 1000)
        with states.begin(1, 0) as state:
            state["u"][:] = 7
        first, second = states.get(1), states.get(1, "u")
        self.assertEqual(first.ctypes.data, second.ctypes.data)
        self.assertTrue((first == 7).all())
        self.assertFalse(first.flags.writeable)
        with self.assertRaises(ValueError):
            first[0] = 1

    def test_a_part_of_an_array_pins_its_state(self):
        states = self.open()
        states.declare("u", (10, 10))
        states.put(1, 0, np.ones((10, 10)))
        part = states.get(1)[3:5].T
        with self.fails(Status.PINNED) as failed:
            states.drop(1)
        self.assertIn("let go of the arrays", failed.words)
        del part
        states.drop(1)
        self.assertNotIn(1, states)

    def test_arrays_outlive_close(self):
        states = self.open(keep=True)
        states.declare("u", 100000)
        states.put(1, 0, np.full(100000, 3.5))
        shown = states.get(1)
        states.close()
        self.assertTrue((shown == 3.5).all())
        with self.fails(Status.INVALID):
            states.get(1)
        with self.fails(Status.BUSY):
            self.open(keep=True)
        del shown  # and now the store is let go
        again = self.open(keep=True)
        self.assertEqual(len(again), 1)

    def test_a_trajectory_that_nobody_holds_is_closed(self):
        states = forebay.Trajectory([forebay.pool(self.directory, 16 * MIB)], keep=True)
        states.declare("u", 10)
        del states
        gc.collect()
        self.open(keep=True)

    def test_what_is_written_after_commit_is_refused(self):
        states = self.open()
        states.declare("u", 10)
        with states.begin(1, 0) as state:
            memory = state["u"]
        with self.assertRaises(ValueError):
            memory[0] = 1
        with self.fails(Status.NO_OPEN_STEP):
            state["u"]

    def test_an_exception_forgets_the_step(self):
        states = self.open()
        states.declare("u", 10)
        with self.assertRaises(ZeroDivisionError), states.begin(1, 0):
            raise ZeroDivisionError
        self.assertEqual(len(states), 0)
        states.begin(1, 0).commit()
        self.assertEqual(len(states), 1)

    def test_arrays_may_end_in_another_thread(self):
        states = self.open()
        states.declare("u", 1000)
        for step in range(200):
            states.put(step, step, np.full(1000, step))
        wrong = []

        def sweep():
            wrong.extend(state.step for state in states.reverse() for _ in range(5) if state["u"][-1] != state.step)

        threads = [threading.Thread(target=sweep) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        states.rewind()  # nothing is pinned


class SweepTest(TrajectoryCase):
    def test_reverse_starts_where_asked_and_survives_drops(self):
        states = self.open()
        states.declare("u", 1)
        for step in range(-4, 20, 2):
            states.put(step, step, [step])
        self.assertEqual([state.step for state in states.reverse(5)], [4, 2, 0, -2, -4])
        self.assertEqual([state.step for state in states], list(range(-4, 20, 2)))
        for state in states.reverse():
            states.drop(state.step)
        self.assertEqual(len(states), 0)
        self.assertEqual(list(states.reverse()), [])

    def test_interpolation_is_linear(self):
        states = self.open()
        states.declare("u", (2, 2), order="F")
        states.put(0, 0.0, [[0, 1], [2, 3]])
        states.put(1, 2.0, [[2, 3], [4, 5]])
        np.testing.assert_allclose(states.interpolate(0.5, "u"), [[0.5, 1.5], [2.5, 3.5]])
        out = np.empty((2, 2), order="F")
        self.assertIs(states.interpolate(2.0, out=out), out)
        np.testing.assert_array_equal(out, [[2, 3], [4, 5]])
        with self.fails(Status.OUTSIDE):
            states.interpolate(2.5)
        with self.fails(Status.FIELD_CHANGED):
            states.interpolate(0.5, out=np.empty((2, 2)))

    def test_spilled_states_come_back(self):
        states = self.open(forebay.dram(8 * 65536), forebay.pool(self.directory, 16 * MIB), segment_bytes=65536)
        states.declare("u", 4096)
        for step in range(100):
            with states.begin(step, step) as state:
                state["u"][:] = step
        first, second = states.tiers
        self.assertEqual((first["medium"], second["path"]), ("dram", self.directory))
        self.assertGreater(second["moved_in"], 0)
        for state in states.reverse():
            self.assertTrue((state["u"] == state.step).all())
        self.assertTrue(all(seconds >= 0 for seconds in states.waited))

    def test_a_step_moves_to_a_tier_of_choice(self):
        states = self.open(forebay.dram(8 * MIB), forebay.pool(self.directory, 8 * MIB))
        states.declare("u", 100)
        for step in range(3):
            states.put(step, step, np.full(100, step))
        states.move(1, 1)
        self.assertEqual([tier["used"] for tier in states.tiers], [0, 1])
        states.move(1, 0)
        self.assertEqual([tier["used"] for tier in states.tiers], [1, 0])
        array = states.get(2)
        with self.fails(Status.PINNED):
            states.move(1, 1)
        self.assertTrue(np.all(array == 2))
        with self.fails(Status.NO_SUCH_TIER):
            states.move(1, 2)

    def test_a_kept_trajectory_is_found_again(self):
        with self.open(keep=True, name="kept", checksum=True, survives="process") as states:
            states.declare("u", (3, 4), order="F")
            states.put(5, 0.25, np.arange(12).reshape(3, 4))
        with self.open(keep=True, name="kept") as states:
            self.assertEqual((states.fields, states.recovery), (["u"], ""))
            np.testing.assert_array_equal(states.get(5), np.arange(12).reshape(3, 4).T)
            states.declare("u", (3, 4), order="F")
            np.testing.assert_array_equal(states.get(5), np.arange(12).reshape(3, 4))
            self.assertEqual(states.state(5).time, 0.25)
            states.keep(False)
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_rank_finds_what_was_kept_by_as_many_ranks(self):
        with self.open(keep=True, rank=3, ranks=8) as states:
            states.declare("u", 3)
            states.put(0, 0, [1, 2, 3])
        for mode in ("any", "must-exist", "read-only", "partial"):
            with self.fails(Status.INVALID) as failed:
                self.open(keep=True, rank=3, ranks=4, mode=mode)
            self.assertIn("8 ranks", failed.words)
            self.open(keep=True, rank=3, ranks=8, mode=mode).close()


class ErrorTest(TrajectoryCase):
    def test_each_mistake_has_its_status(self):
        mistakes = ({"name": "a/b"}, {"rank": 2, "ranks": 2}, {"mode": "create"})
        for tiers, options in (([], {}), *((None, mistake) for mistake in mistakes)):
            with self.fails(Status.INVALID):
                forebay.Trajectory([forebay.dram(MIB)] if tiers is None else tiers, **options)
        with self.fails(Status.INVALID):
            self.open(forebay.dram(-1))
        states = self.open()
        with self.fails(Status.INVALID):
            states.declare("u", (-1, 3))
        states.declare("u", 3)
        with self.fails(Status.FIELD_CHANGED):
            states.declare("u", 4)
        with self.fails(Status.NO_SUCH_FIELD):
            states.put(1, 0)
        with self.fails(Status.NO_SUCH_FIELD):
            states.put(1, 0, v=[1, 2, 3])
        with self.fails(Status.FIELD_CHANGED):
            states.put(1, 0, [1, 2])
        states.put(1, 0, u=[1, 2, 3])
        with self.fails(Status.STEP_EXISTS):
            states.begin(1, 0)
        with self.fails(Status.FIELDS_FIXED):
            states.declare("v", 3)
        with self.fails(Status.NO_SUCH_STEP):
            states.get(2)
        with self.fails(Status.NO_SUCH_FIELD):
            states.get(1, "v")
        with self.fails(Status.NO_SUCH_FIELD):
            states.get(1, 1)
        open_step = states.begin(2, 0)
        with self.fails(Status.STEP_OPEN):
            states.begin(3, 0)
        open_step.cancel()
        with self.fails(Status.NO_OPEN_STEP):
            open_step.commit()
        with self.assertRaises(TypeError):
            states.declare("w", 3, object)

    def test_options_that_are_on_or_off_are_taken_by_their_word(self):
        for off in ("off", False, np.False_, None):
            self.open(keep=off, debug=off).close()
            self.assertEqual(os.listdir(self.directory), [], repr(off))
        for on in ("on", True, np.True_):
            with self.open(keep=on, checksum=on) as states:
                self.assertNotEqual(os.listdir(self.directory), [], repr(on))
                states.keep(np.False_)
        for option in ("keep", "debug", "checksum"):
            for value in ("no", 1, 0):
                with self.fails(Status.INVALID) as failed:
                    self.open(**{option: value})
                self.assertIn(option, failed.words)

    def test_numbers_that_are_not_whole_are_refused(self):
        mistakes = ({"rank": 0.9}, {"ranks": 1.5}, {"encoders": np.float32(0.5)}, {"segment_bytes": float("inf")})
        for mistake in mistakes:
            with self.fails(Status.INVALID) as failed:
                self.open(**mistake)
            self.assertIn("whole number", failed.words)
        for value in ([1], b"1", 1j):
            with self.assertRaises(TypeError):
                self.open(rank=value)
        with self.open(rank=np.int64(1), ranks=np.float32(2), segment_bytes=65536.0) as states:
            for shape in (2.5, (3, 2.5), np.array([3, np.nan])):
                with self.fails(Status.INVALID):
                    states.declare("u", shape)
            states.declare("u", (3.0, np.int8(4)))
            states.put(0, 0, np.ones((3, 4)))
            self.assertEqual((states.tiers[0]["segment_bytes"], states.get(0).shape), (65536, (3, 4)))

    def test_what_a_step_outlives_has_the_words_of_c(self):
        with self.fails(Status.INVALID) as failed:
            self.open(survives="powercut")
        self.assertIn("power-cut", failed.words)
        self.open(survives="power-cut")

    def test_closing_with_an_open_step_is_told(self):
        states = self.open()
        states.declare("u", 3)
        memory = states.begin(1, 0)["u"]
        with self.fails(Status.CLOSED_OPEN):
            states.close()
        self.assertFalse(memory.flags.writeable)

    def test_a_bad_tolerance_is_told(self):
        states = self.open()
        for error in (-1e-3, 1, float("nan")):
            with self.fails(Status.TOLERANCE):
                states.declare("u", 3, accepted_error=error)
        with self.fails(Status.INVALID) as failure:
            states.declare("u", 3, codec="gzip")
        self.assertIn("truncation", failure.words)

    def test_a_status_has_the_name_that_it_has_in_c(self):
        for status in Status:
            name = "FOREBAY_OK" if status == Status.OK else f"FOREBAY_E_{status.name}"
            self.assertEqual(_library.library.forebay_status_get_name(status).decode(), name)

    def test_a_forked_child_leaves_the_store_alone(self):
        states = self.open(keep=True)
        states.declare("u", 3)
        states.put(1, 0, [1, 2, 3])
        child = os.fork()
        if child == 0:
            try:
                states.close()
                del states
            finally:
                os._exit(0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        states.put(2, 1, [4, 5, 6])
        states.close()
        self.assertEqual(len(self.open(keep=True)), 2)

    def in_a_child(self, *calls, refused=Status.FORKED):
        """Each gives that there; none waits."""
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            told = []
            try:
                for call in calls:
                    try:
                        call()
                        told.append(None)
                    except forebay.TrajectoryError as error:
                        told.append(error.status)
            finally:
                os._exit(0 if told == [refused] * len(calls) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_a_forked_child_waits_for_no_thread_of_its_parent(self):
        states = self.open()
        states.declare("u", 3)
        states.put(1, 0, [1, 2, 3])
        taken, done = threading.Event(), threading.Event()

        def call():
            with states._handle.lock:
                taken.set()
                done.wait()

        thread = threading.Thread(target=call)
        thread.start()
        taken.wait()
        try:
            self.in_a_child(lambda: states.recovery, lambda: states.get(1), lambda: len(states))
        finally:
            done.set()
            thread.join()
        self.assertEqual(states.recovery, "")

    def test_a_forked_child_writes_nothing_to_the_open_step_of_its_parent(self):
        states = self.open()
        states.declare("u", 3)
        states.declare("v", 3)
        step = states.begin(1, 0)
        step["u"] = [1, 2, 3]
        shown = step["v"]
        shown[:] = 4

        def assign():
            step["u"] = [-1, -1, -1]

        def commit():
            shown[:] = -1
            step.commit()

        self.in_a_child(assign, lambda: step["u"], commit)
        self.in_a_child(states.close, refused=None)
        step["v"][:] = shown
        step.commit()
        self.assertEqual([states.get(1, name).tolist() for name in "uv"], [[1, 2, 3], [4, 4, 4]])


class EncodedTest(TrajectoryCase):
    @staticmethod
    def wave(step):
        return np.sin(np.linspace(0, 9, 3000).reshape(3, 1000) + 0.01 * step)

    def near(self, array, step, error):
        exact = self.wave(step)
        self.assertLessEqual(np.linalg.norm(array - exact), error * np.linalg.norm(exact))

    def test_states_come_back_within_the_error(self):
        for codec in (None, "float32", "truncation", "zfp", "difference"):
            for encoders in (None, 0):
                states = self.open(encoders=encoders)
                try:
                    states.declare("u", (3, 1000), accepted_error=1e-4, codec=codec)
                except forebay.TrajectoryError as failure:
                    if codec != "zfp" or "built without zfp" not in str(failure):
                        raise
                    states.close()
                    continue
                states.declare("count", (), np.int64)
                for step in range(60):
                    with states.begin(step, step) as state:
                        state["u"][...] = self.wave(step)
                        state["count"][...] = step
                for state in states.reverse():
                    self.near(state["u"], state.step, 1e-4)
                    self.assertEqual(state["count"], state.step)
                told = states.encoding("u")
                self.assertLessEqual(told["achieved_error"], 1e-4)
                self.assertLess(told["stored_bytes"], told["raw_bytes"])
                self.assertEqual((told["states"], told["fallbacks"], told["fallback_reason"]), (60, 0, ""))
                if codec:
                    self.assertEqual(told["codec"], codec)
                states.close()

    def test_another_process_reads_what_was_kept(self):
        states = self.open(keep=True)
        states.declare("u", (3, 1000), accepted_error=1e-4)
        for step in range(60):
            states.put(step, step, self.wave(step))
        states.close()
        found = self.open(keep=True)
        self.assertEqual(found.encoding("u")["accepted_error"], 1e-4)
        found.declare("u", (3, 1000))
        for state in found.reverse():
            self.near(state["u"], state.step, 1e-4)
        with self.fails(Status.FIELD_CHANGED):
            found.declare("u", (3, 1000), accepted_error=1e-3)

    def test_an_array_keeps_what_it_shows(self):
        states = self.open()
        states.declare("u", (3, 1000), accepted_error=1e-4)
        for step in range(60):
            states.put(step, step, self.wave(step))
        shown = [states.get(step)[1] for step in range(0, 60, 4)]
        for state in states.reverse():
            self.near(state["u"], state.step, 1e-4)
        for number, row in enumerate(shown):
            self.assertLess(np.abs(row - self.wave(4 * number)[1]).max(), 1e-3)


RANK = """
import sys
import forebay, numpy as np
rank, ranks, directory = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
n = 1000 + rank
tiers = [forebay.dram(8 * 65536), forebay.pool(directory, 1 << 24)]
with forebay.Trajectory(tiers, rank=rank, ranks=ranks, segment_bytes=65536) as states:
    states.declare("u", (n, 3))
    for step in range(50):
        with states.begin(step, step) as state:
            state["u"][:] = step + rank / 8
    seen = [state.step for state in states.reverse() if (state["u"] == state.step + rank / 8).all()]
    assert seen == list(range(49, -1, -1)), seen
"""


class RanksTest(TrajectoryCase):
    def test_ranks_do_not_know_of_each_other(self):
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                processes = [
                    subprocess.Popen([sys.executable, "-c", RANK, str(rank), str(ranks), self.directory])
                    for rank in range(ranks)
                ]
                self.assertEqual([process.wait(60) for process in processes], [0] * ranks)
                self.assertEqual(os.listdir(self.directory), [])


if __name__ == "__main__":
    unittest.main()
