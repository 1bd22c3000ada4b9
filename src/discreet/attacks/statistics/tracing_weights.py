r"""The statistics that trace a person: every one is a vector of weights.

For attributes that are signs, a sum of any functions of one attribute each is affine in the person
:math:`y`: it is :math:`\langle y, w \rangle` plus a constant that is the same for all. So the tests
of the literature differ in their weights alone, and all of them can be compared with references in
one way.
"""

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.statistics.sign_data import Floats
from discreet.core.errors import InvalidArgument


class TracingStatistic(Enum):
    r"""Which weights a person's attributes get, for a release :math:`q`.

    Attributes:
        CORRELATION: :math:`w = q`. It needs one reference [DSSUV15; Ste16, figure 5.1].
        CLIPPED: :math:`w = q - \bar r`, clipped at twice the distortion; :math:`\bar r` is the mean
            of a pool of references [Ste16, figure 5.2].
        HOMER: :math:`w = q - \bar r`. Homer's distance
            :math:`\sum_j |y_j - \bar r_j| - |y_j - q_j|` is :math:`\langle y, q - \bar r \rangle`
            for signs, since :math:`|y - a| = 1 - ya` for :math:`|a| \le 1` [HSR08].
        LIKELIHOOD: the logarithm of how much likelier :math:`y` is under the means :math:`q` than
            under :math:`\bar r` [SOJH09].
    """

    CORRELATION = "correlation"
    CLIPPED = "clipped"
    HOMER = "homer"
    LIKELIHOOD = "likelihood"


def weights_of(
    statistic: TracingStatistic,
    release: Floats,
    pool: NDArray[Any] | None,
    *,
    distortion: float | None = None,
) -> Floats:
    """Return the weights of a statistic.

    Args:
        statistic: Which one.
        release: The released means.
        pool: References that estimate the population's means; all but CORRELATION need them.
        distortion: How far the release may be from the population's means, for CLIPPED.

    Example:
        >>> pool = np.array([[1, -1], [1, 1]])
        >>> weights_of(TracingStatistic.HOMER, np.array([0.5, 0.5]), pool).tolist()
        [-0.5, 0.5]
    """
    if statistic is TracingStatistic.CORRELATION:
        return release
    if pool is None:
        raise InvalidArgument(
            f"The statistic {statistic.value!r} needs a pool of references",
            must="have rows that estimate the population's means",
            next="Give some references as the pool, or use the statistic 'correlation'",
        )
    mean: Floats = np.asarray(pool.mean(axis=0, dtype=np.float64))
    if statistic is TracingStatistic.HOMER:
        return release - mean
    if statistic is TracingStatistic.CLIPPED:
        if distortion is None or not 0 < distortion <= 2:
            raise InvalidArgument(
                "The clipped statistic needs a distortion", must="be above 0 and at most 2"
            )
        return np.clip(release - mean, -2 * distortion, 2 * distortion)
    return _log_odds(release, len(pool)) - _log_odds(mean, len(pool))


def _log_odds(means: Floats, people: int) -> Floats:
    """Return half the log-odds, with half a person added to each side so that none is infinite."""
    shrunk = means * people / (people + 1)
    return np.asarray(np.arctanh(shrunk), dtype=np.float64)
