"""Values on their way to a library, which get there as they are or not at all: ctypes keeps the low bits of an integer,
and the C interface the part of a text before a NUL."""

import ctypes
import operator
import os
from ctypes import c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64

import numpy as np

from ._status import Status
from ._words import plural


def _range(kind):
    values = 1 << 8 * ctypes.sizeof(kind)
    return (-values // 2, values // 2 - 1) if kind(-1).value < 0 else (0, values - 1)


_RANGES = {kind: _range(kind) for kind in (c_int, c_int64, c_uint32, c_uint64, c_size_t)}
# As many bits as fit a message.
_SHOWN_BITS = 128


def _shown(value):
    return str(value) if value.bit_length() <= _SHOWN_BITS else f"a number of {plural(value.bit_length(), 'bit')}"


def whole(what, value, error):
    """A number that is whole, also where it is written 4e9."""
    if isinstance(value, (float, np.floating)):
        if not value.is_integer():
            raise error(Status.INVALID, f"{what} cannot be {value}: a whole number is wanted")
        return int(value)
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: a whole number is wanted, not {type(value).__name__}") from None


def integer(what, value, kind, error):
    """A whole number that a type of ctypes can hold."""
    value = whole(what, value, error)
    low, high = _RANGES[kind]
    if not low <= value <= high:
        raise error(Status.INVALID, f"{what} cannot be {_shown(value)}: a whole number of {low} to {high} is wanted")
    return value


def number(what, value, error):
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
        raise TypeError
    except TypeError:
        raise TypeError(f"{what}: a number is wanted, not {type(value).__name__}") from None
    except OverflowError:
        raise error(Status.INVALID, f"{what} cannot be {_shown(value)}: it is too large") from None


def text(what, value, error):
    """The bytes of a text or a path. None stays what it is."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise error(Status.INVALID, f"{what} cannot be {value!r}: UTF-8 has no such letters") from None
    elif isinstance(value, os.PathLike):
        value = os.fsencode(value)
    elif not isinstance(value, bytes):
        raise TypeError(f"{what}: a text is wanted, not {type(value).__name__}")
    if b"\0" in value:
        raise error(Status.INVALID, f"{what} cannot be {value!r}: a text ends at a NUL")
    return value


def from_text(value):
    """A text of a library as Python has it; whatever its bytes are, text() gives them back."""
    return (value or b"").decode("utf-8", "surrogateescape")


def _converted(what, value, kind, error):
    if kind in _RANGES:
        return integer(what, value, kind, error)
    if kind is c_double:
        return number(what, value, error)
    return text(what, value, error) if kind is c_char_p else value


class Function:
    """A function of a library."""

    def __init__(self, function, result, parameters, error):
        function.restype = result
        function.argtypes = [kind for _, kind in parameters]
        self.raw = function
        self._parameters = parameters
        self._error = error

    def ready(self, *arguments):
        """The arguments as the library takes them. Where all ranks make a call together, each looks at its own first."""
        return [
            _converted(name, value, kind, self._error)
            for (name, kind), value in zip(self._parameters, arguments)  # noqa: B905 (Python 3.9; ctypes counts them)
        ]

    def __call__(self, *arguments):
        return self.raw(*self.ready(*arguments))


class Library:
    """The functions of a library, by their names, and its structs."""

    def __init__(self, found, declared, error):
        self._error = error
        for name, (result, parameters) in declared.items():
            setattr(self, name, Function(getattr(found, name), result, parameters, error))

    def struct(self, kind, *values):
        """A struct of the interface, which begins with its size."""
        fields = kind._fields_[1 : 1 + len(values)]
        given = [_converted(name, value, of, self._error) for (name, of), value in zip(fields, values)]  # noqa: B905
        return kind(ctypes.sizeof(kind), *given)


def cast(what, values, dtype, error, order="C"):
    """An array of this type with the same values: numbers may be rounded, but no whole number and no text may become
    another one. Without a copy where type and order are the same already."""
    given = np.asarray(values)
    if given.dtype == dtype:
        return np.asarray(given, order=order)
    # numpy does not know how bfloat16 is related to others.
    like = np.dtype(np.float16) if dtype.name == "bfloat16" else dtype
    # Whole numbers that were written in Python have no type: their values decide.
    untyped = not hasattr(values, "dtype") and given.dtype.kind in "iu" and dtype.kind in "iu"
    if not untyped and given.size > 0 and not np.can_cast(given.dtype, like, "same_kind"):
        raise error(Status.INVALID, f"{what} is of {dtype}, and values of {given.dtype} are none")
    with np.errstate(invalid="ignore"):
        array = given.astype(dtype, order=order)
    if dtype.kind in "iuSUmM" and given.size > 0 and _changed(given, array):
        raise error(Status.INVALID, f"{what} is of {dtype}, which cannot have all of these values of {given.dtype}")
    return array


def _changed(before, after):
    return bool(((after != before) & (before == before)).any())  # what is not equal to itself is NaT
