"""Arrow arrays from numbers and texts, and back, by their buffers.

Arrow's own ways look for data frames, and so load a library of a quarter of a second that nothing
here needs.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import optional
from discreet.core.protocols import IntArray


def rebuilt(kind: Any, numbers: Any, valid: Any) -> Any:
    """Return an array of numbers, NULL (and zero behind it) where they are not valid."""
    arrow = optional.load("pyarrow")
    shaped = valid if numbers.ndim == 1 else valid[:, np.newaxis]
    content = np.ascontiguousarray(np.where(shaped, numbers, numbers.dtype.type(0)))
    bits = np.packbits(valid, bitorder="little")
    buffers = [arrow.py_buffer(bits), arrow.py_buffer(content)]
    return arrow.Array.from_buffers(kind, len(valid), buffers)


def integer_array(integers: Sequence[int] | IntArray) -> Any:
    """Return an array of 64-bit integers.

    Example:
        >>> integer_array([1, 2]).to_pylist()
        [1, 2]
    """
    arrow = optional.load("pyarrow")
    content = np.ascontiguousarray(integers, dtype=np.int64)
    return arrow.Array.from_buffers(arrow.int64(), len(content), [None, arrow.py_buffer(content)])


def text_array(texts: Sequence[str]) -> Any:
    """Return an array of texts.

    Example:
        >>> text_array(["a", "", "é"]).to_pylist()
        ['a', '', 'é']
    """
    arrow = optional.load("pyarrow")
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [arrow.py_buffer(ends), arrow.py_buffer(b"".join(encoded))]
    return arrow.StringArray.from_buffers(len(texts), *buffers)


def value_array(values: Sequence[Any], kind: Any = None) -> Any:
    """Return values as an array of one type: of the given one, or else of their own.

    Example:
        >>> import pyarrow
        >>> value_array(["a", "b"]).type, value_array([False, True]).type
        (DataType(string), DataType(bool))
        >>> value_array([1, None], pyarrow.int64()).null_count
        1
    """
    arrow = optional.load("pyarrow")
    kinds = {type(value) for value in values}
    if not kinds:
        return arrow.nulls(0, kind)
    if kinds == {str}:
        found = text_array(values)
    elif kinds == {int}:
        found = integer_array(values)
    elif kinds == {bool}:
        found = integer_array(values).cast(arrow.bool_())
    else:
        return arrow.array(values, kind)
    return found if kind is None else found.cast(kind)


def flag_array(flags: NDArray[np.bool_]) -> Any:
    """Return an array of truth values.

    Example:
        >>> flag_array(np.array([False, True])).to_pylist()
        [False, True]
    """
    arrow = optional.load("pyarrow")
    bits = arrow.py_buffer(np.packbits(flags, bitorder="little"))
    return arrow.Array.from_buffers(arrow.bool_(), len(flags), [None, bits])


def flags_of(array: Any) -> NDArray[np.bool_]:
    """Return the truth values of an array without NULL.

    An array could do so itself, but would load pandas for it where that is installed, which takes
    longer than most questions.

    Example:
        >>> import pyarrow
        >>> flags_of(pyarrow.array([True, False, True]).slice(1))
        array([False,  True])
    """
    if not len(array):
        return np.zeros(0, dtype=np.bool_)
    bits = np.frombuffer(array.buffers()[1], np.uint8)[array.offset // 8 :]
    start = array.offset % 8
    return np.unpackbits(bits, bitorder="little", count=start + len(array))[start:].view(np.bool_)


def integers_of(column: Any, null: int = 0) -> IntArray:
    """Return the integers of an array, or of one in chunks, with a number for NULL.

    Example:
        >>> import pyarrow
        >>> integers_of(pyarrow.chunked_array([[1, None], [3]]).slice(1), null=-1)
        array([-1,  3])
    """
    arrow = optional.load("pyarrow")
    chunks = column.chunks if isinstance(column, arrow.ChunkedArray) else [column]
    found = [_integers(chunk, null) for chunk in chunks if len(chunk)]
    return found[0] if len(found) == 1 else np.concatenate([np.zeros(0, dtype=np.int64), *found])


def _integers(array: Any, null: int) -> IntArray:
    valid, content = array.buffers()
    start, end = array.offset, array.offset + len(array)
    kind = np.dtype(str(array.type))
    numbers = np.frombuffer(content, kind)[start:end].astype(np.int64, copy=False)
    if not array.null_count:
        return numbers
    bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")[start:end]
    return np.where(bits == 1, numbers, np.int64(null))
