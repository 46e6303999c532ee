"""Proves: a tape of pyadjoint that keeps its checkpoints in forebay gives the gradient, to the last bit, that it gives
with everything in memory."""

import os
import shutil
import tempfile
import unittest

import checkpoint_schedules
import forebay
import forebay.pyadjoint
import numpy as np
import pyadjoint
from numpy_adjoint import ndarray as AdjArray
from pyadjoint.overloaded_type import create_overloaded_object

STEPS, DT = 40, 0.05


class BurgersBlock(pyadjoint.Block):
    """One step of Burgers' equation with upwind differences, on a circle, and its transpose."""

    def __init__(self, u):
        super().__init__()
        self.add_dependency(u)

    @staticmethod
    def advance(u):
        u = np.asarray(u)
        return u - DT * u * (u - np.roll(u, 1)) + DT * (np.roll(u, 1) - 2 * u + np.roll(u, -1))

    def evaluate_adj_component(self, inputs, adj_inputs, block_variable, idx, prepared=None):
        u, w = np.asarray(inputs[0]), np.asarray(adj_inputs[0])
        uw = DT * u * w
        return w - DT * (u - np.roll(u, 1)) * w - uw + np.roll(uw, -1) + DT * (np.roll(w, 1) - 2 * w + np.roll(w, -1))

    def recompute_component(self, inputs, block_variable, idx, prepared):
        return AdjArray._ad_init_object(self.advance(inputs[0]))


class EnergyBlock(pyadjoint.Block):
    def __init__(self, u):
        super().__init__()
        self.add_dependency(u)

    def evaluate_adj_component(self, inputs, adj_inputs, block_variable, idx, prepared=None):
        return adj_inputs[0] * np.asarray(inputs[0])

    def recompute_component(self, inputs, block_variable, idx, prepared):
        u = np.asarray(inputs[0])
        return pyadjoint.AdjFloat(0.5 * (u @ u))


def annotated(block, value):
    value = create_overloaded_object(value)
    pyadjoint.get_working_tape().add_block(block)
    block.add_output(value.create_block_variable())
    return value


@pyadjoint.stop_annotating()
def nearby(start):
    return start * 0.9


def burgers(tape):
    start = AdjArray._ad_init_object(np.sin(np.linspace(0, 6, 50)))
    u = start
    for _ in tape.timestepper(iter(range(STEPS))):
        block = BurgersBlock(u)
        u = annotated(block, BurgersBlock.advance(u))
    energy = annotated(EnergyBlock(u), 0.5 * float(np.asarray(u) @ np.asarray(u)))
    return pyadjoint.ReducedFunctional(energy, pyadjoint.Control(start)), start


def numbers(tape):
    """Several numbers in a step, one of which no step changes."""
    start, rate = pyadjoint.AdjFloat(0.5), pyadjoint.AdjFloat(0.9)
    u, v = start, rate * 2.0
    for _ in tape.timestepper(iter(range(STEPS))):
        u, v = u + DT * (rate - u * v), v + DT * u * u
    return pyadjoint.ReducedFunctional(u * v, pyadjoint.Control(start)), start


class TapeTest(unittest.TestCase):
    def setUp(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.directory = tempfile.mkdtemp(prefix="forebay-faces-", dir=memory)
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        pyadjoint.continue_annotation()
        self.addCleanup(pyadjoint.pause_annotation)

    def keep(self, tape, **options):
        tiers = [forebay.dram(32 * 4096), forebay.pool(self.directory, 1 << 24)]
        made = forebay.pyadjoint.Checkpoints(tape, tiers, segment_bytes=8192, **options)
        self.addCleanup(made.close)
        return made

    def gradients(self, model, schedule, kept):
        """At the start and, recomputed, somewhere else; also the values there, and the most states in the store."""
        tape = pyadjoint.Tape()
        with pyadjoint.set_working_tape(tape):
            checkpoints = self.keep(tape) if kept else None
            if schedule is not None:
                tape.enable_checkpointing(schedule)
            functional, start = model(tape)
            most = len(checkpoints.states) if kept else 0
            found = [np.array(functional.derivative())]
            if schedule is None or not schedule.is_exhausted:
                found.append(np.array(functional(nearby(start))))
                found.append(np.array(functional.derivative()))
        return found, most

    def test_the_gradient_is_equal_with_and_without_forebay(self):
        for model in (burgers, numbers):
            reference, _ = self.gradients(model, None, False)
            self.assertTrue(np.all(reference[0] != 0))
            for make in (
                lambda: forebay.pyadjoint.schedule(STEPS, disk=5),
                lambda: forebay.pyadjoint.schedule(STEPS, ram=2, disk=3),
                lambda: checkpoint_schedules.MultistageCheckpointSchedule(STEPS, 0, 5),
                lambda: checkpoint_schedules.MultistageCheckpointSchedule(STEPS, 2, 3),
                lambda: checkpoint_schedules.MixedCheckpointSchedule(
                    STEPS, 5, storage=checkpoint_schedules.StorageType.DISK
                ),
                lambda: checkpoint_schedules.SingleDiskStorageSchedule(),
            ):
                with self.subTest(model=model.__name__, schedule=repr(make())):
                    found, most = self.gradients(model, make(), True)
                    self.assertGreater(most, 0, "nothing was kept in forebay")
                    for a, b in zip(found, reference, strict=False):
                        np.testing.assert_array_equal(a, b)

    def test_room_is_used_again(self):
        tape = pyadjoint.Tape()
        with pyadjoint.set_working_tape(tape):
            checkpoints = self.keep(tape)
            tape.enable_checkpointing(checkpoint_schedules.SingleDiskStorageSchedule())
            functional, start = burgers(tape)
            functional.derivative()
            most = len(checkpoints.states)
            for _ in range(3):
                functional(nearby(start))
                functional.derivative()
            self.assertLessEqual(len(checkpoints.states), most + 2)
            tape.clear_tape()
            tape.enable_checkpointing(forebay.pyadjoint.schedule(STEPS, disk=5))
            functional, start = burgers(tape)
            self.assertLessEqual(len(checkpoints.states), 6)
            functional.derivative()

    def test_a_checkpoint_larger_than_the_first_takes_several_steps(self):
        tape = pyadjoint.Tape()
        checkpoints = self.keep(tape)
        values = {f"v{n}": np.random.default_rng(n).random(n) for n in (10, 300, 1)}
        for names in (["v10"], ["v10", "v300", "v1"]):
            kept = {name: values[name] for name in names}
            checkpoints._take(kept, set())
            for name in names:
                np.testing.assert_array_equal(kept[name]._ad_restore_at_checkpoint(kept[name]), values[name])
        self.assertGreater(len(checkpoints.states), 10)

    def test_a_type_that_is_not_known_is_refused_and_can_be_taught(self):
        class Temperature:
            def __init__(self, kelvin):
                self.kelvin = kelvin

        tape = pyadjoint.Tape()
        checkpoints = self.keep(tape)
        with self.assertRaisesRegex(TypeError, "Temperature"):
            checkpoints._take({"t": Temperature(3.0)}, set())
        tape = pyadjoint.Tape()
        how = (lambda value: (np.array([value.kelvin]), None), lambda array, _: Temperature(array[0]))
        checkpoints = self.keep(tape, name="taught", types={Temperature: how})
        kept = {"t": Temperature(3.0)}
        checkpoints._take(kept, set())
        self.assertEqual(kept["t"]._ad_restore_at_checkpoint(kept["t"]).kelvin, 3.0)

    def test_a_tape_that_has_begun_is_refused(self):
        tape = pyadjoint.Tape()
        with pyadjoint.set_working_tape(tape):
            self.assertEqual(pyadjoint.AdjFloat(1.0) + 1.0, 2.0)
            with self.assertRaises(ValueError):
                self.keep(tape)


if __name__ == "__main__":
    unittest.main()
