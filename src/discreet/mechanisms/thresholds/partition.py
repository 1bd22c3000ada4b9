"""Partition: sorted data cut into chunks at noisy ranks that share their noise along a tree."""

from fractions import Fraction

import numpy as np

from discreet.core.check import level
from discreet.core.numbers import Number
from discreet.core.protocols import IntArray, Rng
from discreet.mechanisms.noise.laplace_sum import laplace_sum_quantile
from discreet.randomness.samplers import discrete_laplace


def noisy_cuts(size: int, *, depth: int, scale: Fraction, rng: Rng) -> IntArray:
    r"""Return the ranks at which to cut: :math:`2^{depth} - 1` of them, none below the one before.

    The :math:`m`-th is near :math:`m \cdot size / 2^{depth}`. Its noise is a sum of ``depth``
    discrete Laplace variables, one for each non-empty prefix of the binary digits of :math:`m`; a
    cut that falls behind an earlier one is moved to it. ``size`` is public; the data may have
    another. Ranks are 64-bit integers; that noise takes one beyond them has a probability below
    :math:`2^{-5000}`, for a depth of up to 31 (the moments of a sum of so many variables of scale
    :math:`2^{50}`, at 99 % of the largest exponent, bound it by :math:`2 \cdot 51^{31}
    e^{-4055}`).

    Guarantee:
        *If a value is added or removed*, there is a one-to-one map of the noise that moves at most
        ``depth`` variables, by 1 each, and after which all chunks are the same but for two. In one
        of these, a value is removed or replaced by the next larger one; in the other, that one is
        removed (or added, in the other direction). In both, the number of values up to any point
        changes by at most 1.

        Proof. Let the value at rank :math:`i` (from 0) be removed. Let :math:`m` be the first cut
        beyond :math:`i`, which ends the chunk of the value. Leave it where it is and lower every
        later cut by 1. Its chunk has lost the value and gained the first one of the rest; the
        chunk that it came from has lost it; the others hold what they held, also where cuts
        coincide, since the running maximum of the later cuts is lowered by 1 or stays at cut
        :math:`m`. The map can be undone: :math:`m` is still the first cut beyond :math:`i`. For an
        addition, raise every cut beyond :math:`i` by 1; then only one chunk changes. The cuts from
        some :math:`a \ge 1` on are the leaves below at most ``depth`` nodes of the tree (those
        right of the path to :math:`a`, and :math:`a`), so that many variables move.

        *If a value is changed*, it is removed and added: twice the variables, three changes.

        [Ste16, Claim 7.5.18] lowers cut :math:`m` too, and says that this is a bijection after
        which two chunks differ by one value. It is not one: cuts at :math:`i` and at :math:`i + 1`
        both go to :math:`i`. With the map above its :math:`4\varepsilon` is :math:`5\varepsilon`.

    Utility:
        :func:`cut_error`.

    Example:
        >>> from discreet import SystemRng
        >>> cuts = noisy_cuts(8000, depth=3, scale=Fraction(2), rng=SystemRng())
        >>> cuts.size, bool((np.diff(cuts) >= 0).all())
        (7, True)
    """
    chunks = 1 << depth
    numbers = np.arange(1, chunks)
    # The same as numbers * size // chunks, of which the product might not fit 64 bits.
    each, rest = divmod(size, chunks)
    ranks = numbers * each + numbers * rest // chunks
    for length in range(1, depth + 1):
        noise = discrete_laplace(scale, 1 << length, rng)
        ranks = ranks + noise[numbers >> (depth - length)]
    return np.maximum.accumulate(np.maximum(ranks, 0))


def cut_error(beta: Number, *, depth: int, scale: Fraction) -> int:
    r"""Return a bound on the error of all cuts, which fails with probability at most ``beta``.

    It is that of the noise by the exact law of a sum of discrete Laplace variables and the union
    bound, and one more for rounding. The running maximum makes no largest error larger.
    [Ste16, Claim 7.5.19] is true with logarithms to base 2, not with natural ones.

    Example:
        >>> cut_error("0.05", depth=5, scale=Fraction(10))
        114
    """
    share = level(beta) / ((1 << depth) - 1)
    return laplace_sum_quantile(scale, depth, share) + 1
