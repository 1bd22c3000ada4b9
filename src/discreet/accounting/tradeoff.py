r"""Trade-off functions (f-DP): how well two neighbours can be told apart at every false-alarm rate.

:math:`f(\alpha)` is the least rate of misses of a test whose rate of false alarms is at most
:math:`\alpha` [DRS22, section 2]. It is drawn here from certified :math:`\delta(\varepsilon)`.
"""

import math
from enum import Enum
from fractions import Fraction

from attrs import field, frozen

from discreet.accounting.pld.accountant import pld_delta, pld_epsilon
from discreet.accounting.pld.uses import Events, count_events
from discreet.core import check
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.loss import Approximate, PrivacyLoss
from discreet.core.numbers import Number, exact, exp_bounds, float_down, float_up

_POINTS = 65
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
        looked at, with upper bounds of δ. :meth:`upper` uses lower bounds of δ, and covers the ε
        between two neighbours by the smaller one's slope and the larger one's δ.

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
        for epsilon, delta in zip(self.epsilons, self.highs, strict=True):
            up, down = exp_bounds(epsilon, 96)[1], exp_bounds(-epsilon, 96)[0]
            best = max(best, 1 - delta - up * rate, down * (1 - delta - rate))
        return float_down(best)

    def upper(self, alpha: Number) -> float:
        """Return a rate of misses that some test of some neighbours can reach."""
        rate = _rate(alpha)
        worst = max(Fraction(0), 1 - exp_bounds(self.epsilons[-1], 96)[0] * rate)
        worst = max(worst, exp_bounds(-self.epsilons[-1], 96)[1] * (1 - rate))
        for place, delta in enumerate(self.lows):
            before = self.epsilons[max(0, place - 1)]
            up, down = exp_bounds(before, 96)[0], exp_bounds(-before, 96)[1]
            worst = max(worst, 1 - delta - up * rate, down * (1 - delta - rate))
        return float_up(min(worst, 1 - rate))

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

    Without ``epsilons``, they are spread evenly up to the ε at which δ is a billionth.
    """
    counts = count_events(events)
    if epsilons is None:
        top = math.ceil(100 * _numbers(pld_epsilon(counts, delta=_FAR).loss)[0]) / 100
        chosen = tuple(Fraction(f"{top:.2f}") * k / (_POINTS - 1) for k in range(_POINTS))
    else:
        chosen = tuple(exact(epsilon) for epsilon in epsilons)
    if list(chosen) != sorted(set(chosen)) or chosen[0] != 0:
        raise InvalidArgument("These ε cannot be drawn at", must="ascend, and begin with 0")
    found = [pld_delta(counts, epsilon=epsilon) for epsilon in chosen]
    highs = tuple(_numbers(result.loss)[1] for result in found)
    lows = tuple(_numbers(result.lower)[1] for result in found)
    return TradeOff(chosen, highs, lows)


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
