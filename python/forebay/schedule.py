"""Which states of a forward run to keep when not all fit, and when to recompute the others.

Actions have the names, and compare equal with those, of the package checkpoint_schedules, which is not needed for it.
State n is the one before step n.
"""

import ctypes
import dataclasses
import enum
import typing

from ._declarations import Action, ScheduleAnswer, ScheduleQuestion
from ._library import TrajectoryError, check, library
from ._values import whole


class StorageType(enum.Enum):
    """RAM is the first tier of a trajectory, DISK what lies behind it, WORK the solver's own memory."""

    RAM = 0
    DISK = 1
    WORK = -1
    NONE = None

    def __repr__(self):
        return f"StorageType.{self.name}"


class _Action:
    @property
    def args(self):
        return dataclasses.astuple(self)

    def __eq__(self, other):
        """An action compares also with those of checkpoint_schedules, on the right side (theirs compare with
        nothing)."""
        if type(self).__name__ != type(other).__name__ or not hasattr(other, "args"):
            return NotImplemented
        return [getattr(x, "name", x) for x in self.args] == [getattr(x, "name", x) for x in other.args]

    __hash__ = None


@dataclasses.dataclass(eq=False)
class Forward(_Action):
    """Run the steps n0 to n1 - 1. With `write_ics` state n0 is kept in `storage` first; with `write_adj_deps` what the
    adjoint of these steps needs is kept there."""

    n0: int
    n1: int
    write_ics: bool
    write_adj_deps: bool
    storage: StorageType


@dataclasses.dataclass(eq=False)
class Reverse(_Action):
    """Run the adjoint of the steps n1 - 1 to n0."""

    n1: int
    n0: int
    clear_adj_deps: bool


@dataclasses.dataclass(eq=False)
class Copy(_Action):
    """Bring state n from one storage to the other."""

    n: int
    from_storage: StorageType
    to_storage: StorageType


@dataclasses.dataclass(eq=False)
class Move(_Action):
    """The same, and it is gone where it was."""

    n: int
    from_storage: StorageType
    to_storage: StorageType


@dataclasses.dataclass(eq=False)
class EndForward(_Action):
    """The forward run has reached its end."""


@dataclasses.dataclass(eq=False)
class EndReverse(_Action):
    """The adjoint has reached step 0."""


class _Kind(enum.IntEnum):
    """As forebay_action_kind."""

    NONE = 0
    FORWARD = 1
    REVERSE = 2
    COPY = 3
    MOVE = 4
    END_FORWARD = 5
    END_REVERSE = 6


# These have the order of forebay_storage.
_STORAGE = (StorageType.NONE, StorageType.RAM, StorageType.DISK, StorageType.WORK)


class Schedule:
    """The actions of one forward and adjoint run that keeps at most `ram` + `disk` states at once and runs as few
    forward steps as possible: an iterator."""

    def __init__(self, steps, ram, disk=0):
        self._pointer = ctypes.c_void_p()
        self.max_n = whole("steps", steps, TrajectoryError)
        check(library.forebay_schedule_create(steps, ram, disk, ctypes.byref(self._pointer)))

    def __del__(self):
        library.forebay_schedule_free(self._pointer)

    def __iter__(self):
        return self

    def __next__(self):
        action = library.struct(Action)
        check(library.forebay_schedule_advance(self._pointer, ctypes.byref(action)))
        make = _ACTIONS.get(action.kind)
        if make is None:
            raise StopIteration
        return make(action)


def _forward(action):
    keeps = bool(action.keep_state)
    storage = _STORAGE[action.to] if keeps else StorageType.WORK
    return Forward(action.n0, action.n1, keeps, bool(action.keep_dependencies), storage)


_ACTIONS = {
    _Kind.FORWARD: _forward,
    _Kind.REVERSE: lambda action: Reverse(action.n1, action.n0, True),
    _Kind.COPY: lambda action: Copy(action.n0, _STORAGE[action.from_], _STORAGE[action.to]),
    _Kind.MOVE: lambda action: Move(action.n0, _STORAGE[action.from_], _STORAGE[action.to]),
    _Kind.END_FORWARD: lambda action: EndForward(),
    _Kind.END_REVERSE: lambda action: EndReverse(),
}


class Costs(typing.NamedTuple):
    """A tier in which states may be kept: bytes, and measured seconds of one state."""

    budget: int
    write_seconds: float = 0.0
    read_seconds: float = 0.0


@dataclasses.dataclass
class Plan:
    """The answer of plan(); iterating over it gives the actions."""

    steps: int
    store_all: bool
    ram: int
    disk: int
    forward_steps: int
    predicted_seconds: float

    def __iter__(self):
        return Schedule(self.steps, self.ram, self.disk)


_NO_ROOM = Costs(0)


def plan(
    steps, bytes_per_step, *, forward_seconds, adjoint_seconds, dram=_NO_ROOM, pool=_NO_ROOM, overlapped=False
):  # fmt: skip
    """The schedule with the least predicted time that the budgets allow. With `overlapped`, writing and reading run
    beside the solver and cost only what exceeds its step."""
    for budget in (bytes_per_step, dram.budget, pool.budget):
        if budget < 0:
            raise ValueError(f"a budget of {budget} B makes no sense")
    costs = forward_seconds, adjoint_seconds, *dram, *pool
    question = library.struct(ScheduleQuestion, steps, bytes_per_step, *costs, overlapped)
    answer = library.struct(ScheduleAnswer)
    check(library.forebay_schedule_plan(ctypes.byref(question), ctypes.byref(answer)))
    return Plan(
        question.steps,
        bool(answer.store_all),
        answer.dram_slots,
        answer.pool_slots,
        answer.forward_steps,
        answer.predicted_seconds,
    )


def follow(schedule, states, *, save, load, forward, adjoint, end_forward=None, steps=None):
    """Drives a solver through a schedule, of this module or of checkpoint_schedules, with its states in the trajectory
    `states`, by these functions:

    save(step)     fills the open step with the state at hand
    load(state)    makes a stored state the one at hand
    forward(n, for_adjoint)   runs step n; with `for_adjoint`, keeps what its adjoint needs
    end_forward()  the state at hand is the last; the adjoint begins
    adjoint(n)     runs the adjoint of step n

    `steps` is for schedules that do not know their number before the forward run has ended.
    """

    def keep(n):
        with states.begin(n, float(n)) as step:
            save(step)

    unknown = hasattr(schedule, "max_n") and schedule.max_n is None
    for action in schedule:
        name = type(action).__name__
        if name == "Forward":
            if action.write_ics:
                keep(action.n0)
            for n in range(action.n0, min(action.n1, steps) if unknown else action.n1):
                in_store = action.write_adj_deps and action.storage.name != "WORK"
                if in_store and not (action.write_ics and n == action.n0):
                    keep(n)
                forward(n, action.write_adj_deps)
            if unknown and action.n1 >= steps:
                schedule.finalize(steps)
        elif name == "Reverse":
            for n in range(action.n1 - 1, action.n0 - 1, -1):
                adjoint(n)
        elif name in ("Copy", "Move"):
            load(states.state(action.n))
            if name == "Move":
                states.drop(action.n)
        elif name == "EndForward":
            if end_forward is not None:
                end_forward()
        elif name == "EndReverse":
            return
