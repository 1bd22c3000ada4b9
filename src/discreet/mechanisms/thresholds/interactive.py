"""What all threshold machines share: one life, no copies, and no answer after the end."""

from typing import Any, NoReturn

import numpy as np
from attrs import frozen

from discreet.core.contribution import Contribution
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import exact
from discreet.core.protocols import IntArray
from discreet.mechanisms.noise.integers import LARGEST_VALUE, integers


class Machine:
    """A state machine that ends once and for all.

    A copy would live a second life on one charge, so a machine cannot be copied or pickled. Its
    representation tells nothing of what it holds.
    """

    def __init__(self) -> None:
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the machine has given its last answer. This is public: the answers tell it."""
        return self._ended

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, {'ended' if self._ended else 'open'}>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise Unsupported(
            "A machine cannot be copied",
            must="live once, on one charge",
            next="Open another, and pay for it",
        )

    def _require_open(self) -> None:
        if self._ended:
            raise Unsupported(
                "This machine has ended",
                must="be asked before its end",
                next="Open another, and pay for it",
            )

    def _end(self) -> None:
        self._ended = True


@frozen
class Queries:
    """Exact values of queries and the thresholds to compare them with, checked for type and size.

    No error quotes a value.
    """

    values: IntArray
    thresholds: IntArray

    @classmethod
    def of(cls, values: Any, thresholds: Any) -> "Queries":
        """Return one-dimensional arrays of the same length."""
        array, against = _vector(values), _vector(thresholds)
        if against.size != 1 and against.size != array.size:
            raise InvalidArgument(
                "There are not as many thresholds as queries", must="give one, or one for each"
            )
        return cls(array, np.broadcast_to(against, array.shape))


def one_integer(value: Any, what: str) -> int:
    """Return an integer as it is; refuse floats, booleans and what has no room for noise."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise InvalidArgument(
            f"{what} has the wrong type", must="be an integer", got=type(value).__name__
        )
    if abs(int(value)) > LARGEST_VALUE:
        raise InvalidArgument(f"{what} is too large", must="be below 2**62 in size")
    return int(value)


def _vector(values: Any) -> IntArray:
    array = integers(np.asarray(values))
    if array.ndim > 1:
        raise InvalidArgument("The queries have the wrong shape", must="be one row of integers")
    return array.reshape(-1)


def sensitivity(d_in: Contribution) -> Contribution:
    """Return how far one unit moves one query: ``linf`` alone counts, and must be above 0."""
    largest = d_in.bound("linf")
    if largest <= 0:
        raise InvalidArgument(
            "The sensitivity of a query is out of range", must="be above 0", got=str(largest)
        )
    return Contribution(l0=1, linf=largest, metric=d_in.metric)


def doubled(d_in: Contribution) -> Contribution:
    """Return twice the distance: a query and its threshold may move in opposite directions."""
    return Contribution(l0=1, linf=2 * exact(d_in.bound("linf")), metric=d_in.metric)
