r"""Count units with text that could not be read, and say so where answers rest on the column.

Guarantee:
    The histogram has two cells: units that have a cell which is not NULL and does not read as the
    declared type, and all others. It is made from *one row for each unit*, the largest of the
    marks of its rows, so a unit is in exactly one cell, and adding or removing one moves one cell
    by one. Whether a cell reads depends on that cell alone.
"""

from collections.abc import Iterator

from attrs import evolve

from discreet.core.errors import InvalidArgument
from discreet.curator.profile.stored_profile import FindProfile
from discreet.curator.publishing.unit_histogram import by_bins, totals_of_units
from discreet.releases.unreadable import WITH, WITHOUT
from discreet.releases.view import View
from discreet.tables.catalog import Table
from discreet.tables.column import Column, ColumnType
from discreet.tables.expression import FieldValue, Literal
from discreet.tables.functions.call import call
from discreet.tables.plans.plan import BoundedPlan
from discreet.tables.relations.scan import Scan
from discreet.tables.relations.totals import Total

READ_FROM_TEXT = (ColumnType.INTEGER, ColumnType.REAL, ColumnType.DATE, ColumnType.BOOLEAN)
"""The types of columns of which it is counted what does not read as them."""

_INTEGER = ColumnType.INTEGER


def unreadable_plan(table: Table, column: Column, name: str) -> BoundedPlan:
    """Return the plan that counts the units with a cell that could not be read."""
    _require_readable(table, column)
    mark = Column(
        name=column.name,
        type=ColumnType.BOOLEAN,
        missing_texts=column.missing_texts,
        unreadable_as=column.read_as,
    )
    marked = tuple(mark if other is column else other for other in table.columns)
    scan = Scan(table=evolve(table, columns=marked), columns=(mark,))
    ends = (Literal(_INTEGER, WITH), Literal(_INTEGER, WITHOUT))
    value = call("case", [FieldValue(ColumnType.BOOLEAN, 0), *ends])
    by_unit = totals_of_units(scan, (), [(name, Total.MAXIMUM, value)])
    return by_bins(by_unit, [FieldValue(_INTEGER, 0)], [(WITHOUT, WITH)])


def _require_readable(table: Table, column: Column) -> None:
    if column.name.lower() in map(str.lower, table.unit.key_columns()):
        raise InvalidArgument(
            f"'{column.name}' says whose a row is", next="A row of nobody is not counted at all"
        )
    if column.read_as not in READ_FROM_TEXT:
        raise InvalidArgument(
            f"What cannot be read is not counted for '{column.name}'",
            must="be a column of numbers, dates, or true and false",
            got=column.read_as.value,
        )


def with_unreadable(view: View, plan: BoundedPlan, find: FindProfile) -> View:
    """Return a view that says how many units have text which could not be read.

    That is of the columns that the plan reads, as far as somebody has measured it.
    """
    remarks = tuple(dict.fromkeys(_remarks(plan, find)))
    return evolve(view, remarks=(*view.remarks, *remarks)) if remarks else view


def _remarks(plan: BoundedPlan, find: FindProfile) -> Iterator[str]:
    for scan in plan.scans():
        profile = find(scan.table) if isinstance(scan, Scan) else None
        if profile is None:
            continue
        for column in scan.columns:
            found = profile.unreadable.get(column.name)
            if found is not None and found.matters():
                yield f"{found.sentence()}, which counts as NULL: numbers are of what could be read"
