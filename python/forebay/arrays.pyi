import os
import types as _types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from mpi4py import MPI
from typing_extensions import Self, TypeAlias

from ._arrays_library import ArraysError as ArraysError
from ._status import Status as Status

__all__ = [
    "Array",
    "ArraysError",
    "Checkpoints",
    "Description",
    "Head",
    "MeshOutput",
    "Plan",
    "Recovered",
    "Status",
    "Team",
]

_Path: TypeAlias = str | os.PathLike[str]
_Method: TypeAlias = Literal["serial", "stdio", "mpi-independent", "mpi-noncollective", "mpi-collective", "staged"]

class Array(NamedTuple):
    name: str
    location: str
    plan: Plan
    values: npt.NDArray[Any]

_Table: TypeAlias = Sequence[Array | tuple[str, str, Plan, npt.NDArray[Any]]]

class Head(NamedTuple):
    step: int
    time: float
    program: str
    mesh: str

class Description(NamedTuple):
    head: Head
    locations: dict[str, int]
    arrays: list[tuple[str, str, np.dtype[Any], int]]

class Recovered(NamedTuple):
    path: str
    carried: bool

class _Handle:
    def __init__(self, owner: _Handle | None, free: Any, call: Any, create: Any, *arguments: Any) -> None: ...
    @property
    def pointer(self) -> int: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: _types.TracebackType | None
    ) -> None: ...

class Team(_Handle):
    def __init__(self, communicator: MPI.Comm | None = None, most_per_node: int | None = None) -> None: ...
    def plan(self, numbers: npt.ArrayLike, items: int, **request: int | bool | None) -> Plan: ...
    def plan_of_lists(self, ranges: npt.ArrayLike, values: int, **request: int | bool | None) -> Plan: ...
    def checkpoints(
        self,
        directory: _Path,
        method: _Method | None = None,
        hints: Mapping[str, object] | None = None,
        pool: _Path | None = None,
        verify: Literal["written", "read-back"] | None = None,
    ) -> Checkpoints: ...

class Plan(_Handle):
    team: Team
    local: int
    def __init__(
        self,
        team: Team,
        create: Any,
        numbers: npt.NDArray[np.int64],
        local: int,
        items: int,
        request: Mapping[str, int | bool | None],
    ) -> None: ...
    @property
    def block(self) -> range: ...
    def to_block(self, values: npt.ArrayLike) -> npt.NDArray[Any]: ...
    def from_block(self, block: npt.ArrayLike) -> npt.NDArray[Any]: ...
    def number_lists(self, lengths: npt.ArrayLike) -> tuple[npt.NDArray[np.int64], int]: ...

class Checkpoints(_Handle):
    team: Team
    def __init__(
        self,
        team: Team,
        directory: _Path,
        method: _Method | None,
        hints: Mapping[str, object] | None,
        pool: _Path | None,
        verify: Literal["written", "read-back"] | None,
    ) -> None: ...
    def write(self, name: str, arrays: _Table, *, step: int, time: float, program: str = "", mesh: str = "") -> None: ...
    def settle(self) -> None: ...
    def prepare(self, arrays: _Table) -> None: ...
    def mesh_output(
        self,
        name: str,
        *,
        points: Plan,
        places: npt.NDArray[np.float64],
        cells: Plan,
        types: npt.ArrayLike,
        lengths: npt.ArrayLike,
        vertices: npt.ArrayLike,
    ) -> MeshOutput: ...
    def read(self, name: str, arrays: _Table, *, mesh: str = "") -> Head: ...
    def describe(self, name: str) -> Description: ...
    @property
    def recovered(self) -> list[Recovered]: ...

class MeshOutput(_Handle):
    team: Team
    def __init__(
        self,
        store: Checkpoints,
        name: str,
        points: Plan,
        places: npt.NDArray[np.float64],
        cells: Plan,
        types: npt.ArrayLike,
        lengths: npt.ArrayLike,
        vertices: npt.ArrayLike,
    ) -> None: ...
    def write(self, arrays: _Table, *, step: int, time: float, program: str = "", mesh: str = "") -> None: ...
    def settle(self) -> None: ...
