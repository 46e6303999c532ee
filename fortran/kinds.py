"""What the Fortran faces repeat for each type and rank of values: read by write.py for *.f90.in."""

import typing


class Kind(typing.NamedTuple):
    name: str
    type: str
    number: str  # forebay_type
    real: bool  # or complex: there is something between two of them


KINDS = [
    Kind("double", "real(real64)", "FOREBAY_FLOAT64", True),
    Kind("single", "real(real32)", "FOREBAY_FLOAT32", True),
    Kind("double_complex", "complex(real64)", "FOREBAY_COMPLEX128", True),
    Kind("single_complex", "complex(real32)", "FOREBAY_COMPLEX64", True),
    Kind("long", "integer(int64)", "FOREBAY_INT64", False),
    Kind("integer", "integer(int32)", "FOREBAY_INT32", False),
]
REAL = [kind for kind in KINDS if kind.real]
ITEMS = [kind for kind in KINDS if not kind.type.startswith("complex")]  # what files of arrays have
RANKS = range(1, 5)


def colons(rank):
    return ", ".join([":"] * rank)


def names(verb, of=KINDS, ranks=RANKS):
    """verb_double_1, verb_double_2, ...; one line for each type."""
    lines = (", ".join(f"{verb}_{kind.name}_{rank}" for rank in ranks) for kind in of)
    return ", &\n      ".join(lines)
