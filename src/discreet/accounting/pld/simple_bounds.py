"""Bounds that need no grid: the largest loss, and zCDP. They hold where floats give up."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from discreet.accounting.accountants.pure import epsilon
from discreet.accounting.accountants.zcdp import line
from discreet.accounting.conversions.from_zcdp import zcdp_to_approximate
from discreet.accounting.result import Result
from discreet.core.errors import Unsupported
from discreet.core.event import Event
from discreet.core.loss import Approximate, Zcdp
from discreet.core.numbers import exp_bounds
from discreet.core.rounding import log_up, short_up
from discreet.core.sampling_event import (
    FixedSizeSampledEvent,
    MixtureEvent,
    PoissonSampledEvent,
)


def largest_loss(event: Event) -> Fraction:
    r"""Return the pure ε of an event, or refuse.

    Guarantee:
        A sampled mechanism has :math:`\ln(1 + r(e^\varepsilon - 1))`: the loss of a removal is at
        most that, and of an addition no larger [BBG18]. A mixture has that of its worst part.

    Example:
        >>> from discreet.core.stated_event import PureEvent
        >>> rare = PoissonSampledEvent(inner=PureEvent(epsilon=1), rate="1/100")
        >>> round(float(largest_loss(rare)), 6)
        0.017037
    """
    if isinstance(event, MixtureEvent):
        return max(largest_loss(part) for part, weight in event.parts if weight)
    if isinstance(event, PoissonSampledEvent | FixedSizeSampledEvent):
        rate = _rate(event)
        return sampled_epsilon(largest_loss(event.inner), rate) if rate else Fraction(0)
    return epsilon(event)


def sampled_epsilon(inner: Fraction, rate: Fraction) -> Fraction:
    r"""Return :math:`\ln(1 + r(e^\varepsilon - 1))`, rounded up."""
    if rate == 1:
        return inner
    return min(inner, short_up(log_up(1 + rate * (exp_bounds(inner, 96)[1] - 1)), 96))


def concentrated(event: Event) -> Zcdp:
    r"""Return the zCDP line of an event, or refuse.

    Guarantee:
        A sampled mechanism tells no more than the mechanism itself: its curve is a mean of that
        and of :math:`(1 - e^\varepsilon)_+`, the least there is (joint convexity), and a curve that
        is lower everywhere has lower Rényi divergences.
    """
    if isinstance(event, MixtureEvent):
        lines = [concentrated(part) for part, weight in event.parts if weight]
        return Zcdp(rho=max(one.rho for one in lines), xi=max(one.xi for one in lines))
    if isinstance(event, PoissonSampledEvent | FixedSizeSampledEvent):
        return concentrated(event.inner) if _rate(event) else Zcdp(rho=0)
    return line(event)


def _rate(event: PoissonSampledEvent | FixedSizeSampledEvent) -> Fraction:
    if isinstance(event, PoissonSampledEvent):
        return event.rate
    return Fraction(event.sample, event.population)


def simple_results(
    counts: Mapping[Event, int],
    *,
    delta: Fraction | None = None,
    at: Fraction | None = None,
    concentrated_too: bool,
) -> list[Result]:
    """Return what the largest loss, and perhaps zCDP, say at a δ, or at an ε (``at``)."""
    ways: list[Callable[[], Result]] = [lambda: _pure(counts, delta, at)]
    if concentrated_too:
        ways.append(lambda: _concentrated(counts, delta, at))
    found = []
    for way in ways:
        try:
            found.append(way())
        except Unsupported:
            continue
    return found


def _pure(counts: Mapping[Event, int], delta: Fraction | None, at: Fraction | None) -> Result:
    total = sum((count * largest_loss(event) for event, count in counts.items()), Fraction(0))
    if at is not None and at < total:
        raise Unsupported("The largest loss says nothing below it")
    loss = Approximate(total if at is None else at, delta or 0)
    return Result(loss=loss, method="largest loss", theorem="DR14, Theorem 3.16")


def _concentrated(
    counts: Mapping[Event, int], delta: Fraction | None, at: Fraction | None
) -> Result:
    if delta == 0:
        raise Unsupported("zCDP says nothing at a δ of 0")
    total = Zcdp(rho=0)
    for event, count in counts.items():
        total = total + concentrated(event) * count
    result = zcdp_to_approximate(total, delta=delta, epsilon=at)
    return Result(loss=result.loss, method="zCDP", theorem=result.theorem)
