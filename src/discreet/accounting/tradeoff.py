r"""Trade-off functions (f-DP): how well two neighbours can be told apart at every false-alarm rate.

:math:`f(\alpha)` is the least rate of misses of a test whose rate of false alarms is at most
:math:`\alpha` [DRS22, section 2]. It is drawn here from certified :math:`\delta(\varepsilon)`.
"""

import math
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from itertools import product

from attrs import field, frozen

from discreet.accounting.pld.accountant import pld_delta, pld_epsilon
from discreet.accounting.pld.uses import Events, count_events
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, PrivacyLoss
from discreet.core.numbers import Number, exact, exp_bounds, float_down

_POINTS, _MOST_POINTS = 86, 400
_CLOSE = 43
_SPACING = 0.06
_ROUNDING = 1e-9
_BASES = (1, 3, 8)
_SKIPPED = (0, 1, 2)
_WIDTH = "1e-4"
_FAR = "1e-9"


class Comparison(Enum):
    """What is certain about two trade-off functions."""

    HARDER = "harder"
    """The first is at least as hard to tell apart at every ε that was looked at."""
    EASIER = "easier"
    """The second is."""
    CROSSING = "crossing"
    """Each is harder somewhere."""
    UNDECIDED = "undecided"
    """The intervals are too wide to tell."""


@frozen
class TradeOff:
    r"""A trade-off function, enclosed between two curves.

    Guarantee:
        :math:`(\varepsilon, \delta)`-DP is the same as
        :math:`f(\alpha) \ge \max(0,\, 1 - \delta - e^\varepsilon\alpha,\,
        e^{-\varepsilon}(1 - \delta - \alpha))` [WZ10; DRS22, section 2], and the largest of these
        over all :math:`\varepsilon \ge 0` is :math:`f`. :meth:`lower` is that at the ε that were
        looked at, with upper bounds of δ. :meth:`upper` uses lower bounds of δ; between two ε, in
        :math:`e^\varepsilon`, δ is convex, so that it is above the line through the two points
        before, and above the line through the two points after.

    Utility:
        Without ``epsilons`` the two are within a thousandth of each other, where the intervals of
        δ are narrow.

    Example:
        >>> from discreet.core.stated_event import GaussianEvent
        >>> curve = trade_off(GaussianEvent(scale=1))
        >>> curve.lower("0.05") <= 0.7405 <= curve.upper("0.05")
        True
    """

    epsilons: tuple[Fraction, ...] = field(validator=check.non_empty)
    """Ascending, from 0."""
    highs: tuple[Fraction, ...]
    lows: tuple[Fraction, ...]

    def lower(self, alpha: Number) -> float:
        """Return a rate of misses that no test can go below, at a false-alarm rate ``alpha``."""
        rate = _rate(alpha)
        best = Fraction(0)
        for (up, down), delta in zip(_exponentials(self.epsilons), self.highs, strict=True):
            best = max(best, 1 - delta - up * rate, down * (1 - delta - rate))
        return float_down(best)

    def upper(self, alpha: Number) -> float:
        """Return a rate of misses that some test of some neighbours can reach."""
        rate = float(_rate(alpha))
        corners = _below(self)
        worst = max(corners[0][0] * (1 - rate), 1 - corners[-1][0] * rate, 0.0)
        worst = max(worst, *(1 - delta - at * rate for at, delta in corners))
        return min(worst + _ROUNDING, 1 - rate)

    def points(self, count: int = 101) -> list[tuple[float, float, float]]:
        """Return false-alarm rates with both bounds on the misses, for plotting."""
        if count < 2:
            raise InvalidArgument("count is out of range", must="be at least 2", got=str(count))
        rates = [Fraction(place, count - 1) for place in range(count)]
        return [(float(rate), self.lower(rate), self.upper(rate)) for rate in rates]

    def compare(self, other: "TradeOff") -> Comparison:
        """Tell which of two is harder to tell apart, as far as the intervals decide it."""
        if self.epsilons != other.epsilons:
            raise Unsupported(
                "These curves were drawn at different ε",
                next="Draw both with the same epsilons=",
            )
        pairs = list(zip(self.lows, self.highs, other.lows, other.highs, strict=True))
        harder = all(high <= low for _, high, low, _ in pairs)
        easier = all(high <= low for low, _, _, high in pairs)
        if harder or easier:
            return Comparison.HARDER if harder else Comparison.EASIER
        somewhere_harder = any(high < low for _, high, low, _ in pairs)
        somewhere_easier = any(high < low for low, _, _, high in pairs)
        crossing = somewhere_harder and somewhere_easier
        return Comparison.CROSSING if crossing else Comparison.UNDECIDED


def trade_off(events: Events, *, epsilons: tuple[Number, ...] | None = None) -> TradeOff:
    r"""Draw the trade-off function of all ``events`` together, at some ε.

    Without ``epsilons``, they are spread up to the ε at which δ is a billionth, closer near 0.
    """
    counts = count_events(events)
    if epsilons is None:
        top = math.ceil(100 * _numbers(pld_epsilon(counts, delta=_FAR).loss)[0]) / 100
        points = min(max(_POINTS, math.ceil(top / _SPACING)), _MOST_POINTS)
        chosen = _spread(Fraction(f"{top:.2f}"), points)
    else:
        chosen = tuple(exact(epsilon) for epsilon in epsilons)
    if list(chosen) != sorted(set(chosen)) or chosen[0] != 0:
        raise InvalidArgument("These ε cannot be drawn at", must="ascend, and begin with 0")
    found = [pld_delta(counts, epsilon=epsilon, width=_WIDTH) for epsilon in chosen]
    highs = tuple(_numbers(result.loss)[1] for result in found)
    lows = tuple(_numbers(result.lower)[1] for result in found)
    return TradeOff(chosen, highs, lows)


def _spread(top: Fraction, points: int) -> tuple[Fraction, ...]:
    """Return points evenly spread, and some by squares: sampled events lose little."""
    even = {top * k / points for k in range(points + 1)}
    close = {top * k * k / _CLOSE**2 for k in range(1, _CLOSE)}
    return tuple(sorted(even | close))


@lru_cache(maxsize=16)
def _exponentials(epsilons: tuple[Fraction, ...]) -> tuple[tuple[Fraction, Fraction], ...]:
    r"""Return :math:`e^\varepsilon` rounded up and :math:`e^{-\varepsilon}` rounded down."""
    return tuple((exp_bounds(one, 96)[1], exp_bounds(-one, 96)[0]) for one in epsilons)


@lru_cache(maxsize=16)
def _below(curve: TradeOff) -> tuple[tuple[float, float], ...]:
    r"""Return the corners of a function of :math:`e = e^\varepsilon` that is nowhere above δ.

    Between two points δ is at least every line through two points on one side, with the nearer one
    from below and the other from above, and at least as high as at the next point. Some of the
    nearest points are skipped, in case one of them is known less well than those behind it.
    """
    places, lows, highs = _mirrored(curve)
    corners = []
    for place in range(len(places) - 1):
        lines = [(0.0, lows[place + 1]), (-1.0, 1.0)]
        for skip, far in product(_SKIPPED, _BASES):
            before, after = place - skip, place + 1 + skip
            for near, other in ((before, before - far), (after, after + far)):
                if 0 <= other < len(places) and 0 <= near < len(places):
                    slope = (lows[near] - highs[other]) / (places[near] - places[other])
                    lines.append((slope, lows[near] - slope * places[near]))
        corners += _largest(lines, places[place], places[place + 1])
    return (*corners, (places[-1], lows[-1]))


def _mirrored(curve: TradeOff) -> tuple[list[float], list[float], list[float]]:
    r"""Return the points and both bounds, also where :math:`\delta(e) = 1 - e + e\,\delta(1/e)`."""
    e = [math.exp(float(epsilon)) for epsilon in curve.epsilons]
    mirrored = [1 / at for at in e[:0:-1]]
    ends = []
    for deltas in (curve.lows, curve.highs):
        known = [float(delta) for delta in deltas]
        pairs = zip(mirrored, known[:0:-1], strict=True)
        ends.append([1 - at + at * delta for at, delta in pairs] + known)
    return mirrored + e, ends[0], ends[1]


def _largest(
    lines: list[tuple[float, float]], left: float, right: float
) -> list[tuple[float, float]]:
    """Return points of the largest of some lines: at both ends, and wherever two of them meet."""
    ends = {left, right}
    for first, (slope, height) in enumerate(lines):
        for other_slope, other_height in lines[:first]:
            if slope != other_slope:
                ends.add(min(max((other_height - height) / (slope - other_slope), left), right))
    return [(at, max(slope * at + height for slope, height in lines)) for at in sorted(ends)]


def _numbers(loss: PrivacyLoss | None) -> tuple[Fraction, Fraction]:
    if loss is None:
        return Fraction(0), Fraction(0)
    assert isinstance(loss, Approximate)
    return loss.epsilon, loss.delta


def _rate(alpha: Number) -> Fraction:
    rate = exact(alpha)
    if not 0 <= rate <= 1:
        raise InvalidArgument("alpha is out of range", must="lie between 0 and 1", got=str(alpha))
    return rate
