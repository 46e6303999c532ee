"""The trajectory: the states of all time steps of a forward run, read backwards by the adjoint, as numpy arrays."""

import collections
import contextlib
import ctypes
import os
import threading
import typing
import warnings

import numpy as np

from ._declarations import EncodingInfo, TierInfo
from ._library import Options, TrajectoryError, check, library
from ._status import Status
from ._values import cast, from_text, integer, text, whole
from ._words import plural

# The library's types, in the order of their numbers; what is none of them is FOREBAY_OPAQUE with the size of an item.
_TYPES = (None, "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "c8", "c16", "f2", "bfloat16", "b1")
_OPAQUE_SHIFT = 8
_MOST_EXTENTS = 8
_MOST_OPAQUE_BYTES = 65535
_MOST_BYTES = 2**63 - 1
# Codecs in the order of their numbers.
_CODECS = ("raw", "float32", "truncation", "zfp", "difference")


class Tier(typing.NamedTuple):
    """Where states may lie; made by dram(), pool() and shared()."""

    kind: str
    directory: str
    bytes: int


def _budget(value):
    return integer("the budget of a tier", value, ctypes.c_uint64, TrajectoryError)


def dram(budget):
    """Memory of the process."""
    return Tier("dram", "", _budget(budget))


def pool(directory, budget):
    """A directory on tmpfs, on a file system with DAX, or on any other local file system."""
    return Tier("pool", os.fspath(directory), _budget(budget))


def shared(directory, budget):
    """A directory on the shared file system; the last tier."""
    return Tier("shared", os.fspath(directory), _budget(budget))


def _type_of(dtype):
    """The library's number for a type of numpy; bfloat16 is that of the package ml_dtypes."""
    name = dtype.name if dtype.name == "bfloat16" else dtype.str[1:]
    if dtype.isnative and name in _TYPES:
        return _TYPES.index(name)
    if not 1 <= dtype.itemsize <= _MOST_OPAQUE_BYTES:
        raise TrajectoryError(
            Status.INVALID, f"an item of {plural(dtype.itemsize, 'byte')}: 1 to {_MOST_OPAQUE_BYTES} can be kept"
        )
    return dtype.itemsize << _OPAQUE_SHIFT


def _dtype_of(kind):
    """The type of numpy for a field that was kept."""
    if kind >> _OPAQUE_SHIFT:
        return np.dtype(f"V{kind >> _OPAQUE_SHIFT}")
    name = _TYPES[kind] or "u1"
    if name != "bfloat16":
        return np.dtype(name)
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        return np.dtype("V2")
    return np.dtype(bfloat16)


class StateArray(np.ndarray):
    """An array that shows a stored state. DLPack tells nobody that memory must not be written, so what is exported is a
    copy."""

    def __dlpack__(self, **how):
        array = self.view(np.ndarray)
        return (array if array.flags.writeable else array.copy()).__dlpack__(**how)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        """A result computed from a state is an array like any other."""
        array = array.view(np.ndarray)
        return array[()] if array.ndim == 0 else array


class _Field(typing.NamedTuple):
    number: int
    name: str
    shape: tuple
    dtype: np.dtype
    order: str

    @property
    def bytes(self):
        return self.dtype.itemsize * int(np.prod(self.shape, dtype=object))

    def shown(self, owner):
        """An array of memory that has an owner (_Memory, or an array of bytes)."""
        return np.ndarray(self.shape, self.dtype, np.asarray(owner), order=self.order)


class _Handle:
    """The library's trajectory. It ends when it is closed and no array shows its memory any more."""

    def __init__(self, pointer):
        self.pointer = pointer
        self.lock = threading.RLock()  # arrays may end in any thread, and in the middle of anything
        self.views = 0
        self.closed = False
        self.process = os.getpid()

    @property
    def foreign(self):
        """In a forked child, which has none of the library's threads: it must not close."""
        return self.process != os.getpid()

    def close(self):
        if self.foreign:
            return
        with self.lock:
            self.closed = True
            if self.views == 0 and self.pointer is not None:
                pointer, self.pointer = self.pointer, None
                check(library.forebay_trajectory_close(pointer))

    def release(self, step):
        """An array of a stored step has ended."""
        if self.foreign:
            return  # nor may it wait for a lock that one of those threads held
        with self.lock:
            self.views -= 1
            if self.pointer is None:
                return
            library.forebay_trajectory_release(self.pointer, step)
            if self.closed and self.views == 0:
                self.close()

    def __del__(self):
        try:
            self.close()
        except TrajectoryError:
            pass  # nobody is left to be told


class _Scratch:
    """Memory of the program for one field of an open step. numpy holds it as long as an array, or a part of one, shows
    it; then it is spare."""

    def __init__(self, memory, spare):
        self.memory, self.spare = memory, spare
        self.__array_interface__ = memory.__array_interface__

    def __del__(self):
        self.spare.append(self.memory)


class _Memory:
    """The memory of one field of a stored step; numpy holds it as long as an array, or a part of one, shows it."""

    def __init__(self, handle, step, address, size):
        self.handle = handle
        self.step = step
        self.__array_interface__ = {"version": 3, "shape": (size,), "typestr": "|u1", "data": (address, True)}
        with handle.lock:
            handle.views += 1

    def __del__(self):
        self.handle.release(self.step)


class Step:
    """An open step: step["velocity"] is an array to be written, of which commit stores a copy; step["velocity"] = values
    writes to where the state is stored. A `with` block commits at its end, and forgets the step when an exception leaves
    the block. The array stays what it is: nothing that is done with it later reaches the stored state."""

    def __init__(self, owner, step, time):
        self.step, self.time = step, time
        self._owner = owner
        self._memory = (ctypes.c_void_p * max(len(owner._fields), 1))()
        self._arrays = {}
        self._assigned = set()
        owner._call("begin", step, time, self._memory, len(owner._fields))
        owner._open_step = self

    def _known(self, field):
        self._owner._look_whose()
        if self._memory is None:
            raise TrajectoryError(Status.NO_OPEN_STEP, f"step {self.step} is not open any more")
        return self._owner._field(field)

    def __getitem__(self, field):
        field = self._known(field)
        if field.number not in self._arrays:
            array = self._arrays[field.number] = self._owner._scratch_of(field)
            if field.number in self._assigned:
                ctypes.memmove(array.ctypes.data, self._memory[field.number], array.nbytes)
        return self._arrays[field.number]

    def __setitem__(self, field, values):
        field = self._known(field)
        array = self._arrays.get(field.number)
        if array is None:
            size, address = field.bytes, self._memory[field.number]
            if size == 0:
                return
            array = field.shown((ctypes.c_char * size).from_address(address))
            self._assigned.add(field.number)
        if values is not array:  # step["u"] += 1
            array[...] = cast(f"field {field.name}", values, field.dtype, TrajectoryError)

    def commit(self):
        self._end("commit")

    def cancel(self):
        self._end("cancel")

    def _end(self, how):
        arrays, memory = self._arrays, self._memory
        self._arrays, self._memory = {}, None
        self._owner._open_step = None
        self._owner._look_whose()  # before anything is written
        for number, array in arrays.items():
            array.flags.writeable = False
            if how == "commit" and array.nbytes:
                ctypes.memmove(memory[number], array.ctypes.data, array.nbytes)
        self._owner._call(how)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if self._memory is not None:
            self._end("commit" if kind is None else "cancel")


class State:
    """A stored step: state["velocity"] is a read-only array, without a copy. It stays where it is, and the step cannot
    be dropped, as long as the array or a part of it exists."""

    __slots__ = ("step", "time", "_owner")

    def __init__(self, owner, step, time):
        self._owner, self.step, self.time = owner, step, time

    def __getitem__(self, field):
        return self._owner.get(self.step, field)

    def __repr__(self):
        return f"State(step={self.step}, time={self.time})"


class Trajectory:
    """The states of all time steps of one rank.

        with forebay.Trajectory([forebay.pool("/dev/shm", 4e9)]) as states:
            states.declare("velocity", (3, n))
            for step in range(steps):
                with states.begin(step, time) as state:
                    solver.advance(out=state["velocity"])
            for state in states.reverse():
                adjoint(state.step, state["velocity"])

    Fields are named, or numbered from 0. Errors are TrajectoryError, with a `status`. Single calls may come from any
    thread: they take turns. From begin to commit a step is for one thread. Everything else is as in forebay/trajectory.h.
    """

    def __init__(
        self,
        tiers,
        *,
        name="trajectory",
        rank=0,
        ranks=1,
        keep=False,
        mode="any",
        survives="power-cut",
        checksum=None,
        compare="every-read",
        encoders=None,
        debug=False,
        segment_bytes=None,
    ):
        """`mode`: what is expected of a store that is to be kept: "any" finds it or begins one, "create" begins one,
        "must-exist" finds it, "read-only" finds it and changes nothing, "partial" does so also where parts are missing.
        `survives`: what a kept and committed step outlives: "power-cut", as far as the medium can, or "process".
        `tiers`: of dram(), pool() and shared(), fastest first. `checksum`, `encoders` (threads that encode fields with an
        accepted error beside the solver) and `segment_bytes` are chosen where they are None.
        `compare`: of steps in a mapped file of a disk, "every-read" with their checksums or only the "first-read".
        `debug`: finds C code that uses memory which is no longer valid."""
        self._handle = None
        self._fields = []
        self._open_step = None
        self._spare = {}  # of each field the memory of an open step that nothing shows any more
        asked = {
            "name": name,
            "rank": rank,
            "ranks": ranks,
            "keep": keep,
            "mode": mode,
            "survives": survives,
            "compare": compare,
        }
        tuned = {"checksum": checksum, "encoders": encoders, "debug": debug, "segment_bytes": segment_bytes}
        with Options(**asked, **tuned) as options:
            for tier in tiers:
                directory = () if tier.kind == "dram" else (tier.directory,)
                add = getattr(library, "forebay_options_add_" + tier.kind)
                check(add(options.pointer, *directory, tier.bytes))
            pointer = ctypes.c_void_p()
            check(library.forebay_trajectory_open(options.pointer, ctypes.byref(pointer)))
            self._handle = _Handle(pointer.value)
        self._learn_fields()
        if self.recovery:
            warnings.warn(f"the trajectory {name} is not whole:\n{self.recovery}", RuntimeWarning, stacklevel=2)

    def _look_whose(self):
        """A forked child must not wait for the lock: the thread that held it is not there."""
        if self._handle is not None and self._handle.foreign:
            raise TrajectoryError(Status.FORKED, "the trajectory belongs to the process that this one was forked from")

    def _call(self, name, *arguments):
        if self._handle is None or self._handle.closed:
            raise TrajectoryError(Status.INVALID, "the trajectory is closed")
        self._look_whose()
        with self._handle.lock:
            check(getattr(library, "forebay_trajectory_" + name)(self._handle.pointer, *arguments))

    def close(self):
        """Closes the trajectory; one that is not kept is gone. Arrays that are left stay valid; the store ends with the
        last of them."""
        if self._handle is None or self._handle.closed or self._handle.foreign:
            return
        left_open = self._open_step
        if left_open is not None:
            left_open.cancel()
        self._handle.close()
        if left_open is not None:
            words = f"closed while step {left_open.step} was open: that step is not stored"
            raise TrajectoryError(Status.CLOSED_OPEN, words)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    # --- fields ---

    def _learn_fields(self):
        """The fields of a trajectory that was kept, with their shapes."""
        count = ctypes.c_int()
        self._call("count_fields", ctypes.byref(count))
        for number in range(count.value):
            name, kind, values = ctypes.c_char_p(), ctypes.c_int(), ctypes.c_uint64()
            self._call("get_field", number, ctypes.byref(name), ctypes.byref(kind), ctypes.byref(values))
            extents, dimensions = (ctypes.c_uint64 * _MOST_EXTENTS)(), ctypes.c_int()
            self._call("get_shape", number, ctypes.byref(dimensions), extents)
            shape = tuple(extents[: dimensions.value])
            self._fields.append(_Field(number, from_text(name.value), shape, _dtype_of(kind.value), "C"))

    def declare(self, name, shape, dtype=np.float64, *, order="C", accepted_error=None, codec=None):
        """A field, before the first step; returns its number. `order` "F" is that of Fortran programs.

        With an `accepted_error`, the relative L2 error that reading may bring, states are stored smaller, by a codec that
        is chosen from the first of them, or by `codec`: "raw", "float32", "truncation", "zfp" or "difference"."""
        if codec not in (None, *_CODECS):
            raise TrajectoryError(
                Status.INVALID, f"field {name}: {codec!r} is no codec; there are {', '.join(_CODECS)}"
            )
        dtype = np.dtype(dtype)
        extents = (shape,) if np.ndim(shape) == 0 else shape
        shape = tuple(whole(f"field {name}: an extent", extent, TrajectoryError) for extent in extents)
        if dtype.kind not in "biufcSUVmM" or dtype.names is not None or order not in ("C", "F"):
            raise TypeError(f"field {name}: {dtype} in order {order} cannot be kept")
        if min(shape, default=0) < 0:
            raise TrajectoryError(Status.INVALID, f"field {name}: there is no shape {shape}")
        number = ctypes.c_int()
        field = _Field(number.value, from_text(text("the name of a field", name, TrajectoryError)), shape, dtype, order)
        if field.bytes > _MOST_BYTES:
            raise TrajectoryError(Status.INVALID, f"field {name}: no memory has room for the shape {shape}")
        values = int(np.prod(shape, dtype=object))
        self._call("declare", name, _type_of(dtype), values, ctypes.byref(number))
        field = field._replace(number=number.value)
        if len(shape) <= _MOST_EXTENTS:  # else it is kept as a list
            extents = shape if order == "C" else shape[::-1]
            self._call("set_shape", number.value, len(extents), (ctypes.c_uint64 * len(extents))(*extents))
        self._fields[number.value : number.value + 1] = [field]
        if accepted_error is not None:
            self._call("set_accepted_error", number.value, accepted_error)
        if codec is not None:
            self._call("set_codec", number.value, _CODECS.index(codec))
        return number.value

    def _field(self, field):
        if isinstance(field, str):
            for known in self._fields:
                if known.name == field:
                    return known
        elif 0 <= field < len(self._fields):
            return self._fields[field]
        raise TrajectoryError(
            Status.NO_SUCH_FIELD, f"there is no field {field!r} among the {plural(len(self._fields), 'field')} declared"
        )

    @property
    def fields(self):
        """The names of the fields."""
        return [field.name for field in self._fields]

    def _scratch_of(self, field):
        """An array that nobody else shows: of memory that was used before, where there is some."""
        spare = self._spare.setdefault(field, collections.deque(maxlen=1))
        try:
            memory = spare.pop()
        except IndexError:
            memory = np.empty(field.bytes, np.uint8)
        return field.shown(_Scratch(memory, spare))

    # --- forward ---

    def begin(self, step, time):
        """Opens a step, to be written; waits for room if need be."""
        return Step(self, step, time)

    def put(self, step, time, *values, **named):
        """Stores copies: values in the order of the fields, or by their names."""
        given = list(values) + [named.pop(field.name) for field in self._fields[len(values) :] if field.name in named]
        if named or len(given) != len(self._fields):
            raise TrajectoryError(Status.NO_SUCH_FIELD, f"step {step}: put wants one value for each of {self.fields}")
        arrays = []
        for field, value in zip(self._fields, given):  # noqa: B905 (Python 3.9)
            array = cast(f"field {field.name}", value, field.dtype, TrajectoryError, field.order)
            if array.shape != field.shape:
                raise TrajectoryError(
                    Status.FIELD_CHANGED, f"field {field.name} has the shape {field.shape}, not {array.shape}"
                )
            arrays.append(array)
        memory = (ctypes.c_void_p * max(len(arrays), 1))(*(array.ctypes.data for array in arrays))
        self._call("put", step, time, memory, len(arrays))

    # --- backwards ---

    def get(self, step, field=0):
        """The field of a stored step: a read-only array, without a copy, that pins the step while it exists."""
        field = self._field(field)
        address = ctypes.c_void_p()
        with contextlib.nullcontext() if self._handle.foreign else self._handle.lock:
            self._call("get", step, field.number, ctypes.byref(address))
            return field.shown(_Memory(self._handle, step, address.value, field.bytes)).view(StateArray)

    def state(self, step):
        """All fields of a stored step."""
        time = ctypes.c_double()
        self._call("get_time", step, ctypes.byref(time))
        return State(self, step, time.value)

    def interpolate(self, time, field=0, out=None):
        """The field at a time between two stored steps, interpolated linearly."""
        field = self._field(field)
        if out is None:
            out = np.empty(field.shape, field.dtype, field.order)
        fits = out.shape == field.shape and out.dtype == field.dtype and out.flags.writeable
        if not fits or not out.flags["F_CONTIGUOUS" if field.order == "F" else "C_CONTIGUOUS"]:
            raise TrajectoryError(Status.FIELD_CHANGED, f"`out` does not fit field {field.name}")
        self._call("interpolate", time, field.number, out.ctypes.data)
        return out

    def reverse(self, start=None):
        """The stored states from the highest step, or from `start`, downwards, fetched ahead. States behind the sweep
        may be dropped; none may be added."""
        left = len(self)
        if start is None:
            if left == 0:
                return iter(())
            start = self._at(left - 1).step
        self._call("reverse", start)
        return self._downwards(self._position_after(start))

    def _downwards(self, left):
        for position in range(left - 1, -1, -1):
            yield self._at(position)

    def _position_after(self, step):
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._at(middle).step <= step:
                low = middle + 1
            else:
                high = middle
        return low

    def _at(self, position):
        step, time = ctypes.c_int64(), ctypes.c_double()
        self._call("get_step", position, ctypes.byref(step), ctypes.byref(time))
        return State(self, step.value, time.value)

    def drop(self, step):
        """Forgets a step; its room is used again."""
        self._call("drop", step)

    def move(self, step, tier):
        """Moves the segment in which a step lies, with all its steps, to a tier (0: the fastest)."""
        self._call("move", step, tier)

    def rewind(self):
        """Forgets all steps, for the next iteration of an optimisation; warm memory stays."""
        self._call("rewind")

    # --- what is stored, and where ---

    def capacity(self):
        """How many states fit on all tiers, once the fields are declared."""
        states = ctypes.c_uint64()
        self._call("get_capacity", ctypes.byref(states))
        return states.value

    def __len__(self):
        count = ctypes.c_uint64()
        self._call("count_steps", ctypes.byref(count))
        return count.value

    def __iter__(self):
        """The stored states, from the lowest step upwards."""
        return (self._at(position) for position in range(len(self)))

    def __contains__(self, step):
        try:
            integer("step", step, ctypes.c_int64, TrajectoryError)
        except TrajectoryError:
            return False
        try:
            self.state(step)
        except TrajectoryError as error:
            if error.status != Status.NO_SUCH_STEP:
                raise
            return False
        return True

    def keep(self, keep=True):
        """Whether the trajectory stays on disk for a later process."""
        self._call("keep", bool(keep) if isinstance(keep, np.bool_) else keep)

    @property
    def recovery(self):
        """The parts of a kept trajectory that were found and could not be taken over; "" if none."""
        self._look_whose()
        with self._handle.lock:
            return from_text(library.forebay_trajectory_get_recovery(self._handle.pointer))

    @property
    def tiers(self):
        """For each tier: medium, path, budget, segment_bytes, segments, prepared, used, moved_in, fetched."""
        count = ctypes.c_int()
        self._call("count_tiers", ctypes.byref(count))
        found = []
        for number in range(count.value):
            info = library.struct(TierInfo)
            self._call("describe_tier", number, ctypes.byref(info))
            values = {name: getattr(info, name) for name, _ in TierInfo._fields_[1:]}
            found.append(
                {key: os.fsdecode(value) if isinstance(value, bytes) else value for key, value in values.items()}
            )
        return found

    def encoding(self, field=0):
        """How a field is stored: codec, accepted_error, achieved_error, states, raw_bytes, stored_bytes, fallbacks,
        fallback_reason, decoded_ahead."""
        info = library.struct(EncodingInfo)
        self._call("describe_encoding", self._field(field).number, ctypes.byref(info))
        found = {name: getattr(info, name) for name, _ in EncodingInfo._fields_[1:]}
        return {**found, "codec": _CODECS[info.codec], "fallback_reason": from_text(info.fallback_reason)}

    @property
    def waited(self):
        """Seconds that begin has waited for room, and get for states on slow tiers."""
        begin, get = ctypes.c_double(), ctypes.c_double()
        self._call("get_waited", ctypes.byref(begin), ctypes.byref(get))
        return begin.value, get.value
