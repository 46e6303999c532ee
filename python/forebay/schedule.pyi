import dataclasses
import enum
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from .trajectory import State, Step, Trajectory

class StorageType(enum.Enum):
    RAM = 0
    DISK = 1
    WORK = -1
    NONE = None

class _Action:
    @property
    def args(self) -> tuple[Any, ...]: ...
    def __eq__(self, other: object) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@dataclasses.dataclass(eq=False)
class Forward(_Action):
    n0: int
    n1: int
    write_ics: bool
    write_adj_deps: bool
    storage: StorageType

@dataclasses.dataclass(eq=False)
class Reverse(_Action):
    n1: int
    n0: int
    clear_adj_deps: bool

@dataclasses.dataclass(eq=False)
class Copy(_Action):
    n: int
    from_storage: StorageType
    to_storage: StorageType

@dataclasses.dataclass(eq=False)
class Move(_Action):
    n: int
    from_storage: StorageType
    to_storage: StorageType

@dataclasses.dataclass(eq=False)
class EndForward(_Action): ...

@dataclasses.dataclass(eq=False)
class EndReverse(_Action): ...

class Schedule:
    max_n: int
    def __init__(self, steps: int, ram: int, disk: int = 0) -> None: ...
    def __del__(self) -> None: ...
    def __iter__(self) -> Schedule: ...
    def __next__(self) -> _Action: ...

class Costs(NamedTuple):
    budget: int
    write_seconds: float = 0.0
    read_seconds: float = 0.0

@dataclasses.dataclass
class Plan:
    steps: int
    store_all: bool
    ram: int
    disk: int
    forward_steps: int
    predicted_seconds: float
    def __iter__(self) -> Iterator[_Action]: ...

def plan(
    steps: int,
    bytes_per_step: int,
    *,
    forward_seconds: float,
    adjoint_seconds: float,
    dram: Costs = ...,
    pool: Costs = ...,
    overlapped: bool = False,
) -> Plan: ...
def follow(
    schedule: Iterable[Any],
    states: Trajectory,
    *,
    save: Callable[[Step], object],
    load: Callable[[State], object],
    forward: Callable[[int, bool], object],
    adjoint: Callable[[int], object],
    end_forward: Callable[[], object] | None = None,
    steps: int | None = None,
) -> None: ...
