"""Estimates of linear functions of what people hold, by inverting the known law of reports."""

from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray
from discreet.local.frequency.share_estimate import CONFIDENCE, answered
from discreet.local.tails import OUTWARDS, Floats, bennett_radius, read_level

_MOST_RESIDUAL = 1e-7


@frozen(kw_only=True, eq=False)
class LinearEstimate:
    r"""Estimated means of some functions of the value, over the people who answered.

    Guarantee:
        Each report has a weight for each function, and the mean weight of a person's report is the
        function of the value, to within ``1e-7`` of rounding (which is checked, and added to the
        ends). So ``means`` are unbiased to that. The errors are independent, and bounded, and their
        variance is at most the largest of any value's. The interval is Bennett's
        (:func:`discreet.local.tails.bennett_radius`), valid for every number of people.

    Assumes:
        Devices draw independently, and report as the scheme says.

    Utility:
        ``errors`` are the largest standard deviations that any values could give.
    """

    means: Floats
    low: Floats
    high: Floats
    errors: Floats
    people: int
    confidence: Fraction


def decoder(law: Floats, targets: Floats) -> Floats:
    """Return weights of reports (rows) whose mean is each target (columns), whatever is held.

    Of all such weights they have the least variance if all values are equally common.

    Example:
        >>> law = np.array([[0.75, 0.25], [0.25, 0.75]])
        >>> decoder(law, np.array([[0.0], [1.0]])).round(9).tolist()
        [[-0.5], [1.5]]
    """
    scaled = law / law.mean(axis=0)
    try:
        found: Floats = scaled.T @ np.linalg.solve(scaled @ law.T, targets)
    except np.linalg.LinAlgError:
        found = np.full((law.shape[1], targets.shape[1]), np.inf)
    if not np.isfinite(found).all() or _residual(law, found, targets) > _MOST_RESIDUAL:
        raise InvalidArgument(
            "The law of the reports cannot be inverted with enough digits",
            must="tell values apart better",
            next="ask for a larger loss, or for fewer values",
        )
    return found


def linear_estimate(
    law: Floats,
    targets: Floats,
    tally: IntArray,
    *,
    confidence: Number = CONFIDENCE,
    together: bool = False,
    repeats: int = 1,
) -> LinearEstimate:
    """Return the mean of each target from the number of reports of each kind.

    ``law`` has a row a value and a column a kind of report; ``targets`` a row a value and a column
    a function. If ``together``, all intervals hold at once with the confidence. Up to ``repeats``
    of the reports may be of one device and repeat an answer that it keeps.
    """
    level = read_level(confidence)
    beta = float(1 - level) / (2 * (targets.shape[1] if together else 1))
    people = answered(int(tally.sum()))
    weights = decoder(law, targets)
    means = tally.astype(np.float64) @ weights / people
    variance = (law @ weights**2 - (law @ weights) ** 2).max(axis=0) * (1.0 + OUTWARDS)
    above = weights.max(axis=0) - targets.min(axis=0)
    below = targets.max(axis=0) - weights.min(axis=0)
    margin = 2 * _residual(law, weights, targets) + OUTWARDS * (1.0 + np.abs(weights).max(axis=0))
    low = means - bennett_radius(variance, above, people, beta, repeats=repeats) - margin
    high = means + bennett_radius(variance, below, people, beta, repeats=repeats) + margin
    least, most = targets.min(axis=0), targets.max(axis=0)
    return LinearEstimate(
        means=means,
        low=np.clip(low, least, most),
        high=np.clip(high, least, most),
        errors=np.sqrt(variance * repeats / people),
        people=people,
        confidence=level,
    )


def _residual(law: Floats, weights: Floats, targets: Floats) -> float:
    return float(np.abs(law @ weights - targets).max())
