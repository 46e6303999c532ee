from collections.abc import Callable, Mapping, Sequence
from typing import Any

import checkpoint_schedules
from pyadjoint.tape import TapePackageData

from .trajectory import Tier, Trajectory

class Checkpoints(TapePackageData):
    def __init__(
        self,
        tape: Any,
        tiers: Sequence[Tier],
        *,
        types: Mapping[type, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] | None = None,
        **options: Any,
    ) -> None: ...
    @property
    def states(self) -> Trajectory: ...
    def close(self) -> None: ...
    def __enter__(self) -> Checkpoints: ...
    def __exit__(self, *exception: object) -> None: ...

def schedule(steps: int, ram: int = 0, disk: int = 0) -> checkpoint_schedules.CheckpointSchedule: ...
