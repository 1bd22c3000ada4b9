"""The protocols of the house: what a part must offer so that the others can use it."""

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from discreet.core.contribution import Contribution
from discreet.core.event import Event
from discreet.core.loss import PrivacyLoss

IntArray = NDArray[np.int64]
"""An array of exact integers; a value that does not fit is refused, never wrapped."""


@runtime_checkable
class Rng(Protocol):
    """The only source of randomness: unpredictable, independent, uniform 64-bit words."""

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` fresh words."""
        ...


class Mechanism(Protocol):
    """Adds randomness to exact values. Frozen; its noise is set by scale, its loss by distance."""

    def event(self, d_in: Contribution) -> Event:
        """Describe one use, on inputs that one unit can move by ``d_in``."""
        ...

    def release(self, exact_values: IntArray, rng: Rng) -> IntArray:
        """Return the values with noise, in the same shape and type."""
        ...

    def error_quantile(self, beta: Fraction) -> Fraction:
        """Return a bound that one entry's error exceeds with probability at most ``beta``."""
        ...


class Selector(Protocol):
    """Picks one of many candidates by their scores."""

    def event(self, d_in: Contribution) -> Event:
        """Describe one use, on scores that one unit can move by ``d_in``."""
        ...

    def select(self, scores: IntArray, rng: Rng) -> int:
        """Return the index of the chosen candidate."""
        ...


class Interactive(Protocol):
    """A state machine with an end. Its whole loss is charged when it is opened."""

    def event(self) -> Event:
        """Describe the whole life of the machine."""
        ...

    def ask(self, query: Any) -> Any:
        """Answer one query, or refuse if the machine has ended."""
        ...


class LocalRandomiser(Protocol):
    """Runs at the person, who trusts nobody."""

    def event(self) -> Event:
        """Describe one report, for any two values that the person might hold."""
        ...

    def randomise(self, value: Hashable, rng: Rng) -> Any:
        """Return the report that leaves the person's device."""
        ...


class QueryInterface(Protocol):
    """What an attack attacks: something that answers questions about data."""

    def answers(self, queries: Sequence[Any]) -> Sequence[Any]:
        """Return one answer for each query."""
        ...


class Accountant(Protocol):
    """A pure fold of events into a loss. Refuses events that it does not know."""

    def loss(self, events: Iterable[Event]) -> PrivacyLoss:
        """Return a bound on the loss of all ``events`` together."""
        ...
