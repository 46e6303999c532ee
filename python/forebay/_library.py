"""libforebay.so, its errors and its options."""

import os
from ctypes import c_int64

import numpy as np

from ._load import load
from ._status import Error, Status
from ._values import from_text, integer, text
from ._version import __version__


class TrajectoryError(Error):
    """An error of a trajectory or a schedule."""


library = load("libforebay", "FOREBAY_LIBRARY", TrajectoryError)
_found = library.forebay_version().decode()
if _found.split(".")[:2] != __version__.split(".")[:2]:  # whose path was given
    raise ImportError(f"the Python package is forebay {__version__}, the library that was found {_found}")


def check(status, kind=TrajectoryError):
    """Raises what a call of a library returned, in its words."""
    if status == Status.OK:
        return
    words = from_text(library.forebay_error_get_text())
    if status == Status.PINNED:
        words += " (in Python: let go of the arrays that show them)"
    raise kind(status, words)


class Options:
    """The options of the C interface; for a `with` block. An option that is None is not set."""

    def __init__(self, kind=TrajectoryError, **values):
        self._kind = kind
        self.pointer = library.forebay_options_create()
        if not self.pointer:
            raise MemoryError
        try:
            for key, value in values.items():
                self.set(key.replace("_", "-"), value)
        except BaseException:
            self.__exit__()
            raise

    def set(self, key, value):
        if value is None:
            return
        what = f"the option {key}"
        if isinstance(value, (bool, np.bool_)):
            value = "on" if value else "off"
        if not isinstance(value, (str, os.PathLike)):
            value = str(integer(what, value, c_int64, self._kind))
        given = text("the name of an option", key, self._kind), text(what, value, self._kind)
        check(library.forebay_options_set(self.pointer, *given), self._kind)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        library.forebay_options_free(self.pointer)
