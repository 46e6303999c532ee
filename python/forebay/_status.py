"""Errors of the libraries' calls."""

import enum


class Status(enum.IntEnum):
    """forebay/status.h says more of each. 1 to 99: the call does not fit; 101 to 199: memory, file systems, devices and
    other processes; 201 to 299: what is stored."""

    OK = 0
    INVALID = 1
    NO_SUCH_STEP = 2
    NO_SUCH_FIELD = 3
    STEP_OPEN = 4
    NO_OPEN_STEP = 5
    STEP_EXISTS = 6
    FIELD_CHANGED = 7
    FIELDS_FIXED = 8
    NOT_PINNED = 9
    PINNED = 10
    OUTSIDE = 11
    CLOSED_OPEN = 12
    TOLERANCE = 13
    NO_SUCH_TIER = 14
    FORKED = 15
    NO_SUCH_STORE = 16
    STORE_EXISTS = 17
    NO_SPACE = 101
    NO_MEMORY = 102
    BUSY = 103
    READ_ONLY = 104
    IO = 105
    STAGED = 106
    NO_SUCH_FILE = 107
    DENIED = 108
    VERSION = 201
    DAMAGED = 202


class Error(Exception):
    """An error of a library, with its `status`."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status: "Status | int" = Status(status) if status in Status._value2member_map_ else status
