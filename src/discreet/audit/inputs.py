"""What a watched mechanism is given, and how far two neighbours may move it."""

import math
from collections import Counter
from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument
from discreet.mechanisms.query_release.prefix_queries import PrefixRelease
from discreet.mechanisms.selection.binary_search_quantile import BinarySearchQuantile
from discreet.mechanisms.selection.quantile import Quantile
from discreet.mechanisms.selection.quantile_end import QuantileEnd
from discreet.mechanisms.selection.quantiles import Quantiles
from discreet.mechanisms.stability.stable_median import StableMedian

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


Measured = dict[str, Fraction | float]
"""The norms in which two inputs are too far apart, and how far."""


class Inputs(Enum):
    """What the private part of a call is. Each kind has its own rule of what must agree."""

    VECTOR = "vector"
    """One number a cell. The cells are public: shape and type agree, and every norm is checked."""

    SCORES = "scores"
    """One number a candidate. As a vector."""

    ROWS = "rows"
    """The rows themselves. Their number is private: rows that come or go count one each."""

    KEYS = "keys"
    """A mapping from keys to counts. Which keys are present is private: an absent key counts 0."""

    QUERIES = "queries"
    """The exact values of queries to a machine: each moves by at most ``linf``, all may move."""

    POINTS = "points"
    """The rows that a machine is opened on: a unit has ``linf`` of them."""

    REPORTS = "reports"
    """What people hold, one value a report: at most ``l0`` differ, and they may be anything."""

    MARGIN = "margin"
    """A number, its margin and the proposed move: it may jump only where the margin is small."""

    NOTHING = "nothing"
    """No private input at all: everything is public, and must agree."""

    @property
    def has_public_size(self) -> bool:
        """Whether the shape, and so the number of words that are drawn, must agree."""
        return self not in (Inputs.ROWS, Inputs.KEYS, Inputs.POINTS)

    def kept(self, values: Any) -> Any:
        """Return a copy, so that later changes do not reach the trace."""
        if self is Inputs.KEYS:
            return {key: count for key, count in dict(values).items() if count}
        if isinstance(values, Mapping):
            raise InvalidArgument(
                "This mechanism is watched as one that takes an array",
                must="be given an array",
                next="Watch it with inputs=Inputs.KEYS if keys and counts are what it takes",
            )
        return np.array(values)

    def form(self, kept: Any) -> tuple[tuple[int, ...], str]:
        """Return the shape and the type of number, as far as they are public."""
        if self is Inputs.KEYS:
            return (), "keys"
        # The width of an array of texts is the length of its longest one, and no type of its own.
        kind = "text" if kept.dtype.kind == "U" else str(kept.dtype)
        return (kept.shape if self.has_public_size else ()), kind

    def exceeded(self, first: Any, second: Any, d_in: Contribution) -> Measured:
        """Return each norm in which neighbours are further apart than declared, and how far.

        Example:
            >>> Inputs.KEYS.exceeded({"a": 3}, {"a": 4, "b": 1}, Contribution(l0=1, linf=1))
            {'l0': Fraction(2, 1), 'l1': Fraction(2, 1), 'l2_squared': Fraction(2, 1)}
            >>> Inputs.ROWS.exceeded(np.array([3, 9]), np.array([3]), Contribution(l1=1))
            {}
        """
        if self is Inputs.KEYS:
            return exceeded(*_aligned(first, second), d_in)
        if self is Inputs.ROWS:
            return exceeded(*_aligned(_histogram(first), _histogram(second)), d_in)
        if self is Inputs.POINTS:
            return _points(*_aligned(_histogram(first), _histogram(second)), d_in)
        if self is Inputs.MARGIN:
            return _margins(first.tolist(), second.tolist(), d_in)
        if self is Inputs.REPORTS:
            changed = differing(first, second)
            return {"l0": changed} if d_in.l0 is None or changed > d_in.l0 else {}
        found = exceeded(first, second, d_in)
        if self is Inputs.QUERIES:
            return {norm: far for norm, far in found.items() if norm == "linf"}
        return found


_ROW_MECHANISMS = (
    Quantile,
    QuantileEnd,
    Quantiles,
    BinarySearchQuantile,
    StableMedian,
    PrefixRelease,
)


def inputs_of(mechanism: Any, values: Any) -> Inputs:
    """Return what a mechanism takes: rows if we know it to, keys for a mapping, else a vector."""
    if isinstance(mechanism, _ROW_MECHANISMS):
        return Inputs.ROWS
    return Inputs.KEYS if isinstance(values, Mapping) else Inputs.VECTOR


def _histogram(rows: NDArray[Any]) -> Mapping[Any, int]:
    return Counter(rows.ravel().tolist())


def _aligned(
    first: Mapping[Any, int], second: Mapping[Any, int]
) -> tuple[NDArray[Any], NDArray[Any]]:
    keys = list(dict.fromkeys([*first, *second]))
    one, other = ([int(counts.get(key, 0)) for key in keys] for counts in (first, second))
    return np.array(one, dtype=object), np.array(other, dtype=object)


def _points(first: NDArray[Any], second: NDArray[Any], d_in: Contribution) -> Measured:
    """Count rows that come and go; a changed unit does both with each of its rows."""
    sides = 1 if d_in.metric is Metric.ADD_REMOVE else 2
    moved = Fraction(int(np.abs(first - second).sum()))
    return {"linf": moved / sides} if moved > sides * d_in.bound("linf") else {}


def _margins(first: list[int], second: list[int], d_in: Contribution) -> Measured:
    """Check a number that may move freely only where the test of its margin fails.

    With :math:`s` steps the margin moves by at most :math:`s`, and the number by at most :math:`s`
    times what was proposed, unless both margins are below :math:`s`.
    """
    (value, margin, proposed), (other, other_margin, _) = first, second
    steps = int(d_in.bound("l1"))
    far = Fraction(abs(margin - other_margin))
    if max(margin, other_margin) >= steps:
        far = max(far, Fraction(abs(value - other), proposed))
    return {"l1": far} if far > steps else {}
