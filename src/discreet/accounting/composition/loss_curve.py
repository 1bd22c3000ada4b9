r"""The privacy curve of many randomised responses: δ at every ε, and ε at every δ, certified.

A response at :math:`\varepsilon_i` has the privacy loss :math:`\varepsilon_i`, or
:math:`-\varepsilon_i` where it lies. With every :math:`\varepsilon_i` a whole multiple :math:`a_i`
of one unit, the loss of all is :math:`(\sum a_i - 2t)` units, where the *cost* :math:`t` is the
sum of the :math:`a_i` of the lies. Both laws are over the same costs, and their ratio at ``t`` is
``e`` to the loss, so

.. math:: \delta(\varepsilon) = \sum_{t:\, L(t) > \varepsilon} P(t)\,(1 - e^{\varepsilon - L(t)}).
"""

from collections.abc import Iterator
from fractions import Fraction

from attrs import frozen

from discreet.accounting.composition.responses import lies
from discreet.accounting.composition.rounded import Side
from discreet.core.errors import Unsupported
from discreet.core.numbers import log_bounds
from discreet.core.rounding import short_down, short_up

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
    side: Side
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
        if self.side is Side.LOWER:
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
        if self.side is Side.LOWER:
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
        return self.dropped if self.side is Side.UPPER else 0

    def _fraction(self, value: int) -> Fraction:
        bounded = min(1 << self.bits, max(0, value + self._extra()))
        return Fraction(bounded, 1 << self.bits)


def loss_curve(
    steps: dict[int, int], unit: Fraction, *, bits: int, side: Side, most_work: int
) -> LossCurve:
    r"""Return the curve of responses at ``a * unit``, ``steps[a]`` of each, ``a`` positive.

    Guarantee:
        The costs of independent groups add up, so their laws convolve; every product is rounded to
        ``side``. Costs of a loss of 0 or less never count, and are left out; masses below
        ``2**-bits`` are left out and remembered. More than ``most_work`` products, or fewer of very
        long numbers, are refused.

    Example:
        >>> curve = loss_curve({1: 10}, Fraction(1, 10), bits=96, side=Side.UPPER, most_work=100)
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
                must=f"need at most {most_work} products",
                got=f"at least {work}",
                next="Use the method 'mv', which gives an interval",
            )
        masses, lost = _split(_convolved(masses, terms, top, side, inner))
        dropped += law.dropped + unlikely + lost
    return LossCurve(unit, top, inner, side, dict(sorted(masses.items())), dropped)


def _convolved(
    masses: dict[int, int], terms: dict[int, int], top: int, side: Side, bits: int
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
