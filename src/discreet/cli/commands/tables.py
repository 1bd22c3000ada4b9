"""Show what may be asked: tables, columns, ranges and public keys."""

import argparse
from typing import Any

from discreet.cli.command import CommandResult, add_project
from discreet.core.loss import short
from discreet.core.terminal_text import lines, text_table
from discreet.curator.connection import connect
from discreet.project.unit_effect import limits_words, unit_words
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.column import Column, ColumnType, Key
from discreet.tables.expression import FieldValue
from discreet.tables.functions.public_values import public_keys
from discreet.tables.relations.relation import Field
from discreet.tables.relations.scan import PublicScan, Scan

MOST_KEYS_SHOWN = 6
WIDEST_KEYS = 36


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Show every declared table, private and public."""
    with connect(options.project) as connection:
        return listed(connection.catalog())


def listed(catalog: Catalog) -> CommandResult:
    """Return all tables of a catalogue, as text and as plain values."""
    parts = [_private_text(catalog, table) for table in catalog.tables]
    parts += [_public_text(table) for table in catalog.public_tables]
    if catalog.default is not None:
        parts.append(f"A question that says no price costs {catalog.default}")
    data = [_private_to_json(table) for table in catalog.tables]
    data += [_public_to_json(table) for table in catalog.public_tables]
    return CommandResult("\n\n".join(parts), data)


def _private_text(catalog: Catalog, table: Table) -> str:
    space = catalog.id_space(table.unit.id_space)
    heading = lines(
        f"{table.name}: private (id space {space.name}); one unit is {space.unit}, "
        f"{unit_words(table.unit)}; {limits_words(table.limits)}"
    )
    return f"{heading}\n{_columns(table, Scan.of(table).fields())}"


def _public_text(table: PublicTable) -> str:
    columns = _columns(table, PublicScan.of(table).fields())
    return f"{table.name}: public, so it can be joined with for nothing\n{columns}"


def _columns(table: Table | PublicTable, fields: tuple[Field, ...]) -> str:
    """Return the columns as a text table; that some are never NULL is said only if some are."""
    parts = {
        "column": [column.name for column in table.columns],
        "type": [column.type.value for column in table.columns],
        "NULL": ["" if column.nullable else "never" for column in table.columns],
        "range": [_range(column) for column in table.columns],
        "keys for GROUP BY": [
            _keys(column, fields, place) for place, column in enumerate(table.columns)
        ],
    }
    shown = {name: cells for name, cells in parts.items() if name != "NULL" or any(cells)}
    return text_table(list(shown), list(zip(*shown.values(), strict=True)))


def _range(column: Column) -> str:
    if column.dates is not None:
        zone = "" if column.zone is None else f" ({column.zone})"
        return f"{column.dates.first} to {column.dates.last}{zone}"
    bounds = column.bounds
    if bounds is None:
        return column.zone or ""
    return f"{short(bounds.lower)} to {short(bounds.upper)} by {short(bounds.step)}"


def _keys(column: Column, fields: tuple[Field, ...], place: int) -> str:
    if column.keys is None:
        return "" if column.dates is None else _dates(column, fields, place)
    first: list[str] = []
    for key in map(_key, column.keys[:MOST_KEYS_SHOWN]):
        if len(", ".join([*first, key])) > WIDEST_KEYS:
            break
        first.append(key)
    if len(first) == len(column.keys):
        return ", ".join(first)
    return ", ".join([*first, f"... ({len(column.keys)})"])


def _key(key: Key) -> str:
    """Return a key as SQL has it."""
    return str(key).lower() if isinstance(key, bool) else str(key)


def _dates(column: Column, fields: tuple[Field, ...], place: int) -> str:
    """Return what of the days of a range can be grouped by; of a very long one not each day."""
    if column.type is ColumnType.TIMESTAMP:
        return "its days, months and years, by date_trunc"
    days = public_keys(FieldValue(column.type, place), fields)
    return "its months and years" if days is None else "its days, months and years"


def _private_to_json(table: Table) -> dict[str, Any]:
    period = table.unit.period
    return {
        "name": table.name,
        "public": False,
        "id_space": table.unit.id_space,
        "unit": table.unit.column,
        "period": None
        if period is None
        else {"length": period.length.value, "date": period.column},
        **table.limits.given(),
        "columns": [_column_to_json(column) for column in table.columns],
    }


def _public_to_json(table: PublicTable) -> dict[str, Any]:
    columns = [_column_to_json(column) for column in table.columns]
    return {"name": table.name, "public": True, "columns": columns}


def _key_to_json(key: Key) -> str | bool:
    return key if isinstance(key, bool) else str(key)


def _column_to_json(column: Column) -> dict[str, Any]:
    bounds, dates = column.bounds, column.dates
    return {
        "name": column.name,
        "type": column.type.value,
        "nullable": column.nullable,
        "keys": None if column.keys is None else [_key_to_json(key) for key in column.keys],
        "bounds": None
        if bounds is None
        else {"min": str(bounds.lower), "max": str(bounds.upper), "step": str(bounds.step)},
        "dates": None
        if dates is None
        else {"min": dates.first.isoformat(), "max": dates.last.isoformat()},
        "zone": column.zone,
    }
