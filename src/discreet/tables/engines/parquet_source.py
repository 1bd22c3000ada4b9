"""Parquet files: read as Arrow batches, with text as bytes, so that no value can raise."""

from collections.abc import Iterator
from typing import Any

from discreet.core import optional
from discreet.core.errors import DeclarationError
from discreet.tables.catalog import Table
from discreet.tables.engines.opened import Opened
from discreet.tables.source_columns import match_columns

RELATION = "source"
_BATCH_ROWS = 1 << 17


def parquet_names(table: Table) -> list[str]:
    """Return the columns' names, after looking at their types; no row and no statistic is read."""
    schema = optional.load("pyarrow.parquet").read_schema(table.source.path)
    for name, place in match_columns(table, schema.names).items():
        _require_total(table, name, schema.field(place).type)
    return list(schema.names)


def _require_total(table: Table, name: str, kind: Any) -> None:
    """Refuse physical types of which some values cannot be handed over."""
    types = optional.load("pyarrow").types
    value = kind.value_type if types.is_dictionary(kind) else kind
    is_total = any(
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
    if not is_total:
        raise DeclarationError(
            f"Column '{name}' of {table.name} is stored as {kind}",
            must="be stored as a number, text, boolean, date or timestamp in micro- or nanoseconds",
            next="Convert it when the file is written",
        )


def open_parquet(table: Table, used: frozenset[str]) -> Opened:
    """Return the source as batches of the used columns, named by position.

    The file is named literally: no pattern, no folder as a column. Text comes as bytes and is
    decoded in the query, where bytes that are not UTF-8 become NULL.
    """
    names = parquet_names(table)
    arrow, parquet = optional.load("pyarrow"), optional.load("pyarrow.parquet")
    places = {n: p for n, p in match_columns(table, names).items() if n in used}
    file = parquet.ParquetFile(table.source.path)
    kinds = {place: _plain(file.schema_arrow.field(place).type) for place in places.values()}
    schema = arrow.schema([(f"c{place}", kind) for place, kind in kinds.items()])

    def batches() -> Iterator[Any]:
        wanted = [names[place] for place in kinds]
        for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=wanted):
            arrays = [_as(batch.column(names[place]), kind) for place, kind in kinds.items()]
            yield arrow.RecordBatch.from_arrays(arrays, schema=schema)

    is_binary = arrow.types.is_large_binary
    cells = {
        name: f"TRY(decode(c{place}))" if is_binary(kinds[place]) else f"c{place}"
        for name, place in places.items()
    }
    reader = arrow.RecordBatchReader.from_batches(schema, batches())
    return Opened(relation=RELATION, cells=cells, batches=reader)


def _plain(kind: Any) -> Any:
    """Return the type in which a column is handed over: bytes for text, values for dictionaries."""
    arrow = optional.load("pyarrow")
    types = arrow.types
    value = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_float16(value):  # half floats are not handed over; single ones hold them all
        return arrow.float32()
    textual = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return arrow.large_binary() if any(is_kind(value) for is_kind in textual) else value


def _as(array: Any, kind: Any) -> Any:
    types = optional.load("pyarrow").types
    plain = array.dictionary_decode() if types.is_dictionary(array.type) else array
    return plain if plain.type == kind else plain.cast(kind)
