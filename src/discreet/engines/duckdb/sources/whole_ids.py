"""Whole numbers as identifiers: whoever is 5 in one file is not somebody else as 5.0 in another."""

from typing import Any

import numpy as np

from discreet.core import optional
from discreet.engines.duckdb.sources.in_range import is_valid, rebuilt, stored


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
