"""forebay: store every time step of a forward run, read it backwards at the speed of memory.

`forebay.Trajectory` keeps the states; `forebay.schedule` plans which to keep when not all fit; `forebay.pyadjoint`
keeps the checkpoints of a pyadjoint tape. docs/trajectory.md is a tutorial.
"""

from ._library import Status, TrajectoryError
from .trajectory import State, Step, Tier, Trajectory, dram, pool, shared

__all__ = ["State", "Status", "Step", "Tier", "Trajectory", "TrajectoryError", "dram", "pool", "shared"]
