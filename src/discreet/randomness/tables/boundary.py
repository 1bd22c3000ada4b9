"""Settle a boundary word: decide a comparison that 64 bits leave open, with more words."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from fractions import Fraction

from discreet.core.protocols import Rng

WORD_BITS = 64

Enclosing = Callable[[int], tuple[Fraction, Fraction]]
"""Given a number of bits, an enclosure of one real number that shrinks as the bits grow."""

WordInterval = tuple[int, int]
"""Integers below and above a real number, in units of ``2**-bits``."""

RunningTotals = Callable[[int], list[WordInterval]]
"""Given a number of bits, enclosures of non-decreasing totals, the last one that of everything."""


def is_below(word: int, bounds: Enclosing, rng: Rng) -> bool:
    """Decide whether ``U < c``, where the binary digits of ``U`` begin with ``word``.

    Guarantee:
        Given ideal words the answer is that of the real numbers. With the first ``n`` digits of
        ``U`` known it lies in ``[u, u + 2**-n)``; the answer is given only when that interval is
        on one side of the enclosure of ``c``, otherwise both are refined. Each round stays open
        with a probability of about ``2**-64``, so the loop ends with probability one.

    Example:
        >>> from discreet import SystemRng
        >>> is_below(1 << 62, lambda bits: (Fraction(1, 3), Fraction(1, 3)), SystemRng())
        True
    """
    digits, known = word, WORD_BITS
    while True:
        lower, upper = bounds(known + WORD_BITS)
        if Fraction(digits + 1, 1 << known) <= lower:
            return True
        if Fraction(digits, 1 << known) >= upper:
            return False
        digits, known = _extend(digits, rng), known + WORD_BITS


def locate(word: int, running_totals: RunningTotals, rng: Rng) -> int:
    """Return how many of the shares are at most ``U``, whose binary digits begin with ``word``.

    A share is a running total over the last one, which is no share itself: so this chooses piece
    0, 1, 2, ... with probability proportional to its part of the whole.

    Guarantee:
        As for :func:`is_below`: digits of ``U`` and enclosures are refined together until every
        share is surely at most ``U`` or surely above it.
    """
    digits, known = word, WORD_BITS
    while True:
        *totals, (whole_low, whole_high) = running_totals(known + 2 * WORD_BITS)
        # low / whole_high <= share <= high / whole_low; U lies in [digits, digits + 1) / 2**known.
        at_most, above = digits * whole_low, (digits + 1) * whole_high
        surely = bisect_right(totals, at_most, key=lambda total: total[1] << known)
        perhaps = bisect_left(totals, above, key=lambda total: total[0] << known)
        if surely == perhaps:
            return surely
        digits, known = _extend(digits, rng), known + WORD_BITS


def _extend(digits: int, rng: Rng) -> int:
    """Return the binary digits of a uniform variable with one more word of them."""
    return (digits << WORD_BITS) | int(rng.words(1)[0])
