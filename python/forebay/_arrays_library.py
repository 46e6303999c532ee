"""libforebay_arrays and its errors."""

# Before the library: it brings the MPI that both use.
from mpi4py import MPI

from . import _library
from ._load import load
from ._status import Error


class ArraysError(Error):
    """An error of arrays, the same on every rank."""


# The library of the other family would have an MPI of its own, which nobody has initialized (cmake/mpi_family.cmake).
_FAMILY = "openmpi" if MPI.Get_library_version().startswith("Open MPI") else "mpich"
library = load("libforebay_arrays", "FOREBAY_ARRAYS_LIBRARY", ArraysError, f"_{_FAMILY}")


def check(status):
    """Raises what a call returned, in the words of the library."""
    _library.check(status, ArraysError)
