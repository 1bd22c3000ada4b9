"""Stored Arrow types: which can be handed over whatever the values are, and in what form."""

from typing import Any

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.tables.catalog import PublicTable, Table


def require_total(table: Table | PublicTable, name: str, kind: Any) -> None:
    """Refuse stored types of which some values cannot be handed over."""
    if not is_total(kind):
        raise DeclarationError(
            f"Column '{name}' of {table.name} is stored as {kind}",
            must="be stored as a number, text, boolean, date or timestamp in micro- or nanoseconds",
            next="Convert it when the file is written",
        )


def is_total(kind: Any) -> bool:
    """Tell whether every value of a stored type can be handed over."""
    types = optional.load("pyarrow").types
    value = value_type(kind)
    return any(
        is_kind(value)
        for is_kind in (
            types.is_integer,
            types.is_floating,
            types.is_boolean,
            types.is_string,
            types.is_large_string,
            types.is_binary,
            types.is_large_binary,
            types.is_date32,
            types.is_decimal128,
        )
    ) or (types.is_timestamp(value) and value.unit in ("us", "ns"))


def plain_type(kind: Any) -> Any:
    """Return the type in which a column is handed over: bytes for text, values for dictionaries."""
    arrow = optional.load("pyarrow")
    types = arrow.types
    value = value_type(kind)
    if types.is_float16(value):  # half floats are not handed over; single ones hold them all
        return arrow.float32()
    textual = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return arrow.large_binary() if any(is_kind(value) for is_kind in textual) else value


def plain_array(array: Any, kind: Any) -> Any:
    """Return ``array`` in the type that :func:`plain_type` gave; no value makes this fail."""
    arrow = optional.load("pyarrow")
    plain = array
    if arrow.types.is_dictionary(array.type):
        # Entries first get offsets of 64 bits: written out, they can be longer than 32 bits count.
        entries = array.dictionary.cast(kind)
        plain = arrow.DictionaryArray.from_arrays(array.indices, entries).dictionary_decode()
    return plain if plain.type == kind else plain.cast(kind)


def plain_cell(column: str, kind: Any) -> str:
    """Return the SQL of a column that was handed over; bytes that are not UTF-8 become NULL."""
    is_bytes = optional.load("pyarrow").types.is_large_binary(kind)
    return f"TRY(decode({column}))" if is_bytes else column


def value_type(kind: Any) -> Any:
    """Return the type of the values: of a dictionary, that of its entries."""
    return kind.value_type if optional.load("pyarrow").types.is_dictionary(kind) else kind
