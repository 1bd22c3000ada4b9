"""That a δ may be spent on overfitting: some rows are told whole, and seldom."""

import math
from fractions import Fraction

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact
from discreet.core.protocols import Rng
from discreet.randomness.samplers import bernoulli


def leak_chance(*, alpha: Number, delta: Number) -> Fraction:
    r"""Return the chance that a (0, δ)-DP algorithm picks a question that overfits by α.

    Guarantee:
        Split :math:`n` rows into :math:`\lfloor 1/\alpha\rfloor` blocks of :math:`\alpha n`, and
        tell each block whole with a chance of :math:`\delta`, independently
        (:func:`leaked_blocks`). A row is in one block, so that is :math:`(0, \delta)`-DP. The share
        of rows that were told is a statistical question: where values are hardly ever equal it is
        0 on the population, and :math:`\alpha` or more on the sample with the chance that any
        block is told, :math:`1 - (1 - \delta)^{\lfloor 1/\alpha\rfloor}`
        [Ste16, section 3.7, figure 3.8]. So nobody can promise more than :math:`\alpha` but for
        about :math:`\delta/\alpha`: the rule of
        :class:`~discreet.adaptive.transfer.OverfittingTransfer` is right up to its constant.

    Example:
        >>> round(float(leak_chance(alpha="0.1", delta="0.01")), 4)
        0.0956
    """
    blocks, chance = _blocks(alpha), exact(delta)
    if not 0 <= chance <= 1:
        raise InvalidArgument("delta is out of range", must="lie between 0 and 1", got=str(chance))
    return 1 - (1 - chance) ** blocks


def leaked_blocks(rows: int, *, alpha: Number, delta: Number, rng: Rng) -> list[range]:
    """Return the places of the rows that are told: whole blocks, each with a chance of δ.

    Example:
        >>> from discreet import SystemRng
        >>> leaked_blocks(100, alpha="0.1", delta=1, rng=SystemRng())[0]
        range(0, 10)
    """
    size = math.ceil(exact(alpha) * check.at_least_one(rows, "rows"))
    begins = [size * number for number in range(_blocks(alpha)) if size * (number + 1) <= rows]
    told = bernoulli(exact(delta), (len(begins),), rng)
    return [range(one, one + size) for one, is_told in zip(begins, told, strict=True) if is_told]


_LEAST_SHARE = Fraction(1, 10**6)
"""The chance is an exact fraction, with as many digits as there are blocks and more."""


def _blocks(alpha: Number) -> int:
    share = exact(alpha)
    if not _LEAST_SHARE <= share <= 1:
        raise InvalidArgument(
            "alpha is out of range", must="lie between 1e-6 and 1", got=f"{float(share):.3g}"
        )
    return math.floor(1 / share)
