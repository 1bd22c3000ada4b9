"""Noisy results: what the mechanisms let out. Public, but not yet dressed for a reader."""

from attrs import frozen

from discreet.core.protocols import IntArray
from discreet.tables.column import Key


@frozen(kw_only=True)
class Noisy:
    """The groups that are shown, and one noisy integer for each aggregate and group."""

    keys: tuple[tuple[Key | None, ...], ...]
    """One row for each group: a value for each grouped field, None where it is rolled up (or is
    NULL, which private keys can be)."""
    sets: tuple[int, ...]
    """The grouping set of each group."""
    columns: tuple[IntArray, ...]
    """One array for each aggregate, in steps; aligned with ``keys``."""
