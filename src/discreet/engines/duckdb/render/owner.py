"""The owner of a row in DuckDB's SQL: hidden columns that no query can name.

``u`` is the unit (with ``p``, its period), and ``h`` a keyed hash that stands for it when groups
and rows are chosen. The fields of a relation are called ``f0``, ``f1`` and so on, whatever a query
or a source calls them; so no name of theirs can ever mean the owner.
"""

from collections.abc import Sequence

from discreet.engines.duckdb.render.values import column_value
from discreet.engines.duckdb.sources.opened import Opened
from discreet.engines.duckdb.sources.whole_texts import LONGEST_NAME
from discreet.tables.catalog import PrivacyUnit, Table
from discreet.tables.column import ColumnType
from discreet.tables.relations.relation import Owner, Relation

HASH = "h"


def unit_columns(owner: Owner) -> tuple[str, ...]:
    """Return the columns that together say who owns a row."""
    return ("u",) if owner.unit.period is None else ("u", "p")


def owner_columns(relation: Relation) -> tuple[str, ...]:
    """Return all hidden columns of a relation: none if it is public."""
    owner = relation.owner()
    return () if owner is None else (*unit_columns(owner), HASH)


def same_owner(left: Relation, right: Relation) -> list[str]:
    """Return the conditions that rows ``l`` and ``r`` have one owner, if both are private.

    No row of a relation is without an owner. One that is added and is nobody's has NULL there, and
    must be held like the others: so NULL is compared like a value.
    """
    owner = left.owner()
    if owner is None or right.owner() is None:
        return []
    return [f"l.{name} IS NOT DISTINCT FROM r.{name}" for name in unit_columns(owner)]


def scanned_owner(table: Table, opened: Opened, values: Sequence[str]) -> list[str]:
    """Return the hidden columns of a scan, each with its name.

    A row that is a unit of its own gets a number that is only ever compared for equality, and a
    hash of its content: its place among the other rows must not decide what is kept of it.
    """
    unit = table.unit
    if unit.column is None:
        return ["row_number() OVER () AS u", f"hash({', '.join([*values, '$salt'])}) AS h"]
    parts = unit_values(table, opened)
    names = ["u", "p"][: len(parts)]
    named = [f"{value} AS {name}" for value, name in zip(parts, names, strict=True)]
    return [*named, f"hash({', '.join([*parts, '$salt'])}) AS h"]


def unit_values(table: Table, opened: Opened) -> list[str]:
    """Return what says who owns a row; where one of them is NULL the row has no owner."""
    unit: PrivacyUnit = table.unit
    if unit.column is None:
        return []
    column, cells = table.column(unit.column), opened.cells
    value = column_value(column, cells)
    values = [_short(value, opened.digest) if column.type is ColumnType.TEXT else value]
    if unit.period is not None:
        day = column_value(table.column(unit.period.column), cells)
        values.append(f"TRY_CAST(date_trunc('{unit.period.length.value}', {day}) AS DATE)")
    return values


def _short(value: str, digest: str | None) -> str:
    """Return a text that says who owns a row, in few bytes: of a long one, a digest.

    The owner goes wherever its rows go, so a long one would be copied as often as they are. A
    digest with its mark is longer than any text that stays as it is, so it equals none of them.
    """
    marked = f"'sha256:' || {digest or f'sha256({value})'}"
    return f"CASE WHEN strlen({value}) <= {LONGEST_NAME} THEN {value} ELSE {marked} END"
