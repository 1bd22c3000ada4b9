r"""The privacy curve of many randomised responses: δ at every ε, and ε at every δ, certified.

Randomised response is the worst ε-DP mechanism there is [KOV15], so the law of its privacy loss
decides what composition can promise. A response at :math:`\varepsilon_i` has the privacy loss
:math:`\varepsilon_i`, or :math:`-\varepsilon_i` where it lies. With every :math:`\varepsilon_i` a
whole multiple :math:`a_i` of one unit, the loss of all is :math:`(\sum a_i - 2t)` units, where the
*cost* :math:`t` is the sum of the :math:`a_i` of the lies. Both laws are over the same costs, and
their ratio at ``t`` is ``e`` to the loss, so

.. math:: \delta(\varepsilon) = \sum_{t:\, L(t) > \varepsilon} P(t)\,(1 - e^{\varepsilon - L(t)}).
"""

import math
from collections.abc import Iterator
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from attrs import frozen

from discreet.core.errors import Unsupported
from discreet.core.numbers import exp_bounds, log_bounds
from discreet.core.rounding import short_down, short_up


class RoundedSide(Enum):
    """Which side of the truth a number is on."""

    LOWER = "lower"
    UPPER = "upper"

    @property
    def other(self) -> "RoundedSide":
        """The other side: for what is subtracted or divided by."""
        return RoundedSide.UPPER if self is RoundedSide.LOWER else RoundedSide.LOWER

    def whole(self, value: Fraction) -> int:
        """Round to an integer on this side.

        Example:
            >>> RoundedSide.LOWER.whole(Fraction(5, 2)), RoundedSide.UPPER.whole(Fraction(5, 2))
            (2, 3)
        """
        return self.divided(value.numerator, value.denominator)

    def divided(self, value: int, by: int) -> int:
        """Divide, rounding to this side; ``by`` is positive."""
        return value // by if self is RoundedSide.LOWER else -(-value // by)

    def shifted(self, value: int, bits: int) -> int:
        """Divide by ``2**bits``, rounding to this side."""
        return value >> bits if self is RoundedSide.LOWER else -(-value >> bits)

    def exp(self, x: Fraction, bits: int) -> int:
        """Return ``e**x`` for ``x <= 0`` in units of ``2**-bits``, rounded to this side."""
        low, high = exp_bounds(x, bits)
        return self.whole((low if self is RoundedSide.LOWER else high) * (1 << bits))


MOST_BITS = 300_000_000
_GUARD_OF_LIES = 48


@frozen
class Lies:
    """The law of the number of lies, in units of ``2**-bits``; each mass is enclosed."""

    low: dict[int, int]
    high: dict[int, int]
    dropped: int
    """An upper bound on the mass of all numbers that are left out."""

    def of(self, side: RoundedSide) -> dict[int, int]:
        """Return the masses that are rounded to ``side``."""
        return self.low if side is RoundedSide.LOWER else self.high


@lru_cache(maxsize=64)
def lies(epsilon: Fraction, count: int, bits: int) -> Lies:
    r"""Return the law of the number of lies among ``count`` responses at ``epsilon``.

    Guarantee:
        It is binomial with :math:`p = 1 / (1 + e^\varepsilon)`. Start at a number near the middle
        with weight 1, and go down and up by the exact ratios of neighbouring terms, once with all
        roundings down and once up; then divide by the total, which must be 1. A side ends where a
        weight is far below one unit and the ratios beyond are at most 1 (they fall away from the
        middle, so one look is enough); what is left there is at most as many times the last weight.

    Example:
        >>> law = lies(Fraction(1), 3, 64)
        >>> [round(mass / 2**64, 4) for mass in law.low.values()]
        [0.3907, 0.4312, 0.1586, 0.0195]
    """
    _require_affordable(epsilon, count, bits)
    working = bits + _GUARD_OF_LIES
    one = 1 << working
    ratio_low, ratio_high = exp_bounds(-epsilon, working)
    g = (int(ratio_low * one), -int(-ratio_high * one // 1))
    start = _middle(epsilon, count)
    down, below = _downward(start, count, g, working)
    up, above = _upward(start, count, g, working)
    weights = {**dict(reversed(down.items())), start: (one, one), **up}
    total_low = sum(low for low, _ in weights.values())
    total_high = sum(high for _, high in weights.values()) + below + above
    return Lies(
        {n: (low << bits) // total_high for n, (low, _) in weights.items()},
        {n: -(-(high << bits) // total_low) for n, (_, high) in weights.items()},
        -(-((below + above) << bits) // total_low),
    )


_Weights = dict[int, tuple[int, int]]


def _downward(start: int, count: int, g: tuple[int, int], working: int) -> tuple[_Weights, int]:
    """Return the weights below ``start``, largest number first, and a bound on the rest."""
    found: _Weights = {}
    low = high = 1 << working
    for n in range(start, 0, -1):
        is_small = high >> _GUARD_OF_LIES - 8 == 0
        if is_small and n << working <= (count - n + 1) * g[0]:
            return found, n * high
        low = ((low * n) << working) // ((count - n + 1) * g[1])
        high = -(-((high * n) << working) // ((count - n + 1) * g[0]))
        found[n - 1] = (low, high)
    return found, 0


def _upward(start: int, count: int, g: tuple[int, int], working: int) -> tuple[_Weights, int]:
    """Return the weights above ``start``, smallest number first, and a bound on the rest."""
    found: _Weights = {}
    low = high = 1 << working
    for n in range(start, count):
        is_small = high >> _GUARD_OF_LIES - 8 == 0
        if is_small and (count - n) * g[1] <= (n + 1) << working:
            return found, (count - n) * high
        low = low * (count - n) * g[0] // (n + 1) >> working
        high = -(-high * (count - n) * g[1] // (n + 1) >> working)
        found[n + 1] = (low, high)
    return found, 0


def _middle(epsilon: Fraction, count: int) -> int:
    """Return about the likeliest number of lies; any number is safe."""
    ratio = math.exp(-float(min(epsilon, Fraction(700))))
    return min(count, int((count + 1) * ratio / (1 + ratio)))


def _require_affordable(epsilon: Fraction, count: int, bits: int) -> None:
    ratio = math.exp(-float(min(epsilon, Fraction(700))))
    variance = count * ratio / (1 + ratio) ** 2
    terms = min(count, 2 * math.sqrt(1.4 * bits * variance) + bits)
    if terms * bits > MOST_BITS:
        raise Unsupported(
            "Optimal composition would take too long for so many losses",
            must=f"need at most {MOST_BITS:.0e} bits of terms",
            got=f"about {terms * bits:.0e}",
            next="Use the method 'tail' or 'zcdp', which are quick for any count",
        )


_USUAL_BITS = 256
_GUARD = 64
"""Bits below the unit in which a mass is negligible, for the roundings to disappear in."""


@frozen
class LossCurve:
    r"""Masses of the costs, all rounded to one side, so that :math:`\delta` is on that side too.

    Each term of :math:`\delta(\varepsilon)` grows with its mass, so masses from below give
    a :math:`\delta` from below, and masses from above (with all that was dropped) one from above.
    """

    unit: Fraction
    top: int
    """The largest loss, in units."""
    bits: int
    side: RoundedSide
    masses: dict[int, int]
    """Cost to mass in units of 2**-bits, costs ascending."""
    dropped: int

    def loss(self, cost: int) -> Fraction:
        """Return the privacy loss at a cost."""
        return (self.top - 2 * cost) * self.unit

    def delta(self, epsilon: Fraction) -> Fraction:
        """Return the δ at ``epsilon``, rounded to the side of the curve."""
        last, above, under = None, 0, 0
        for step in self._steps():
            if self.loss(step[0]) <= epsilon:
                break
            last, above, under = step
        if last is None:
            return self._fraction(0)
        factor = self.side.other.exp(epsilon - self.loss(last), self.bits)
        return self._fraction(above - self.side.other.shifted(under * factor, self.bits))

    def epsilon(self, delta: Fraction) -> Fraction | None:
        r"""Return the least ε with :math:`\delta(\varepsilon) \le` ``delta``, rounded to the side.

        ``None`` if the masses are too coarse to tell.

        Guarantee:
            Between two neighbouring losses :math:`\delta(\varepsilon) = A - e^{\varepsilon - L} B`
            with ``A`` the mass of the costs up to the first, ``L`` its loss and ``B`` their masses
            weighted by ``e`` to ``L`` minus their losses. So :math:`\varepsilon = L - \ln (B /
            (A - \delta))`, found in the interval in which it falls. For the costs up to any one,
            and :math:`\varepsilon \le L`, that difference is at most :math:`\delta(\varepsilon)`,
            so any interval gives a lower bound.
        """
        target = self.side.other.whole(delta * (1 << self.bits)) - self._extra()
        if target < 0:
            return None
        before: tuple[int, int, int] | None = None
        for step in self._steps():
            if step[1] - step[2] > target:
                return self._between(before, step, target)
            before = step
        return self._between(before, None, target)

    def _between(
        self, step: tuple[int, int, int] | None, after: tuple[int, int, int] | None, target: int
    ) -> Fraction:
        zero = Fraction(0)
        if self.side is RoundedSide.LOWER:
            found = [self._solved(s, target) for s in (step, after) if s is not None]
            return max(zero, *found, zero)
        if step is None:
            raise AssertionError("the first cost has no loss above its own")
        floor = zero if after is None else max(zero, self.loss(after[0]))
        return max(floor, self._solved(step, target))

    def _solved(self, step: tuple[int, int, int], target: int) -> Fraction:
        cost, above, under = step
        if above <= target:
            return Fraction(-1)
        zero = Fraction(0)
        low, high = log_bounds(Fraction(under, above - target), self.bits)
        if self.side is RoundedSide.LOWER:
            return short_down(self.loss(cost) - max(high, zero))
        return min(self.loss(cost), short_up(self.loss(cost) - max(low, zero)))

    def _steps(self) -> Iterator[tuple[int, int, int]]:
        """Yield each cost with A (exact in the masses) and B (rounded to the other side)."""
        above = under = before = 0
        powers: dict[int, int] = {}
        away = self.side.other
        for cost, mass in self.masses.items():
            gap = cost - before if under else 0
            while gap:
                bit = gap & -gap
                if bit not in powers:
                    powers[bit] = away.exp(-2 * bit * self.unit, self.bits)
                under, gap = away.shifted(under * powers[bit], self.bits), gap - bit
            under, above, before = under + mass, above + mass, cost
            yield cost, above, under

    def _extra(self) -> int:
        return self.dropped if self.side is RoundedSide.UPPER else 0

    def _fraction(self, value: int) -> Fraction:
        bounded = min(1 << self.bits, max(0, value + self._extra()))
        return Fraction(bounded, 1 << self.bits)


def loss_curve(
    steps: dict[int, int], unit: Fraction, *, bits: int, side: RoundedSide, most_work: int
) -> LossCurve:
    r"""Return the curve of responses at ``a * unit``, ``steps[a]`` of each, ``a`` positive.

    Guarantee:
        The costs of independent groups add up, so their laws convolve; every product is rounded to
        ``side``. Costs of a loss of 0 or less never count, and are left out; masses below
        ``2**-bits`` are left out and remembered. More than ``most_work`` products, or fewer of very
        long numbers, are refused.

    Example:
        >>> upper = RoundedSide.UPPER
        >>> curve = loss_curve({1: 10}, Fraction(1, 10), bits=96, side=upper, most_work=100)
        >>> round(float(curve.delta(Fraction(8, 10))), 6)
        0.000288
    """
    top = sum(a * n for a, n in steps.items())
    inner = bits + _GUARD
    masses, dropped, work = {0: 1 << inner}, 0, 0
    for a, n in sorted(steps.items(), reverse=True):
        law = lies(a * unit, n, inner)
        terms, unlikely = _split({a * number: mass for number, mass in law.of(side).items()})
        work += len(masses) * len(terms)
        if work * inner > most_work * _USUAL_BITS:
            raise Unsupported(
                "The exact optimum would take too long here",
                must=f"need at most {most_work * _USUAL_BITS // inner} products of such numbers",
                got=f"at least {work}",
                next="Use the method 'mv', which gives an interval",
            )
        masses, lost = _split(_convolved(masses, terms, top, side, inner))
        dropped += law.dropped + unlikely + lost
    return LossCurve(unit, top, inner, side, dict(sorted(masses.items())), dropped)


def _convolved(
    masses: dict[int, int], terms: dict[int, int], top: int, side: RoundedSide, bits: int
) -> dict[int, int]:
    products: dict[int, int] = {}
    for cost, mass in masses.items():
        for more, factor in terms.items():
            total = cost + more
            if 2 * total < top:
                products[total] = products.get(total, 0) + mass * factor
    return {cost: side.shifted(product, bits) for cost, product in products.items()}


def _split(masses: dict[int, int]) -> tuple[dict[int, int], int]:
    """Return the masses that are not negligible, and the sum of the others."""
    kept = {cost: mass for cost, mass in masses.items() if mass >> _GUARD or cost == 0}
    return kept, sum(masses.values()) - sum(kept.values())
