"""All data sets of a few rows over a small universe: how many there are, and how near one is."""

import math
from fractions import Fraction
from itertools import chain, combinations

import numpy as np

from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.numbers import Number, exact
from discreet.core.protocols import IntArray
from discreet.core.rounding import log_up, sqrt_up
from discreet.core.search import smallest

MOST_NUMBERS = 1 << 22
"""All small data sets together are a table of at most this many numbers: 32 MiB."""


def number_of_databases(cells: int, size: int) -> int:
    r"""Return how many histograms of ``size`` rows over ``cells`` cells there are.

    That is :math:`\binom{cells + size - 1}{size}`; [Das22, Theorem 6.9] prints
    :math:`cells^{size}`, which counts the orders of the rows too.

    Example:
        >>> number_of_databases(8, 10)
        19448
    """
    return math.comb(check.whole(cells) + check.whole(size) - 1, check.whole(size))


def small_databases(cells: int, size: int) -> IntArray:
    """Return all histograms of ``size`` rows, one a row; refuse if they are too many to list.

    Example:
        >>> small_databases(2, 3).tolist()
        [[0, 3], [1, 2], [2, 1], [3, 0]]
    """
    require_enumerable(cells, size)
    bars = combinations(range(cells + size - 1), cells - 1)
    count = number_of_databases(cells, size)
    places = np.fromiter(chain.from_iterable(bars), dtype=np.int64, count=count * (cells - 1))
    ends = np.full((count, 1), -1, dtype=np.int64), np.full((count, 1), cells + size - 1)
    edges = np.concatenate([ends[0], places.reshape(count, cells - 1), ends[1]], axis=1)
    databases: IntArray = np.diff(edges, axis=1) - 1
    return databases


def require_enumerable(cells: int, size: int) -> None:
    """Refuse a universe and a size whose data sets are too many to be listed, and say how many."""
    digits = _digits(cells, size)
    if digits > _MANY_DIGITS or number_of_databases(cells, size) * cells > MOST_NUMBERS:
        is_long = digits > _MANY_DIGITS
        count = f"about 10**{digits}" if is_long else str(number_of_databases(cells, size))
        raise Unsupported(
            "There are too many small data sets to list",
            must=f"be at most {MOST_NUMBERS} counts in all",
            got=f"{count} data sets of {size} rows over {cells} cells",
            next="Take a smaller universe or size, or use Mwem",
        )


def nearest_error(*, cells: int, size: int, queries: int, width: int) -> Fraction:
    r"""Return how far the best data set of ``size`` rows may be off, as a share of all rows.

    Guarantee:
        For any shares :math:`p` of the cells, some histogram of :math:`m` rows answers every one
        of :math:`k` queries of width :math:`R` within the smaller of two numbers, as a share:

        * :math:`R\sqrt{\ln(2k + 1)/(2m)}`. Draw :math:`m` rows by :math:`p`: by Hoeffding's
          inequality a query is off by more with probability below :math:`1/k`, so with some chance
          none is [Hoe63; BLR13]. The size :math:`\ln(k)/\alpha^2` that
          [Das22, Theorem 6.10] prints is 0 for one query and leaves no chance for two;
        * :math:`RN/(4m)` for ``N`` cells. Round :math:`m p_i` up or down at random, up with its
          fractional part as probability, so that the sum stays :math:`m`. The expected total of the
          changes is :math:`\sum 2 f_i(1 - f_i) \le N/2`, and changes that add up to 0 move a query
          by at most half its width times their total. This does not depend on :math:`k`.

    Example:
        >>> share = nearest_error(cells=8, size=100, queries=1000, width=1)
        >>> float(share)
        0.02
    """
    rows = check.whole(size)
    drawn = width * sqrt_up(log_up(Fraction(2 * check.whole(queries) + 1)) / (2 * rows))
    return min(drawn, Fraction(width * check.whole(cells), 4 * rows))


def least_size(accuracy: Number, *, cells: int, queries: int, width: int) -> int:
    """Return the least size with a data set that is within ``accuracy``, a share of all rows.

    Example:
        >>> least_size("1/10", cells=1000, queries=1, width=1)
        55
    """
    target = exact(accuracy)
    if not 0 < target < 1:
        raise InvalidArgument(
            "accuracy is out of range", must="lie strictly between 0 and 1", got=str(target)
        )

    def suffices(size: int) -> bool:
        found = nearest_error(cells=cells, size=size + 1, queries=queries, width=width)
        return found <= target

    return smallest(suffices) + 1


_MANY_DIGITS = 15
_LARGEST_FLOAT = 10**100
"""Beyond it logarithms of factorials soon are no floats."""


def _digits(cells: int, size: int) -> int:
    """Return about the power of ten of the number of data sets, which may be too long to write."""
    if max(cells, size) > _LARGEST_FLOAT:  # then there are as many as that, or more
        return 0 if cells == 1 else round(max(cells, size).bit_length() * math.log10(2))
    log = math.lgamma(cells + size) - math.lgamma(size + 1) - math.lgamma(cells)
    return int(log / math.log(10))
