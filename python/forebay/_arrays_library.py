"""libforebay_arrays.so and its errors."""

# Before the library: it brings the MPI that both use.
from mpi4py import MPI  # noqa: F401

from . import _library
from ._load import load
from ._status import Error


class ArraysError(Error):
    """An error of arrays, the same on every rank."""


library = load("libforebay_arrays", "FOREBAY_ARRAYS_LIBRARY", ArraysError)


def check(status):
    """Raises what a call returned, in the words of the library."""
    _library.check(status, ArraysError)
