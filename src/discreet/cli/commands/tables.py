"""Show what may be asked: tables, columns, ranges and public keys."""

import argparse
from typing import Any

from discreet.cli.command import CommandResult, add_project
from discreet.project.declared_tables import all_tables
from discreet.roles.connection import connect
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.column import Column, Key


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_project(parser)


def run(options: argparse.Namespace) -> CommandResult:
    """Show every declared table, private and public."""
    with connect(options.project) as connection:
        return listed(connection.catalog())


def listed(catalog: Catalog) -> CommandResult:
    """Return all tables of a catalogue, as text and as plain values."""
    parts = [str(all_tables(catalog))]
    if catalog.default is not None:
        parts.append(f"A question that says no price costs {catalog.default}")
    data = [_private_to_json(table) for table in catalog.tables]
    data += [_public_to_json(table) for table in catalog.public_tables]
    return CommandResult("\n\n".join(parts), data)


def _private_to_json(table: Table) -> dict[str, Any]:
    period = table.unit.period
    return {
        "name": table.name,
        "public": False,
        "id_space": table.unit.id_space,
        "unit": table.unit.column if table.unit.others is None else table.unit.owner_columns(),
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
        "keys_from": None
        if column.keys_from is None
        else {"table": column.keys_from.table, "column": column.keys_from.column},
        "bounds": None
        if bounds is None
        else {"min": str(bounds.lower), "max": str(bounds.upper), "step": str(bounds.step)},
        "dates": None
        if dates is None
        else {"min": dates.first.isoformat(), "max": dates.last.isoformat()},
        "zone": column.zone,
    }
