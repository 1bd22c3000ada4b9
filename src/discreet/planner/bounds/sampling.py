"""Answers about a population: so few independent people say too little of it, whoever asks."""

from fractions import Fraction
from math import isqrt
from typing import ClassVar

from attrs import frozen

from discreet.core.rounding import exp_down, exp_up, log_down, log_up, short_down, sqrt_up
from discreet.planner.bounds.wanted import Ruling, Wanted

_HALF = Fraction(1, 2)
_BEYOND = 1 + Fraction(1, 2**30)
"""Chances are this many times as far apart as answers may be off: so answers tell them apart."""


@frozen
class Sampling:
    r"""So many answers about a population, for which chance alone is enough to mislead.

    Guarantee:
        Let a person have :math:`k` properties, by independent coins of chances
        :math:`\frac12 \pm g`, where a fair coin chose each sign, and :math:`g > \alpha`. Ask for
        the :math:`k` shares: these questions are fixed, and an answer within :math:`\alpha` tells
        the sign. Given the :math:`n` people the signs are independent, so all are told with a
        chance of :math:`(1 - e)^k` at most, with the chance :math:`e` that a majority of
        :math:`n` coins is wrong. Right answers but for :math:`\beta` need
        :math:`ke \le \ln(1/(1 - \beta))`.

        With more people :math:`e` is smaller, so let there be :math:`2m \ge n`. With
        :math:`r = (\frac12 - g)/(\frac12 + g)`, the chance that :math:`m - j` of them are ones is
        :math:`r^j\binom{2m}{m - j}(\frac14 - g^2)^m`. As :math:`\binom{2m}{m} \ge 4^m/(2\sqrt m)`
        and :math:`\binom{2m}{m - j} \ge (1 - j^2/m)\binom{2m}{m}`,

        .. math:: e \ge \frac{(1 - 4g^2)^m}{2\sqrt m}\Big(\frac12 + \frac34\sum_{j=1}^J r^j\Big)

        for :math:`J = \lfloor\sqrt m/2\rfloor`. That is near what fixed questions take,
        :math:`n = \ln(2k/\beta)/(2\alpha^2)`; what adaptive ones take besides is known as a rate.

    Example:
        >>> from discreet import Pure
        >>> wanted = [Wanted(n, n * Fraction(1, 10), Fraction(1, 20), Pure(0)) for n in (200, 400)]
        >>> [Sampling(1_000).rule(one).refutes for one in wanted]
        [True, False]
    """

    questions: int
    name: ClassVar[str] = "sampling"
    source: ClassVar[str] = "the proof at Sampling"

    def rule(self, wanted: Wanted) -> Ruling:
        """Say whether some sign would be told that so many people do not tell."""
        gap = _BEYOND * wanted.error / wanted.people
        if gap >= _HALF:
            return Ruling(False, "a half is within so much of every share")
        wrong = self.questions * misled(wanted.people, gap)
        return Ruling(wrong > log_up(1 / (1 - wanted.beta)))


def misled(people: int, gap: Fraction) -> Fraction:
    """Return a lower bound of the chance that a majority is wrong, of coins so far from fair.

    Example:
        >>> round(float(misled(100, Fraction(1, 20))), 3)
        0.087
    """
    half = -(-people // 2)
    odds = (_HALF - gap) / (_HALF + gap)
    most = isqrt(half // 4)
    last = exp_up(most * log_up(odds)) if most else Fraction(1)
    near = odds * (1 - last) / (1 - odds)
    middle = exp_down(half * log_down(1 - 4 * gap**2)) / (2 * sqrt_up(Fraction(half)))
    return short_down(middle * (_HALF + Fraction(3, 4) * max(Fraction(0), near)))
