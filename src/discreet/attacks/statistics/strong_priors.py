r"""How spread the means of a population are: what makes tracing possible at all.

If the means of attributes are known beforehand, a release can be accurate without looking at
anybody, and nobody can be traced. A prior over a mean that is *(ξ, n)-strong* rules that out
[Ste16, definition 5.2.4]: a release that is off by α still correlates with its people by
:math:`E[1 - p^2] - \alpha\xi` an attribute, all people together.
"""

import math
from typing import Any, Protocol

import numpy as np
from attrs import field, frozen

from discreet.attacks.statistics.sign_data import Floats
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.optional import load


class MeanPrior(Protocol):
    """A law of the mean of one attribute, in [−1, 1]."""

    @property
    def spread(self) -> float:
        r"""The expected variance of an attribute, :math:`E[1 - p^2]`."""
        ...

    @property
    def squared_spread(self) -> float:
        r"""The expected square of that variance, :math:`E[(1 - p^2)^2]`."""
        ...

    @property
    def strength(self) -> float:
        r"""The least ξ with which the prior is strong for every number of people."""
        ...

    def counts(self, people: int) -> Floats:
        """Return the probability of each number of +1 among ``people``, from 0 up."""
        ...


def _finite(_: object, attribute: Any, value: float) -> None:
    if not math.isfinite(value):
        raise InvalidArgument(f"{attribute.name} is no number", must="be finite")


def _plausible(_: object, attribute: Any, value: float) -> None:
    if not 1e-6 <= value <= 1e6:  # beyond that the floats behind the strength lose their digits
        raise InvalidArgument(f"{attribute.name} is out of range", must="be from 1e-6 to 1e6")


@frozen
class UniformMean:
    r"""Means that are uniform between ``low`` and ``high``.

    Guarantee:
        :math:`\xi = \int |((1 - p^2)\rho)'|`, jumps at the ends included
        [Ste16, proposition 5.2.14], which is
        :math:`(2 - a^2 - b^2 + \int_a^b |2x|\,dx) / (b - a)`.

    Example:
        >>> UniformMean().strength, UniformMean().spread
        (1.0, 0.6666666666666667)
    """

    low: float = field(default=-1.0, converter=float, validator=_finite)
    high: float = field(default=1.0, converter=float, validator=_finite)

    def __attrs_post_init__(self) -> None:
        if not -1 <= self.low < self.high <= 1:
            raise InvalidArgument("The ends are out of range", must="have −1 <= low < high <= 1")

    @property
    def spread(self) -> float:
        """The expected variance of an attribute."""
        return 1 - (self.low**2 + self.low * self.high + self.high**2) / 3

    @property
    def squared_spread(self) -> float:
        """The expected square of the variance of an attribute."""
        a, b = self.low, self.high
        fourth = sum(a**i * b ** (4 - i) for i in range(5)) / 5
        return 1 - 2 * (1 - self.spread) + fourth

    @property
    def strength(self) -> float:
        """The least ξ for every number of people."""
        a, b = self.low, self.high
        swept = b * abs(b) - a * abs(a)  # the integral of |2x|
        return (2 - a**2 - b**2 + swept) / (b - a)

    def counts(self, people: int) -> Floats:
        """Return the probability of each number of +1, by incomplete beta functions."""
        ones = np.arange(people + 1)
        betainc = load("scipy.special").betainc
        parts = [
            betainc(ones + 1, people - ones + 1, (1 + end) / 2) for end in (self.high, self.low)
        ]
        width = (self.high - self.low) / 2
        return np.asarray((parts[0] - parts[1]) / ((people + 1) * width), dtype=np.float64)


@frozen
class BetaMean:
    r"""Means :math:`2s - 1`, where :math:`s` has a beta law: allele frequencies, for example.

    Guarantee:
        :math:`\xi = 4u^u v^v / ((u+v)^{u+v} B(u, v))`.

        Proof. :math:`(1-p^2)\rho(p)` is, up to a factor, :math:`s^u (1-s)^v`. It rises from 0 to
        its peak at :math:`s = u/(u+v)` and falls back to 0, so its variation is twice the peak.
        The value :math:`4uv/(u+v)` of [Ste16, section 5.2] is an upper bound, for most
        priors several times too large.

    Example:
        >>> BetaMean(1, 1).strength, round(BetaMean(2, 5).strength, 4)
        (1.0, 1.8214)
    """

    u: float = field(converter=float, validator=_plausible)
    v: float = field(converter=float, validator=_plausible)

    @property
    def spread(self) -> float:
        """The expected variance of an attribute."""
        total = self.u + self.v
        return 4 * self.u * self.v / (total * (total + 1))

    @property
    def squared_spread(self) -> float:
        """The expected square of the variance of an attribute."""
        total = self.u + self.v
        return self.spread * 4 * (self.u + 1) * (self.v + 1) / ((total + 2) * (total + 3))

    @property
    def strength(self) -> float:
        """The least ξ for every number of people."""
        u, v = self.u, self.v
        betaln = float(load("scipy.special").betaln(u, v))
        log = u * math.log(u) + v * math.log(v) - (u + v) * math.log(u + v) - betaln
        return 4 * math.exp(log)

    def counts(self, people: int) -> Floats:
        """Return the probability of each number of +1: the beta-binomial law."""
        special = load("scipy.special")
        ones = np.arange(people + 1)
        ways = -special.betaln(ones + 1, people - ones + 1) - math.log(people + 1)
        log = ways + special.betaln(ones + self.u, people - ones + self.v)
        return np.asarray(np.exp(log - special.betaln(self.u, self.v)), dtype=np.float64)


def strength_for(prior: MeanPrior, people: int) -> float:
    r"""Return the least ξ with which a prior is (ξ, n)-strong, for ``people`` people.

    With :math:`N = n + 1` and :math:`k` of them +1, :math:`h(k) = 2k(N-k)P[k]/N`; ξ is the total
    variation of :math:`h` [Ste16, definition 5.2.4]. It is exactly how much one release of an
    attribute in [−1, 1] can correlate with its people, all together [Ste16, lemma 5.2.5].

    Example:
        >>> round(strength_for(UniformMean(), 9), 6)
        0.909091
    """
    total = check.at_least_one(people, "people") + 1
    ones = np.arange(total + 1)
    weighted = 2 * ones * (total - ones) / total * prior.counts(total)
    return float(np.abs(np.diff(weighted)).sum())
