"""The public libraries: where they are found."""

import ctypes
import os
import pathlib

from ._declarations import FUNCTIONS
from ._values import Library
from ._version import __version__

# Versions of a series fit each other (forebay/version.h), and have one name of the file.
_MAJOR, _MINOR, _ = __version__.split(".")
_SERIES = f"0.{_MINOR}" if _MAJOR == "0" else _MAJOR


def _places(name, variable):
    """The places to look at: what the variable says; in the package, as a wheel has it; where CMake installed it; in the
    build tree of a source tree; in the lib of pip's prefix; where the loader looks."""
    if variable in os.environ:
        return [os.environ[variable]]
    package = pathlib.Path(__file__).resolve().parent
    try:
        from ._installed import LIBRARIES  # written when CMake installs the package

        directories = [package / LIBRARIES]
    except ImportError:
        # PREFIX/lib/python3.N/site-packages/forebay, or SOURCES/python/forebay
        above = package.parent.parent
        directories = [above / "build" / "lib", above.parent, above.parent.parent / "lib64"]
    directories.insert(0, package / "_root" / "lib")
    return [str(each / name) for each in directories if (each / name).exists()] + [name]


def load(name, variable, error, family=""):
    """A library with its functions. An argument that they cannot take is an `error`. `family`: the end of its file's name."""
    tried, file = [], f"{name}{family}.so.{_SERIES}"
    for place in _places(file, variable):
        try:
            return Library(ctypes.CDLL(place), FUNCTIONS[name], error)
        except (OSError, AttributeError) as failure:  # it cannot be loaded, or is of another version
            tried.append(str(failure))
    raise ImportError(
        f"forebay needs {file}, which `make install` puts below its PREFIX: install this package below the same one (a "
        f"virtual environment is one), or set {variable} to the path of the library. Tried: " + "; ".join(tried)
    )
