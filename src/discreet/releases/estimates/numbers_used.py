"""How many noisy numbers an estimate is made from, by which a probability is shared."""

import numpy as np
from numpy.typing import NDArray

from discreet.releases.estimates.estimate import (
    Calculation,
    CorrelationOf,
    Estimate,
    WindowOf,
    indices,
    own_indices,
)
from discreet.releases.estimates.groups import Groups

_TOLD_APART = 16


def numbers_used(estimate: Estimate, groups: Groups) -> NDArray[np.int64]:
    """Return for each row how many noisy numbers the estimate is made from, or more; at least 1.

    Those are the numbers of the row itself, and of all rows that a window looks at; what stands in
    both counts once. Many are rounded up to a power of two, so that there are few different ones.
    """
    inside = [part for part in _outside_windows(estimate) if isinstance(part, WindowOf)]
    own = {index for part in _outside_windows(estimate) for index in own_indices(part)}
    used = np.zeros(groups.size, dtype=np.int64)
    for window in dict.fromkeys(inside):
        seen = indices(window)
        used = used + groups.windows[window].looked_at * len(seen)
        if window.holds_its_row():
            own -= set(seen)
    rounded = {count: _rounded_up(count + len(own)) for count in np.unique(used).tolist()}
    return np.array([rounded[count] for count in used.tolist()], dtype=np.int64)


def _rounded_up(count: int) -> int:
    return max(1, count) if count <= _TOLD_APART else 1 << (count - 1).bit_length()


def _outside_windows(estimate: Estimate) -> tuple[Estimate, ...]:
    """Return an estimate and everything inside it, windows included but not what is in them."""
    inner = estimate.arguments if isinstance(estimate, Calculation | CorrelationOf) else ()
    return (estimate, *(part for argument in inner for part in _outside_windows(argument)))
