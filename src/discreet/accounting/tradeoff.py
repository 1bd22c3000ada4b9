r"""Trade-off functions (f-DP): how well two neighbours can be told apart at every false-alarm rate.

:math:`f(\alpha)` is the least rate of misses of a test whose rate of false alarms is at most
:math:`\alpha` [DRS22, section 2]. It is drawn here from certified :math:`\delta(\varepsilon)`.
"""

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product

import numpy as np
from attrs import field, frozen

from discreet.accounting.pld.accountant import pld_delta, pld_epsilon
from discreet.accounting.pld.counted_events import Events, Uses, count_events
from discreet.accounting.pld.enclosure import enclose_delta, enclose_deltas
from discreet.accounting.pld.laws.grid import FloatArray
from discreet.accounting.pld.laws.law import LossLaw, Pair
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import Event
from discreet.core.loss import Approximate, PrivacyLoss
from discreet.core.numbers import Number, exact, exp_bounds, float_down
from discreet.core.rounding import Ends

_POINTS, _MOST_POINTS = 86, 400
_CLOSE, _BEYOND = 43, 8
_SPACING, _FINE = 0.06, 0.02
_ROUNDING = 1e-9
_BASES = (1, 3, 8)
_SKIPPED = (0, 1, 2)
_WIDTH = "1e-4"
_ACCURACY = 1e-4
_BENT, _REFINED = 5e-4, 6
"""Where both bounds of δ are further apart it is looked at once more, so many times at most."""

_NOTHING = Fraction(0)
_SAME = Fraction(1, 10**9)
_FAR, _ROUGH = Fraction(1, 10**4), "1/20"
_LARGEST = Fraction(600)
"""Floats hold its exponential, and rates that it tells apart are as good as 0."""


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
        >>> from discreet.events import GaussianEvent
        >>> curve = trade_off(GaussianEvent(scale=1))
        >>> curve.lower("0.05") <= 0.7405 <= curve.upper("0.05")
        True
    """

    epsilons: tuple[Fraction, ...] = field(validator=check.non_empty)
    """Ascending, from 0."""
    highs: tuple[Fraction, ...]
    lows: tuple[Fraction, ...]
    told: Fraction = _NOTHING
    """At most the chance that the data set is told with certainty: what δ falls to."""

    def lower(self, alpha: Number) -> float:
        """Return a rate of misses that no test can go below, at a false-alarm rate ``alpha``.

        Floats find the ε that say most there, and these are worked out exactly.
        """
        rate = _rate(alpha)
        e, kept = _about(self)
        first, second = np.argmax(kept - e * float(rate)), np.argmax((kept - float(rate)) / e)
        up, down = (
            exp_bounds(self.epsilons[first], 96)[1],
            exp_bounds(-self.epsilons[second], 96)[0],
        )
        best = max(1 - self.highs[first] - up * rate, down * (1 - self.highs[second] - rate))
        return max(0.0, float_down(best))

    def upper(self, alpha: Number) -> float:
        """Return a rate of misses that the certified curve does not go above.

        The curve is the largest symmetric one that holds for both orders of neighbours. Where the
        two orders differ, as for a sample, some test of some neighbours reaches it at some rates;
        between these it is the line, which no single pair of neighbours has to reach.
        """
        rate = float(_rate(alpha))
        at, deltas = _below(self)
        hidden = 1 - float(self.told)
        worst = max(float(at[0]) * (hidden - rate), hidden - float(at[-1]) * rate, 0.0)
        worst = max(worst, float((1 - deltas - at * rate).max()))
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

    Without ``epsilons``, they are spread up to the ε at which δ is a ten-thousandth above the
    chance that something is told with certainty, closer near 0, and each δ is known to about a
    ten-thousandth. With ``epsilons`` it is known to a share of
    itself, however small it is: that is what comparing needs.
    """
    counts = count_events(events)
    if epsilons is None:
        return _drawn(counts)
    chosen = tuple(exact(epsilon) for epsilon in epsilons)
    _require_ascending(chosen)
    return _curve(chosen, [_one(counts, epsilon) for epsilon in chosen])


def _drawn(counts: dict[Event, int]) -> TradeOff:
    """Draw by one law of the sum for all ε; where there is none, at fewer ε one by one."""
    top = _reach(counts)
    try:
        uses = Uses.of(counts)
        if uses.pairs:
            curve = _at_once(uses, _spread(top, _FINE, uses.lattice()))
            for _ in range(_REFINED):
                bends = _bends(curve)
                if not bends:
                    break
                curve = _at_once(uses, tuple(sorted({*curve.epsilons, *bends})))
            return curve
    except Unsupported:
        pass
    chosen = _spread(top, _SPACING)
    return _curve(chosen, [_one(counts, epsilon) for epsilon in chosen])


def _reach(counts: dict[Event, int]) -> Fraction:
    """Return the ε at which δ is a ten-thousandth, or as much above what is told with certainty."""
    delta = _FAR
    with suppress(Unsupported):
        delta += Fraction(_told(Uses.of(counts), lambda pair: (pair.removal, pair.addition)))
    if delta >= 1:
        return Fraction(0)
    far = pld_epsilon(counts, delta=delta, width=_ROUGH).loss
    return min(Fraction(math.ceil(100 * _numbers(far)[0]), 100), _LARGEST)


def _told(uses: Uses, laws: Callable[[Pair], Iterable[LossLaw]]) -> float:
    """Return about the chance that some loss of ``laws`` is infinite."""
    hidden = 1.0
    for pair, count in uses.pairs:
        most = max((float(law.infinite.max()) for law in laws(pair)), default=0.0)
        hidden *= (1 - min(most, 1.0)) ** count
    return 1 - hidden


def _at_once(uses: Uses, epsilons: tuple[Fraction, ...]) -> TradeOff:
    found = enclose_deltas(uses, [float_down(one) for one in epsilons], _ACCURACY)
    told = _told(uses, lambda pair: pair.attained or ())
    deltas = [(Fraction(one.low), Fraction(one.high)) for one in found]
    return _curve(epsilons, deltas, Fraction(max(0.0, told - _ROUNDING)))


def _bends(curve: TradeOff) -> set[Fraction]:
    """Return the ε between two points at which δ may bend so much that they do not suffice.

    Where the points around are known less well than that, more of them would not help.
    """
    at, below = _below(curve)
    places, lows, highs = _mirrored(curve)
    wide = np.interp(at, places, highs) - below > _BENT
    wide &= np.interp(at, places, highs - lows) <= _BENT
    found = {Fraction(round(math.log(one) * 10**9), 10**9) for one in at[wide & (at > 1)]}
    return {one for one in found if all(abs(one - old) > _SAME for old in curve.epsilons)}


def _curve(
    epsilons: tuple[Fraction, ...], deltas: list[Ends], told: Fraction = _NOTHING
) -> TradeOff:
    lows, highs = zip(*deltas, strict=True)
    return TradeOff(epsilons, highs, lows, told)


def _require_ascending(epsilons: tuple[Fraction, ...]) -> None:
    if not epsilons or list(epsilons) != sorted(set(epsilons)) or epsilons[0] != 0:
        raise InvalidArgument("These ε cannot be drawn at", must="ascend, and begin with 0")


def _one(counts: dict[Event, int], epsilon: Fraction) -> Ends:
    """Enclose one δ; one that cannot be told from 1 is no promise, but a point of the curve."""
    try:
        found = pld_delta(counts, epsilon=epsilon, width=_WIDTH)
    except Unsupported:
        ends = enclose_delta(Uses.of(counts), float_down(epsilon), _ACCURACY, _ACCURACY)
        return Fraction(ends.low), Fraction(min(1.0, ends.high))
    return _numbers(found.lower)[1], _numbers(found.loss)[1]


def _spread(top: Fraction, spacing: float, unit: float | None = None) -> tuple[Fraction, ...]:
    """Return points evenly spread, and some by squares: sampled events lose little.

    A few lie beyond, up to twice as far: they tell about very few false alarms. If all losses are
    multiples of one unit, δ bends there and nowhere else. Of points that are as good as the same,
    one is enough.
    """
    points = min(max(_POINTS, math.ceil(top / spacing)), _MOST_POINTS)
    chosen = {top * k / points for k in range(points + 1)}
    chosen |= {top * k * k / _CLOSE**2 for k in range(1, _CLOSE)}
    beyond = {top * (_BEYOND + k) / _BEYOND for k in range(1, _BEYOND + 1)}
    chosen |= {one for one in beyond if one <= _LARGEST}
    if unit is not None and top <= _MOST_POINTS * unit:
        chosen |= {k * Fraction(unit) for k in range(1, math.floor(top / Fraction(unit)) + 1)}
    ascending = sorted(chosen)
    after = (one for before, one in pairwise(ascending) if one - before > _SAME)
    return (ascending[0], *after)


@lru_cache(maxsize=16)
def _about(curve: TradeOff) -> tuple[FloatArray, FloatArray]:
    r"""Return about :math:`e^\varepsilon` and :math:`1 - \delta`, to decide where to look."""
    e = np.exp(np.array([float(epsilon) for epsilon in curve.epsilons]))
    return e, np.array([1 - float(delta) for delta in curve.highs])


@lru_cache(maxsize=16)
def _below(curve: TradeOff) -> tuple[FloatArray, FloatArray]:
    r"""Return the corners of a function of :math:`e = e^\varepsilon` that is nowhere above δ.

    Between two points δ is at least every line through two points on one side, with the nearer one
    from below and the other from above, and at least as high as at the next point. Some of the
    nearest points are skipped, in case one of them is known less well than those behind it.
    """
    places, lows, highs = _mirrored(curve)
    at, deltas = [places[-1:]], [lows[-1:]]
    for place in range(len(places) - 1):
        lines = [(0.0, float(lows[place + 1])), (-1.0, 1.0)]
        for skip, far in product(_SKIPPED, _BASES):
            before, after = place - skip, place + 1 + skip
            for near, other in ((before, before - far), (after, after + far)):
                inside = 0 <= other < len(places) and 0 <= near < len(places)
                if inside and places[near] != places[other]:
                    slope = (lows[near] - highs[other]) / (places[near] - places[other])
                    lines.append((slope, lows[near] - slope * places[near]))
        found = _largest(np.array(lines), places[place], places[place + 1])
        at.append(found[0])
        deltas.append(found[1])
    order = np.argsort(np.concatenate(at))
    return np.concatenate(at)[order], np.concatenate(deltas)[order]


def _mirrored(curve: TradeOff) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Return the points and both bounds, also where :math:`\delta(e) = 1 - e + e\,\delta(1/e)`."""
    e = np.exp(np.array([float(epsilon) for epsilon in curve.epsilons]))
    mirrored = 1 / e[:0:-1]
    ends = []
    for deltas in (curve.lows, curve.highs):
        known = np.array([float(delta) for delta in deltas])
        ends.append(np.concatenate((1 - mirrored + mirrored * known[:0:-1], known)))
    return np.concatenate((mirrored, e)), ends[0], ends[1]


def _largest(lines: FloatArray, left: float, right: float) -> tuple[FloatArray, FloatArray]:
    """Return points of the largest of some lines: at both ends, and wherever two of them meet."""
    slopes, heights = lines.T
    first, second = np.triu_indices(len(lines), 1)
    apart = slopes[first] - slopes[second]
    first, second, apart = first[apart != 0], second[apart != 0], apart[apart != 0]
    with np.errstate(over="ignore"):
        meeting = (heights[second] - heights[first]) / apart
    ends = np.concatenate(([left, right], meeting[(left < meeting) & (meeting < right)]))
    return ends, (slopes[:, None] * ends + heights[:, None]).max(axis=0)


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
