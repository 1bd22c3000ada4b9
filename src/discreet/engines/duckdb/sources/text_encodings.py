"""Cells in a declared encoding as UTF-8, cell by cell; what is no text becomes bytes that are none.

Records are cut before anything is decoded, so a cell that cannot be decoded takes nothing else
along: it is NULL, as bytes are that are no UTF-8 where that is declared.
"""

from functools import cache
from typing import Any

import numpy as np

from discreet.core import optional
from discreet.tables.text_form import SEVERAL_BYTES, SINGLE_BYTE

NO_TEXT = b"\xff"
"""A byte that stands nowhere in UTF-8."""


def in_utf8(array: Any, encoding: str) -> Any:
    r"""Return bytes of an encoding in UTF-8, with bytes that are no text for what has no sign.

    Example:
        >>> import pyarrow
        >>> cells = pyarrow.array([b"caf\xe9", None, b"\x81"], pyarrow.large_binary())
        >>> in_utf8(cells, "cp1252").to_pylist() == ["café".encode(), None, b"\xff"]
        True
    """
    if encoding in SINGLE_BYTE:
        return _translated(array, encoding)
    return _decoded(array, encoding) if encoding in SEVERAL_BYTES else array


@cache
def _alphabet(encoding: str) -> tuple[Any, Any]:
    """Return what each byte is in UTF-8, filled up with zeros, and of how many bytes."""
    found = [_utf8(bytes([byte]), encoding) for byte in range(256)]
    longest = max(map(len, found))
    signs = np.array([list(sign.ljust(longest, b"\0")) for sign in found], dtype=np.uint8)
    return signs, np.array([len(sign) for sign in found], dtype=np.int64)


def _utf8(value: bytes, encoding: str) -> bytes:
    try:
        return value.decode(encoding).encode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return NO_TEXT


def _translated(array: Any, encoding: str) -> Any:
    """Translate byte by byte. The array begins at the first of its rows."""
    arrow = optional.load("pyarrow")
    valid, offsets, content = array.buffers()
    if not len(array) or content is None:
        return array
    written = np.frombuffer(content, np.uint8)
    if not len(written) or written.max() < 0x80:
        return array
    signs, lengths = _alphabet(encoding)
    each = lengths[written]
    ends = np.concatenate([[0], np.cumsum(each)])
    made = signs[written][np.arange(signs.shape[1]) < each[:, np.newaxis]]
    moved = ends[np.frombuffer(offsets, np.int64, len(array) + 1)]
    buffers = [valid, arrow.py_buffer(moved), arrow.py_buffer(made)]
    return arrow.Array.from_buffers(array.type, len(array), buffers)


def _decoded(array: Any, encoding: str) -> Any:
    """Decode each different cell by itself."""
    arrow, compute = optional.load("pyarrow"), optional.load("pyarrow.compute")
    found = compute.dictionary_encode(array)
    texts = [_utf8(value, encoding) for value in found.dictionary.to_pylist()]
    return arrow.array(texts, array.type).take(found.indices)
