"""The pair of a Poisson sample in which a unit is changed, from the pair of an added one."""

import math
from collections.abc import Callable

import numpy as np
from attrs import frozen

from discreet.accounting.pld.laws.atomic import stated_law
from discreet.accounting.pld.laws.combined import sampled_laws
from discreet.accounting.pld.laws.float_assumptions import LARGEST_LOSS, RELATIVE
from discreet.accounting.pld.laws.grid import FloatArray
from discreet.accounting.pld.laws.law import LossLaw, Pair

_POINTS = 1_500
_KNOTS = 6_001
_COARSE = 257
_PASSES = 3
_TAIL = 1e-40
_LEAST, _FEW, _FAR = 1e-3, 200, 60.0


def exchanged_pair(one_step: Pair, rate: float) -> Pair:
    r"""Return the pair of a Poisson sample when a unit is changed, from the pair of an added one.

    Guarantee:
        Let :math:`M_0`, :math:`M_1`, :math:`M_1'` be the laws without the unit, with it, and with
        what it became. For :math:`e' \ge 1`, every :math:`b > 0` and
        :math:`a = e'b + (e' - 1)(1 - r)/r`

        .. math:: H_{e'}((1-r)M_0 + rM_1 \| (1-r)M_0 + rM_1')
                  \le r H_a(M_1 \| M_0) + r e' b\, H_{1/b}(M_0 \| M_1'),

        because the integrand is :math:`r(m_1 - a m_0) + r e' (b m_0 - m_1')`, and the positive part
        of a sum is at most the sum of the positive parts. Both terms grow with the curves of
        ``one_step``. Some points, at the best :math:`b` that was found, are enough for
        :func:`discreet.accounting.pld.laws.atomic.stated_law`.

    Utility:
        At the best :math:`b` it is attained where outcomes are the less likely after the change
        the likelier they were before, as for one number that is moved to one side or to the other.
        The interval is open nevertheless: its lower end is that of a unit that is removed or
        added, which is one that is exchanged for one that does not matter.
    """
    law = _exchanged(one_step, rate)
    if one_step.attained is None or rate == 1.0:
        return Pair(law, law, None)
    return Pair(law, law, sampled_laws(*one_step.attained, rate))


def _exchanged(pair: Pair, rate: float) -> LossLaw:
    farthest = max(law.span(_TAIL)[1] + 4 * law.slack() for law in (pair.removal, pair.addition))
    farthest = min(max(farthest, _LEAST), LARGEST_LOSS)
    is_telling = any(law.infinite.any() for law in (pair.removal, pair.addition))
    reach = max(farthest, _FAR) if is_telling else farthest
    inner = np.linspace(0.0, farthest, _POINTS)
    # Points where the losses of both moves are alike: they are close together near 0.
    outer = _mapped(inner, rate) - _mapped(-inner, rate)
    if is_telling and rate < 1.0:
        # Beyond, what is told with certainty is all that is left.
        least = float(_mapped(np.array(farthest), rate)) - math.log1p(-rate)
        outer = np.unique(np.append(outer, np.linspace(outer[-1], least, _FEW)))
    outer = outer[outer <= LARGEST_LOSS]
    factor = np.exp(outer)[:, None]
    rest = np.expm1(outer)[:, None] * ((1 - rate) / rate)
    removal, addition = _Chords.of(pair.removal), _Chords.of(pair.addition)

    def bound(t: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            grown = factor * np.exp(-t)
        found = removal.upper(grown + rest) + grown * addition.upper(np.exp(t))
        return np.asarray(rate * found * (1 + 16 * RELATIVE))

    return stated_law(outer, np.maximum(_least(bound, reach, len(outer)), _TAIL))


def _mapped(losses: FloatArray, rate: float) -> FloatArray:
    """Return ln(1 - rate + rate e^loss)."""
    if rate == 1.0:
        return losses
    return np.asarray(np.logaddexp(math.log1p(-rate), math.log(rate) + losses))


def _least(bound: Callable[[FloatArray], FloatArray], farthest: float, rows: int) -> FloatArray:
    """Return about the least value of each row, for t up to ``farthest``; each is a bound."""
    middle, reach = np.zeros((rows, 1)), farthest
    best = np.full(rows, np.inf)
    for _ in range(_PASSES):
        t = middle + np.linspace(-reach, reach, _COARSE)
        values = bound(np.clip(t, -farthest, farthest))
        place = values.argmin(axis=1)
        best = np.minimum(best, values.min(axis=1))
        middle, reach = t[np.arange(rows), place][:, None], 2 * reach / (_COARSE - 1)
    return best


@frozen(eq=False)
class _Chords:
    r"""Points of a curve :math:`H_e` that are nowhere below it, by e."""

    places: FloatArray
    values: FloatArray

    @staticmethod
    def of(law: LossLaw) -> "_Chords":
        r"""Look at a law from its least to its largest loss.

        The tails at a threshold are those at another one within the slack. It is put below the
        threshold, and the factor :math:`e` below that: then no outcome counts as less than it is.
        """
        low, high = law.span(_TAIL)
        slack = law.slack() * (1 + RELATIVE)
        knots = np.linspace(max(low, -LARGEST_LOSS), min(high, LARGEST_LOSS) + 4 * slack, _KNOTS)
        tails, factor = law.tails(knots - 2 * slack), np.exp(knots - 3 * slack)
        p, q = tails.right_p[0] + float(law.infinite[0]), factor * tails.right_q[0]
        values = np.maximum(p - q, 0.0) + 4 * RELATIVE * (p + q) + law.dropped
        places = np.append(0.0, np.exp(knots))
        return _Chords(places, np.append(1.0, np.minimum(values, 1.0)))

    def upper(self, places: FloatArray) -> FloatArray:
        """Return chords of the curve, which is convex and falls; beyond its points the last."""
        lower = places * (1 - 16 * RELATIVE)
        return np.asarray(np.interp(lower, self.places, self.values) * (1 + 4 * RELATIVE))
