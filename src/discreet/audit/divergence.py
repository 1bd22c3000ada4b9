r"""How far apart two output laws are, as certified intervals: the true :math:`\delta(\varepsilon)`.

Each function looks in one direction, from the law ``p`` to the law ``q``; privacy needs both.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from attrs import field, frozen

from discreet.audit.exponential_sum import ExponentialSum, as_sum, exp, exp_bounds_relative, total
from discreet.audit.laws import BITS, EnclosedLaw, ExactLaw, OutputLaw, enclosed
from discreet.core.check import whole
from discreet.core.errors import InvalidArgument
from discreet.core.numbers import Number, exact, exp_bounds, log_bounds
from discreet.core.rounding import Ends, dyadic_down, dyadic_up


@frozen
class CertifiedInterval:
    """Two ends, with the true number between them; also when shown, rounded outwards.

    The only float ever held is infinity.

    Example:
        >>> CertifiedInterval(Fraction(1, 4), Fraction(1, 3))
        [0.25, 0.333334]
        >>> CertifiedInterval(Fraction(1), Fraction(2)).is_above(Fraction(1, 2))
        True
    """

    low: Fraction | float
    high: Fraction | float = field()

    @high.validator
    def _ordered(self, _: object, high: Fraction | float) -> None:
        if high < self.low:
            raise InvalidArgument("That is not an interval", must="have its lower end first")

    @classmethod
    def exactly(cls, value: Fraction | float) -> "CertifiedInterval":
        """Return the interval that holds one number only."""
        return cls(value, value)

    def is_at_most(self, limit: Fraction) -> bool:
        """Tell whether the true number is certainly at most ``limit``."""
        return self.high <= limit

    def is_above(self, limit: Fraction) -> bool:
        """Tell whether the true number is certainly above ``limit``."""
        return self.low > limit

    def join(self, other: "CertifiedInterval") -> "CertifiedInterval":
        """Return an interval that holds the larger of the two true numbers."""
        return CertifiedInterval(max(self.low, other.low), max(self.high, other.high))

    def __repr__(self) -> str:
        return f"[{_shown(self.low, ROUND_FLOOR)}, {_shown(self.high, ROUND_CEILING)}]"


INFINITE = CertifiedInterval.exactly(math.inf)
"""The divergence of two laws, one of which has outcomes that the other never has."""


def _shown(value: Fraction | float, rounding: str) -> str:
    if isinstance(value, float):
        return str(value)
    context = Context(prec=6, rounding=rounding)
    digits = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{digits.normalize(context):g}"


@frozen
class CertifiedCumulant:
    r"""The cumulants of the loss from ``p`` to ``q``; :math:`K(t) = t\,D_{1+t}(P \| Q)`.

    It holds what is known of each outcome: its probability, and the logarithm of its ratio.
    """

    cells: tuple[tuple[Ends, Ends], ...]
    bits: int

    @classmethod
    def of(cls, p: OutputLaw, q: OutputLaw, *, bits: int) -> "CertifiedCumulant | None":
        """Return the cumulants, or ``None`` where some ratio has no upper bound."""
        first, second = enclosed(p, bits=bits), enclosed(q, bits=bits)
        masses = {outcome: ends for outcome, ends in first.masses.items() if ends[1] > 0}
        others = [second.masses.get(outcome, (Fraction(0), Fraction(0))) for outcome in masses]
        if first.outside or any(not low > 0 for low, _ in (*masses.values(), *others)):
            return None
        cells: dict[Ends, Ends] = {}  # outcomes of the same ratio are one
        for (low, high), (other_low, other_high) in zip(masses.values(), others, strict=True):
            ratio = (
                _log(low / (other_high + second.outside), bits)[0],
                _log(high / other_low, bits)[1],
            )
            before = cells.get(ratio, (Fraction(0), Fraction(0)))
            cells[ratio] = before[0] + low, before[1] + high
        return cls(tuple((mass, ratio) for ratio, mass in cells.items()), bits)

    @classmethod
    def below(cls, p: EnclosedLaw, q: EnclosedLaw, *, bits: int) -> "CertifiedCumulant | None":
        """Return cumulants below those of laws with unlisted mass; ``None`` if they are infinite.

        No term of the sum is negative, so what is not listed of ``p`` is left out; what is not
        listed of ``q`` could be anywhere, so it is added to each outcome.
        """
        cells: dict[Fraction, Fraction] = {}
        for outcome, (low, _) in p.masses.items():
            above = q.masses.get(outcome, (Fraction(0), Fraction(0)))[1] + q.outside
            if low > 0 and above == 0:
                return None
            if low > 0:
                ratio = _log(low / above, bits)[0]
                cells[ratio] = cells.get(ratio, Fraction(0)) + low
        return cls(tuple(((mass, mass), (ratio, ratio)) for ratio, mass in cells.items()), bits)

    @property
    def largest(self) -> Fraction:
        """The largest loss of any outcome, rounded up."""
        return max(ratio[1] for _, ratio in self.cells)

    def at(self, t: Fraction) -> Ends:
        """Enclose the cumulant at ``t > 0``. The largest loss is taken out of the sum first."""
        top = dyadic_up(self.largest, self.bits)
        low = high = Fraction(0)
        for mass, ratio in self.cells:
            low += dyadic_down(mass[0] * _exp(t * (ratio[0] - top), self.bits)[0], self.bits)
            high += dyadic_up(mass[1] * _exp(t * (ratio[1] - top), self.bits)[1], self.bits)
        return t * top + _log(low, self.bits)[0], t * top + _log(high, self.bits)[1]


def _log(value: Fraction, bits: int) -> Ends:
    low, _ = log_bounds(dyadic_down(value, bits), bits)
    _, high = log_bounds(dyadic_up(value, bits), bits)
    return dyadic_down(low, bits), dyadic_up(high, bits)


def _exp(exponent: Fraction, bits: int) -> Ends:
    if exponent < -bits:
        return Fraction(0), exp_bounds_relative(Fraction(-bits), bits)[1]
    return (
        exp_bounds_relative(dyadic_down(exponent, bits), bits)[0],
        exp_bounds_relative(dyadic_up(exponent, bits), bits)[1],
    )


_ZERO = Fraction(0)
_NOTHING = (_ZERO, _ZERO)


def delta(p: OutputLaw, q: OutputLaw, epsilon: Number, *, bits: int = BITS) -> CertifiedInterval:
    r"""Enclose :math:`\delta(\varepsilon) = \sum_o \max(0, P(o) - e^\varepsilon Q(o))`.

    Guarantee:
        The true value lies in the interval. It is the least :math:`\delta` with
        :math:`P(S) \le e^\varepsilon Q(S) + \delta` for every event [DR14, Definition 2.4].

        Proof. *Exact laws*: the sign of each difference is decided exactly, and only the final sum
        is rounded. *Enclosed laws*: write :math:`P = P_1 + P_2`, :math:`Q = Q_1 + Q_2` with the
        listed part first. Then :math:`\max(0, P - e^\varepsilon Q)` is at most
        :math:`\max(0, P_1 - e^\varepsilon Q_1) + P_2` and at least
        :math:`\max(0, P_1 - e^\varepsilon Q_1) - e^\varepsilon Q_2`, outcome by outcome; sum over
        outcomes, and take each listed mass at the end that favours the bound.

    Example:
        >>> delta(ExactLaw({0: 3, 1: 1}), ExactLaw({0: 1, 1: 3}), 0)
        [0.5, 0.5]
    """
    epsilon = exact(epsilon)
    if epsilon < 0:
        raise InvalidArgument("epsilon is out of range", must="be at least 0", got=str(epsilon))
    if isinstance(p, ExactLaw) and isinstance(q, ExactLaw):
        above, below = excess(p, q, epsilon)
        return _quotient(above, below)
    first, second = enclosed(p, bits=bits), enclosed(q, bits=bits)
    factor_low, factor_high = exp_bounds(epsilon, bits)
    low, high = -factor_high * second.outside, first.outside
    for outcome, (p_low, p_high) in first.masses.items():
        q_low, q_high = second.masses.get(outcome, _NOTHING)
        low += max(_ZERO, p_low - factor_high * q_high)
        high += max(_ZERO, p_high - factor_low * q_low)
    low = max(_ZERO, dyadic_down(low, bits))
    return CertifiedInterval(low, max(low, min(Fraction(1), dyadic_up(high, bits))))


def excess(p: ExactLaw, q: ExactLaw, epsilon: Fraction) -> tuple[ExponentialSum, ExponentialSum]:
    r"""Return :math:`\delta(\varepsilon)` as an exact quotient: above and below the line."""
    factor = exp(epsilon)
    nothing = as_sum(0)
    p_total, q_total = p.total, q.total
    if p_total == q_total:
        p_total = q_total = as_sum(1)
        below = p.total
    else:
        below = p_total * q_total
    differences = (
        weight * q_total - factor * q.weights.get(outcome, nothing) * p_total
        for outcome, weight in p.weights.items()
    )
    return total(part for part in differences if part.sign() > 0), below


def _quotient(above: ExponentialSum, below: ExponentialSum) -> CertifiedInterval:
    above_low, above_high = above.bounds(BITS)
    below_low, below_high = below.bounds(BITS)
    if len(above.terms) <= 1 and len(below.terms) <= 1:
        exactly = _rational_quotient(above, below)
        if exactly is not None:
            return CertifiedInterval.exactly(exactly)
    high = min(Fraction(1), dyadic_up(above_high / below_low, BITS))
    return CertifiedInterval(dyadic_down(above_low / below_high, BITS), high)


def _rational_quotient(above: ExponentialSum, below: ExponentialSum) -> Fraction | None:
    """Return the quotient if it is plainly a fraction: one term over one term, same exponent."""
    ((exponent, divisor),) = below.terms.items()
    if not above.terms:
        return _ZERO
    return above.terms[exponent] / divisor if exponent in above.terms else None


def max_divergence(p: OutputLaw, q: OutputLaw) -> CertifiedInterval:
    r"""Enclose :math:`D_\infty(P \| Q) = \max_o \ln (P(o) / Q(o))`, the least pure loss one way.

    Guarantee:
        The true value lies in the interval; it is infinite, at both ends, if ``p`` certainly has
        an outcome that ``q`` never has. Mass that is not listed may have any ratio, so the upper
        end is then infinite.

    Example:
        >>> max_divergence(ExactLaw({0: 1, 1: 1}), ExactLaw({0: 1}))
        [inf, inf]
        >>> max_divergence(ExactLaw({0: 3, 1: 1}), ExactLaw({0: 1, 1: 3}))
        [1.09861, 1.09862]
    """
    if isinstance(p, ExactLaw) and isinstance(q, ExactLaw) and set(p.weights) - set(q.weights):
        return INFINITE
    first, second = enclosed(p), enclosed(q)
    low: Fraction = _ZERO
    high: Fraction | float = math.inf if first.outside else _ZERO
    for outcome, (p_low, p_high) in first.masses.items():
        q_low, q_high = second.masses.get(outcome, _NOTHING)
        q_high += second.outside
        if p_low > 0 and q_high == 0:
            return INFINITE
        if p_low > q_high:
            low = max(low, p_low / q_high)
        if p_high > 0 and high < math.inf:
            high = max(high, p_high / q_low) if q_low > 0 else math.inf
    lowest = max(_ZERO, log_bounds(low, BITS)[0]) if low else _ZERO
    if high == math.inf or not high:
        return CertifiedInterval(lowest, high)
    return CertifiedInterval(lowest, max(lowest, log_bounds(Fraction(high), BITS)[1]))


def renyi_divergence(p: OutputLaw, q: OutputLaw, order: int) -> CertifiedInterval:
    r"""Enclose the Rényi divergence of a whole order :math:`\alpha \ge 2`.

    It is :math:`D_\alpha(P \| Q) = \frac{1}{\alpha-1} \ln \sum_o P(o)^\alpha Q(o)^{1-\alpha}`.

    Guarantee:
        The true value lies in the interval. Each term grows with :math:`P(o)` and falls with
        :math:`Q(o)`, and no term is negative, so the listed masses at their favourable ends bound
        the sum. Mass of ``p`` that is not listed leaves the upper end infinite; mass of ``q`` that
        is not listed could be anywhere, so it is added to every listed outcome for the lower end.

    Example:
        >>> renyi_divergence(ExactLaw({0: 3, 1: 1}), ExactLaw({0: 1, 1: 3}), 2)
        [0.847297, 0.847298]
    """
    order = whole(order)
    if order < 2:
        raise InvalidArgument("order is out of range", must="be at least 2", got=str(order))
    first, second = enclosed(p), enclosed(q)
    low, high = _ZERO, math.inf if first.outside else _ZERO
    for outcome, (p_low, p_high) in first.masses.items():
        q_low, q_high = second.masses.get(outcome, _NOTHING)
        q_high += second.outside
        if p_low > 0 and q_high == 0:
            return INFINITE
        if p_low > 0:
            low += dyadic_down(p_low * (p_low / q_high) ** (order - 1), BITS)
        if p_high > 0 and high < math.inf:
            raised = p_high * (p_high / q_low) ** (order - 1) if q_low > 0 else math.inf
            high = math.inf if raised == math.inf else high + dyadic_up(Fraction(raised), BITS)
    lowest = max(_ZERO, log_bounds(low, BITS)[0] / (order - 1)) if low > 1 else _ZERO
    if high == math.inf:
        return CertifiedInterval(lowest, high)
    return CertifiedInterval(lowest, max(lowest, log_bounds(Fraction(high), BITS)[1] / (order - 1)))
