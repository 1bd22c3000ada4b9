"""What one unit is, and what it can move under the declared limits, column by column."""

from fractions import Fraction
from typing import Any

from attrs import frozen

from discreet.core.loss import PrivacyLoss
from discreet.mechanisms.noise.integers import LARGEST_VALUE
from discreet.tables.catalog import Catalog, Limits, PrivacyUnit, Table
from discreet.tables.column import Column, ColumnType, whole_numbers
from discreet.tables.expression import FieldValue
from discreet.tables.functions.public_values import public_keys
from discreet.tables.plans.aggregate import CountRows
from discreet.tables.plans.sums import SumValues
from discreet.tables.relations.scan import Scan


def unit_words(unit: PrivacyUnit) -> str:
    """Return which rows of a table belong to one unit.

    Example:
        >>> unit_words(PrivacyUnit(id_space="people", column="person"))
        'all rows with the same person'
        >>> unit_words(PrivacyUnit(id_space="people", column=None))
        'each row by itself'
    """
    if unit.column is None:
        return "each row by itself"
    rows = f"all rows with the same {unit.owner_text()}"
    if unit.period is None:
        return rows
    return f"{rows} in the same {unit.period.length.value} (by {unit.period.column})"


def limits_words(limits: Limits) -> str:
    """Return how much of one unit counts.

    Example:
        >>> limits_words(Limits(rows_per_group=1, groups_per_unit=3))
        'at most 1 row in each of at most 3 groups counts'
        >>> limits_words(Limits(rows_per_group=2, groups_per_unit=3, rows_per_unit=5))
        'at most 2 rows in each of at most 3 groups count, and 5 over all groups'
    """
    rows, groups = limits.rows_per_group, limits.groups_per_unit
    row = f"{rows:,} row{'' if rows == 1 else 's'}"
    where = "one group" if groups == 1 else f"each of at most {groups:,} groups"
    over_all = (
        "" if limits.rows_per_unit is None else f", and {limits.rows_per_unit:,} over all groups"
    )
    return f"at most {row} in {where} count{'s' if rows == 1 else ''}{over_all}"


@frozen(kw_only=True)
class UnitEffect:
    """How much one unit changes an answer at most: in one group, and over all groups together."""

    in_a_group: Fraction
    in_all: Fraction

    def to_json(self) -> dict[str, str]:
        """Return exact numbers as text."""
        return {"in_a_group": str(self.in_a_group), "in_all": str(self.in_all)}


def count_effect(limits: Limits) -> UnitEffect:
    """Return what one unit can move of COUNT(*).

    Example:
        >>> count_effect(Limits(rows_per_group=2, groups_per_unit=3)).to_json()
        {'in_a_group': '2', 'in_all': '6'}
    """
    moved = CountRows().contribution(limits)
    return _effect(moved.linf, moved.l1, Fraction(1))


def sum_effect(column: Column, limits: Limits) -> UnitEffect | None:
    """Return what one unit can move of the SUM of a column; ``None`` if it has no range.

    The numbers are those of the contribution that a plan would be priced by.
    """
    if column.bounds is None:
        return None
    value = FieldValue(column.type, 0)
    moved = SumValues(value=value, bounds=column.bounds).contribution(limits)
    return _effect(moved.linf, moved.l1, column.bounds.step)


def _effect(linf: Fraction | None, l1: Fraction | None, step: Fraction) -> UnitEffect:
    assert linf is not None
    assert l1 is not None
    return UnitEffect(in_a_group=linf * step, in_all=l1 * step)


def rows_that_fit(column: Column) -> int | None:
    """Return how many rows a sum can hold, all at the far end of the range, before it saturates."""
    bounds = column.bounds
    return None if bounds is None else LARGEST_VALUE // max(1, bounds.largest_steps)


def allows_private_keys(cap: PrivacyLoss) -> bool:
    """Tell whether groups can be found privately: that takes a δ."""
    return bool(getattr(cap, "delta", 0))


def grouping(catalog: Catalog, table: Table, column: Column) -> str:
    """Return how a column can be grouped by, in a few words."""
    if column.type is ColumnType.REAL:
        return "no: not by a real number"
    has_keys = column.keys is not None or column.keys_from is not None
    if (column.name,) == table.unit.owner_columns() and not has_keys:
        return "no: it names the unit"
    if column.keys_from is not None:
        return f"public keys, those of {column.keys_from}"
    fields = Scan(table=table, columns=(column,)).fields()
    keys = public_keys(FieldValue(column.type, 0), fields)
    if keys is not None:
        what = (
            "days, and their months and years" if column.keys is None and column.dates else "keys"
        )
        return f"{len(keys):,} public {what}"
    if column.type is ColumnType.TIMESTAMP and column.dates is not None:
        return "public days, months and years, by date_trunc"
    if column.dates is not None:
        return "public months and years"
    cap, few = catalog.id_space(table.unit.id_space).cap, _range_keys(column)
    if few is not None:
        return f"{few:,} public keys, its range{', without a delta' * allows_private_keys(cap)}"
    if allows_private_keys(cap):
        return "private keys"
    return "no: needs keys, or a delta in the budget"


def _range_keys(column: Column) -> int | None:
    """Return how many keys the declared range of a whole number has, if it can be grouped by."""
    is_whole = column.type is ColumnType.INTEGER and column.bounds is not None
    found = whole_numbers(column.bounds) if is_whole and column.bounds is not None else None
    return None if found is None else len(found)


def column_to_json(catalog: Catalog, table: Table, column: Column) -> dict[str, Any]:
    """Return what can be asked about a column, as plain values."""
    moved = sum_effect(column, table.limits)
    return {
        "name": column.name,
        "type": column.type.value,
        "sum": None if moved is None else moved.to_json(),
        "group_by": grouping(catalog, table, column),
    }
