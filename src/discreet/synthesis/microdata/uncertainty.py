"""The uncertainty principle: no table without negative counts has good points and a good sum."""

import math

import numpy as np
from attrs import frozen

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.protocols import IntArray, Rng
from discreet.synthesis.microdata.clamped_points import ClampedPoints
from discreet.synthesis.microdata.points_with_sum import PointsWithSum

_HALVINGS = 200


@frozen(kw_only=True)
class SquaredErrors:
    """What the squared errors of the points and of their sum came to, on a table that is public."""

    per_query: float
    """The largest mean over the points (the per-query squared error, PQSE)."""
    outlier: float
    """The mean of the largest over the points: at least ``per_query``."""
    total: float
    """The mean of the sum's."""


def rehearsed_errors(
    method: ClampedPoints | PointsWithSum, counts: IntArray, *, draws: int, rng: Rng
) -> SquaredErrors:
    """Publish a table of made-up counts many times, and return the mean squared errors.

    These are exact facts about noise and a table that is not anyone's. Of private counts they would
    be an answer that nobody paid for, so give it made-up ones.

    Example:
        >>> from discreet import Pure, SystemRng
        >>> method = ClampedPoints.calibrate(loss=Pure(1), points=4, rows_per_unit=1)
        >>> errors = rehearsed_errors(method, np.full(4, 100), draws=50, rng=SystemRng())
        >>> errors.per_query <= errors.outlier
        True
    """
    times = check.whole(draws)
    if times < 1:
        raise InvalidArgument("draws is out of range", must="be at least 1", got=str(draws))
    truth = np.asarray(counts)
    squares, largest, total = np.zeros(truth.shape), 0.0, 0.0
    for _ in range(times):
        found = method.estimate(method.measure(truth, rng))
        error = (found - truth).astype(np.float64) ** 2
        squares += error
        largest += float(error.max())
        total += float(found.sum() - truth.sum()) ** 2
    return SquaredErrors(
        per_query=float(squares.max()) / times, outlier=largest / times, total=total / times
    )


def least_point_error(
    *, epsilon: float, sum_error: float, points: int, delta: float = 0.0
) -> float:
    r"""Return what the squared error of some point must be, given that of the sum.

    Every :math:`(\varepsilon, \delta)`-DP way to publish :math:`d` counts, none negative, whose
    points have squared errors of at most :math:`C^2` and whose sum has :math:`D^2`, on every table,
    has for all :math:`k > 0`

    .. math:: \left(\frac\delta\varepsilon + \frac{4C + 2D + k}{k(d - 1)}\right)
        e^{4 \varepsilon C + 2 k \varepsilon} \ge \frac14

    [Das22, Theorem 9.3; AACGKLSSTZ21]. The left side rises with :math:`C`, so for each :math:`k`
    there is a least :math:`C`; the largest of these over some :math:`k` is returned, squared.

    Example:
        >>> round(least_point_error(epsilon=1, sum_error=8, points=10**6), 2)
        4.08
    """
    if not (epsilon > 0 and sum_error >= 0 and points >= 2 and 0 <= delta < 1):
        raise InvalidArgument(
            "There is no bound for these numbers",
            must="have ε above 0, an error of at least 0, at least 2 points and δ below 1",
        )
    root = math.sqrt(sum_error)

    def is_possible(size: float, step: float) -> bool:
        factor = delta / epsilon + (4 * size + 2 * root + step) / (step * (points - 1))
        return math.log(factor) + 4 * epsilon * size + 2 * step * epsilon >= math.log(1 / 4)

    best = 0.0
    for step in np.geomspace(1e-3, 1e3, 121) / epsilon:
        low, high = best, max(2 * best, math.log(points) / epsilon)
        if is_possible(low, step):
            continue
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if is_possible(middle, step) else (middle, high)
        best = low
    return best**2
