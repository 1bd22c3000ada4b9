"""Keys: the groups that an answer has. Public ones appear whether or not anybody is in them."""

from collections.abc import Sequence
from itertools import product
from typing import ClassVar

from attrs import frozen

from discreet.core.errors import Unsupported
from discreet.tables.column import Key

LARGEST_KEYSET = 1_000_000
"""The most groups that one answer may have."""

LONGEST_KEY = 1_000
"""How many characters of a private key count; two that differ only later are one group."""


@frozen(kw_only=True)
class KeySet:
    """Public combinations of values of some of the grouped fields, in order.

    Without grouping there is one combination, of no fields: an answer always has its one row.

    Example:
        >>> KeySet(places=(), rows=((),))
        KeySet(places=(), rows=((),))
    """

    stored_as: ClassVar[str] = "KeySet"
    places: tuple[int, ...]
    """Which of the grouped fields; the others are rolled up."""
    rows: tuple[tuple[Key, ...], ...]


@frozen(kw_only=True)
class PublicKeys:
    """Grouping by public keys: one key set for each grouping set (usually just one).

    Rows whose values are not among the keys, NULL included, are in no group.
    """

    stored_as: ClassVar[str] = "PublicKeys"
    fields: tuple[int, ...]
    """The grouped fields of the relation."""
    sets: tuple[KeySet, ...]

    def size(self) -> int:
        """Return how many groups there are, over all grouping sets."""
        return sum(len(keys.rows) for keys in self.sets)

    def values(self, place: int) -> frozenset[Key]:
        """Return the keys that one of the grouped fields has, over all grouping sets."""
        found = ((keys, keys.places.index(place)) for keys in self.sets if place in keys.places)
        return frozenset(row[i] for keys, i in found for row in keys.rows)


@frozen(kw_only=True)
class PrivateKeys:
    """Grouping by values that are not public: groups with too few units are not shown."""

    stored_as: ClassVar[str] = "PrivateKeys"
    fields: tuple[int, ...]
    allowed: tuple[tuple[Key, ...] | None, ...]
    """For each field its public keys, where it has any: other values are dropped."""

    def values(self, place: int) -> frozenset[Key] | None:
        """Return the public keys of one of the fields, if it has any."""
        allowed = self.allowed[place]
        return None if allowed is None else frozenset(allowed)


Keys = PublicKeys | PrivateKeys

ONE_ROW = PublicKeys(fields=(), sets=(KeySet(places=(), rows=((),)),))
"""No grouping: one group with everybody in it."""


def combine(blocks: Sequence[Sequence[tuple[Key, ...]]]) -> tuple[tuple[Key, ...], ...]:
    """Return all combinations of one row of each block, joined, in order.

    Example:
        >>> combine([[("a",), ("b",)], [(1, True), (2, False)]])
        (('a', 1, True), ('a', 2, False), ('b', 1, True), ('b', 2, False))
    """
    size = 1
    for block in blocks:
        size *= len(block)
    if size > LARGEST_KEYSET:
        raise Unsupported(
            "These columns have too many combinations of keys",
            must=f"have at most {LARGEST_KEYSET:,}",
            got=f"{size:,}",
            next="Group by fewer columns",
        )
    return tuple(tuple(key for part in parts for key in part) for parts in product(*blocks))
