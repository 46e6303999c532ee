"""forebay: store every time step of a forward run, read it backwards at the speed of memory.

`forebay.Trajectory` keeps the states; `forebay.schedule` plans which to keep when not all fit; `forebay.pyadjoint`
keeps the checkpoints of a pyadjoint tape. docs/store/trajectory.md is a tutorial.
"""

from ._library import TrajectoryError
from ._status import Error, Status
from ._version import __version__
from .trajectory import State, Step, Tier, Trajectory, dram, pool, shared

__all__ = [
    "Error",
    "State",
    "Status",
    "Step",
    "Tier",
    "Trajectory",
    "TrajectoryError",
    "__version__",
    "dram",
    "pool",
    "shared",
]
