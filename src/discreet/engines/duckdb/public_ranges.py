"""The ranges of the columns of a public file: everybody may know them, so they can be proposed."""

import datetime
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal

from discreet.core.errors import InvalidArgument
from discreet.engines.duckdb.databases import Databases
from discreet.engines.duckdb.sources.declared_values import column_value
from discreet.engines.duckdb.sources.open_source import open_source
from discreet.engines.duckdb.sources.stored_columns import StoredColumn, plainly
from discreet.tables.catalog import PublicTable
from discreet.tables.column import Bounds, Column, ColumnType, DateRange
from discreet.tables.source import Source

MOST_DECIMALS = 6
"""How many digits after the point a proposed step has at most."""

Range = Bounds | DateRange

_RANGED = (ColumnType.INTEGER, ColumnType.REAL, ColumnType.DATE)


def public_ranges(source: Source, columns: Sequence[StoredColumn]) -> dict[str, Range]:
    """Return the smallest and the largest value of each column of numbers or dates.

    Every row is read, so this is for public files alone. A column without two different values has
    no range, nor has one with numbers of more digits than a step can have.
    """
    kinds = {column.name: column.declared_type for column in columns}
    declared = tuple(
        Column(name=name, type=kind) for name, kind in kinds.items() if kind in _RANGED
    )
    if not declared:
        return {}
    table = PublicTable(name="public", source=source, columns=declared)
    return plainly(lambda: _ranges(table), source, "the declaration")


def _ranges(table: PublicTable) -> dict[str, Range]:
    declared = table.columns
    opened = open_source(table, frozenset(column.name for column in declared), "public")
    databases = Databases()
    found: dict[str, Range] = {}
    try:
        with databases.lent() as cursor:
            for name, batches in opened.batches.items():
                cursor.register(name, batches)
            for column in declared:
                value = column_value(column, opened.cells)
                asked = ", ".join(_asked(value, column.type))
                (row,) = cursor.execute(f"SELECT {asked} FROM {opened.relation}").fetchall()
                with suppress(InvalidArgument):
                    one = _read(row, column.type)
                    found |= {} if one is None else {column.name: one}
    finally:
        databases.close()
    return found


def _asked(value: str, kind: ColumnType) -> Iterator[str]:
    yield f"min({value})"
    yield f"max({value})"
    if kind is ColumnType.REAL:
        for digits in range(MOST_DECIMALS + 1):
            # What is written with so many digits is a float very near to it.
            yield f"bool_and(abs({value} - round({value}, {digits})) <= 1e-12 * abs({value}))"


def _read(row: Sequence[object], kind: ColumnType) -> Range | None:
    """Return the range, if there is one that can be declared."""
    low, high, *is_exact = row
    if low is None or low == high:
        return None
    if isinstance(low, datetime.date) and isinstance(high, datetime.date):
        return DateRange(first=low, last=high)
    if kind is ColumnType.INTEGER:
        return Bounds(lower=str(low), upper=str(high))
    if True not in is_exact:
        return None
    digits = is_exact.index(True)
    lower, upper = (round(Decimal(repr(end)), digits) for end in (low, high))
    return Bounds(lower=str(lower), upper=str(upper), step=str(Decimal(1).scaleb(-digits)))
