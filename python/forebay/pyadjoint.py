"""Keeps the checkpoints of a pyadjoint tape in a trajectory.

    tape = pyadjoint.get_working_tape()
    with forebay.pyadjoint.Checkpoints(tape, [forebay.pool("/dev/shm", 4e9)]):
        tape.enable_checkpointing(forebay.pyadjoint.schedule(steps, disk=100))
        for step in tape.timestepper(iter(range(steps))):
            ...

A schedule comes from this package or from checkpoint_schedules. States that it keeps on DISK go into the trajectory;
those that it keeps in RAM or WORK stay with pyadjoint. The packages pyadjoint-ad and checkpoint-schedules are needed.
"""

import checkpoint_schedules
import numpy as np
from pyadjoint import OverloadedType
from pyadjoint.tape import TapePackageData, TimeStep, TimeStepSequence

from . import schedule as _schedule
from .trajectory import Trajectory

_ALIGNMENT = 64


def _as_array(value):
    return np.asarray(value), type(value)


# For each type of value: how it becomes an array and something small, and how these become a value again.
_TYPES = {
    float: (_as_array, lambda array, kind: kind(array[()])),
    np.ndarray: (_as_array, lambda array, kind: array.view(kind)),
}


class _Record:
    """The data that one time step of the tape keeps, in one or more steps of the trajectory. When nothing refers to it
    any more
    its room is free."""

    def __init__(self, keys, free):
        self.keys = keys
        self._free = free

    def __del__(self):
        self._free.extend(self.keys)


class _Kept(OverloadedType):
    """Stands for a value in the trajectory. pyadjoint asks it for the value when a step is restored from DISK."""

    def __init__(self, owner, record, offset, array, kind, unpack):
        super().__init__()
        self._owner, self._record, self._offset = owner, record, offset
        self._dtype, self._shape = array.dtype, array.shape
        self._kind, self._unpack = kind, unpack

    def _ad_restore_at_checkpoint(self, checkpoint):
        array = np.empty(self._shape, self._dtype)
        self._owner._read(self._record, self._offset, array.reshape(-1).view(np.uint8))
        return self._unpack(array, self._kind)


class _TimeStep(TimeStep):
    def __init__(self, owner):
        super().__init__()
        self._owner = owner

    def checkpoint(self, checkpointable_state, adj_dependencies, global_deps):
        super().checkpoint(checkpointable_state, adj_dependencies, global_deps)
        if self._owner._active:
            self._owner._take(self._checkpoint, global_deps)


class _TimeSteps(TimeStepSequence):
    def __init__(self, owner):
        super().__init__()
        self._owner = owner

    def append_step(self, step=None):
        self._steps.append(_TimeStep(self._owner) if step is None else step)


class Checkpoints(TapePackageData):
    """Before anything is on the tape, and before enable_checkpointing. A trajectory is opened with `tiers` and
    `options`; close() lets it go.

    `types` says how to keep values of other types than numbers and numpy arrays: for each type a pair of functions,
    pack(value) -> array, something small; unpack(array, something small) -> value.
    """

    def __init__(self, tape, tiers, *, types=None, **options):
        if tape.get_blocks():
            raise ValueError("forebay keeps checkpoints of a tape only from its beginning")
        self._types = {**_TYPES, **(types or {})}
        self._states = Trajectory(tiers, **options)
        self._piece = 0  # bytes of one step of the trajectory
        self._next = 0
        self._free = []  # keys of steps that nobody needs
        self._active = False
        self._tape = tape
        tape._package_data["forebay"] = self
        tape._blocks = _TimeSteps(self)

    @property
    def states(self):
        """The trajectory."""
        return self._states

    def close(self):
        self._states.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    # --- for the time steps of the tape ---

    def _how(self, value):
        for kind in type(value).__mro__:
            if kind in self._types:
                return self._types[kind]
        raise TypeError(f"forebay cannot keep a checkpoint of {type(value).__name__}: say how with `types`")

    def _take(self, checkpoint, shared):
        """Moves what pyadjoint has just kept into the trajectory; what all time steps share stays."""
        parts, size = [], 0
        for variable, value in checkpoint.items():
            if value is None or variable in shared or isinstance(value, _Kept):
                continue
            pack, unpack = self._how(value)
            array, kind = pack(value)
            parts.append((variable, size, np.ascontiguousarray(array).reshape(array.shape), kind, unpack))
            size += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
        record = self._write(size, [(offset, array.reshape(-1).view(np.uint8)) for _, offset, array, _, _ in parts])
        for variable, offset, array, kind, unpack in parts:
            checkpoint[variable] = _Kept(self, record, offset, array, kind, unpack)

    def _write(self, size, parts):
        for key in self._free:
            self._states.drop(key)
        self._free.clear()
        if self._piece == 0 and size > 0:
            self._piece = size
            self._states.declare("checkpoint", size, np.uint8)
        keys = []
        for begin in range(0, size, self._piece or 1):
            with self._states.begin(self._next, self._next) as step:
                for offset, content in parts:
                    low, high = max(offset, begin), min(offset + content.size, begin + self._piece)
                    if low < high:
                        step[0][low - begin : high - begin] = content[low - offset : high - offset]
            keys.append(self._next)
            self._next += 1
        return _Record(keys, self._free)

    def _read(self, record, offset, content):
        self._states._call("reverse", record.keys[-1])  # older ones are asked for next
        done = 0
        while done < content.size:
            piece, place = divmod(offset + done, self._piece)
            count = min(self._piece - place, content.size - done)
            content[done : done + count] = self._states.get(record.keys[piece])[place : place + count]
            done += count

    # --- for the tape ---

    def continue_checkpointing(self):
        self._active = True

    def pause_checkpointing(self):
        self._active = False

    def clear(self):
        """The tape is emptied; it goes on keeping its checkpoints here."""
        self._tape._blocks = _TimeSteps(self)

    def reset(self):
        """Time steps let go of what they replace."""

    def checkpoint(self):
        return None

    def restore_from_checkpoint(self, state):
        pass

    def copy(self):
        return self


class _Schedule(checkpoint_schedules.CheckpointSchedule):
    def __init__(self, steps, ram, disk):
        super().__init__(max_n=steps)
        self._actions = _schedule.Schedule(steps, ram, disk)
        self._uses = {name for name, slots in (("RAM", ram), ("DISK", disk)) if slots > 0} | {"WORK"}
        self._exhausted = False

    def _iterator(self):
        for action in self._actions:
            name = type(action).__name__
            if name == "Forward":
                self._n = action.n1
            elif name == "Reverse":
                self._r += 1
            elif name in ("Copy", "Move"):
                self._n = action.n
            elif name == "EndReverse":
                self._exhausted = True
            arguments = [
                checkpoint_schedules.StorageType[x.name] if isinstance(x, _schedule.StorageType) else x
                for x in action.args
            ]
            yield getattr(checkpoint_schedules, name)(*arguments)

    @property
    def is_exhausted(self):
        return self._exhausted

    def uses_storage_type(self, storage_type):
        return storage_type.name in self._uses


def schedule(steps, ram=0, disk=0):
    """forebay.schedule.Schedule as a schedule of checkpoint_schedules, for pyadjoint."""
    return _Schedule(steps, ram, disk)
