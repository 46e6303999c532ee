"""Proves: no value is cut on its way to a library, neither an integer to its low bits, nor a text at a NUL, nor a number
to what a field can hold."""

import ctypes
import unittest

import forebay
import forebay.schedule
import numpy as np
from cases import MIB, TrajectoryCase
from forebay import Status, _declarations, _library, _values

BEYOND = {64: (-(2**63) - 1, 2**63, 2**64, 2**64 + 5, 10**400), 32: (-(2**31) - 1, 2**31, 2**32, 2**32 + 1)}


class WholeNumbers(TrajectoryCase):
    def setUp(self):
        super().setUp()
        self.states = self.open()
        self.states.declare("u", 3)
        self.states.put(5, 0.5, [1, 2, 3])

    def test_a_step_is_none_of_another_one(self):
        for step in BEYOND[64]:
            for call in (
                lambda: self.states.put(step, 0, [1, 2, 3]),  # noqa: B023 (called at once)
                lambda: self.states.begin(step, 0),  # noqa: B023
                lambda: self.states.get(step),  # noqa: B023
                lambda: self.states.state(step),  # noqa: B023
                lambda: self.states.drop(step),  # noqa: B023
                lambda: self.states.move(step, 0),  # noqa: B023
                lambda: self.states.reverse(step),  # noqa: B023
            ):
                with self.fails(Status.INVALID) as failed:
                    call()
                self.assertLess(len(failed.words), 200)
            self.assertNotIn(step, self.states)
        self.assertEqual([state.step for state in self.states], [5])
        for step in (-(2**63), 2**63 - 1):
            self.states.put(step, 0.5, [1, 2, 3])
            self.assertIn(step, self.states)

    def test_nor_a_tier_or_a_switch(self):
        for number in BEYOND[32]:
            with self.fails(Status.INVALID):
                self.states.move(5, number)
            with self.fails(Status.INVALID):
                self.states.keep(number)

    def test_a_budget_is_whole_and_of_64_bits(self):
        for make in (forebay.dram, lambda budget: forebay.pool(self.directory, budget)):
            for budget in (-1, 1.5, float("nan"), float("inf"), *BEYOND[64][2:]):
                with self.fails(Status.INVALID) as failed:
                    make(budget)
                self.assertIn("budget", failed.words)
            self.assertEqual(make(4e9).bytes, 4 * 10**9)
        with self.fails(Status.INVALID):
            self.open(forebay.Tier("dram", "", 2**64 + MIB))

    def test_a_shape_has_room_somewhere(self):
        states = self.open(forebay.dram(MIB))
        for shape in ((65536,) * 4, (2**32, 2**32 + 1), 2**62, 2**64 + 3):
            with self.fails(Status.INVALID):
                states.declare("v", shape)
        for dtype in ("S0", "V65536", "U20000"):
            with self.fails(Status.INVALID) as failed:
                states.declare("v", 3, dtype)
            self.assertIn("bytes", failed.words)

    def test_options_are_of_their_range(self):
        for option in ("rank", "ranks", "encoders", "segment_bytes"):
            with self.fails(Status.INVALID) as failed:
                self.open(**{option: 2**64 + 1})
            self.assertIn(option.replace("_", "-"), failed.words)

    def test_schedules_and_plans(self):
        times = {"forward_seconds": 1, "adjoint_seconds": 1, "dram": forebay.schedule.Costs(100)}
        for number in (-(2**63) - 1, 2**64 + 7, 10**400):
            with self.fails(Status.INVALID):
                forebay.schedule.plan(number, 8, **times)
            with self.fails(Status.INVALID):
                forebay.schedule.Schedule(number, 3)
            with self.fails(Status.INVALID):
                forebay.schedule.Schedule(10, 3, number)
        with self.fails(Status.INVALID):
            forebay.schedule.plan(10, 8, **{**times, "dram": forebay.schedule.Costs(2**64 + 100)})
        with self.fails(Status.INVALID):
            forebay.schedule.plan(10, 8, **{**times, "forward_seconds": 10**400})

    def test_what_is_no_number_is_named(self):
        for wrong in ("7", None, [1], 1j):
            with self.assertRaisesRegex(TypeError, "step: a whole number is wanted"):
                self.states.get(wrong)
        with self.assertRaisesRegex(TypeError, "time: a number is wanted"):
            self.states.begin(7, "noon")


class Texts(TrajectoryCase):
    def test_none_ends_at_a_nul(self):
        for options in ({"name": "a\0b"}, {"mode": "any\0"}, {"survives": "process\0x"}):
            with self.fails(Status.INVALID) as failed:
                self.open(keep=True, **options)
            self.assertIn("NUL", failed.words)
        with self.fails(Status.INVALID):
            self.open(forebay.pool(self.directory + "\0/elsewhere", MIB))
        states = self.open()
        with self.fails(Status.INVALID):
            states.declare("u\0v", 3)
        with self.fails(Status.INVALID):
            states.declare("\ud900", 3)  # half of a letter
        with self.assertRaises(TypeError):
            states.declare(7, 3)

    def test_names_come_back_as_they_went(self):
        name = b"caf\xe9".decode("utf-8", "surrogateescape")  # of a program that does not write UTF-8
        with self.open(keep=True) as states:
            states.declare(name, 3)
            states.put(0, 0, [1, 2, 3])
        with self.open(keep=True) as states:
            self.assertEqual(states.fields, [name])


class Casts(TrajectoryCase):
    """Of what is put, and of what is assigned to a field of an open step."""

    def refused(self, dtype, *values):
        states = self.open()
        states.declare("u", 3, dtype)
        for number, value in enumerate(values):
            with self.fails(Status.INVALID) as failed:
                states.put(number, 0, np.full(3, value) if np.ndim(value) == 0 else value)
            self.assertIn("field u", failed.words)
            step = states.begin(number, 0)
            with self.fails(Status.INVALID):
                step["u"] = value
            step.cancel()
        self.assertEqual(len(states), 0)

    def taken(self, dtype, *values):
        states = self.open()
        states.declare("u", 3, dtype)
        for number, value in enumerate(values):
            states.put(2 * number, 0, value)
            with states.begin(2 * number + 1, 0) as step:
                step["u"] = value
            for each in (2 * number, 2 * number + 1):
                self.assertEqual(states.get(each).tolist(), np.asarray(value).astype(dtype).tolist())

    def test_whole_numbers_stay_what_they_are(self):
        self.refused("i4", 1.7, 2.0, 2**31, np.int64(2**31), 1j, np.array([0, 1, 2**40]))
        self.refused("u1", 300, -1, 1.5, np.array([1, 2, 3]))
        self.refused("i8", np.uint64(2**63), 2**63)
        self.taken("i4", [1, 2, -3], np.arange(3), np.arange(3, dtype="u1"), [True, False, True])
        self.taken("u1", [1, 2, 255], np.arange(3, dtype="u4"))
        self.taken("i8", np.arange(3, dtype="u8"))

    def test_numbers_may_be_rounded_but_keep_their_kind(self):
        self.refused("f8", 1j, np.array(["1", "2", "3"]))
        self.refused("?", 2, 0.5)
        self.taken("f4", [0.1, 0.2, 0.3], np.arange(3), [1, 2, 3], np.float16([1, 2, 3]))
        self.taken("c8", [1j, 2, 3], np.arange(3.0))
        self.taken(">f8", np.arange(3.0))

    def test_texts_and_times_keep_all_of_theirs(self):
        self.refused("S3", np.array([b"long", b"", b""]), np.array(["abc", "", ""]))
        self.refused("M8[s]", np.array([1, 2, 3], "M8[ms]"))
        self.taken("S3", np.array([b"abc", b"", b"x"]), np.array([b"abc", b"", b"x"], "S9"))
        self.taken("M8[s]", np.array(["NaT", "2020-01-01", "2021-01-01"], "M8[ms]"))


class EveryParameter(unittest.TestCase):
    def test_of_every_function_is_looked_at(self):
        seen = 0
        for name in _declarations.FUNCTIONS["libforebay"]:
            function = getattr(_library.library, name)
            _, parameters = _declarations.FUNCTIONS["libforebay"][name]
            good = [0 if kind in _values._RANGES or kind is ctypes.c_double else None for _, kind in parameters]
            function.ready(*good)
            for at, (_, kind) in enumerate(parameters):
                wrong = {"integers": [-(2**70), 2**70], "text": ["a\0b", b"\0"]}
                values = wrong["integers"] if kind in _values._RANGES else []
                values = wrong["text"] if kind is ctypes.c_char_p else values
                for value in values:
                    seen += 1
                    with self.assertRaises(forebay.TrajectoryError, msg=name):
                        function.ready(*good[:at], value, *good[at + 1 :])
        self.assertGreater(seen, 60)


if __name__ == "__main__":
    unittest.main()
