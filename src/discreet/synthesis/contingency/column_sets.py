"""Sets of columns: which tables are asked for, and which contrasts they need."""

from collections.abc import Iterable, Sequence
from itertools import chain, combinations

from discreet.core import check
from discreet.core.errors import InvalidArgument

ColumnSet = tuple[int, ...]
"""Some columns, by their numbers, in rising order."""

MOST_SETS = 100_000


def sizes_of(values: Sequence[int]) -> tuple[int, ...]:
    """Return how many values columns have; refuse one that has fewer than two.

    Example:
        >>> sizes_of([2, 3])
        (2, 3)
    """
    sizes = tuple(check.whole(value) for value in values)
    if not sizes or min(sizes) < 2:
        raise InvalidArgument("A table needs columns", must="have at least 2 values each")
    return sizes


def column_sets(values: Iterable[Iterable[int]]) -> tuple[ColumnSet, ...]:
    """Return sets of columns, each in rising order and once.

    Example:
        >>> column_sets([[1, 0], [0, 1], [2]])
        ((0, 1), (2,))
    """
    found = tuple(dict.fromkeys(tuple(sorted(set(map(check.whole, one)))) for one in values))
    if not found:
        raise InvalidArgument("There is no table to measure", must="give at least one set")
    return found


def require_columns(sets: Iterable[ColumnSet], sizes: Sequence[int]) -> None:
    """Refuse a set with a column that is not there."""
    for one in sets:
        if any(not 0 <= column < len(sizes) for column in one):
            raise InvalidArgument(
                "There is no such column", must=f"be below {len(sizes)}", got=str(list(one))
            )


def sets_of_order(columns: int, order: int) -> tuple[ColumnSet, ...]:
    """Return all sets of so many of the columns.

    Example:
        >>> sets_of_order(3, 2)
        ((0, 1), (0, 2), (1, 2))
    """
    if not 0 <= order <= columns:
        raise InvalidArgument(
            "order is out of range", must=f"lie between 0 and {columns}", got=str(order)
        )
    return tuple(combinations(range(columns), order))


def closure(sets: Iterable[ColumnSet]) -> tuple[ColumnSet, ...]:
    """Return all subsets of the sets, the smallest first, down to the empty one.

    Example:
        >>> closure([(0, 1), (2,)])
        ((), (0,), (1,), (2,), (0, 1))
    """
    wanted = list(sets)
    if sum(2 ** len(one) for one in wanted) > MOST_SETS:
        raise InvalidArgument(
            "The tables have too many columns",
            must=f"have at most {MOST_SETS:,} sets of columns together",
            next="Ask for fewer tables, or for smaller ones",
        )
    each = (combinations(one, order) for one in wanted for order in range(len(one) + 1))
    return tuple(sorted(set(chain.from_iterable(each)), key=lambda one: (len(one), one)))
