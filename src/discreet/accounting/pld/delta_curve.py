"""The curve of a composed law: guesses first, then a bound on each side."""

import math
from collections.abc import Callable

import numpy as np
from attrs import frozen

from discreet.accounting.pld.laws.float_assumptions import RELATIVE, TINY, UNIT
from discreet.accounting.pld.laws.grid import FloatArray
from discreet.accounting.pld.loss_sum import Composed

HEIGHT = 0.82
SPREAD = 1.25
WIDEST = 0.25
"""The largest noise for which the inequality below is proved."""


def bump(distance: FloatArray, noise: float) -> FloatArray:
    r"""Return :math:`0.82\,\kappa\,e^{-u^2 / (2.5 \kappa^2)}` at distances :math:`u`.

    Guarantee:
        Let :math:`W = \prod W_i` with :math:`E[W_i] = 1` and each :math:`\ln W_i` in an interval
        of length :math:`h_i`, and :math:`\kappa^2 = \sum h_i^2 / 4 \le 1/16`. Then for every
        real :math:`u`

        .. math:: E(1 - e^{u + w})_+ - (1 - e^u)_+ \le E[\mathrm{bump}(u + w)],\qquad w = \ln W.

        So :math:`E[(1 - e^u X W)_+ - \mathrm{bump}(u + \ln(XW))] \le E(1 - e^u X)_+`: the split
        law itself gives a curve below the true one, off by about :math:`2.3 \kappa^2` times the
        density of the loss. Proof in ``docs/proofs/pld.md``.

    Example:
        >>> round(float(bump(np.zeros(1), 0.01)[0]), 6)
        0.0082
    """
    if noise == 0.0:
        return np.zeros_like(distance)
    scaled = distance / noise
    return HEIGHT * noise * np.exp(-(scaled * scaled) / (2 * SPREAD))


def bump_width(noise: float) -> float:
    """Return the distance beyond which the bump is below ``e**-700`` of its height."""
    return noise * math.sqrt(2 * SPREAD * 700)


_WIDE = 9.0
_FAR = 600.0


@frozen(eq=False)
class CurveEstimate:
    r"""Suffix sums: between two grid points :math:`\delta = S - e^\varepsilon T`."""

    law: Composed
    masses: FloatArray
    """The masses, no longer tilted."""
    above: FloatArray
    """S, from each index on."""
    weighted: FloatArray
    r"""T, from each index on, times :math:`e^{centre}`."""
    centre: float
    scale: float

    @staticmethod
    def of(law: Composed, shift: float) -> "CurveEstimate":
        """Sum up the masses of ``law``, each moved by ``shift`` before the tilt is undone."""
        losses = law.losses()
        tilted = np.maximum(law.masses + shift, 0.0)
        centre = float(losses[int(np.argmax(tilted))])
        over = losses - centre
        masses = tilted * np.exp(np.clip(-law.theta * over, -_FAR, _FAR))
        above = np.cumsum(masses[::-1])[::-1]
        tilted *= np.exp(np.clip(-(1 + law.theta) * over, -_FAR, _FAR))
        weighted = np.cumsum(tilted[::-1])[::-1]
        scale = law.log_scale - law.theta * centre
        return CurveEstimate(law, masses, above, weighted, centre, scale)

    def crossing(self, delta: float) -> float:
        """Return about the ε at which δ is ``delta``, infinite masses left out."""
        wanted = math.exp(min(700.0, math.log(max(delta, 1e-320)) - self.scale))
        losses = self.law.losses()
        push = np.exp(np.minimum(losses - self.centre, _FAR))
        values = self.above - push * self.weighted
        enough = np.nonzero(values <= wanted)[0]
        place = int(enough[0]) if len(enough) else len(losses) - 1
        top, rate = self.above[place], self.weighted[place]
        if not 0 < rate < math.inf or not 0 < top - wanted < math.inf:
            return float(losses[place])
        return min(float(losses[place]), self.centre + math.log((top - wanted) / rate))

    def delta(self, epsilon: float, noise: float) -> float:
        """Return about δ at ``epsilon``, with the bump of ``noise`` taken off."""
        law = self.law
        place = min(max(0, math.floor(epsilon / law.step) + 1 - law.first), len(self.above) - 1)
        push = math.exp(min(700.0, epsilon - self.centre))
        value = float(self.above[place] - push * self.weighted[place])
        reach = _WIDE * math.sqrt(SPREAD) * noise
        low = max(0, math.floor((epsilon - reach) / law.step) - law.first)
        high = max(low, math.ceil((epsilon + reach) / law.step) + 1 - law.first)
        masses = self.masses[low:high]
        losses = law.losses()[low:high]
        value -= float((masses * bump(losses - epsilon, noise)).sum())
        return value * math.exp(min(700.0, self.scale))


_ROUNDED = 16 * RELATIVE
_FIRST_STEP = 1e-12


@frozen(eq=False)
class UpperCurve:
    r"""A curve that is nowhere below the true one.

    Guarantee:
        :math:`\delta(\varepsilon) = \sum_{jh > \varepsilon} c_j (1 - e^{\varepsilon - jh}) +
        c_\infty` grows with each mass, and each is taken at its upper end. ``slack`` is how much
        larger a true loss can be than the one that was split; the grid itself is exact up to
        rounding.
    """

    law: Composed
    infinite: float
    slack: float

    def covers(self, epsilon: float) -> bool:
        """Tell whether ``epsilon`` is in the window, or nothing much is below it."""
        return self.law.below < 1.0 or epsilon > self.law.ends[0] + 2 * self.law.step

    def delta(self, epsilon: float) -> float:
        """Return an upper bound of δ at ``epsilon``."""
        at, law = epsilon - self.slack - RELATIVE * abs(epsilon), self.law
        over, masses = _above(law, at)
        weights = np.exp(-np.minimum(law.theta * over, _FAR)) * -np.expm1(-over)
        total = float(((np.maximum(masses, 0.0) + law.error) * weights).sum())
        start, end = law.ends
        total += law.beyond * math.exp(-min(law.theta * max(end - at, 0.0), _FAR))
        if at < start:
            total += law.below
        scaled = _times_exp(total, law.log_scale - law.theta * at)
        return scaled * (1 + law.share) * (1 + _ROUNDED) + self.infinite + TINY

    def deltas(self, epsilons: FloatArray) -> FloatArray:
        """Return upper bounds of δ at many ε, at least 0, if the law is not tilted.

        They are as good as those of :meth:`delta` but for about a billionth of 1.
        """
        law = self.law
        at = epsilons - self.slack - RELATIVE * epsilons
        value, rounding = _suffix_sums(law, np.maximum(law.masses, 0.0) + law.error, at)
        total = value + rounding + law.beyond + np.where(at < law.ends[0], law.below, 0.0)
        scaled = total * math.exp(law.log_scale)
        return scaled * ((1 + law.share) * (1 + _ROUNDED)) + (self.infinite + TINY)

    def epsilon(self, delta: float) -> float | None:
        """Return an ε, at least 0, at which ``delta`` is certainly enough; None if there is none.

        An estimate proposes, and the certified curve decides.
        """
        wanted = (delta - self.infinite - TINY) / ((1 + self.law.share) * (1 + 2 * _ROUNDED))
        if wanted <= 0:
            return None
        guess = CurveEstimate.of(self.law, self.law.error).crossing(wanted)
        if not self.covers(guess):
            return None
        if guess <= 0.0 and self.delta(0.0) <= delta:
            return 0.0
        step = _FIRST_STEP
        while step < 1.0:
            found = max(0.0, guess) * (1 + step) + self.slack + step * self.law.step
            if self.delta(found) <= delta:
                return found
            step *= 16
        return None


@frozen(eq=False)
class LowerCurve:
    r"""A curve that is nowhere above the true one.

    Guarantee:
        :math:`\sum_j c_j ((1 - e^{\varepsilon - jh})_+ - \mathrm{bump}(\varepsilon - jh)) +
        c_\infty`, each mass at its lower end where it adds and at its upper end where it takes
        off (:func:`discreet.accounting.pld.delta_curve.bump`). All masses together are at most 1,
        so that beyond the window, or where the bump is too small to add up, its largest value is
        enough.
    """

    law: Composed
    infinite: float
    slack: float
    noise: float

    def delta(self, epsilon: float) -> float:
        """Return a lower bound of δ at ``epsilon``, at least 0."""
        if self.noise > WIDEST:
            return self.infinite
        at, law = epsilon + self.slack + RELATIVE * abs(epsilon), self.law
        over, masses = _above(law, at)
        weights = np.exp(-np.minimum(law.theta * over, _FAR)) * -np.expm1(-over)
        weights[law.theta * over > _FAR] = 0.0
        gain = float((np.maximum(masses - law.error, 0.0) * weights).sum())
        total = gain * (1 - law.share) * (1 - _ROUNDED)
        rest = 0.0
        if self.noise:
            taken, rest = self._taken(at)
            total -= taken * (1 + law.share) * (1 + _ROUNDED)
        return max(0.0, _times_exp(total, law.log_scale - law.theta * at) - rest) + self.infinite

    def deltas(self, epsilons: FloatArray) -> FloatArray:
        """Return lower bounds of δ at many ε, at least 0, if the law is not tilted."""
        if self.noise > WIDEST:
            return np.full(len(epsilons), self.infinite)
        law = self.law
        at = epsilons + self.slack + RELATIVE * epsilons
        value, rounding = _suffix_sums(law, np.maximum(law.masses - law.error, 0.0), at)
        total = np.maximum(value - rounding, 0.0) * ((1 - law.share) * (1 - _ROUNDED))
        rest = np.zeros(len(at))
        if self.noise:
            taken, rest = np.array([self._taken(float(place)) for place in at]).T
            total -= taken * ((1 + law.share) * (1 + _ROUNDED))
        return np.maximum(total * math.exp(law.log_scale) - rest, 0.0) + self.infinite

    def _taken(self, at: float) -> tuple[float, float]:
        """Return the bump over the tilted law near ``at``, and a bound on it elsewhere."""
        law = self.law
        wide = min(bump_width(self.noise), _FAR / max(law.theta, 1.0))
        low = max(0, math.floor((at - wide) / law.step) - law.first)
        high = max(low, math.ceil((at + wide) / law.step) + 1 - law.first)
        masses = law.masses[low:high]
        losses = law.losses()[low:high]
        weights = bump(losses - at, self.noise) * np.exp(-law.theta * (losses - at))
        near = float(((np.maximum(masses, 0.0) + law.error) * weights).sum())
        start, end = law.ends
        gaps = [wide]
        gaps += [max(0.0, at - start)] if law.below else []
        gaps += [max(0.0, end - at)] if law.beyond else []
        exponent = (min(gaps) / self.noise) ** 2 / (2 * SPREAD)
        return near, HEIGHT * self.noise * math.exp(-min(exponent, _FAR)) * (1 + _ROUNDED)

    def epsilon(self, delta: float) -> float:
        """Return an ε, at least 0, at which ``delta`` is certainly not enough; 0 says nothing."""
        if self.noise > WIDEST:
            return 0.0
        estimate = CurveEstimate.of(self.law, -self.law.error)
        wanted = (delta - self.infinite) * (1 + self.law.share) * (1 + 2 * _ROUNDED)
        guess = estimate.crossing(wanted) if wanted > 0 else float(self.law.losses()[-1])
        if self.noise and guess > 0:
            guess = _last_above(lambda at: estimate.delta(at, self.noise) - wanted, guess)
        step = _FIRST_STEP
        while step < 1.0:
            found = guess * (1 - step) - self.slack - step * self.law.step
            if found <= 0.0:
                return 0.0
            if self.delta(found) > delta:
                return found
            step *= 16
        return 0.0


def _above(law: Composed, at: float) -> tuple[FloatArray, FloatArray]:
    """Return how far losses are above ``at``, from about there on, and their masses."""
    start = max(0, math.floor(at / law.step) - law.first)
    masses = law.masses[start:]
    losses = law.losses()[start:]
    return np.maximum(losses - at, 0.0), masses


def _suffix_sums(
    law: Composed, masses: FloatArray, at: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Return :math:`\sum_{z_j > a} m_j (1 - e^{a - z_j})` at each place, and how wrong it can be.

    Guarantee:
        It is :math:`A - e^a B` with the sums :math:`A` of the masses above :math:`a` and :math:`B`
        of the masses times :math:`e^{-z_j}`; both terms are at most :math:`A`. Adding up ``n``
        numbers that are not negative is right to a share of :math:`n` roundings [Hig02, section
        4.2], and the two exponentials to a share ``RELATIVE`` each.
    """
    if law.theta != 0.0:
        raise AssertionError("the masses are tilted")
    start = int(np.searchsorted(law.losses(), at.min(), side="right"))
    losses, kept = law.losses()[start:], masses[start:]
    above = np.append(np.cumsum(kept[::-1])[::-1], 0.0)
    weighted = np.append(np.cumsum((kept * np.exp(-losses))[::-1])[::-1], 0.0)
    place = np.searchsorted(losses, at, side="right")
    rounding = (4 * UNIT * (len(losses) + 4) + 8 * RELATIVE) * above[place] + TINY
    return above[place] - np.exp(at) * weighted[place], rounding


def _last_above(excess: Callable[[float], float], high: float) -> float:
    """Return about the largest number below ``high`` at which ``excess`` is positive, or 0."""
    gap, low = 1e-9, high
    while low > 0.0 and excess(low) <= 0:
        high, low, gap = low, low - gap * (1 + abs(low)), gap * 4
    if low <= 0.0 and excess(0.0) <= 0:
        return 0.0
    low = max(low, 0.0)
    while high - low > 1e-9 * (1 + low):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return low


def _times_exp(value: float, exponent: float) -> float:
    """Return ``value * e**exponent`` without overflow on the way."""
    if value == 0.0:
        return 0.0
    total = math.log(abs(value)) + exponent
    return math.copysign(math.exp(total) if total < 709 else math.inf, value)
