"""Show what may be asked: tables, columns, ranges and public keys."""

import argparse
from typing import Any

from discreet.cli.shown import Shown, add_project
from discreet.core.loss import short
from discreet.curator.connection import connect
from discreet.curator.text_table import text_table
from discreet.tables.catalog import Table
from discreet.tables.column import Column

MOST_KEYS_SHOWN = 6


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_project(parser)


def run(options: argparse.Namespace) -> Shown:
    """Show every declared table."""
    with connect(options.project) as connection:
        declared = connection.tables()
    text = "\n\n".join(_text(table) for table in declared)
    return Shown(text, [_plain(table) for table in declared])


def _text(table: Table) -> str:
    limits = table.limits
    rows = [
        [column.name, column.type.value, _range(column), _keys(column)] for column in table.columns
    ]
    return (
        f"{table.name}: a row belongs to one {table.unit.column} (id space {table.unit.id_space}); "
        f"at most {limits.rows_per_group} rows in each of {limits.groups_per_unit} groups count\n"
        + text_table(["column", "type", "range for SUM", "keys for GROUP BY"], rows)
    )


def _range(column: Column) -> str:
    bounds = column.bounds
    if bounds is None:
        return ""
    return f"{short(bounds.lower)} to {short(bounds.upper)} by {short(bounds.step)}"


def _keys(column: Column) -> str:
    if column.keys is None:
        return ""
    first = ", ".join(str(key) for key in column.keys[:MOST_KEYS_SHOWN])
    return first if len(column.keys) <= MOST_KEYS_SHOWN else f"{first}, ... ({len(column.keys)})"


def _plain(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "id_space": table.unit.id_space,
        "unit": table.unit.column,
        "rows_per_group": table.limits.rows_per_group,
        "groups_per_unit": table.limits.groups_per_unit,
        "columns": [
            {
                "name": column.name,
                "type": column.type.value,
                "keys": None if column.keys is None else [str(key) for key in column.keys],
                "bounds": None
                if column.bounds is None
                else {
                    "min": str(column.bounds.lower),
                    "max": str(column.bounds.upper),
                    "step": str(column.bounds.step),
                },
            }
            for column in table.columns
        ],
    }
