"""How scores can move when one unit comes or goes, and how far below the best a choice may be."""

import math
from enum import Enum
from fractions import Fraction

from discreet.core import check
from discreet.core.contribution import Contribution, Metric
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Pure, Zcdp
from discreet.core.numbers import Number
from discreet.core.rounding import exp_up, log_up, sqrt_up
from discreet.core.search import smallest


class Scores(Enum):
    """What is known about the directions in which one unit moves scores."""

    GENERAL = "general"
    """Some may rise while others fall."""

    MONOTONE = "monotone"
    """Adding a unit never lowers a score (or never raises one), as with counts."""

    def spread(self, d_in: Contribution) -> Fraction:
        r"""Return how far one unit can move the *difference* of two scores.

        With changes in :math:`[-\Delta, \Delta]` that is :math:`2\Delta`; with changes in
        :math:`[0, \Delta]`, or all in :math:`[-\Delta, 0]`, it is :math:`\Delta`. If a unit is
        changed rather than added, one count may fall while another rises, so monotone scores say
        nothing there and are refused.

        Example:
            >>> Scores.GENERAL.spread(Contribution(linf=1)), Scores.MONOTONE.spread(
            ...     Contribution(linf=1)
            ... )
            (Fraction(2, 1), Fraction(1, 1))
        """
        distance = d_in.bound("linf")
        if self is Scores.GENERAL:
            return 2 * distance
        if d_in.metric is not Metric.ADD_REMOVE:
            raise Unsupported(
                "Monotone scores are about units that come or go",
                must=f"have neighbours by {Metric.ADD_REMOVE.value}",
                got=d_in.metric.value,
                next="Use Scores.GENERAL",
            )
        return distance


def scores_of(value: Scores | str) -> Scores:
    """Return the kind of scores that is meant, also by its name; refuse any other."""
    return check.chosen(Scores, value, noun="kind of scores")


def pure_scale(spread: Fraction, loss: Pure) -> Fraction:
    r"""Return the scale at which ``spread`` costs exactly ``loss``.

    Example:
        >>> pure_scale(Fraction(2), Pure("1/2"))
        Fraction(4, 1)
    """
    if loss.epsilon <= 0 or spread <= 0:
        raise _no_scale(f"ε = {loss.epsilon} and a spread of {spread}")
    return spread / loss.epsilon


def bounded_range_scale(spreads: list[Fraction], loss: Pure | Zcdp) -> Fraction:
    r"""Return a scale at which choices of bounded range, one for each spread, cost ``loss``.

    For zCDP each costs :math:`(spread/scale)^2/8` [CR21]; the square root is rounded up.

    Example:
        >>> bounded_range_scale([Fraction(2)], Zcdp(rho="1/8"))
        Fraction(2, 1)
    """
    if isinstance(loss, Pure):
        return pure_scale(sum(spreads, Fraction(0)), loss)
    if not isinstance(loss, Zcdp) or loss.xi:
        raise Unsupported(
            "A choice cannot be calibrated to this measure",
            must="be pure, or zCDP with ξ = 0",
            got=str(loss),
        )
    squares = sum((spread**2 for spread in spreads), Fraction(0))
    if loss.rho <= 0 or squares <= 0:
        raise _no_scale(f"ρ = {loss.rho}")
    return sqrt_up(squares / (8 * loss.rho))


def _no_scale(got: str) -> InvalidArgument:
    return InvalidArgument(
        "No scale fits", must="have a loss above 0 and a contribution above 0", got=got
    )


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
    limit = check.level(beta)
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
    limit, rest = check.level(beta), others(candidates, best)
    top = check.whole(best)

    def holds(t: int) -> bool:
        q = exp_up(-Fraction(t + 1) / scale)
        if rest * q <= limit * (top + rest * q):
            return True
        missed = exp_up((rest + 1) * log_up(1 - q)) if q < 1 else Fraction(0)
        return 1 - (1 - min(Fraction(1), missed)) / ((rest + 1) * q) <= limit

    return smallest(holds)
