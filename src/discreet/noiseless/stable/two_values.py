"""Choices by rows with two values: the count of the first one decides, and it is known where."""

from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, islice

from attrs import frozen

from discreet.core.rounding import exp_down, short_down, short_up
from discreet.noiseless.histograms.cell_terms import (
    binomial_term_down,
    binomial_term_up,
)
from discreet.noiseless.stable.row_enumeration import Counts

_BITS, _MOST_TERMS = 192, 40_000
_MOST_PLACES = 2_000
"""So many counts, with known rows of either value, are looked at for one law."""

Run = tuple[int, int, int]
"""The first and the last count of an outcome, and the outcome."""


def two_value_delta(
    decide: Callable[[Counts], int],
    shares: Collection[Fraction],
    others: int,
    known: int,
    epsilon: Fraction,
) -> Fraction | None:
    r"""Return an upper bound of δ for rows of two values; None if there is too much to look at.

    Guarantee:
        The rows have the first value with one of the probabilities ``shares``. Each outcome of
        ``decide`` must have a run of counts of them. (A MAP release is such: the logarithm of the
        posterior weight of each law is linear in the count. So two counts with one outcome have
        that outcome between them.) Runs are found exactly, for the rows with the person and
        without. Let :math:`S_o` and :math:`T_o` be those of an outcome o. Then

        .. math:: P[S_o] - e^\varepsilon P[T_o] =
            P[S_o \setminus T_o] - P[T_o \setminus S_o] - (e^\varepsilon - 1) P[T_o],

        and δ is the sum over outcomes of what is above 0. The first probability is rounded up, the
        others down. It is the worst of both directions, of all probabilities, of both values of the
        person, and of how many known rows have the first value. Which probability is true may be
        random: δ is convex.

    Utility:
        It is δ, but for rounding.

    Example:
        >>> def majority(counts): return int(counts[1] > counts[0])
        >>> round(float(two_value_delta(majority, [Fraction(1, 2)], 10**6, 0, Fraction(0))), 6)
        0.000798
    """
    if not all(0 < share < 1 for share in shares):
        return None
    without = runs_of(lambda c: decide((c, others - c)), others)
    with_row = runs_of(lambda c: decide((c, others + 1 - c)), others + 1)
    sides = [(_back(with_row, value), without) for value in (1, 0)]
    moved = [(_parted(one, other), _parted(other, one)) for one, other in sides]
    places = sum(b - a + 1 for pair in moved for side in pair for a, b, _ in side)
    if places * (known + 1) * len(shares) > _MOST_PLACES:
        return None
    worst, growth = Fraction(0), exp_down(epsilon)
    for share in shares:
        for pushed in range(known + 1):
            hidden = _Hidden(others - known, pushed, share, growth)
            for (here, there), (with_it, without_it) in zip(moved, sides, strict=True):
                worst = max(worst, hidden.excess(here, there, without_it))
                worst = max(worst, hidden.excess(there, here, with_it))
    return min(Fraction(1), short_up(worst))


def runs_of(decide: Callable[[int], int], most: int) -> list[Run]:
    """Return runs of counts from 0 to ``most`` with one outcome each, of which none comes again.

    Example:
        >>> runs_of(lambda c: c // 4, 9)
        [(0, 3, 0), (4, 7, 1), (8, 9, 2)]
    """
    found, first, outcome = [], 0, decide(0)
    while first <= most:
        low, high = first, most + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if decide(middle) == outcome else (low, middle)
        found.append((first, low, outcome))
        first = high
        outcome = decide(first) if first <= most else outcome
    return found


def _back(runs: Sequence[Run], value: int) -> list[Run]:
    """Return runs of counts of the others, where the person adds so many to them."""
    return [(a - value, b - value, o) for a, b, o in runs]


def _parted(runs: Sequence[Run], others: Sequence[Run]) -> list[Run]:
    """Return what of each run has another outcome by the other ones."""
    found = []
    for a, b, outcome in runs:
        for c, d, other in others:
            if other != outcome and max(a, c) <= min(b, d):
                found.append((max(a, c), min(b, d), outcome))
    return found


@frozen
class _Hidden:
    """The count of ``rows`` hidden rows with the first value, beside ``pushed`` known ones."""

    rows: int
    pushed: int
    share: Fraction
    growth: Fraction
    """A number not above e to the ε."""

    def excess(self, more: Sequence[Run], less: Sequence[Run], runs: Sequence[Run]) -> Fraction:
        """Bound the divergence of outcomes that have ``more`` than their ``runs``, and ``less``."""
        total = Fraction(0)
        for outcome in {one for *_, one in more}:
            here = sum((self._above(a, b) for a, b, one in more if one == outcome), Fraction(0))
            if here:
                here -= self._least(less, outcome)
            if here > 0 and self.growth > 1:
                here -= (self.growth - 1) * self._least(runs, outcome)
            total += max(Fraction(0), here)
        return total

    def _least(self, runs: Sequence[Run], outcome: int) -> Fraction:
        return sum((self._below(a, b) for a, b, one in runs if one == outcome), Fraction(0))

    def _above(self, first: int, last: int) -> Fraction:
        places = range(first - self.pushed, last - self.pushed + 1)
        return sum((binomial_term_up(self.rows, b, self.share) for b in places), Fraction(0))

    def _below(self, first: int, last: int) -> Fraction:
        start, sums, unit = _least_sums(self.rows, self.share)
        low = max(0, first - self.pushed - start)
        high = min(len(sums) - 2, last - self.pushed - start)
        return (sums[high + 1] - sums[low]) * unit if low <= high else Fraction(0)


@lru_cache(maxsize=16)
def _least_sums(rows: int, share: Fraction) -> tuple[int, list[int], Fraction]:
    """Return sums of binomial probabilities, rounded down: the first count, the sums, their unit.

    Each follows from its neighbour, from the likeliest count outwards, until they are too small.
    """
    yes, no = share.numerator, share.denominator - share.numerator
    top = min(rows, int(share * (rows + 1)))
    after = _products(((rows - k) * yes, (k + 1) * no) for k in range(top, rows))
    before = _products((k * no, (rows - k + 1) * yes) for k in range(top, 0, -1))
    terms = [*reversed(before), 1 << _BITS, *after]
    unit = short_down(binomial_term_down(rows, top, share)) / (1 << _BITS)
    return top - len(before), [0, *accumulate(terms)], unit


def _products(factors: Iterable[tuple[int, int]]) -> list[int]:
    """Return products of factors, each rounded down, up to the last that is not tiny."""
    found, term = [], 1 << _BITS
    for above, below in islice(factors, _MOST_TERMS):
        term = term * above // below
        if not term:
            break
        found.append(term)
    return found
