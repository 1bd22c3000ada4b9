"""The exact distance of two arrays, in every norm that a contribution bounds."""

import math
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from discreet.core.contribution import Contribution

NORMS = ("l0", "linf", "l1", "l2_squared")


def distances(first: NDArray[Any], second: NDArray[Any]) -> dict[str, Fraction | float]:
    """Return the distance of two arrays of one shape in each norm; infinity if it is no number.

    Example:
        >>> import numpy as np
        >>> distances(np.array([1, 5]), np.array([1, 2]))["l2_squared"]
        Fraction(9, 1)
    """
    pairs = zip(first.ravel().tolist(), second.ravel().tolist(), strict=True)
    changes = [_change(one, other) for one, other in pairs]
    return {
        "l0": Fraction(sum(change > 0 for change in changes)),
        "linf": max(changes, default=Fraction(0)),
        "l1": sum(changes, Fraction(0)),
        "l2_squared": sum((change * change for change in changes), Fraction(0)),
    }


def exceeded(
    first: NDArray[Any], second: NDArray[Any], declared: Contribution
) -> dict[str, Fraction | float]:
    """Return each norm in which two arrays are further apart than ``declared``, and how far.

    Example:
        >>> import numpy as np
        >>> exceeded(np.array([3]), np.array([1]), Contribution(l0=1, linf=1)).keys()
        dict_keys(['linf', 'l1', 'l2_squared'])
    """
    measured = distances(first, second)
    limits = {norm: getattr(declared, norm) for norm in NORMS}
    return {
        norm: measured[norm]
        for norm, limit in limits.items()
        if limit is not None and measured[norm] > limit
    }


def differing(first: NDArray[Any], second: NDArray[Any]) -> Fraction:
    """Return in how many entries two arrays of one shape differ, whatever the entries are.

    Example:
        >>> import numpy as np
        >>> differing(np.array(["a", "b"]), np.array(["a", "c"]))
        Fraction(1, 1)
    """
    return Fraction(int(distances(first, second)["l0"]))


def _change(one: Any, other: Any) -> Fraction | float:
    if one == other or (one != one and other != other):
        return Fraction(0)
    try:
        return abs(Fraction(one) - Fraction(other))
    except (TypeError, ValueError, OverflowError):
        return math.inf
