"""The keys of private groups as a list, as an engine without Arrow would have them."""

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from discreet.tables.column import Key
from discreet.tables.plans.engine import KeyRow


@frozen
class ListedKeys:
    """Keys in a tuple, put in order by Python."""

    keys: tuple[KeyRow, ...]

    def order(self) -> np.ndarray:
        """Return the numbers of the groups in the order of their keys, NULL last."""
        numbers = range(len(self.keys))
        return np.array(sorted(numbers, key=lambda i: [_place(k) for k in self.keys[i]]), np.int64)

    def rows(self, groups: Sequence[int]) -> tuple[KeyRow, ...]:
        """Return the keys of some groups."""
        return tuple(self.keys[i] for i in groups)

    def places(self, field: int, values: Sequence[Key]) -> np.ndarray:
        """Return where in some values the key of each group is, or -1."""
        known = {value: place for place, value in enumerate(values)}
        keys = (row[field] for row in self.keys)
        return np.array([-1 if key is None else known.get(key, -1) for key in keys], np.int64)


def _place(part: Key | None) -> tuple[bool, Key]:
    return (part is None, "" if part is None else part)
