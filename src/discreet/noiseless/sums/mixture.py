"""The mixture bound: the mean of a divergence over how many rows are hidden."""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.core.rounding import short_up
from discreet.noiseless.laws.hidden import Hidden
from discreet.noiseless.sums.binomial_weights import BinomialBlock, binomial_blocks

BLOCKS = 48
_HARDLY = 10**6
_LITTLE = Fraction(1, 50)


def mixture_delta(
    others: int, hidden: Hidden, delta_of: Callable[[int], Fraction], *, blocks: int = BLOCKS
) -> Fraction:
    r"""Return an upper bound of δ for a sum of which a random number of rows is hidden.

    Args:
        others: How many rows there are beside the one in question, known ones left out.
        hidden: What of a row hides another one.
        delta_of: An upper bound of δ for so many hidden rows; more rows never have a larger one.
        blocks: Into how many blocks their number is divided. More are more exact.

    Guarantee:
        :math:`\delta(\varepsilon) \le E_{M \sim Bin(n - 1, v)}[\delta_M(\varepsilon)]`.

        Proof. Let each of the *other* rows show, by rejection, whether it is hidden (uniform on
        the box, with probability v) and its value if it is not. Real release and simulator see the
        same other rows, so both are the same mixture over what is shown; the hockey-stick
        divergence is jointly convex, and given what is shown both are shifts of a sum of M uniform
        rows. The row in question shows nothing, so there is no failure to condition on: this
        repairs the proof of [Gro14, theorem 6.7], and needs no factor :math:`1 + e^\varepsilon`.
        One more hidden row is noise that is added to both, so :math:`\delta_M` falls with M, and
        a block counts with its least number.

    Example:
        >>> mixture_delta(2, Hidden("1/2", (None,), (Fraction(1),)), lambda m: Fraction(1, 2**m))
        Fraction(9, 16)
    """
    found = binomial_blocks(others, hidden.mass, blocks)
    return min(Fraction(1), short_up(_summed(found, lambda m: delta_of(m * hidden.terms))))


def _summed(blocks: Sequence[BinomialBlock], delta_of: Callable[[int], Fraction]) -> Fraction:
    """Return the sum over blocks, from the last on; a run over which δ hardly changes is one block.

    A run counts with its least number, as a block does, so every way to make runs is a bound. It is
    made longer while that costs little, and shorter where it does not.
    """
    ahead = [*itertools.accumulate(block.chance for block in blocks)]
    end, length = len(blocks), 1
    total, last = Fraction(0), Fraction(0)
    while end:
        if ahead[end - 1] <= total / _HARDLY:
            # What is so unlikely that it hardly counts is not worked out: no δ is above 1.
            return total + ahead[end - 1]
        start = max(0, end - length)
        chance = ahead[end - 1] - (ahead[start - 1] if start else 0)
        delta = min(Fraction(1), delta_of(blocks[start].first))
        lost = chance * (delta - last)
        if end - start > 1 and lost > _LITTLE * chance * last and lost > _LITTLE * total / 16:
            length = (end - start) // 2
            continue
        total, last, end, length = total + chance * delta, delta, start, 2 * length
    return total
