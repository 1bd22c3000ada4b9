"""From a wish to a parameter: the least noise, the most uses, the largest sampling rate."""

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist

from attrs import evolve, frozen

from discreet.accounting.accountants.pure import epsilon as pure_epsilon
from discreet.accounting.conversions.from_gaussian import gaussian_log_delta
from discreet.accounting.conversions.from_zcdp import rho_for
from discreet.accounting.filters.filter import largest_mu_squared
from discreet.accounting.pld.counted_events import Events, Uses, count_events
from discreet.accounting.pld.enclosure import upper_delta
from discreet.accounting.pld.simple_bounds import concentrated
from discreet.core.errors import InvalidArgument, Unsupported
from discreet.core.event import ComposedEvent, Event, FixedSizeSampledEvent, PoissonSampledEvent
from discreet.core.mechanism_event import DiscreteGaussianEvent
from discreet.core.numbers import Number, exact, float_down
from discreet.core.rounding import log_down
from discreet.core.stated_event import GaussianEvent

_FIRST_STEP = 1 << 10
_FARTHEST = 10**7
_WIDEST_STEP = 10**6


def first_within(over: Callable[[int], float], guess: int, step: int = _FIRST_STEP) -> int:
    """Return a number at which ``over`` is at most 0 and just before which it is above 0.

    ``over`` should fall. Steps grow, from ``step``, until both sides are known; then a line through
    the two sides proposes, and a side that stays is weighed half (the Illinois rule). A proposal is
    strictly between the two, so the search ends.

    Example:
        >>> first_within(lambda x: 1000.5 - x, 3)
        1001
    """
    low, high, at_low, at_high = _two_sides(over, guess, step)
    last = 0
    while high - low > 1:
        middle = _between(low, high, at_low, at_high)
        value = over(middle)
        side = 1 if value <= 0 else -1
        if side > 0:
            high, at_high, at_low = middle, value, at_low / 2 if last == side else at_low
        else:
            low, at_low, at_high = middle, value, at_high / 2 if last == side else at_high
        last = side
    return high


def _two_sides(
    over: Callable[[int], float], guess: int, step: int
) -> tuple[int, int, float, float]:
    value, place = over(guess), guess
    while True:
        after = place - step if value <= 0 else place + step
        found = over(after)
        if (found <= 0) != (value <= 0):
            ends = sorted(((place, value), (after, found)))
            return ends[0][0], ends[1][0], ends[0][1], ends[1][1]
        place, value, step = after, found, min(8 * step, _WIDEST_STEP)
        if abs(place) > _FARTHEST:
            raise Unsupported("No parameter of a sensible size is at the limit")


def _between(low: int, high: int, at_low: float, at_high: float) -> int:
    if not (math.isfinite(at_low) and math.isfinite(at_high)) or at_low == at_high:
        return (low + high) // 2
    place = low + math.ceil((high - low) * at_low / (at_low - at_high))
    return min(max(place, low + 1), high - 1)


DIGITS = 5
"""Significant decimal digits of a scale or a rate that is found."""

_LOOKS = ((1e-2, 0.05), (4e-4, 2e-3), (2e-5, 0.0))
"""Widths of grids, and how far from the target is far enough for that grid to decide."""
_LAST_LOOK = _LOOKS[-1:]
_NEAR_STEP = 1 << 4
_FAR_OFF = 40.0
_MOST_COUNT = 10**7


@frozen
class Target:
    """The (ε, δ) that is wanted."""

    epsilon: Fraction
    delta: Fraction
    looks: tuple[tuple[float, float], ...] = _LOOKS

    def excess(self, events: Events) -> float:
        r"""Return how far ``events`` are over the target; at most 0 if they certainly keep to it.

        Guarantee:
            At most 0 only if the certified δ at ε is at most the δ that is wanted, or if the
            largest losses add up to at most ε. Above 0 at most where the certificate is not
            fine enough to tell, some hundred-thousandths in ε. The size is in deviations.
        """
        counts = count_events(events)
        try:
            total = sum((count * pure_epsilon(one) for one, count in counts.items()), Fraction(0))
        except Unsupported:
            total = None
        if total is not None and (total <= self.epsilon or self.delta == 0):
            return float(total / self.epsilon - 1) if total != self.epsilon else 0.0
        if self.delta == 0:
            return math.inf
        uses = Uses.of(counts)
        if not uses.pairs:
            over = gaussian_log_delta(uses.gaussian_squared, self.epsilon)[1] - log_down(self.delta)
            steep = math.sqrt(2 * max(1.0, -float(log_down(self.delta))))
            return float(over) / steep if over > 0 else min(0.0, float(over) / steep)
        return self._numerically(uses)

    def _numerically(self, uses: Uses) -> float:
        """Compare normal quantiles, nearly straight in a scale; first on a coarse grid."""
        at, limit = float_down(self.epsilon), float_down(self.delta)
        wanted = _quantile(limit)
        over = math.inf
        for width, clearly in self.looks:
            try:
                found = upper_delta(uses, at, width)
            except Unsupported:
                return math.inf
            over = min(_FAR_OFF, _quantile(found) - wanted)
            over = min(over, 0.0) if found <= limit else max(over, 1e-12)
            if abs(over) > clearly:
                break
        return over


def _quantile(probability: float) -> float:
    """Return the normal quantile; it steers a search, and certifies nothing."""
    return NormalDist().inv_cdf(min(max(probability, 1e-300), 1 - 2.0**-53))


def target(epsilon: Number, delta: Number) -> Target:
    """Read an (ε, δ) that is wanted."""
    wanted = Target(exact(epsilon), exact(delta))
    if wanted.epsilon <= 0 or not 0 <= wanted.delta < 1:
        raise InvalidArgument(
            "That cannot be wanted",
            must="have epsilon above 0 and delta at least 0 and below 1",
            got=f"epsilon = {epsilon} and delta = {delta}",
        )
    return wanted


def least_scale(
    events_of: Callable[[Fraction], Events],
    *,
    epsilon: Number,
    delta: Number,
    digits: int = DIGITS,
) -> Fraction:
    r"""Return the least scale of some digits with which ``events_of(scale)`` keep to a target.

    Guarantee:
        The events at the scale are certified (:meth:`Target.excess`), and those at the next
        smaller scale of as many digits are not. More noise must not cost more.

    Example:
        >>> from discreet.events import GaussianEvent, LaplaceEvent
        >>> gaussian = lambda scale: GaussianEvent(scale=scale)
        >>> least_scale(gaussian, epsilon=1, delta="1e-6")
        Fraction(42247, 10000)
        >>> least_scale(lambda scale: LaplaceEvent(scale=scale), epsilon=1, delta=0)
        Fraction(1, 1)
    """
    wanted, step = target(epsilon, delta), _FIRST_STEP
    near = _gaussian_scale(events_of, wanted)
    if near is not None:
        wanted, step = evolve(wanted, looks=_LAST_LOOK), _NEAR_STEP
    guess = place_of(near or _bracket(events_of, wanted), digits)
    # What has no account at all is refused here.
    at_guess = wanted.excess(events_of(of_digits(guess, digits)))

    def over(place: int) -> float:
        if place == guess:
            return at_guess
        try:
            return wanted.excess(events_of(of_digits(place, digits)))
        except Unsupported:
            return math.inf

    return of_digits(first_within(over, guess, step), digits)


def most_uses(events: Events, *, epsilon: Number, delta: Number) -> int:
    """Return how often ``events`` can be used within a target; 0 if not even once.

    Guarantee:
        That many uses are certified, and one more is not.

    Example:
        >>> from discreet.events import LaplaceEvent
        >>> most_uses(LaplaceEvent(scale=10), epsilon=4, delta="1e-5")
        91
    """
    wanted, counts = target(epsilon, delta), count_events(events)

    def over(fewer: int) -> float:
        if fewer > -1:
            return -math.inf
        if -fewer > _MOST_COUNT:
            return math.inf
        return wanted.excess({one: n * -fewer for one, n in counts.items()})

    return -first_within(over, -64)


def largest_rate(
    events_of: Callable[[Fraction], Events], *, epsilon: Number, delta: Number
) -> Fraction:
    """Return the largest rate of five digits with which ``events_of(rate)`` keep to a target.

    Guarantee:
        The events at the rate are certified, and those at the next larger rate of five digits,
        up to 1, are not. Sampling more must not cost less.

    Example:
        >>> from discreet.events import GaussianEvent, PoissonSampledEvent
        >>> step = lambda rate: PoissonSampledEvent(inner=GaussianEvent(scale=1), rate=rate) * 100
        >>> found = largest_rate(step, epsilon=1, delta="1e-6")
        >>> Fraction("0.009") < found < Fraction("0.02")
        True
    """
    wanted = target(epsilon, delta)

    def over(place: int) -> float:
        rate = five_digits(-place)
        return math.inf if rate > 1 else wanted.excess(events_of(rate))

    return five_digits(-first_within(over, -place_of(Fraction(1, 100))))


def five_digits(place: int) -> Fraction:
    """Return the number of five significant digits at a place in their order.

    Example:
        >>> five_digits(0), five_digits(1), five_digits(90000), place_of(five_digits(-7))
        (Fraction(1, 1), Fraction(10001, 10000), Fraction(10, 1), -7)
    """
    return of_digits(place, DIGITS)


def of_digits(place: int, digits: int) -> Fraction:
    """Return the number of ``digits`` significant digits at a place in their order."""
    least: int = 10 ** (digits - 1)
    decade, rest = divmod(place, 9 * least)
    return Fraction(least + rest, least) * _ten(decade)


def place_of(value: Fraction, digits: int = DIGITS) -> int:
    """Return the place of the largest number of ``digits`` digits that is at most ``value``."""
    least: int = 10 ** (digits - 1)
    decade = len(str(int(value))) - 1 if value >= 1 else -len(str(int(1 / value)))
    while _ten(decade) > value:
        decade -= 1
    while _ten(decade + 1) <= value:
        decade += 1
    mantissa = math.floor(value / _ten(decade) * least)
    return decade * 9 * least + mantissa - least


def _ten(power: int) -> Fraction:
    whole: int = 10 ** abs(power)
    return Fraction(whole) if power >= 0 else Fraction(1, whole)


def _gaussian_scale(events_of: Callable[[Fraction], Events], wanted: Target) -> Fraction | None:
    r"""Return about the least scale of Gaussian noise alone: what continuous noise would need.

    Discrete noise needs some thousandths of a per cent more, unless it is very small. So hardly any
    other scale has to be looked at, and none of them is far off; a coarse grid would never decide.
    """
    if not wanted.delta:
        return None
    counts = count_events(events_of(Fraction(1)))
    if not all(isinstance(event, GaussianEvent | DiscreteGaussianEvent) for event in counts):
        return None
    squared = 2 * sum((_likely(event) * count for event, count in counts.items()), Fraction(0))
    try:
        ratio = float(squared / largest_mu_squared(wanted.epsilon, wanted.delta))
    except (Unsupported, OverflowError):
        return None
    return Fraction(math.sqrt(ratio)).limit_denominator(10**6) or None


def _bracket(events_of: Callable[[Fraction], Events], wanted: Target) -> Fraction:
    r"""Return about the scale at which zCDP alone would do; the true one is not far below.

    :math:`\rho` of additive noise falls with the square of the scale.
    """
    try:
        counts = count_events(events_of(Fraction(1)))
        losses = [_likely(event) * count for event, count in counts.items()]
        least = rho_for(wanted.epsilon, wanted.delta or Fraction(1, 10**9))
        found = Fraction(math.sqrt(sum(losses, Fraction(0)) / least)).limit_denominator(10**6)
        return max(found, Fraction(1, 10**6))  # a search begins somewhere above 0
    except Unsupported:
        return Fraction(1)


def _likely(event: Event) -> Fraction:
    """Return about the ρ of an event; sampling divides it by about the square of the rate."""
    if isinstance(event, PoissonSampledEvent | FixedSizeSampledEvent):
        return event.rate**2 * _likely(event.inner)
    if isinstance(event, ComposedEvent):
        return sum((count * _likely(part) for part, count in event.parts), Fraction(0))
    return concentrated(event).rho
