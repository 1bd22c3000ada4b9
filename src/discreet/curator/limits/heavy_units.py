"""How much is cut at most, as a profile tells: if those with the most rows have the largest values.

A profile has histograms of the rows of units and of their values, and does not say which belong
together. What is reckoned with an average of the one for each of the other is right if they have
nothing to do with one another. Of all ways in which they can go together, this one adds up to most
(the rearrangement inequality), so the truth lies below it.

Everything here is worked out from a profile, which is public. It is about utility alone.
"""

from collections.abc import Callable

import numpy as np

from discreet.releases.histogram import Floats, Histogram


def most_together(
    first: Histogram, second: Histogram, each: Callable[[Floats, Floats], Floats]
) -> float:
    """Return about how much units add up to if who has most of the one has most of the other.

    ``each`` says how much a unit has that has so much of both: a product of what grows with either,
    or what of such a product is beyond a constant. Units count with the end of their bin.

    Example:
        >>> from discreet.mechanisms import DiscreteLaplace
        >>> noise = DiscreteLaplace(scale=1)
        >>> rows = Histogram(ends=(1, 10), values=(900, 100, 0), noise=noise, most=10)
        >>> values = Histogram(ends=(1, 5), values=(800, 200, 0), noise=noise, most=5)
        >>> most_together(rows, values, lambda n, v: n * v)
        6300.0
    """
    ranks = [one.cleaned[::-1].cumsum() for one in (first, second)]
    ends = np.unique(np.concatenate(ranks))
    ends = ends[ends <= min(rank[-1] for rank in ranks)]
    units = np.diff(ends, prepend=0.0)
    sizes = [
        np.array(one.widest(), dtype=np.float64)[::-1][np.searchsorted(rank, ends)]
        for one, rank in zip((first, second), ranks, strict=True)
    ]
    return float(units @ each(*sizes))


IF_ALIKE = "if those with large values have as many rows as others"
"""Under which assumption sizes of units and of values are put together by their averages."""

_FAR = 1.5


def at_most(cut: float, most: float, noise: float) -> str:
    """Say how much may be cut at most, where that makes a difference; else nothing.

    Example:
        >>> at_most(10, 5000, 40), at_most(10, 12, 40)
        (' (up to about 5,000 if those with the most rows have the largest values)', '')
    """
    if most + noise <= _FAR * (cut + noise):
        return ""
    return f" (up to about {most:,.0f} if those with the most rows have the largest values)"
