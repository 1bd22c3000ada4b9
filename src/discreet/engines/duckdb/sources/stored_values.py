"""Values within the range of their type; whatever else a file holds becomes NULL, row by row.

A file can hold bits that are no value of the type that it declares: a decimal with more digits
than its precision, a time long before the year 1. An engine may read such bits as an error, or as
whatever lay in its memory before, which can be somebody else's. So no engine sees them.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.core import optional
from discreet.core.arrow_arrays import flag_array, flags_of, rebuilt, text_array

WIDTHS = (18, 38)
"""How many digits decimals have when they are handed over: what 64 and 128 bits can hold."""

_FIRST_SECOND = -62_135_596_800
_LAST_SECOND = 253_402_300_799
"""The first second of the year 1 and the last of the year 9999, counted from 1970."""

_SECONDS_A_DAY = 86_400
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_LIMB = 2**64


def decimal_type(kind: Any) -> Any:
    """Return the type in which decimals are handed over, or ``None`` if it has too many digits.

    A negative scale, or one beyond the precision, is written out in digits. The precision is one of
    few, so files that differ in it alone are alike.
    """
    digits = kind.precision - kind.scale if kind.scale < 0 else max(kind.precision, kind.scale)
    width = next((width for width in WIDTHS if digits <= width), None)
    return width and optional.load("pyarrow").decimal128(width, max(kind.scale, 0))


def decimals_in_range(array: Any) -> Any:
    """Return decimals of any width in their :func:`decimal_type`, NULL beyond their precision."""
    arrow = optional.load("pyarrow")
    kind, handed = array.type, decimal_type(array.type)
    limbs = _limbs(array)
    valid = is_valid(array) & ~_beyond(limbs, 10**kind.precision)
    if kind.scale < 0:
        return rebuilt(arrow.decimal128(kind.precision, kind.scale), limbs[:, :2], valid).cast(
            handed
        )
    return rebuilt(handed, limbs[:, :2], valid)


def _limbs(array: Any) -> Any:
    """Return the numbers in two's complement, each as 64-bit parts, the lowest first."""
    width = array.type.bit_width
    if width > 64:
        return stored(array, np.uint64, each=width // 64)
    number = stored(array, np.int64 if width == 64 else np.int32)[:, 0].astype(np.int64)
    return np.stack([number, number >> 63], axis=1).view(np.uint64)


def _beyond(limbs: Any, bound: int) -> Any:
    """Tell which numbers are at least ``bound`` in size."""
    negative = limbs[:, -1] >> np.uint64(63)
    carry = negative
    size = limbs ^ (negative * np.uint64(_LIMB - 1))[:, np.newaxis]
    for i in range(size.shape[1]):
        size[:, i] += carry
        carry = carry & (size[:, i] == 0)
    larger = np.zeros(len(limbs), dtype=np.bool_)
    equal = ~larger
    for i in reversed(range(size.shape[1])):
        part = np.uint64(bound // _LIMB**i % _LIMB)
        larger |= equal & (size[:, i] > part)
        equal &= size[:, i] == part
    return larger | equal


def time_type(kind: Any) -> Any:
    """Return the type in which dates and timestamps of any unit are handed over."""
    arrow = optional.load("pyarrow")
    if arrow.types.is_date(kind):
        return arrow.date32()
    zone = None if kind.tz is None else "UTC"  # the instant is the same one
    return arrow.timestamp("us", zone)


def times_in_range(array: Any) -> Any:
    """Return dates and timestamps in their :func:`time_type`, NULL outside the years 1 to 9999.

    In nanoseconds all of 64 bits is within these years. There the numbers at the very ends are
    NULL: programs write them for a time that is missing or infinite. Of the rest the microseconds
    count, rounded down: an engine that rounds towards 1970 would take the end of a day before that
    for the next day.
    """
    arrow = optional.load("pyarrow")
    kind, handed = array.type, time_type(array.type)
    number = stored(array, np.int32 if arrow.types.is_date32(kind) else np.int64)[:, 0]
    if arrow.types.is_date32(kind):
        first, last = _FIRST_SECOND // _SECONDS_A_DAY, _LAST_SECOND // _SECONDS_A_DAY
    else:
        scale = _PER_SECOND["ms" if arrow.types.is_date64(kind) else kind.unit]
        first = max(_FIRST_SECOND * scale, -(2**63) + 2)
        last = min((_LAST_SECOND + 1) * scale - 1, 2**63 - 2)
    valid = is_valid(array) & (number >= first) & (number <= last)
    number = np.where(valid, number, 0)
    if arrow.types.is_date64(kind):
        number = number // (1000 * _SECONDS_A_DAY)
    elif arrow.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
        number = number * (_PER_SECOND["us"] // _PER_SECOND[kind.unit])
    elif arrow.types.is_timestamp(kind) and kind.unit == "ns":
        number = number // (_PER_SECOND["ns"] // _PER_SECOND["us"])
    return rebuilt(handed, number.astype(np.int32 if handed == arrow.date32() else np.int64), valid)


def stored(array: Any, kind: Any, *, each: int = 1) -> Any:
    """Return the numbers of an array as they are stored, those behind NULL too, ``each`` a row."""
    if not len(array):
        return np.zeros((0, each), dtype=kind)
    size = np.dtype(kind).itemsize * each
    numbers = np.frombuffer(
        array.buffers()[1], kind, count=len(array) * each, offset=array.offset * size
    )
    return numbers.reshape(-1, each)


def is_valid(array: Any) -> Any:
    """Tell which entries of an array are not NULL."""
    return flags_of(array.is_valid())


# ---- Whole numbers as identifiers: whoever is 5 in one file is not somebody else as 5.0 in
# another.


def whole_type(kind: Any) -> Any:
    """Return the type in which identifiers are handed over that are stored as ``kind``."""
    arrow = optional.load("pyarrow")
    if arrow.types.is_floating(kind):
        return arrow.int64()
    if arrow.types.is_decimal(kind):
        return arrow.decimal128(max(kind.precision - kind.scale, 1), 0)
    return kind


def whole_floats(array: Any) -> Any:
    """Return floating-point identifiers as integers, NULL where they are none.

    From a number on, two integers are stored as one and the same float. Which of them is meant
    nobody can know, so that is NULL, too.
    """
    kind = np.dtype(f"f{array.type.bit_width // 8}")
    number = stored(array, kind)[:, 0]
    first_doubtful = 2 ** (np.finfo(kind).nmant + 1)
    # Some bits of NaN make the processor complain; a warning would tell of one person's value.
    with np.errstate(invalid="ignore"):
        whole = (np.abs(number) < first_doubtful) & (np.trunc(number) == number)
    integer = np.where(whole, number, 0).astype(np.int64)
    return rebuilt(optional.load("pyarrow").int64(), integer, is_valid(array) & whole)


def whole_decimals(array: Any) -> Any:
    """Return decimals that are within their precision without a scale, NULL if they have a part."""
    arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
    if not array.type.scale:
        return array
    cut = array.cast(whole_type(array.type), safe=False)
    whole = compute.equal(cut.cast(array.type, safe=False), array)
    return compute.if_else(whole, cut, arrow.scalar(None, cut.type))


# ---- Texts in batches: bytes become text, and NULL where they are none; long identifiers get
# digests.
#
# An engine that meets bytes which are not UTF-8 may look at thousands of rows one by one. So no
# engine does: it gets texts that have been looked at. A few rows are looked at together, and only
# where some of them are no text is each looked at by itself.

LONGEST_NAME = 64
"""The most bytes of a unit that is carried along as it is: one more than a digest has is longer."""

ROWS, BYTES = 512, 1 << 15
"""How many rows, and of how many bytes, are looked at together at most."""

FEW_ROWS = 64
"""So many are looked at one by one, if there is something wrong with them."""


def whole_texts(array: Any) -> Any:
    r"""Return bytes as texts: what is not UTF-8 is NULL, and nothing is cut or copied.

    Guarantee:
        What becomes of a row depends on its bytes alone, and a row that is no text costs about as
        much as some hundred that are, whatever the others hold. UTF-8 is what Python, Arrow and
        DuckDB take for it: no surrogates, no overlong forms, nothing beyond U+10FFFF; a zero byte
        is a character.

    Example:
        >>> import pyarrow
        >>> whole_texts(pyarrow.array([b"a", b"\xff"], pyarrow.large_binary())).to_pylist()
        ['a', None]
    """
    spoiled = list(_spoiled(array, _offsets(array), 0, len(array)))
    return (_without(array, spoiled) if spoiled else array).view(_text())


def marked_texts(array: Any) -> Any:
    r"""Return bytes as texts, and what is not UTF-8 as one that reads as nothing else.

    Example:
        >>> import pyarrow
        >>> marked_texts(pyarrow.array([b"a", b"\xff", None], pyarrow.large_binary())).to_pylist()
        ['a', '?', None]
    """
    texts, compute = whole_texts(array), optional.load("pyarrow.compute")
    is_spoiled = compute.and_(array.is_valid(), texts.is_null())
    return compute.if_else(is_spoiled, optional.load("pyarrow").scalar("?", _text()), texts)


def _text() -> Any:
    return optional.load("pyarrow").large_string()


def _offsets(array: Any) -> Any:
    """Return where each row begins, and where the last one ends."""
    if not len(array):
        return np.zeros(1, dtype=np.int64)
    return np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, 8 * array.offset)


def _spoiled(array: Any, offsets: Any, first: int, last: int) -> Iterator[int]:
    """Yield the rows, of those from ``first`` to before ``last``, that are no text."""
    rows = last - first
    if rows <= ROWS and (rows <= 1 or offsets[last] - offsets[first] <= BYTES):
        part = array.slice(first, rows)
        if _is_text(part):
            return
        if rows <= FEW_ROWS:
            values = enumerate(part.to_pylist(), start=first)
            yield from (place for place, value in values if not _is_utf8(value))
            return
    step = -(-rows // 8)
    for place in range(first, last, step):
        yield from _spoiled(array, offsets, place, min(last, place + step))


def _is_text(part: Any) -> bool:
    try:
        part.view(_text()).validate(full=True)
    except optional.load("pyarrow").ArrowInvalid:
        return False
    return True


def _is_utf8(value: bytes | None) -> bool:
    try:
        return value is None or value.decode() is not None
    except UnicodeDecodeError:
        return False


def _without(array: Any, spoiled: list[int]) -> Any:
    """Return the same bytes, with some rows marked as NULL."""
    arrow = optional.load("pyarrow")
    valid = np.concatenate([np.zeros(array.offset, dtype=np.bool_), is_valid(array)])
    valid[array.offset + np.array(spoiled)] = False
    marks = arrow.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [marks, *array.buffers()[1:]]
    return arrow.Array.from_buffers(array.type, len(array), buffers, offset=array.offset)


def digests(array: Any) -> Any:
    """Return the digests of long texts, NULL for others: who owns a row is copied with the row.

    Each is worked out once in a scan: an engine would do so again wherever it needs the owner.
    """
    arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
    found = arrow.nulls(len(array), _text())
    is_long = (np.diff(_offsets(array)) > LONGEST_NAME) & is_valid(array)
    if not is_long.any():
        return found
    made = [hashlib.sha256(array[i].as_buffer()).hexdigest() for i in np.flatnonzero(is_long)]
    return compute.replace_with_mask(found, flag_array(is_long), text_array(made).cast(_text()))
