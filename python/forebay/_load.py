"""The public libraries: where they are found, and how the types of their functions are told to ctypes."""

import ctypes
import os
import pathlib


def _places(name, variable):
    """What the variable says; beside an installed package; in the build tree of a source tree; where the loader looks."""
    if variable in os.environ:
        return [os.environ[variable]]
    package = pathlib.Path(__file__).resolve().parent
    try:
        from ._installed import LIBRARIES  # written when the package is installed
    except ImportError:
        LIBRARIES = package.parents[1] / "build" / "lib"
    beside = package / LIBRARIES / name
    return ([str(beside)] if beside.exists() else []) + [name]


def load(name, variable):
    tried = []
    for place in _places(name, variable):
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            tried.append(str(error))
    raise ImportError(f"forebay needs its library; set {variable} to its path. Tried: " + "; ".join(tried))


def declare(library, result, **functions):
    for name, arguments in functions.items():
        function = getattr(library, "forebay_" + name)
        function.restype = result
        function.argtypes = arguments
