"""The exact values that noise is added to: 64-bit integers with room for the noise."""

import numpy as np

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray

LARGEST_VALUE = 2**62 - 1
"""Values are at most this in size, and noise at most one more: together they cannot wrap around."""


def integers(exact_values: IntArray) -> IntArray:
    """Return the values as an array, refusing other types and values without room for noise.

    No error quotes a value. It is raised before any noise is drawn.

    Example:
        >>> integers(np.array([[1, 2]])).shape
        (1, 2)
    """
    values = np.asarray(exact_values)
    if values.dtype != np.int64:
        raise InvalidArgument(
            "The values have the wrong type", must="be 64-bit integers", got=str(values.dtype)
        )
    if values.size and (values.min() < -LARGEST_VALUE or values.max() > LARGEST_VALUE):
        raise InvalidArgument("A value is too large", must="be below 2**62 in size")
    return values
