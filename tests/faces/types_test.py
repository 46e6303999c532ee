"""Proves: arrays of every type and of no length come back as what they were; a kept store refuses fields of another
type or size than it has."""

import sys
import unittest
import warnings

import forebay
import numpy as np
from cases import MIB, TrajectoryCase
from forebay import Status

try:
    import ml_dtypes
except ImportError:
    if "--needs-package" in sys.argv:
        sys.exit(77)
    ml_dtypes = None

TYPES = [f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)]
TYPES += ["f2", "f4", "f8", "c8", "c16", "?", "S3", "U2", "M8[s]", "m8[ns]", ">f8", ">i2", np.dtype("g").str]
if ml_dtypes:
    TYPES.append(ml_dtypes.bfloat16)


class TypesTest(TrajectoryCase):
    def test_all_come_back_as_what_they_were(self):
        with self.open(keep=True) as states:
            arrays = {}
            for dtype in map(np.dtype, TYPES):
                values = np.arange(6).reshape(2, 3)
                arrays[dtype] = (values.astype("i8") if dtype.kind in "Mm" else values).astype(dtype)
                states.declare(dtype.str + dtype.name, (2, 3), dtype)
            states.put(0, 0, *arrays.values())
            with states.begin(1, 1) as state:
                for number, array in enumerate(arrays.values()):
                    state[number][...] = array
            for step in (0, 1):
                for number, (dtype, array) in enumerate(arrays.items()):
                    back = states.get(step, number)
                    self.assertEqual((back.dtype, back.tolist()), (dtype, array.tolist()))
            del back
        with self.open(keep=True) as states:  # without words of what only the program knows
            for number, (dtype, array) in enumerate(arrays.items()):
                back = states.get(1, number)
                native = dtype.isnative and (dtype.kind in "iufcb" and dtype.itemsize <= 16 and dtype.char != "g")
                if native or dtype.name == "bfloat16":
                    self.assertEqual(back.dtype, dtype)
                    self.assertEqual(back.tolist(), array.tolist())
                self.assertEqual(back.tobytes(), array.tobytes())
                states.declare(states.fields[number], (2, 3), dtype)
                self.assertEqual(states.get(0, number).tolist(), array.tolist())
            del back

    def test_a_field_of_another_type_or_size_is_refused(self):
        pairs = [
            ("i8", 6, "i2", 24),
            ("i8", 6, "u8", 6),
            ("f8", 6, "c16", 3),
            ("f8", 2, ">f8", 2),
            (">f8", 2, ">f4", 4),
        ]
        pairs += [("f2", 8, "i2", 8), ("S4", 6, "S8", 3), ("?", 4, "u1", 4), ("f4", (2, 3), "f4", (2, 4))]
        for number, (dtype, shape, other, other_shape) in enumerate(pairs):
            with self.subTest(kept=dtype, declared=other):
                with self.open(keep=True, name=f"s{number}") as states:
                    states.declare("u", shape, dtype)
                    states.begin(0, 0).commit()
                with self.open(keep=True, name=f"s{number}") as states:
                    with self.fails(Status.FIELD_CHANGED):
                        states.declare("u", other_shape, other)
                    states.declare("u", shape, dtype)

    def test_fields_of_no_length(self):
        with self.open(forebay.dram(MIB), encoders=0) as states:
            states.declare("inlet", 0)
            states.declare("u", (3, 10), accepted_error=1e-6)
            states.declare("outlet", (3, 0), np.float32, accepted_error=1e-6)
            for step in range(20):
                states.put(step, step, np.empty(0), np.full((3, 10), 1.0 + step), np.empty((3, 0), np.float32))
            for state in states.reverse():
                self.assertEqual((state["inlet"].shape, state["outlet"].shape), ((0,), (3, 0)))
                np.testing.assert_allclose(state["u"], 1 + state.step, rtol=1e-5)
            self.assertEqual(states.interpolate(0.5, "inlet").shape, (0,))

    def test_a_rank_that_has_nothing_at_all(self):
        for options in ({}, {"keep": True}):
            with self.open(**options) as states:
                states.declare("inlet", 0)
                for step in range(5):
                    states.put(step, step, [])
                with states.begin(5, 5) as state:
                    state["inlet"][:] = 1
                self.assertEqual([state.step for state in states.reverse()], [5, 4, 3, 2, 1, 0])
                self.assertEqual(states.get(3).size, 0)
        with self.open(keep=True) as states:
            self.assertEqual(len(states), 6)

    def test_complex_numbers_with_an_accepted_error(self):
        with self.open() as states:
            states.declare("u", 1000, np.complex128, accepted_error=1e-6)
            wave = np.exp(1j * np.linspace(0, 9, 1000))
            for step in range(30):
                states.put(step, step, wave * (1 + step))
            for state in states.reverse():
                np.testing.assert_allclose(state["u"], wave * (1 + state.step), rtol=1e-4)
            self.assertEqual(states.interpolate(0.5).dtype, np.complex128)

    def test_whole_numbers_have_no_error(self):
        states = self.open()
        with self.fails(Status.INVALID) as failed:
            states.declare("count", 10, np.int64, accepted_error=1e-3)
        self.assertIn("int64", failed.words)


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main(argv=[word for word in sys.argv if word != "--needs-package"])
