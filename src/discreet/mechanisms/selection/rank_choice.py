"""A choice among all integers of a bounded domain by their rank in sorted values."""

import math
from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.core.protocols import IntArray, Rng
from discreet.randomness.argmax import weighted_argmax, weighted_totals
from discreet.randomness.samplers import uniform_integers
from discreet.randomness.tables.boundary import WordInterval, locate

LARGEST_DENOMINATOR = 2**20
"""Shares are multiples of at least this, so that scaled ranks of 2**41 rows fit 64 bits."""

_LOG_2 = Fraction(6932, 10000)
"""Above the natural logarithm of 2."""

_SPARE_BITS = 66


def choose_by_rank(
    values: IntArray,
    *,
    lower: int,
    upper: int,
    share: Fraction,
    scale: Fraction,
    rng: Rng,
    below: Fraction = Fraction(0),
) -> int:
    r"""Return an integer ``v`` of the domain with weight :math:`e^{-error(v)/scale}`.

    The *rank error* of ``v`` is the distance of :math:`share \cdot n - below` from the interval
    :math:`[\#\{x < v\}, \#\{x \le v\}]`: 0 for every quantile of that share, an atom included.
    A rank below 0 is that of ``lower`` alone: its interval has no lower end.

    Guarantee:
        Given ideal words the law is exactly this one, over all
        :math:`D = upper - lower + 1` integers. Equal errors come in intervals: each value is one,
        and so is each gap between neighbouring values. An interval is chosen with its length as
        its count (:func:`~discreet.randomness.argmax.weighted_argmax`, on scores that are
        multiplied by the denominator of ``share`` and so are integers), and then a point of it.

        Only intervals within ``reach`` ranks of the target are looked at, except with probability
        :math:`2^{-64}`. Some integer has error 0, and all of those beyond weigh at most
        :math:`D e^{-reach/scale} \le 2^{-66}` together: so a first word other than 0 says that
        none of them is chosen, and after a word of 0 their share is computed and decided exactly.

    Assumes:
        ``values`` are sorted and lie in the domain, which has fewer than :math:`2^{63}` integers.
        ``below`` is no negative number, and a multiple of one over the denominator of ``share``.
    """
    denominator = share.denominator
    target = share.numerator * values.size - int(below * denominator)
    bits = (upper - lower + 1).bit_length() + _SPARE_BITS
    reach = math.ceil(scale * bits * _LOG_2)
    start = max(0, target // denominator - reach)
    stop = max(0, min(values.size, -(-target // denominator) + reach))
    domain = _Domain(values, lower, upper, target, denominator)
    pieces = domain.pieces(start, stop)
    temperature = scale * denominator
    if (start, stop) != (0, values.size) and not int(rng.words(1)[0]):
        rest = domain.pieces(0, values.size).without(pieces)
        if _is_beyond(rest, pieces, temperature, rng):
            pieces = rest
    index = weighted_argmax(-pieces.errors, pieces.lengths, temperature, rng)
    offset = uniform_integers(int(pieces.lengths[index]), 1, rng)[0]
    return int(pieces.firsts[index] + offset)


@frozen(eq=False)
class _Pieces:
    """Intervals of equal rank error: where each begins, how many integers it has, its error."""

    firsts: IntArray
    lengths: IntArray
    errors: IntArray

    def without(self, other: "_Pieces") -> "_Pieces":
        """Return these with a length of 0 wherever ``other`` has the interval too."""
        held = np.isin(self.firsts, other.firsts[other.lengths > 0])
        return _Pieces(self.firsts, np.where(held, 0, self.lengths), self.errors)

    def with_best(self, point: int) -> "_Pieces":
        """Return these with an error of 0 at ``point``, the first of its interval, by itself."""
        held = ((self.firsts == point) & (self.lengths > 0)).astype(np.int64)
        return _Pieces(
            np.append(self.firsts + held, point),
            np.append(self.lengths - held, 1),
            np.append(self.errors, 0),
        )


@frozen(eq=False)
class _Domain:
    """Sorted values, the integers they come from, and the rank that is looked for."""

    values: IntArray
    lower: int
    upper: int
    target: int
    denominator: int

    def pieces(self, start: int, stop: int) -> _Pieces:
        """Return the gaps before the values ``start..stop``, and these values without the last.

        A value that occurs several times is one piece, at its first place here.
        """
        last = self.values.size
        before = [self.values[start - 1]] if start else [self.lower - 1]
        after = [self.values[stop]] if stop < last else [self.upper + 1]
        inside = self.values[start:stop]
        edges = np.concatenate([before, inside, after]).astype(np.int64)
        firsts = edges[:-1] + 1
        # Between the ends of the widest domain lie 2**63 - 1 integers: one more would not fit.
        gap_lengths = np.maximum(edges[1:] - firsts, 0)
        ranks = np.arange(start, stop + 1) * self.denominator - self.target
        is_new = np.ones(inside.size, dtype=np.int64)
        is_new[1:] = inside[1:] != inside[:-1]
        at_most = self.denominator * np.searchsorted(self.values, inside, side="right")
        below = self.denominator * np.searchsorted(self.values, inside, side="left")
        errors = np.maximum(0, np.maximum(self.target - at_most, below - self.target))
        found = _Pieces(
            np.concatenate([firsts, inside]),
            np.concatenate([gap_lengths, is_new]),
            np.concatenate([np.abs(ranks), errors]),
        )
        return found if self.target >= 0 else found.with_best(self.lower)


def _is_beyond(rest: _Pieces, near: _Pieces, temperature: Fraction, rng: Rng) -> bool:
    """Decide whether a uniform variable beginning with 64 zeros is below the share of ``rest``."""

    def totals(bits: int) -> list[WordInterval]:
        sums = [
            weighted_totals(temperature, part.errors.view(np.uint64), part.lengths, bits)[-1]
            for part in (rest, near)
        ]
        both = (sums[0][0] + sums[1][0], sums[0][1] + sums[1][1])
        return [sums[0], both]

    return locate(0, totals, rng) == 0
