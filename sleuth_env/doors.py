"""Checks of arrays that users hand in, and doors: functions that check their arguments and then call a kernel.

A kernel takes the dtype, the layout in memory, the lengths and the ranges of its arrays for granted;
with others it reads or writes foreign memory. So users are given doors. What calls a kernel in an
inner loop, with arrays that it has made itself, calls the kernel (see `game.kernels_of`).

What loses nothing is accepted: any integers that fit, marks as bool, any order in memory, arrays
that are read-only where nothing is written. What is not in the kernel's own form is copied into it,
and back where it is written. Axis letters: ``B`` rows, ``A`` actions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from types import MethodType
from typing import Any, TypeGuard, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .game import Records, opaque
from .kernels import kernel

# A length that is not settled.
ANY = None
Shape = tuple["int | AtLeast | None", ...]
# Characters of an argument that is not an array, and fields of records, in a message.
MAX_SHOWN = 60
MAX_FIELDS = 4


class ArrayError(ValueError):
    """An array has another dtype or shape than it must have, or values that are out of range.

    The message names the argument, what it must be, and what it is; nothing has changed.
    """


@dataclass(frozen=True)
class AtLeast:
    """A length that may be larger."""

    length: int

    def __str__(self) -> str:
        return f"at least {self.length}"


# --- one array ---


def is_array(value: Any) -> TypeGuard[NDArray[Any]]:
    """Return whether a value is an array all of whose numbers count: a mask would be forgotten."""
    return isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)


def array(name: str, value: Any, dtype: DTypeLike, shape: Shape) -> NDArray[Any]:
    """Return numbers that are only read as an array of a dtype, in the form that kernels take.

    >>> array("seeds", [1, 2], np.uint64, (2,)).dtype
    dtype('uint64')
    >>> array("rows", [1.0, 2.0], np.int64, (2,))
    Traceback (most recent call last):
    sleuth_env.doors.ArrayError: rows must be integers that fit int64, of the shape (2,), got float64 of the shape (2,)

    Args:
        name: of the argument.
        value: what was handed in: an array, or what makes one.
        dtype: of integers or of floats.
        shape: its lengths; `ANY` where one is not settled.

    Raises:
        ArrayError: it has another shape, or values that the dtype does not hold; bool is not taken
            for a number.
    """
    wanted = np.dtype(dtype)
    if _is_plain(value, wanted) and _fits(value.shape, shape):
        return cast("NDArray[Any]", value)
    found = _as_array(value)
    kinds = "iu" if wanted.kind in "iu" else "iuf"
    if found is None or not _fits(found.shape, shape) or found.dtype.kind not in kinds or not _holds(wanted, found):
        raise _refusal(name, f"integers that fit {wanted}" if wanted.kind in "iu" else f"{wanted}", shape, value)
    return _copied(found, wanted)


def marks(name: str, value: Any, shape: Shape) -> NDArray[np.uint8]:
    """Return marks that are only read, bool or integers that are 0 or 1, as u1; see `array`.

    Raises:
        ArrayError: they have another shape, or other values.
    """
    wanted = np.dtype(np.uint8)
    plain = _is_plain(value, wanted)
    found = value if plain else _as_array(value)
    if found is None or not _fits(found.shape, shape) or found.dtype.kind not in "biu" or not _are_marks(found):
        raise _refusal(name, "bool, or integers that are 0 or 1", shape, value)
    return cast("NDArray[np.uint8]", found) if plain else _copied(found, wanted)


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the lengths of what makes an array; () where it makes none, which `array` refuses."""
    found = value if isinstance(value, np.ndarray) else _as_array(value)
    return () if found is None else found.shape


def numbers_of(value: Any, number: int) -> NDArray[np.int64] | None:
    """Return what a player has chosen (i8 [number]); None for what is not this number of integers.

    Whether they are actions is for the rules to say.
    """
    found = _as_array(value)
    if (
        found is None
        or found.shape != (number,)
        or found.dtype.kind not in "iu"
        or not _holds(np.dtype(np.int64), found)
    ):
        return None
    return found.astype(np.int64)


def legal_marks(name: str, value: Any, num_rows: int, num_actions: int) -> NDArray[np.uint8]:
    """Return the legal actions of those who decide (u1 [B, A]), see `marks`.

    Raises:
        ArrayError: they have another shape, or other values, or nothing is legal in some row.
    """
    found = marks(name, value, (num_rows, num_actions))
    row = _first_without(found)
    if row >= 0:
        raise ArrayError(f"{name} must mark a legal action in every row, got none in row {row}")
    return found


def records(name: str, value: Any, dtype: DTypeLike, shape: Shape, kind: str = "such") -> Records:
    """Return records that are only read in the form that kernels take.

    Args:
        name: of the argument.
        value: what was handed in.
        dtype: of the records.
        shape: their lengths; `ANY` where one is not settled.
        kind: what messages call the dtype, such as "VIEW".

    Raises:
        ArrayError: it is not an array of these records, or of another shape.
    """
    wanted = np.dtype(dtype)
    if _is_plain(value, wanted) and _fits(value.shape, shape):
        return cast("Records", value)
    if not is_array(value) or value.dtype != wanted or not _fits(value.shape, shape):
        raise _refusal(name, f"{kind} records", shape, value)
    return _copied(value, wanted)


def one_record(name: str, value: Any, dtype: DTypeLike, kind: str = "such") -> Records:
    """Return one record, or an array of one, as an array of one in the form that kernels take: always a copy.

    Args:
        name: of the argument.
        value: what was handed in.
        dtype: of the record.
        kind: what messages call the dtype, such as "VIEW".

    Raises:
        ArrayError: it is something else.
    """
    wanted = np.dtype(dtype)
    if not (is_array(value) or isinstance(value, np.void)) or value.dtype != wanted or value.shape not in ((), (1,)):
        raise ArrayError(f"{name} must be one {kind} record, or an array of one, got {described(value)}")
    found = np.zeros(1, wanted)
    found[0] = value if value.shape == () else value[0]
    return found


def written(
    name: str, value: Any, dtype: DTypeLike, shape: Shape, kind: str = "such", only_marks: bool = False
) -> NDArray[Any]:
    """Return what a kernel can write into: the array itself, or a copy of it in the kernel's form.

    Args:
        name: of the argument.
        value: what was handed in: an array of this dtype, or of one that holds all its values.
        dtype: what the kernel writes.
        shape: its lengths; `ANY` where one is not settled.
        kind: what messages call a dtype of records.
        only_marks: whether the kernel writes only 0 and 1, which bool and all integers hold.

    Raises:
        ArrayError: it is not such an array, is read-only, or some of its places are the same.
    """
    wanted = np.dtype(dtype)
    fits = is_array(value) and _fits(value.shape, shape) and _takes(value.dtype, wanted, only_marks)
    if not fits:
        what = f"{kind} records" if wanted.names else f"an array that holds {wanted}"
        raise _refusal(name, what, shape, value)
    if not value.flags.writeable:
        raise ArrayError(f"{name} is written to, and got a read-only array")
    if _is_plain(value, wanted):
        return cast("NDArray[Any]", value)
    if _has_a_place_twice(value):
        raise ArrayError(f"{name} is written to, and some places of what it got are the same: {described(value)}")
    return _copied(value, wanted)


def _is_plain(value: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether a value is in the form for which kernels are compiled.

    A kernel is compiled again for each kind of array: for those that are read-only, and for each
    order in memory.
    """
    if type(value) is not np.ndarray or (value.dtype is not dtype and value.dtype != dtype):
        return False
    flags = value.flags
    return bool(flags.c_contiguous and flags.aligned and flags.writeable and value.dtype.type is dtype.type)


def _has_a_place_twice(value: NDArray[Any]) -> bool:
    """Return whether places of an array may lie in the same memory, as those of a broadcast row do."""
    if not value.size:
        return False
    reach = value.itemsize
    axes = zip(value.strides, value.shape, strict=True)
    for stride, length in sorted((abs(stride), length) for stride, length in axes if length > 1):
        if stride < reach:
            return True
        reach += stride * (length - 1)
    return False


def _share(value: NDArray[Any], other: NDArray[Any]) -> bool:
    # The second finds out exactly, and takes longer.
    return np.may_share_memory(value, other) and np.shares_memory(value, other)


def _fits(found: tuple[int, ...], wanted: Shape) -> bool:
    if len(found) != len(wanted):
        return False
    for length, asked in zip(found, wanted, strict=True):
        if length != asked and asked is not ANY and not (isinstance(asked, AtLeast) and length >= asked.length):
            return False
    return True


def _as_array(value: Any) -> NDArray[Any] | None:
    """Return an array, or what makes one, as an array; None is for what makes none, and for masked arrays."""
    if isinstance(value, np.ma.MaskedArray):
        return None
    try:
        found = np.asarray(value)
    except Exception:  # lists of unequal length, and whatever goes wrong in a foreign class
        return None
    # A list without numbers is of floats.
    return found.astype(np.int64) if not isinstance(value, np.ndarray) and found.size == 0 else found


def _holds(wanted: np.dtype[Any], found: NDArray[Any]) -> bool:
    """Return whether a dtype holds all of some numbers, without rounding any."""
    if found.dtype == wanted or np.can_cast(found.dtype, wanted, "safe"):
        return True
    if wanted.kind not in "iu":
        return found.dtype.kind in "iu" and bool((found.astype(wanted).astype(object) == found.astype(object)).all())
    if not found.size:
        return True
    limits = np.iinfo(wanted)
    return limits.min <= int(found.min()) and int(found.max()) <= limits.max


def _are_marks(found: NDArray[Any]) -> bool:
    return found.dtype == np.bool_ or not found.size or (int(found.min()) >= 0 and int(found.max()) <= 1)


def _takes(found: np.dtype[Any], wanted: np.dtype[Any], only_marks: bool) -> bool:
    """Return whether an array of a dtype takes whatever is written into it."""
    if wanted.names or wanted.kind == "f":
        return found == wanted
    if only_marks:
        return found.kind in "biu"
    return found.kind in "iu" and np.can_cast(wanted, found, "safe")


def _copied(found: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a copy in the kernel's form."""
    if dtype.names:
        # As plain bytes: NumPy copies records field by field, and leaves the bytes between them undefined.
        whole = np.dtype((np.void, dtype.itemsize))
        return np.array(found.view(np.ndarray).view(whole), order="C").view(dtype)
    return np.array(found, dtype, order="C", subok=False)


def _put_back(written_to: NDArray[Any], value: NDArray[Any]) -> None:
    """Put what a kernel has written into a copy where it belongs."""
    if written_to is value:
        return
    if written_to.dtype.names:
        opaque(value.view(np.ndarray))[...] = opaque(written_to)
    else:
        value[...] = written_to


# --- the values of records ---

Limits = Mapping[str, tuple[int, int]]
# A field as the kernel reads it.
CODE = np.dtype([(name, "i8") for name in ("size", "start", "count", "low", "high")])


class Ranges:
    """The values that the fields of records may have.

    Args:
        name: what messages call the records.
        dtype: of the records, whose fields are signed integers at multiples of their size; a
            multiple of 8 bytes in all.
        limits: the least and the greatest value of each field.
    """

    def __init__(self, name: str, dtype: np.dtype[Any], limits: Limits) -> None:
        self._name = name
        self._limits = dict(limits)
        self._code = np.zeros(len(limits), CODE)
        fields: Mapping[str, Any] = dtype.fields or {}
        for row, (field, (low, high)) in zip(self._code, limits.items(), strict=True):
            kind, offset = fields[field][:2]
            size = kind.base.itemsize
            row["size"] = size
            row["start"] = offset // size
            row["count"] = kind.itemsize // size
            row["low"] = low
            row["high"] = high

    def check(self, found: Records) -> None:
        """Check records (in the kernel's form).

        Raises:
            ArrayError: a field of one is out of its range.
        """
        size = found.dtype.itemsize
        numbers = (found.view(kind).reshape(len(found), size // int(kind[1])) for kind in ("i1", "i4", "i8"))
        row, place = _first_outside(self._code, *numbers)
        if row < 0:
            return
        field, (low, high) = list(self._limits.items())[place]
        values = np.atleast_1d(found[field][row])
        wrong = int(values[(values < low) | (values > high)].flat[0])
        raise ArrayError(f"{field} of {self._name} must be from {low} to {high}, got {wrong} in row {row}")


@kernel
def _first_outside(code: Any, bytes_: Any, fours: Any, eights: Any) -> Any:
    """Return the first row with a number out of its range, and the place of its field in the code; -1, -1 if none."""
    for b in range(bytes_.shape[0]):
        for f in range(code.size):
            size = code[f]["size"]
            start = code[f]["start"]
            end = start + code[f]["count"]
            low = code[f]["low"]
            high = code[f]["high"]
            wrong = False
            if size == 1:
                for i in range(start, end):
                    wrong |= bytes_[b, i] < low or bytes_[b, i] > high
            elif size == 4:
                for i in range(start, end):
                    wrong |= fours[b, i] < low or fours[b, i] > high
            else:
                for i in range(start, end):
                    wrong |= eights[b, i] < low or eights[b, i] > high
            if wrong:
                return b, f
    return -1, -1


@kernel
def _first_without(found: Any) -> int:
    """Return the first row of marks (u1 [B, A]) in which none is set; -1 if there is none."""
    for b in range(found.shape[0]):
        some = False
        for a in range(found.shape[1]):
            if found[b, a]:
                some = True
                break
        if not some:
            return b
    return -1


# --- messages ---


def _refusal(name: str, wanted: str, shape: Shape, value: Any) -> ArrayError:
    return ArrayError(f"{name} must be {wanted}, of the shape {_shape_text(shape)}, got {described(value)}")


def _shape_text(shape: Shape) -> str:
    lengths = ["any" if length is ANY else str(length) for length in shape]
    return f"({lengths[0]},)" if len(lengths) == 1 else f"({', '.join(lengths)})"


def described(value: Any) -> str:
    """Return in words what was handed in where an array was wanted.

    >>> described(np.zeros((2, 3), np.float32))
    'float32 of the shape (2, 3)'
    >>> described([1.0])
    'float64 of the shape (1,)'
    >>> described("abc")
    "the str 'abc'"
    """
    found = _as_array(value) if isinstance(value, (list, tuple)) else None
    value = value if found is None or found.dtype.kind not in "biuf" else found
    if isinstance(value, np.void):
        value = np.asarray(value)
    if not isinstance(value, np.ndarray):
        try:
            text = repr(value)
        except Exception:
            text = "?"
        shown = " ".join(text.split())
        return f"the {type(value).__name__} {shown[:MAX_SHOWN]}{'...' if len(shown) > MAX_SHOWN else ''}"
    names = value.dtype.names
    dtype = f"{value.dtype}"
    if names is not None:
        more = ", ..." if len(names) > MAX_FIELDS else ""
        order = "" if value.dtype.isnative else " in another byte order"
        dtype = f"records of {value.dtype.itemsize} bytes{order} with the fields {', '.join(names[:MAX_FIELDS])}{more}"
    if isinstance(value, np.ma.MaskedArray):
        dtype = f"a masked array of {dtype}"
    beyond = ""
    if value.dtype.kind in "iu" and value.size:
        beyond = f" with values from {value.min()} to {value.max()}"
    return f"{dtype} of the shape {value.shape}{beyond}"


# --- decisions ---


def decision(
    views: Any, legal: Any, seeds: Any, dtype: DTypeLike, num_actions: int
) -> tuple[Records, NDArray[np.uint8], NDArray[np.uint64]]:
    """Return what a player is given to decide by (see `game.Bot`) in the form that kernels take.

    Raises:
        ArrayError: it is something else, or nothing is legal in some row.
    """
    found = records("views", views, dtype, (ANY,), "VIEW")
    number = len(found)
    return (
        found,
        legal_marks("legal", legal, number, num_actions),
        array("seeds", seeds, np.uint64, (number,)),
    )


def deciding(dtype: DTypeLike, checked_views: Callable[[Records, Records], object]) -> Callable[[Any], Any]:
    """Return a decorator that puts a bot's ``act``, or what is asked like it, behind a check of its arguments.

    What it does not check is its ``kernel``, which tables call (see `unchecked`). What follows the
    seeds is for the method itself to check.

    Args:
        dtype: the game's VIEW.
        checked_views: raises an ArrayError where views are not of the kind of game that rules (RULES
            [1]) say; the bot has these as `rules`.
    """

    def decorate(act: Callable[..., Any]) -> Any:
        """Return the door of a method."""

        @wraps(act)
        def checked(self: Any, views: Any, legal: Any, seeds: Any, *more: Any) -> Any:
            given = decision(views, legal, seeds, dtype, int(self.rules["num_actions"][0]))
            checked_views(self.rules, given[0])
            return act(self, *given, *more)

        checked.kernel = act  # type: ignore[attr-defined]
        return checked

    return decorate


# --- doors ---


@dataclass(frozen=True)
class Argument:
    """An argument of a door.

    Args:
        name: of the argument.
        dtype: what the kernel takes.
        axes: a letter for each axis, such as "BP"; "1" is a single row. A letter means the same
            length in all arguments of a door; a small one, at least as much as the capital.
        kind: what messages call a dtype of records.
        written: whether the kernel writes into it.
        only_marks: whether it writes only 0 and 1.
        check: is given the first argument of the door and this one, both in the kernel's form, and
            raises an ArrayError for values that the kernel does not look after.
        take: returns the argument in the kernel's form, where that is done in another way.
    """

    name: str
    dtype: Any
    axes: str = "B"
    kind: str = ""
    written: bool = False
    only_marks: bool = False
    check: Callable[[Any, NDArray[Any]], None] | None = None
    take: Callable[[Any], NDArray[Any]] | None = None

    def taken(self, value: Any, lengths: Mapping[str, int]) -> NDArray[Any]:
        """Return the argument in the kernel's form, see `written`, `records` and `array`."""
        if self.take is not None:
            return self.take(value)
        shape = tuple(AtLeast(lengths[axis.upper()]) if axis.islower() else lengths.get(axis) for axis in self.axes)
        if self.written:
            return written(self.name, value, self.dtype, shape, self.kind, self.only_marks)
        if np.dtype(self.dtype).names:
            return records(self.name, value, self.dtype, shape, self.kind)
        return array(self.name, value, self.dtype, shape)


def door(
    kernel: Callable[..., Any],
    arguments: Sequence[Argument],
    lengths: Callable[[Any], Mapping[str, int]] = lambda first: {},
) -> Callable[..., Any]:
    """Return a function that checks its arguments and then calls a kernel.

    Args:
        kernel: the function, which is then the ``kernel`` of what is returned.
        arguments: what it takes.
        lengths: returns lengths by letter, such as ``{"P": 3}``, for the first argument.
    """
    plain = getattr(kernel, "py_func", kernel)
    signature = inspect.signature(plain)

    @wraps(plain)
    def checked(*given: Any, **named: Any) -> Any:
        values = signature.bind(*given, **named).args
        known = {"1": 1}
        taken: list[NDArray[Any]] = []
        for argument, value in zip(arguments, values, strict=True):
            found = argument.taken(value, known)
            known |= {axis: length for axis, length in zip(argument.axes, found.shape, strict=True) if axis.isupper()}
            taken.append(found)
            if argument.check is not None:
                argument.check(taken[0], found)
            if len(taken) == 1:
                known |= lengths(found)
        _check_apart(arguments, values)
        result = kernel(*taken)
        for argument, found, value in zip(arguments, taken, values, strict=True):
            if argument.written:
                _put_back(found, value)
        return result

    checked.kernel = kernel  # type: ignore[attr-defined]
    return checked


def _check_apart(arguments: Sequence[Argument], values: Sequence[Any]) -> None:
    """Check that a kernel will write into nothing else that it is given: it relies on what has been checked.

    Raises:
        ArrayError: it would.
    """
    given = [(argument, value) for argument, value in zip(arguments, values, strict=True) if is_array(value)]
    for argument, value in given:
        others = [pair for pair in given if pair[0] is not argument] if argument.written else []
        for other, beside in others:
            if _share(value, beside):
                raise ArrayError(f"{argument.name} is written to, and must not share memory with {other.name}")


def unchecked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel behind a door, or behind a method that is one; anything else is returned as it is.

    For inner loops that hand in arrays of their own.
    """
    behind = getattr(function, "kernel", None)
    if behind is None:
        return function
    owner = getattr(function, "__self__", None)
    found: Callable[..., Any] = behind if owner is None else MethodType(behind, owner)
    return found
