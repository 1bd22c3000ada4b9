"""What a profile measured a column as, so that it is not read as something else later.

A profile outlives changes of the declaration: whoever has looked at it may declare better ranges,
and add columns. But what it tells of a column is about the column as it was then. Ranges do not
matter, because the ends of bins are stored; the steps that they are counted in do, and the type,
the keys, and how stored values are read.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve

from discreet.core.canonical import described, digest
from discreet.releases.profile import GROUPS, LARGEST, ROWS, UNREADABLE
from discreet.releases.value_bins import MEASURED, value_bins
from discreet.tables.catalog import Table
from discreet.tables.column import Column
from discreet.tables.plans.plan import BoundedPlan

MEASURED_AS = "measured_as"
"""What in the description of a profile says what its columns were measured as."""

_LENGTH = 16
"""How much of a digest is kept: it tells declarations of one owner apart."""


def measured_as(table: Table, plans: Iterable[BoundedPlan]) -> dict[str, str]:
    """Return what each histogram is of, by the name of its first key."""
    names = (plan.relation.fields()[plan.keys.fields[0]].name for plan in plans)
    found = {name: _declared(table, name) for name in names if name != ROWS}
    return {name: told for name, told in found.items() if told is not None}


def is_still(table: Table, name: str, said: Mapping[str, Any] | None) -> bool:
    """Tell whether a histogram, by the name of its first key, is of what is declared now.

    Of profiles that were made before this was ``said``, it is looked at whether they can be read.
    """
    now = name if name == ROWS else _declared(table, name)
    if name == ROWS or said is None or now is None:
        return now is not None
    return said.get(name) == now


def _declared(table: Table, name: str) -> str | None:
    """Return what a histogram would be of; None if there is no such column to measure."""
    for first, measured in ((GROUPS, _groups), (LARGEST, _values), (UNREADABLE, _unreadable)):
        if name.startswith(first):
            of = name.removeprefix(first)
            column = next((one for one in table.columns if one.name == of), None)
            found = None if column is None else measured(column)
            return None if found is None else digest(found)[:_LENGTH]
    return None


def _groups(column: Column) -> Any:
    return None if not column.keys else _as_read(column, has_keys=True)


def _values(column: Column) -> Any:
    if column.type not in MEASURED:
        return None
    return {"column": _as_read(column), "step": str(value_bins(column).step)}


def _unreadable(column: Column) -> Any:
    return {"column": _as_read(column), "missing": sorted(column.missing_texts)}


def _as_read(column: Column, *, has_keys: bool = False) -> Any:
    """Return how the values of a column are read, without ranges, and perhaps without keys."""
    keys = column.keys if has_keys else None
    return described(evolve(column, bounds=None, dates=None, keys=keys, nullable=True))
