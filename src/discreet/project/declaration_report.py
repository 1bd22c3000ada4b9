"""What a declaration means for the units and for those who ask, and what its owner should know."""

from collections.abc import Iterator
from decimal import ROUND_FLOOR
from fractions import Fraction
from functools import reduce
from itertools import combinations
from operator import add
from typing import Any

from discreet.core.errors import Unsupported
from discreet.core.loss import PrivacyLoss, short
from discreet.core.terminal_text import text_table
from discreet.engines.duckdb.sources.doubtful_keys import doubtful_keys
from discreet.engines.duckdb.sources.doubtful_text import doubtful_texts
from discreet.engines.duckdb.sources.doubtful_times import doubtful_times
from discreet.engines.duckdb.sources.examine import Examined, examine, share_rows
from discreet.engines.duckdb.sources.stored_columns import StoredKind
from discreet.ledger.gate_rules import least_price, shown_price
from discreet.project.unit_effect import (
    UnitEffect,
    allows_private_keys,
    column_to_json,
    count_effect,
    grouping,
    limits_words,
    rows_that_fit,
    sum_effect,
    unit_words,
)
from discreet.tables.catalog import Catalog, IdSpace, PublicTable, Table
from discreet.tables.column import Column
from discreet.tables.source import SourceFormat
from discreet.tables.source_files import shown_name


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


def space_lines(catalog: Catalog, space: IdSpace) -> tuple[str, ...]:
    """Return what the budget of an id space means, one line a fact."""
    cap = space.cap.shown(rounding=ROUND_FLOOR)
    lines = [
        f"{space.name}: one unit is {space.unit}",
        f"  budget: {cap} is the most that may ever be told about {space.called.one}",
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
    return *lines, f"  {private}"


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
    limits, count = table.limits, count_effect(table.limits)
    called = catalog.called(table.unit.id_space)
    rows = [
        [column.name, column.type.value, *_sums(column, table), grouping(catalog, table, column)]
        for column in table.columns
    ]
    heading = ["column", "type", "SUM in a group", "SUM in all", "GROUP BY"]
    return "\n".join(
        [
            f"{table.name} (id space {table.unit.id_space}), from {shown_name(table.source)}",
            *_lines_dropped(table),
            f"  {called.one}: {unit_words(table.unit)}",
            f"  limits: {limits_words(limits)}",
            f"  so {called.one} moves COUNT(*) by at most {_moved(count)}, and SUM by at most:",
            *(f"  {line}" for line in text_table(heading, rows).splitlines()),
        ]
    )


_OF_LINES = {SourceFormat.CSV: "CSV", SourceFormat.JSON_LINES: "JSON lines"}


def _lines_dropped(table: Table) -> list[str]:
    kind = _OF_LINES.get(table.source.format)
    told = "cannot be read are dropped; 'discreet to-parquet' names such a line"
    return [] if kind is None else [f"  lines of a {kind} file that {told}"]


def _sums(column: Column, table: Table) -> tuple[str, str]:
    moved = sum_effect(column, table.limits)
    return ("", "") if moved is None else (short(moved.in_a_group), short(moved.in_all))


def _moved(reach: UnitEffect) -> str:
    return f"{short(reach.in_a_group)} in a group, {short(reach.in_all)} in all"


def table_to_json(catalog: Catalog, table: Table) -> dict[str, Any]:
    """Return the same as plain values."""
    return {
        "name": table.name,
        "id_space": table.unit.id_space,
        "unit": unit_words(table.unit),
        **table.limits.given(),
        "count": count_effect(table.limits).to_json(),
        "columns": [column_to_json(catalog, table, column) for column in table.columns],
    }


MANY_ROWS = 1000
"""From so many rows of one unit on, the noise is likely to hide what is asked for."""

USUAL_ROWS = 10**9
"""A sum that could saturate below so many rows is worth a word if no number is declared."""

LARGE_EPSILON = 10
LARGE_DELTA = Fraction(1, 10**5)


def cautions(catalog: Catalog) -> tuple[str, ...]:
    """Return every caution, as sentences; they follow from the declarations and from links."""
    return tuple(_all(catalog))


def _all(catalog: Catalog) -> Iterator[str]:
    for space in catalog.id_spaces:
        yield from _about_space(catalog, space)
    for table in catalog.tables:
        yield from _about_limits(table)
        yield from _about_sums(table)
    yield from _about_sources(catalog)
    yield from _about_default(catalog)


def _about_space(catalog: Catalog, space: IdSpace) -> Iterator[str]:
    tables = [table for table in catalog.tables if table.unit.id_space == space.name]
    if not tables:
        yield f"No table belongs to the id space {space.name}."
    lacking = [
        f"{table.name}.{column.name}"
        for table in tables
        for column in table.columns
        if column.keys is None and column.keys_from is None and column.type.value == "text"
        if column.name not in table.unit.key_columns()
    ]
    if lacking and not allows_private_keys(space.cap):
        yield (
            f"The budget of {space.name} has no delta, so nobody can group by a column without "
            f"public keys: {', '.join(lacking)}. Declare keys for it, or a budget with a delta."
        )
    yield from _about_size(space)


def _about_size(space: IdSpace) -> Iterator[str]:
    if getattr(space.cap, "epsilon", 0) > LARGE_EPSILON or getattr(space.cap, "rho", 0) > 1:
        yield (
            f"The budget of {space.name} ({space.cap}) promises little to one unit once it is "
            "spent; 'discreet meaning' says how little."
        )
    if getattr(space.cap, "delta", 0) > LARGE_DELTA:
        yield (
            f"The delta of {space.name} is large. It should be far below one over the number of "
            "units, because with that probability there is no promise."
        )


def _about_limits(table: Table) -> Iterator[str]:
    rows = count_effect(table.limits).in_all
    if rows >= MANY_ROWS:
        yield (
            f"One unit of {table.name} can count for {int(rows):,} rows, so counts are hidden by "
            "noise of that size. Lower rows_per_group or groups_per_unit if few have so many."
        )


def _about_sums(table: Table) -> Iterator[str]:
    for column in table.columns:
        fit = rows_that_fit(column)
        if fit is None:
            continue
        if table.most_rows is None and fit < USUAL_ROWS:
            yield (
                f"A sum of {table.name}.{column.name} stops growing beyond {fit:,} rows at the end "
                "of its range. Declare most_rows if there are never so many, or a larger step."
            )
        elif table.most_rows is not None and fit < table.most_rows:
            yield (
                f"A sum of {table.name}.{column.name} can hold {fit:,} rows at the end of its "
                f"range, fewer than most_rows, and stops growing there. Declare a larger step."
            )


def _about_sources(catalog: Catalog) -> Iterator[str]:
    for first, second in combinations(catalog.tables, 2):
        is_other = first.unit.id_space != second.unit.id_space
        if is_other and share_rows(first, second):
            yield (
                f"{first.name} and {second.name} read the same file but belong to different id "
                "spaces. What both tell about one unit adds up, and no budget bounds the sum."
            )


def _about_default(catalog: Catalog) -> Iterator[str]:
    default = catalog.default
    if default is None:
        return
    for space in catalog.id_spaces:
        if not _fits(default, space.cap):
            yield (
                f"The default ({default}) does not fit into the budget of {space.name} "
                f"({space.cap}), so questions about it must say what they may cost."
            )


def _fits(default: PrivacyLoss, cap: PrivacyLoss) -> bool:
    """Tell whether at least one question at the default price could be paid for.

    An ε is at most ε²/2 in ρ, so it can be paid from either kind of budget.
    """
    rho, epsilon = getattr(default, "rho", None), getattr(default, "epsilon", None)
    limit = getattr(cap, "rho", None)
    if rho is not None:
        fits = limit is not None and rho <= limit
    elif limit is not None:
        fits = epsilon is not None and epsilon**2 / 2 <= limit
    else:
        fits = epsilon is not None and epsilon <= getattr(cap, "epsilon", 0)
    return fits and getattr(default, "delta", 0) <= getattr(cap, "delta", 0)


def source_cautions(catalog: Catalog) -> tuple[str, ...]:
    """Return every caution, as sentences; they follow from names and types.

    Some rows are read, to see whether the declared encoding fits and what keys and times look like.
    No sentence quotes the name of a file: there might be one for each person.
    """
    found = [words for table in catalog.tables for words in _about_files(table, examine(table))]
    every: list[Table | PublicTable] = [*catalog.tables, *catalog.public_tables]
    for table in every:
        found += [*doubtful_texts(table), *doubtful_times(table), *doubtful_keys(table)]
    return tuple(found)


def _about_files(table: Table, files: Examined) -> Iterator[str]:
    for name in files[0]:
        columns = [file[name] for file in files]
        empty = sum(column.kind is StoredKind.EMPTY for column in columns)
        if empty:
            where = "its file stores" if len(files) == 1 else "some of its files store"
            yield f"{table.name}.{name} is NULL where {where} no type for it."
        types = sorted({column.stored for column in columns if column.kind is not StoredKind.EMPTY})
        if len(types) > 1:
            yield (
                f"{table.name}.{name} is stored as {' and '.join(types[:3])} in different files. "
                "Each is read by itself, and what does not read as its declared type is NULL."
            )
        kinds = {column.kind for column in columns}
        zone = table.column(name).zone
        if zone is not None and StoredKind.TIMESTAMP in kinds:
            yield (
                f"{table.name}.{name} is stored without a time zone, so it is taken for what clocks"
                f" of {zone} show. If it is in UTC, declare that, or convert it."
            )
        if name in table.unit.owner_columns() and kinds & {StoredKind.FLOAT, StoredKind.DECIMAL}:
            yield (
                f"{table.name}.{name} names units and is stored with a fraction. Rows in which it "
                "is not a whole number, or too large to be exact, are nobody's."
            )
