"""Sums of rows whose whole law is known: masses by transforms, enclosed, and compared shifted."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from attrs import frozen

from discreet.accounting.pld.laws.float_assumptions import RELATIVE, TINY, UNIT
from discreet.accounting.pld.laws.grid import FloatArray, indices
from discreet.accounting.pld.loss_sum import Composed, Coverage, Cumulant, Weighted, compose
from discreet.core.numbers import exp_bounds, float_down
from discreet.core.rounding import short_up
from discreet.noiseless.laws.grid_law import DiscreteLaw

_APART = 4.0
"""How many deviations apart the tilts are; between them, masses keep many digits."""
_FARTHEST = 36.0
_LARGEST_WINDOW = 1 << 20
_MOST_WORK = 3e8
_LARGE = 690.0


@frozen(eq=False)
class SumMasses:
    """The masses of a sum on a window of whole numbers, enclosed, and what lies outside.

    Attributes:
        first: The first number of the window.
        low: Numbers that are not above the masses.
        high: Numbers that are not below them.
        outside: What lies outside of the window, at most.
    """

    first: int
    low: FloatArray
    high: FloatArray
    outside: float

    def excess(self, shift: int, factor: Fraction) -> float:
        r"""Bound :math:`\sum_j (p_{j - D} - e^\varepsilon p_j)^+`, for a shift D of either sign."""
        size = len(self.high)
        if abs(shift) >= size:
            return min(1.0, (float(self.high.sum()) + self.outside) * _UP)
        kept = slice(max(0, shift), size + min(0, shift))
        moved = slice(max(0, -shift), size - max(0, shift))
        # What is shifted over the edge has nothing certain to be compared with.
        over = self.high[size - shift :] if shift > 0 else self.high[:-shift]
        gained = self.high[moved] * _UP - float_down(factor) * self.low[kept] * _DOWN
        total = float(np.maximum(gained, 0.0).sum()) + float(over.sum()) + self.outside
        return min(1.0, total * _UP)


_UP, _DOWN = 1 + 16 * RELATIVE, 1 - 16 * RELATIVE


def known_law_delta(law: DiscreteLaw, others: int, epsilon: Fraction) -> Fraction | None:
    r"""Return an upper bound of δ for a sum with ``others`` rows of a known law beside the one.

    Guarantee:
        It is at least the larger hockey-stick divergence, of both directions, between the sum with
        a row c and the sum with the simulator's value, for the worst c that a row can take. If the
        law is log-concave so is that of the sum, and the divergence grows with the distance, so
        that the two ends are the worst; else every value is tried. The masses of the sum of the
        other rows come from transforms under several tilts with proved errors
        (:class:`~discreet.accounting.pld.loss_sum.Composed`), and each is taken at its safe end.

    Utility:
        None if the window would be too large; the other bounds hold then too.

    Example:
        >>> bits = DiscreteLaw(["1/2", "1/2"])
        >>> float(known_law_delta(bits, 3, Fraction(1)))  # doctest: +ELLIPSIS
        0.1602...
    """
    shifts = [place - law.middle_index for place in _worst(law)]
    if not any(shifts):
        return Fraction(0)
    if others == 0:
        return Fraction(1)
    masses = sum_masses(law, others, float(epsilon), max(abs(shift) for shift in shifts))
    if masses is None or len(masses.high) * len(shifts) > _MOST_WORK:
        return None
    factor = exp_bounds(epsilon)[0]
    # Q against P shifted by D is P against Q shifted by -D.
    worst = max(masses.excess(side * shift, factor) for shift in shifts for side in (1, -1))
    wrong = others * law.slack * (1 + exp_bounds(epsilon)[1])
    return min(Fraction(1), short_up(Fraction(worst) + wrong))


def _worst(law: DiscreteLaw) -> tuple[int, ...]:
    places = law.possible()
    return (places[0], places[-1]) if law.is_log_concave else places


def sum_masses(law: DiscreteLaw, others: int, epsilon: float, shift: int) -> SumMasses | None:
    r"""Enclose the masses of a sum of rows, on all numbers that matter for ε and a shift.

    Whole numbers count steps from the first value. The masses are most exact where the ratio of
    shifted masses is about :math:`e^\varepsilon`, for a law that looks normal.
    """
    centre = law.middle_index
    weights = np.array([float(one) for one in law.weights])
    losses = indices(-centre, len(weights) - centre)
    part = Weighted(losses, weights[None, :], np.array([float(others)]))
    deviation = math.sqrt(Cumulant([part]).at(0.0)[2]) or 1.0
    farthest = min(_FARTHEST, epsilon * deviation / shift + shift / deviation)
    if (16 + 2 * farthest) * deviation > _LARGEST_WINDOW:
        return None
    laws = list(_tilted(part, -centre, deviation, farthest))
    return _joined(laws, others)


def _tilted(part: Weighted, first: int, deviation: float, farthest: float) -> Iterator[Composed]:
    steps = math.ceil(farthest / _APART) or 1
    steepest = Cumulant([part]).steepest()
    for k in range(-steps, steps + 1):
        theta = max(-steepest, min(steepest, farthest * k / steps / deviation))
        yield compose(1.0, [first], [part], theta, Coverage.ALL)


def _joined(laws: list[Composed], others: int) -> SumMasses:
    """Take the best end of all tilts for every mass, and bound what none of them covers."""
    first = min(law.first for law in laws)
    last = max(law.first + len(law.masses) for law in laws)
    low, high = np.zeros(last - first), np.full(last - first, np.inf)
    for law in laws:
        here = slice(law.first - first, law.first - first + len(law.masses))
        # Weights are rounded to floats once each, which moves a product by so much at most.
        share = math.expm1(math.log1p(law.share) + 4 * UNIT * others) + 16 * RELATIVE
        exponent = law.log_scale - law.theta * law.losses()
        back = np.exp(np.minimum(exponent, _LARGE))
        above = np.maximum(law.masses, 0.0) + law.error
        upper = np.where(exponent < _LARGE, above * back * (1 + share), np.inf)
        lower = np.where(exponent < _LARGE, (law.masses - law.error) * back * (1 - share), 0.0)
        high[here] = np.minimum(high[here], upper + TINY)
        low[here] = np.maximum(low[here], lower - TINY)
    left = min(_tail(law.below, law, law.first) for law in laws if law.theta <= 0)
    right = min(
        _tail(law.beyond, law, law.first + len(law.masses)) for law in laws if law.theta >= 0
    )
    return SumMasses(first, low, np.minimum(high, 1.0), left + right)


def _tail(beyond: float, law: Composed, end: int) -> float:
    """Bound the true mass beyond an end, on the side to which the tilt leans."""
    if beyond == 0.0:
        return 0.0
    exponent = law.log_scale - law.theta * end
    return min(1.0, beyond * math.exp(min(exponent, _LARGE)) * (1 + law.share) * _UP + TINY)
