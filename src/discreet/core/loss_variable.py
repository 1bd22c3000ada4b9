r"""The privacy loss of an output :math:`o` drawn from ``P``: :math:`Z = \ln (P(o) / Q(o))`."""

import math
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from attrs import field, frozen

from discreet.core.divergence import Enclosure, End, Law, kl_divergence
from discreet.core.numbers import Number, exact, exp_bounds, log_bounds
from discreet.core.rounding import short_down, short_up

_BITS = 96


@frozen
class LossVariable:
    r"""The law of the privacy loss, kept exactly: as the law of the likelihood ratio :math:`e^Z`.

    Guarantee:
        :math:`\varepsilon`-DP says :math:`P[Z > \varepsilon] = 0`, and
        :math:`E[e^{(\alpha-1)Z}] = e^{(\alpha-1)D_\alpha}` [BS16, Definition 1.2]. But
        :math:`(\varepsilon, \delta)`-DP does *not* say :math:`P[Z > \varepsilon] \le \delta`: that
        is sufficient, not necessary (see the errata). A ratio with nothing below the line is
        infinite.

    Example:
        >>> p = {"yes": Fraction(3, 4), "no": Fraction(1, 4)}
        >>> q = {"yes": Fraction(1, 4), "no": Fraction(3, 4)}
        >>> loss = LossVariable.of(p, q)
        >>> loss.exceeds(1), loss.exceeds("1.1")
        ((Fraction(3, 4), Fraction(3, 4)), (Fraction(0, 1), Fraction(0, 1)))
    """

    ratios: Mapping[End, Fraction] = field()
    mean: Enclosure = field(eq=False)
    r""":math:`E[Z]`, which is the divergence :math:`D_1`."""

    @classmethod
    def of(cls, p: Law, q: Law) -> "LossVariable":
        """Return the loss of telling ``p`` from ``q``, for an output of ``p``."""
        mean = kl_divergence(p, q, bits=_BITS)
        ratios: defaultdict[End, Fraction] = defaultdict(Fraction)
        for outcome, mass in p.items():
            if mass:
                below = q.get(outcome, Fraction(0))
                ratios[mass / below if below else math.inf] += mass
        return cls(dict(ratios), mean)

    def exceeds(self, threshold: Number) -> tuple[Fraction, Fraction]:
        r"""Enclose :math:`P[Z > t]`."""
        low, high = exp_bounds(exact(threshold), _BITS)
        return self._above(high), self._above(low)

    def _above(self, factor: Fraction) -> Fraction:
        zero = Fraction(0)
        return sum((mass for ratio, mass in self.ratios.items() if ratio > factor), zero)

    def delta(self, epsilon: Number) -> tuple[Fraction, Fraction]:
        r"""Enclose :math:`E[\max(0, 1 - e^{\varepsilon - Z})]`, which is the hockey stick.

        Example:
            >>> half = Fraction(1, 2)
            >>> LossVariable.of({0: half, 1: half}, {0: Fraction(1)}).delta(0)
            (Fraction(1, 2), Fraction(1, 2))
        """
        low, high = exp_bounds(exact(epsilon), _BITS)
        return self._excess(high), self._excess(low)

    def _excess(self, factor: Fraction) -> Fraction:
        zero = Fraction(0)
        parts = (
            mass if ratio == math.inf else mass * max(zero, 1 - factor / Fraction(ratio))
            for ratio, mass in self.ratios.items()
        )
        return sum(parts, zero)

    def moment(self, power: Number) -> Enclosure:
        r"""Enclose :math:`E[e^{\lambda Z}]` for any real power, negative ones too."""
        exponent = exact(power)
        low = high = Fraction(0)
        for ratio, mass in self.ratios.items():
            if ratio == math.inf:
                if exponent > 0:
                    return math.inf, math.inf
                low, high = (
                    low + (mass if exponent == 0 else 0),
                    high + (mass if not exponent else 0),
                )
                continue
            ends = [exponent * end for end in log_bounds(Fraction(ratio), _BITS)]
            low += mass * exp_bounds(min(ends), _BITS)[0]
            high += mass * exp_bounds(max(ends), _BITS)[1]
        return short_down(low, _BITS), short_up(high, _BITS)
