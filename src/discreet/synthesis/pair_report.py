"""What a report says of a pair of columns: how far the model can be from the truth in it."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from discreet.releases.accuracy import CONFIDENCE, error_of
from discreet.synthesis.marginals.coarse_values import CoarseValues, Counts
from discreet.synthesis.marginals.measured import MeasuredTable

BETA = (1 - CONFIDENCE) / 3
"""How often each of three bounds fails; the least of them fails three times as often at most."""


@frozen(kw_only=True)
class PairReport:
    """How far the model's table of two columns can be from the truth."""

    columns: tuple[str, str]
    is_measured: bool
    distance: float | None
    """Of a measured table: half the sum of what the model is off from it, as a share of rows."""
    noise: float | None
    """Of a measured table: what the distance would be if the model were the truth."""
    at_most: float | None
    """The most that the model is off from the truth, 95 % of the time; None if unknown."""
    of_groups: float | None
    """The same of values as they stand together in tables, whatever is within."""
    put_together: float
    """The share of rows with a value that stands together with others: how these depend on the
    other column is not known."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "columns": list(self.columns),
            "measured": self.is_measured,
            "distance": self.distance,
            "noise": self.noise,
            "at_most": self.at_most,
            "of_groups": self.of_groups,
            "put_together": round(self.put_together, 6),
        }

    def line(self) -> list[str]:
        """Return it as texts, one for each of the headings."""
        return [
            " with ".join(self.columns),
            "yes" if self.is_measured else "no",
            "" if self.distance is None else percent(self.distance),
            "" if self.noise is None else percent(self.noise),
            "unknown" if self.at_most is None else percent(self.at_most),
            "unknown" if self.of_groups is None else percent(self.of_groups),
            percent(self.put_together) if self.put_together > 5e-4 else "",
        ]


def least_certain_first(pairs: Iterable[PairReport]) -> tuple[PairReport, ...]:
    """Return pairs in the order in which they are shown."""
    return tuple(sorted(pairs, key=lambda one: -(2.0 if one.of_groups is None else one.of_groups)))


def put_together(coarse: Sequence[CoarseValues], shares: Counts) -> float:
    """Return the share of rows with a value that stands together with others."""
    single = [one.members() == 1 for one in coarse]
    return max(0.0, 1 - float(shares[np.ix_(*single)].sum()))


def is_lost(coarse: Sequence[CoarseValues]) -> bool:
    """Tell whether all values of a column stand together, so that nothing is known of them."""
    return any(one.size == 1 < len(one.numbers) for one in coarse)


def score_bound(scores: MeasuredTable, number: int, expected: Counts, model: Counts) -> float:
    """Return how far a model is from the truth, by the noisy score of what was expected."""
    upper = float(scores.values[number]) + float(error_of(scores.noise, BETA))
    return max(upper, 0.0) + float(np.abs(expected - model).sum())


def noise_sum(size: int, variance: float) -> float:
    r"""Return what the sizes of the noise of so many cells add up to, but for one time in 60.

    Of one cell with variance :math:`\sigma^2` the size has a mean of at most :math:`0.8\sigma` and
    a variance of at most :math:`\sigma^2/2`, for both kinds of noise if they are not far below 1,
    and for the mean of two measurements.
    Cells are independent, so by Cantelli's inequality the sum is above its mean by
    :math:`\sqrt{59}` deviations at most one time in 60.
    """
    return 0.8 * size * math.sqrt(variance) + math.sqrt(59 * size * variance / 2)


def percent(share: float) -> str:
    """Return a share as text."""
    return f"{100 * share:.1f} %" if share < 0.995 else "100 %"


HEADINGS = (
    "columns",
    "measured",
    "model is off by",
    "noise alone",
    "off from truth at most",
    "in groups at most",
    "put together",
)

MEANINGS = (
    "off: the share of rows that would have to move to make both tables equal",
    "at most: 95 % of the time; unknown where all values of a column stand together",
    "in groups: the same of values as they stand together in tables, neighbours or rare ones",
    (
        "put together: the share of rows with a value that stands together with others; how these"
        " depend on the other column is not known"
    ),
)
