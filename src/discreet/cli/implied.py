"""What a declaration implies for the units and for those who ask, as text and as plain values."""

from decimal import ROUND_FLOOR
from functools import reduce
from operator import add
from typing import Any

from discreet.cli.reach import (
    Reach,
    allows_private_keys,
    column_to_json,
    count_reach,
    grouping,
    sum_reach,
)
from discreet.cli.unit_words import limits_words, unit_words
from discreet.core.errors import Unsupported
from discreet.core.loss import PrivacyLoss, short
from discreet.core.terminal_text import lines as wrapped
from discreet.core.terminal_text import text_table
from discreet.ledger.gate_rules import least_price, shown_price
from discreet.tables.catalog import Catalog, IdSpace, SourceFormat, Table
from discreet.tables.column import Column


def shares_of(catalog: Catalog, space: IdSpace) -> dict[str, PrivacyLoss]:
    """Return the declared shares of an id space's budget, by analyst."""
    return {
        analyst.name: analyst.allocations[space.name]
        for analyst in catalog.analysts
        if space.name in analyst.allocations
    }


def exceeds(shares: dict[str, PrivacyLoss], cap: PrivacyLoss) -> bool:
    """Tell whether the shares add up to more than the budget."""
    try:
        return bool(shares) and not reduce(add, shares.values()) <= cap
    except Unsupported:  # the deltas alone add up to 1 or more
        return True


def space_text(catalog: Catalog, space: IdSpace) -> str:
    """Return what the budget of an id space means."""
    cap = space.cap.shown(rounding=ROUND_FLOOR)
    lines = [
        f"{space.name}: one unit is {space.unit}",
        f"  budget: {cap} is the most that may ever be told about one unit",
        f"  price: a question costs at least {_least(space)}",
    ]
    tables = [table for table in catalog.tables if table.unit.id_space == space.name]
    lines += [f"  {words}" for words in sorted({_several(table, space) for table in tables} - {""})]
    shares = shares_of(catalog, space)
    if not shares:
        lines.append("  shares: none are declared, so anybody who may ask can spend all of it")
    else:
        listed = "; ".join(f"{name} {loss}" for name, loss in shares.items())
        lines.append(f"  shares: {listed}; anybody else has nothing")
    if exceeds(shares, space.cap):
        lines.append(
            "  the shares add up to more than the budget: each is a quota, and the budget holds "
            "over all of them together"
        )
    private = (
        "groups can be public, or found privately with some of the delta"
        if allows_private_keys(space.cap)
        else "groups must be public, because finding them privately takes a delta"
    )
    return "\n".join(wrapped(line, indent="    ") for line in (*lines, f"  {private}"))


def _least(space: IdSpace) -> str:
    return shown_price(space.cap, least_price(space.cap, space.least_price))


def _several(table: Table, space: IdSpace) -> str:
    """Return what the budget means for somebody who is more than one unit (group privacy)."""
    unit = table.unit
    if unit.column is not None and unit.period is None:
        return ""
    one = "row" if unit.period is None else unit.period.length.value
    more = "k times the epsilon" if hasattr(space.cap, "epsilon") else "k times k times the rho"
    delta = ", and a delta that grows faster still" if allows_private_keys(space.cap) else ""
    return f"somebody with k {one}s is k units: they can lose up to {more}{delta}"


def space_to_json(catalog: Catalog, space: IdSpace) -> dict[str, Any]:
    """Return the same as plain values."""
    shares = shares_of(catalog, space)
    return {
        "name": space.name,
        "unit": space.unit,
        "budget": space.cap.to_json(),
        "least_price": str(least_price(space.cap, space.least_price)),
        "shares": {name: loss.to_json() for name, loss in shares.items()},
        "shares_exceed_budget": exceeds(shares, space.cap),
        "private_keys": allows_private_keys(space.cap),
    }


def table_text(catalog: Catalog, table: Table) -> str:
    """Return what the limits and ranges of a table mean."""
    limits, count = table.limits, count_reach(table.limits)
    rows = [
        [column.name, column.type.value, *_sums(column, table), grouping(catalog, table, column)]
        for column in table.columns
    ]
    heading = ["column", "type", "SUM in a group", "SUM in all", "GROUP BY"]
    return "\n".join(
        [
            f"{table.name} (id space {table.unit.id_space}), from {table.source.path.name}",
            *([_CSV] if table.source.format is SourceFormat.CSV else []),
            f"  one unit: {unit_words(table.unit)}",
            f"  limits: {limits_words(limits)}",
            f"  so one unit moves COUNT(*) by at most {_moved(count)}, and SUM by at most:",
            *(f"  {line}" for line in text_table(heading, rows).splitlines()),
        ]
    )


_CSV = (
    "  lines of a CSV file that cannot be read are dropped; 'discreet to-parquet' names such a line"
)


def _sums(column: Column, table: Table) -> tuple[str, str]:
    moved = sum_reach(column, table.limits)
    return ("", "") if moved is None else (short(moved.in_a_group), short(moved.in_all))


def _moved(reach: Reach) -> str:
    return f"{short(reach.in_a_group)} in a group, {short(reach.in_all)} in all"


def table_to_json(catalog: Catalog, table: Table) -> dict[str, Any]:
    """Return the same as plain values."""
    return {
        "name": table.name,
        "id_space": table.unit.id_space,
        "unit": unit_words(table.unit),
        "rows_per_group": table.limits.rows_per_group,
        "groups_per_unit": table.limits.groups_per_unit,
        "count": count_reach(table.limits).to_json(),
        "columns": [column_to_json(catalog, table, column) for column in table.columns],
    }
