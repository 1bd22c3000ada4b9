"""The owner of a row in DuckDB's SQL: what its hidden columns are in a source."""

from collections.abc import Sequence

from discreet.engines.duckdb.sources.declared_values import column_value
from discreet.engines.duckdb.sources.opened import Opened
from discreet.engines.duckdb.sources.stored_values import LONGEST_NAME
from discreet.tables.catalog import Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.relations.scan import PublicScan, Scan


def owner_values(scan: Scan | PublicScan, opened: Opened, values: Sequence[str]) -> list[str]:
    """Return the hidden columns of a scan that reads ``values``: the unit, then its hash.

    A row that is a unit of its own gets a number that is only ever compared for equality, and a
    hash of its content: its place among the other rows must not decide what is kept of it.
    """
    if isinstance(scan, PublicScan):
        return []
    if scan.table.unit.column is None:
        return ["row_number() OVER ()", f"hash({', '.join([*values, '$salt'])})"]
    unit = _unit_values(scan.table, opened)
    return [*unit, f"hash({', '.join([*unit, '$salt'])})"]


def _unit_values(table: Table, opened: Opened) -> list[str]:
    """Return what says who owns a row; where one of them is NULL the row has no owner.

    Each column is a value of its own: put together as one text, different owners could be alike.
    """
    period = table.unit.period
    owners = [table.column(name) for name in table.unit.owner_columns()]
    values = [_owner_value(column, opened) for column in owners]
    if period is not None:
        day = column_value(table.column(period.column), opened.cells)
        values.append(f"TRY_CAST(date_trunc('{period.length.value}', {day}) AS DATE)")
    return values


def _owner_value(column: Column, opened: Opened) -> str:
    value = column_value(column, opened.cells)
    is_text = column.type is ColumnType.TEXT
    return _short(value, opened.digests.get(column.name)) if is_text else value


def _short(value: str, digest: str | None) -> str:
    """Return a text that says who owns a row, in few bytes: of a long one, a digest.

    The owner goes wherever its rows go, so a long one would be copied as often as they are. A
    digest with its mark is longer than any text that stays as it is, so it equals none of them.
    """
    marked = f"'sha256:' || {digest or f'sha256({value})'}"
    return f"CASE WHEN strlen({value}) <= {LONGEST_NAME} THEN {value} ELSE {marked} END"
