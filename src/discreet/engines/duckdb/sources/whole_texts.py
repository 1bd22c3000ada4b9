"""Texts in batches: bytes become text, and NULL where they are none; long identifiers get digests.

An engine that meets bytes which are not UTF-8 may look at thousands of rows one by one. So no
engine does: it gets texts that have been looked at. A few rows are looked at together, and only
where some of them are no text is each looked at by itself.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.core import optional
from discreet.engines.duckdb.sources.in_range import is_valid

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
    return compute.replace_with_mask(found, is_long, arrow.array(made, _text()))
