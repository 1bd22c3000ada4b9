"""How far below the best the chosen score may be: tails for the worst scores, rounded up."""

import math
from fractions import Fraction

from discreet.core import check
from discreet.core.check import level
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number
from discreet.core.rounding import exp_up, log_up
from discreet.core.search import smallest


def others(candidates: int, best: int) -> int:
    """Return how many candidates are not among the ``best`` equally good ones.

    Example:
        >>> others(10, 1)
        9
    """
    number, top = check.whole(candidates), check.whole(best)
    if not 1 <= top <= number:
        raise InvalidArgument(
            "The numbers of candidates do not fit",
            must="have at least one best candidate, and no more than candidates",
            got=f"candidates = {number} and best = {top}",
        )
    return number - top


def exponential_error(scale: Fraction, beta: Number, *, candidates: int, best: int = 1) -> int:
    r"""Return the least ``t`` with ``P[gap > t] <= beta`` under the exponential mechanism.

    Guarantee:
        Of ``N`` candidates let :math:`N^*` be best. Those at least ``g`` below weigh at most
        :math:`q = e^{-g/scale}` each, the best ones 1 each, so
        :math:`P[gap \ge g] \le mq/(N^* + mq)` with :math:`m = N - N^*`. This is reached when all
        others are exactly ``g`` below, so no smaller bound holds for all scores. It is at most
        :math:`(N/N^*) e^{-g/scale}`, the form of [DR14, Theorem 3.11]. Solved for ``g = t + 1``:
        :math:`t + 1 \ge scale \cdot \ln\frac{m (1 - \beta)}{N^* \beta}`.

    Example:
        >>> exponential_error(Fraction(2), "0.05", candidates=1000)
        19
    """
    limit = level(beta)
    odds = others(candidates, best) * (1 - limit) / (check.whole(best) * limit)
    return max(0, math.ceil(scale * log_up(odds)) - 1) if odds > 1 else 0


def permute_and_flip_error(scale: Fraction, beta: Number, *, candidates: int, best: int = 1) -> int:
    r"""Return a ``t`` with ``P[gap > t] <= beta`` under permute-and-flip.

    Guarantee:
        A candidate ``g`` or more below wins most often if all ``m`` others are exactly ``g`` below
        (raising a noisy score can only help it win). Then ``B`` of them, binomial with ``m`` and
        :math:`q = e^{-g/scale}`, reach the best score, and one of them wins with probability
        :math:`E[B/(N^* + B)]`. That is at most :math:`mq/(N^* + mq)`, by Jensen: never worse than
        the exponential mechanism (McKenna and Sheldon, arXiv:2010.12603). For :math:`N^* = 1` it
        is :math:`1 - \frac{1 - (1-q)^{m+1}}{(m+1) q}`, which also bounds the case of more best
        candidates. The smaller bound is used; for one best candidate it is the exact worst case.

    Example:
        >>> permute_and_flip_error(Fraction(20), "0.05", candidates=2)
        46
        >>> exponential_error(Fraction(20), "0.05", candidates=2)
        58
    """
    limit, rest = level(beta), others(candidates, best)
    top = check.whole(best)

    def holds(t: int) -> bool:
        q = exp_up(-Fraction(t + 1) / scale)
        if rest * q <= limit * (top + rest * q):
            return True
        missed = exp_up((rest + 1) * log_up(1 - q)) if q < 1 else Fraction(0)
        return 1 - (1 - min(Fraction(1), missed)) / ((rest + 1) * q) <= limit

    return smallest(holds)
