"""Public keys: the groups that an answer has, whether or not anybody is in them."""

from itertools import product

from attrs import frozen

from discreet.core.errors import Unsupported
from discreet.tables.column import Column, Key

LARGEST_KEYSET = 1_000_000
"""The most groups that one answer may have."""


@frozen
class KeySet:
    """Named columns and the public combinations of their values, in the declared order.

    Without grouping there is one combination, of no columns: an answer always has its one row.

    Example:
        >>> KeySet(columns=(), rows=((),))
        KeySet(columns=(), rows=((),))
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Key, ...], ...]

    @staticmethod
    def of(columns: tuple[Column, ...]) -> "KeySet":
        """Return all combinations of the columns' declared keys."""
        size = 1
        for column in columns:
            size *= len(column.keys or ())
        if size > LARGEST_KEYSET:
            raise Unsupported(
                "These columns have too many combinations of keys",
                must=f"have at most {LARGEST_KEYSET:,}",
                got=f"{size:,}",
                next="Group by fewer columns",
            )
        return KeySet(columns, tuple(product(*(column.keys or () for column in columns))))
