"""The size of an answer: how many values, in what shape."""

import math

from discreet.core.errors import InvalidArgument

Size = int | tuple[int, ...]
"""A number of values, or the shape of an array of them."""

_LARGEST = 1 << 40


def shape_of(size: Size) -> tuple[int, ...]:
    """Return ``size`` as a shape, refusing what is not one.

    Example:
        >>> shape_of(3), shape_of((2, 0))
        ((3,), (2, 0))
    """
    shape = size if isinstance(size, tuple) else (size,)
    for length in shape:
        if isinstance(length, bool) or not hasattr(length, "__index__"):
            raise _bad(size)
    lengths = tuple(int(length) for length in shape)
    if any(not 0 <= n <= _LARGEST for n in lengths) or math.prod(lengths) > _LARGEST:
        raise _bad(size)
    return lengths


def _bad(size: object) -> InvalidArgument:
    return InvalidArgument(
        "size is out of range",
        must="be an integer of at least 0, or a tuple of them with at most 2**40 values in all",
        got=repr(size)[:64],
    )
