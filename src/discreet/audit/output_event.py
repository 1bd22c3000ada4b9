"""Events: sets of outputs that an auditor bets on, and how it picks one from samples."""

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from numbers import Real
from statistics import NormalDist
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

_SHOWN = 4
_LEAST_SEEN = 3


@frozen
class OutcomeSet:
    """The output is one of these.

    Example:
        >>> print(OutcomeSet(frozenset({3, 1})))
        the output is one of 1, 3
    """

    outcomes: frozenset[Hashable] = field(repr=False)

    def holds(self, output: Hashable) -> bool:
        """Tell whether the event happened."""
        return output in self.outcomes

    def __str__(self) -> str:
        shown = sorted(str(outcome) for outcome in self.outcomes)
        more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        return f"the output is one of {', '.join(shown[:_SHOWN])}{more}"


@frozen(kw_only=True)
class HalfLine:
    """The output is a number on one side of a limit, which belongs to that side.

    Example:
        >>> HalfLine(low=3, high=None).holds(3)
        True
    """

    low: Any = None
    high: Any = None

    def holds(self, output: Any) -> bool:
        """Tell whether the event happened."""
        if not isinstance(output, Real | Fraction):
            return False
        return bool(output >= self.low if self.high is None else output <= self.high)

    def __str__(self) -> str:
        limit = f"at least {self.low}" if self.high is None else f"at most {self.high}"
        return f"the output is {limit}"


OutputEvent = OutcomeSet | HalfLine
"""What the auditor can bet on."""


def choose_event(
    likely: Sequence[Hashable], unlikely: Sequence[Hashable], *, delta: float, failure: float
) -> tuple[float, OutputEvent]:
    r"""Return the event that best tells the two samples apart, with its score.

    Candidates are, for numbers, the half-lines; and the sets of outputs whose estimated likelihood
    ratio is at least some value. An output that was hardly ever seen joins no set: in the limit
    every output is new, and a set of past ones would look perfect and foretell nothing. The score
    is an *approximate* lower bound on :math:`\varepsilon` (Wilson's interval); it only has to rank,
    because the bound that is reported comes from fresh samples.
    """
    yes, no = Counter(likely), Counter(unlikely)
    outcomes = list(yes.keys() | no.keys())
    best: tuple[float, OutputEvent] = (-math.inf, OutcomeSet(frozenset()))
    for order, kind in _orders(outcomes, yes, no):
        hits = np.cumsum([yes[outcome] for outcome in order])
        others = np.cumsum([no[outcome] for outcome in order])
        scores = _scores(hits, len(likely), others, len(unlikely), delta, failure)
        top = int(np.argmax(scores))
        if scores[top] > best[0]:
            best = float(scores[top]), _event(kind, order[: top + 1])
    return best


def _orders(
    outcomes: list[Hashable], yes: Counter[Hashable], no: Counter[Hashable]
) -> Iterator[tuple[list[Any], str]]:
    if all(isinstance(outcome, Real) for outcome in outcomes):
        numbers: list[Any] = list(outcomes)
        numbers.sort()
        yield numbers, "high"
        yield numbers[::-1], "low"
    familiar = [outcome for outcome in outcomes if yes[outcome] + no[outcome] >= _LEAST_SEEN]
    if familiar:
        yield sorted(familiar, key=lambda o: (no[o] + 1) / (yes[o] + 1)), "set"


def _event(kind: str, chosen: list[Any]) -> OutputEvent:
    if kind == "set":
        return OutcomeSet(frozenset(chosen))
    return HalfLine(**{kind: chosen[-1]})


def _scores(
    hits: NDArray[np.int64],
    trials: int,
    others: NDArray[np.int64],
    other_trials: int,
    delta: float,
    failure: float,
) -> NDArray[np.float64]:
    z = NormalDist().inv_cdf(1 - max(failure, 1e-15) / 2)
    low = _wilson(hits, trials, -z)
    high = _wilson(others, other_trials, z)
    ratio = np.maximum(low - delta, 1e-300) / np.maximum(high, 1e-300)
    scores: NDArray[np.float64] = np.log(ratio)
    return scores


def _wilson(hits: NDArray[np.int64], trials: int, z: float) -> NDArray[np.float64]:
    share = hits / trials
    spread = np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    ends: NDArray[np.float64] = (share + z * z / (2 * trials) + z * spread) / (1 + z * z / trials)
    return ends
