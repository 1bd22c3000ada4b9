"""What an owner should know about the declarations although nothing is wrong with them."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from discreet.cli.reach import allows_private_keys, count_reach, rows_that_fit
from discreet.core.loss import PrivacyLoss
from discreet.engines.duckdb.sources.apart import share_rows
from discreet.tables.catalog import Catalog, IdSpace, Table

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
        if column.keys is None and column.dates is None and column.type.value == "text"
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
    rows = count_reach(table.limits).in_all
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
                "spaces. What both tell about one person adds up, and no budget bounds the sum."
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
