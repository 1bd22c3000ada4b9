"""Stored Arrow types: which can be handed over whatever the values are, and in what form.

Every way to here is by type alone, and every function of arrays is total and works row by row. So
what is handed over for a row depends on that row's bits, and no row can make the others fail.
"""

from typing import Any

import numpy as np

from discreet.core import optional
from discreet.engines.duckdb.sources.in_range import (
    decimal_type,
    decimals_in_range,
    is_valid,
    rebuilt,
    time_type,
    times_in_range,
)
from discreet.engines.duckdb.sources.whole_ids import whole_decimals, whole_floats, whole_type


def handed_type(kind: Any) -> Any:
    """Return the type in which a stored type is handed over, or ``None`` if it cannot be.

    Text comes as bytes, a dictionary as its values, integers in 64 bits. A column of the type
    ``null`` comes as booleans, of which there are none.
    """
    arrow = optional.load("pyarrow")
    types, value = arrow.types, value_type(kind)
    if types.is_null(value):
        return arrow.bool_()
    if types.is_integer(value):
        return value if types.is_uint64(value) else arrow.int64()
    if types.is_floating(value):  # half floats are not handed over; single ones hold them all
        return arrow.float32() if types.is_float16(value) else value
    if types.is_date(value) or types.is_timestamp(value):
        return time_type(value)
    if types.is_decimal(value):
        return decimal_type(value)
    if is_textual(value):
        return arrow.large_binary()
    return value if types.is_boolean(value) else None


def handed_id_type(kind: Any) -> Any:
    """Return the same for the column that says whose row it is: numbers come as whole ones."""
    handed = handed_type(kind)
    return None if handed is None else whole_type(handed)


def handed_array(array: Any, handed: Any) -> Any:
    """Return a stored array in the type that was chosen for its type; no value makes this fail."""
    types = optional.load("pyarrow").types
    kind = array.type
    if types.is_dictionary(kind):
        return _written_out(array, handed_array(array.dictionary, handed))
    if types.is_null(kind):
        return optional.load("pyarrow").nulls(len(array), handed)
    if types.is_date(kind) or types.is_timestamp(kind):
        return times_in_range(array)
    if types.is_decimal(kind):
        found = decimals_in_range(array)
        return found if found.type == handed else whole_decimals(found)
    if types.is_floating(kind) and types.is_integer(handed):
        return whole_floats(array)
    return array if kind == handed else array.cast(handed)


def _written_out(array: Any, entries: Any) -> Any:
    """Return the entries of a dictionary, one for each row; a place beyond it is NULL."""
    arrow = optional.load("pyarrow")
    places = array.indices
    unsigned = places.cast(arrow.uint64(), safe=False)  # negative ones become very large
    number = unsigned.fill_null(0).to_numpy()
    valid = is_valid(places) & (number < np.uint64(len(entries)))
    return entries.take(rebuilt(arrow.uint64(), number, valid))


def value_type(kind: Any) -> Any:
    """Return the type of the values: of a dictionary, that of its entries."""
    return kind.value_type if optional.load("pyarrow").types.is_dictionary(kind) else kind


def is_textual(kind: Any) -> bool:
    """Tell whether a type is of text or of bytes, with the usual layout."""
    types = optional.load("pyarrow").types
    textual = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(is_kind(kind) for is_kind in textual)
