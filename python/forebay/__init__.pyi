from ._library import TrajectoryError as TrajectoryError
from ._status import Error as Error
from ._status import Status as Status
from ._version import __version__ as __version__
from .trajectory import State as State
from .trajectory import Step as Step
from .trajectory import Tier as Tier
from .trajectory import Trajectory as Trajectory
from .trajectory import dram as dram
from .trajectory import pool as pool
from .trajectory import shared as shared

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
