"""Divergences of finite laws, which definitions of privacy compare, and the law of the loss.

The hockey-stick divergence is the definition of approximate privacy itself, so this is the ground
truth against which mechanisms and accountants are checked. Each function looks in one direction,
from ``p`` to ``q``; privacy needs both. A fraction with nothing below the line is infinite. What is
irrational comes as two ends with the true number between them; the only float is infinity.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, exp_bounds, log_bounds
from discreet.core.rounding import short_down, short_up

FiniteLaw = Mapping[Any, Fraction]
"""A finite distribution: outcome to exact probability."""

DivergenceEnd = Fraction | float
"""An end of an enclosure: exact, or infinite."""

DivergenceEnds = tuple[DivergenceEnd, DivergenceEnd]
"""Two ends with the true number between them."""

_ZERO = Fraction(0)
_INFINITE: DivergenceEnds = (math.inf, math.inf)


def hockey_stick(
    p: FiniteLaw, q: FiniteLaw, epsilon: Number, *, bits: int = 96
) -> tuple[Fraction, Fraction]:
    r"""Return bounds on :math:`\delta(\varepsilon) = \sum_o \max(0, P(o) - e^\varepsilon Q(o))`.

    Guarantee:
        ``lower <= delta <= upper``; a mechanism is :math:`(\varepsilon,\delta)`-DP on this pair
        exactly if both directions are at most :math:`\delta` [DR14, Definition 2.4]. The sum falls
        as :math:`e^\varepsilon` grows, so each end of its enclosure gives one end.

    Example:
        >>> p = {"yes": Fraction(3, 4), "no": Fraction(1, 4)}
        >>> q = {"yes": Fraction(1, 4), "no": Fraction(3, 4)}
        >>> hockey_stick(p, q, 0)
        (Fraction(1, 2), Fraction(1, 2))
    """
    for law in (p, q):
        _require_law(law)
    epsilon = exact(epsilon)
    if epsilon < 0:
        raise InvalidArgument("epsilon is out of range", must="be at least 0", got=str(epsilon))
    exp_low, exp_high = exp_bounds(epsilon, bits)
    return excess(p, q, exp_high), excess(p, q, exp_low)


def excess(p: FiniteLaw, q: FiniteLaw, factor: Fraction) -> Fraction:
    r"""Return :math:`\sum_o \max(0, P(o) - t\,Q(o))` exactly, for a rational factor ``t``.

    It is the hockey-stick divergence at :math:`\varepsilon = \ln t`.

    Example:
        >>> excess({0: Fraction(1)}, {0: Fraction(1, 4), 1: Fraction(3, 4)}, Fraction(3))
        Fraction(1, 4)
    """
    return sum((max(_ZERO, mass - factor * q.get(o, _ZERO)) for o, mass in p.items()), _ZERO)


def total_variation(p: FiniteLaw, q: FiniteLaw) -> Fraction:
    r"""Return :math:`\max_S |P(S) - Q(S)|` exactly: the hockey stick at :math:`\varepsilon = 0`.

    Example:
        >>> total_variation({0: Fraction(1)}, {0: Fraction(1, 3), 1: Fraction(2, 3)})
        Fraction(2, 3)
    """
    _require_laws(p, q)
    return excess(p, q, Fraction(1))


def max_divergence(p: FiniteLaw, q: FiniteLaw, *, bits: int = 96) -> DivergenceEnds:
    r"""Enclose :math:`D_\infty(P \| Q) = \max_S \ln (P(S) / Q(S))`, the least pure loss one way.

    Guarantee:
        The largest ratio over events is that of a single outcome, and it is found exactly; only its
        logarithm is rounded. Infinite if ``p`` has an outcome that ``q`` never has
        [DR14, Definition 3.6].

    Example:
        >>> max_divergence({0: Fraction(1)}, {1: Fraction(1)})
        (inf, inf)
    """
    return approximate_max_divergence(p, q, 0, bits=bits)


def approximate_max_divergence(
    p: FiniteLaw, q: FiniteLaw, delta: Number, *, bits: int = 96
) -> DivergenceEnds:
    r"""Enclose :math:`D_\infty^\delta(P \| Q) = \max_S \ln ((P(S) - \delta) / Q(S))`.

    Guarantee:
        The events are those with :math:`P(S) > \delta`. It is the least :math:`\varepsilon`,
        perhaps negative, with
        :math:`P(S) \le e^\varepsilon Q(S) + \delta` for every event [DR14, Definition 3.6]. For a
        given factor :math:`t` the event with the largest :math:`P(S) - t\,Q(S)` is a set of the
        outcomes with the largest ratios, so only those sets are looked at; the best ratio is found
        exactly, and only its logarithm is rounded.

    Example:
        >>> p, q = {0: Fraction(1, 2), 1: Fraction(1, 2)}, {0: Fraction(1)}
        >>> approximate_max_divergence(p, q, "1/2")[1] < 0
        True
        >>> approximate_max_divergence(p, q, "0.4")
        (inf, inf)
    """
    _require_laws(p, q)
    slack = exact(delta)
    if not 0 <= slack < 1:
        raise InvalidArgument(
            "delta is out of range", must="be at least 0 and below 1", got=str(slack)
        )
    best, above, below = _ZERO, -slack, _ZERO
    for ratio, mass in _by_ratio(p, q):
        above += mass
        if ratio == math.inf:
            if above > 0:
                return _INFINITE
            continue
        below += mass / Fraction(ratio)
        best = max(best, above / below)
    return log_bounds(best, bits)


def _by_ratio(p: FiniteLaw, q: FiniteLaw) -> Iterator[tuple[DivergenceEnd, Fraction]]:
    """Yield the likelihood ratio and the mass of each outcome of ``p``, largest ratio first."""
    ratios = [(mass / q[o] if q.get(o, _ZERO) else math.inf, mass) for o, mass in p.items() if mass]
    return iter(sorted(ratios, key=lambda pair: pair[0], reverse=True))


def kl_divergence(p: FiniteLaw, q: FiniteLaw, *, bits: int = 96) -> DivergenceEnds:
    r"""Enclose :math:`D_1(P \| Q) = \sum_o P(o) \ln (P(o) / Q(o))`, the mean of the privacy loss.

    Guarantee:
        Infinite if ``p`` has an outcome that ``q`` never has, and never negative
        [DR14, Definition 3.5].

    Example:
        >>> low, high = kl_divergence({0: Fraction(1)}, {0: Fraction(1, 2), 1: Fraction(1, 2)})
        >>> low < Fraction("0.69314718055994530941723212146") < high
        True
    """
    _require_laws(p, q)
    low = high = _ZERO
    for ratio, mass in _by_ratio(p, q):
        if ratio == math.inf:
            return _INFINITE
        log_low, log_high = log_bounds(Fraction(ratio), bits + 8)
        low, high = low + mass * log_low, high + mass * log_high
    return max(_ZERO, short_down(low, bits)), max(_ZERO, short_up(high, bits))


def renyi_divergence(
    p: FiniteLaw, q: FiniteLaw, alpha: Number, *, bits: int = 96
) -> DivergenceEnds:
    r"""Enclose :math:`D_\alpha = \frac{1}{\alpha-1} \ln \sum_o P(o)^\alpha Q(o)^{1-\alpha}`.

    Guarantee:
        For any rational order :math:`\alpha > 1`; at 1 it is :func:`kl_divergence`, and
        ``math.inf`` gives :func:`max_divergence` [Mir17, Definition 3; BS16, Definition 2.1]. The
        largest term is divided out, so that neither a large order nor a large ratio overflows.

    Example:
        >>> p = {0: Fraction(3, 4), 1: Fraction(1, 4)}
        >>> q = {0: Fraction(1, 4), 1: Fraction(3, 4)}
        >>> low, high = renyi_divergence(p, q, 2)
        >>> float(low), high - low < Fraction(1, 2**60)
        (0.8472978603872036, True)
    """
    if alpha == math.inf:
        return max_divergence(p, q, bits=bits)
    order = exact(alpha)
    if order < 1:
        raise InvalidArgument("alpha is out of range", must="be at least 1", got=str(order))
    if order == 1:
        return kl_divergence(p, q, bits=bits)
    _require_laws(p, q)
    power = order - 1
    working = bits + 8 + _size(power) + _size(1 / power)
    terms: list[tuple[Fraction, Fraction]] = []
    for ratio, mass in _by_ratio(p, q):
        if ratio == math.inf:
            return _INFINITE
        log_low, log_high = log_bounds(Fraction(ratio), working)
        mass_low, mass_high = log_bounds(mass, working)
        terms.append((mass_low + power * log_low, mass_high + power * log_high))
    largest = short_up(max(high for _, high in terms), working)
    low = sum((exp_bounds(start - largest, working)[0] for start, _ in terms), _ZERO)
    high = sum((exp_bounds(end - largest, working)[1] for _, end in terms), _ZERO)
    divergence_low = (largest + log_bounds(short_down(low, working), working)[0]) / power
    divergence_high = (largest + log_bounds(short_up(high, working), working)[1]) / power
    return max(_ZERO, short_down(divergence_low, bits)), max(_ZERO, short_up(divergence_high, bits))


def _size(value: Fraction) -> int:
    return max(0, value.numerator.bit_length() - value.denominator.bit_length() + 1)


def _require_laws(p: FiniteLaw, q: FiniteLaw) -> None:
    for law in (p, q):
        _require_law(law)


def _require_law(law: FiniteLaw) -> None:
    if any(mass < 0 for mass in law.values()) or sum(law.values()) != 1:
        raise InvalidArgument(
            "That is not a distribution",
            must="have probabilities that are at least 0 and sum to exactly 1",
            got=f"a total of {sum(law.values())}",
        )


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

    ratios: Mapping[DivergenceEnd, Fraction] = field()
    mean: DivergenceEnds = field(eq=False)
    r""":math:`E[Z]`, which is the divergence :math:`D_1`."""

    @classmethod
    def of(cls, p: FiniteLaw, q: FiniteLaw) -> "LossVariable":
        """Return the loss of telling ``p`` from ``q``, for an output of ``p``."""
        mean = kl_divergence(p, q, bits=_BITS)
        ratios: defaultdict[DivergenceEnd, Fraction] = defaultdict(Fraction)
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

    def moment(self, power: Number) -> DivergenceEnds:
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
