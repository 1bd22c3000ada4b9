"""Which of many p-values are discoveries, with the share of false ones under control."""

from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import exact


class DiscoveryControl(Enum):
    r"""What the level :math:`\beta` of a list of accusations bounds.

    Attributes:
        EACH: For each innocent candidate, the chance to be accused is at most :math:`\beta`. Of
            1,000 innocents :math:`1000 \beta` may be.
        BENJAMINI_HOCHBERG: The expected share of innocents among the accused is at most
            :math:`\beta`, if the p-values are independent, or positively dependent in the sense of
            [BY01, theorem 1.2]. Ranks among shared references are: [BCLRS23].
        BENJAMINI_YEKUTIELI: The same, whatever the dependence [BY01, theorem 1.3].
    """

    EACH = "each"
    BENJAMINI_HOCHBERG = "benjamini-hochberg"
    BENJAMINI_YEKUTIELI = "benjamini-yekutieli"


def discoveries(p_values: ArrayLike, level: float, control: DiscoveryControl) -> NDArray[np.bool_]:
    r"""Tell which p-values are discoveries.

    Sort them. The :math:`k` smallest are discoveries for the largest :math:`k` with
    :math:`p_{(k)} \le \beta k / (m\,c)`, where :math:`c = 1` [BH95], or
    :math:`c = \sum_{i \le m} 1/i` under any dependence [BY01].

    Example:
        >>> p = [0.01, 0.02, 0.03, 0.9]
        >>> discoveries(p, 0.05, DiscoveryControl.BENJAMINI_HOCHBERG).tolist()
        [True, True, True, False]
        >>> discoveries(p, 0.05, DiscoveryControl.BENJAMINI_YEKUTIELI).tolist()
        [False, False, False, False]
    """
    values = np.asarray(p_values, dtype=np.float64)
    level = checked_level(level)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise InvalidArgument("Some p-values are out of range", must="be a list of numbers in 0..1")
    if control is DiscoveryControl.EACH or values.size == 0:
        return values <= level
    count = len(values)
    ranks = np.arange(1, count + 1)
    penalty = hardest_penalty(count, control)
    order = np.argsort(values, kind="stable")
    good = np.flatnonzero(values[order] <= level * ranks / (count * penalty))
    found = np.zeros(count, dtype=np.bool_)
    if good.size:
        found[order[: good[-1] + 1]] = True
    return found


def hardest_penalty(count: int, control: DiscoveryControl) -> float:
    """Return by how much a level is divided, apart from the number of candidates."""
    if control is DiscoveryControl.BENJAMINI_YEKUTIELI:
        return float((1.0 / np.arange(1, count + 1)).sum())
    return 1.0


def checked_level(level: float) -> float:
    """Return a level of false accusations, or refuse what is none."""
    number = float(exact(level))
    if not 0 < number < 1:
        raise InvalidArgument("level is out of range", must="be above 0 and below 1")
    return number
